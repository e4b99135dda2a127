package layers_test

import (
	"fmt"

	"github.com/google/gopacket"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/layers"
)

// A Send is serialized and decoded again, by gopacket's own functions.
func Example() {
	d := &layers.DDP{Segment: ddp.Segment{Last: true, DV: ddp.Version, MSN: 1}}
	r := layers.NewRDMAP(d)
	r.Control = rdmap.Control{RV: rdmap.Version, Opcode: rdmap.OpSend}
	b := gopacket.NewSerializeBuffer()
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(b, opts, &layers.FPDU{}, d, r, gopacket.Payload("hello")); err != nil {
		fmt.Println(err)
		return
	}

	p := gopacket.NewPacket(b.Bytes(), layers.LayerTypeFPDU, gopacket.Default)
	for _, l := range p.Layers() {
		switch l := l.(type) {
		case *layers.FPDU:
			fmt.Printf("FPDU of %d octets, CRC right: %t\n", l.ULPDULength, l.CRCOK())
		case *layers.RDMAP:
			fmt.Printf("%v: %s\n", l.Control.Opcode, l.Payload)
		}
	}
	// Output:
	// FPDU of 23 octets, CRC right: true
	// Send: hello
}
