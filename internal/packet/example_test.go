package packet_test

import (
	"fmt"

	"github.com/iwdissect/iwdissect/internal/packet"
)

func ExampleDecoder_Decode() {
	b := packet.Build{
		Link: packet.LinkEthernet, Src: packet.Addr4(10, 0, 0, 1), Dst: packet.Addr4(10, 0, 0, 2),
		SrcPort: 4000, DstPort: 5001, Seq: 7, Flags: packet.FlagACK, Payload: []byte("hello"),
	}
	frame := b.Append(nil)

	d := packet.NewDecoder()
	var p packet.Packet
	status := d.Decode(packet.LinkEthernet, frame, uint32(len(frame)), 1, 0, &p)
	fmt.Printf("%v %v %s > %s seq %d %q checksum %v\n", status, p.Proto,
		packet.AppendAddrPort(nil, p.Src, p.SrcPort), packet.AppendAddrPort(nil, p.Dst, p.DstPort),
		p.Seq, p.Payload, p.VerifyChecksum())
	// Output: ok tcp 10.0.0.1:4000 > 10.0.0.2:5001 seq 7 "hello" checksum ok
}
