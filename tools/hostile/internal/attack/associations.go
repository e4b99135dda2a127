package attack

import (
	"io"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// associations are attacks on SCTP.
func associations() []Attack {
	return []Attack{{
		Name: "inits", What: "SCTP INITs of a hundred addresses each", Unit: "INITs",
		Size: 10_000, Full: 100_000, Command: analyze, Open: "its work grows faster than their number", Write: inits,
	}}
}

func inits(out io.Writer, size int) error {
	const addresses = 100
	return capture(out, func(w *wire) {
		for i := range size {
			params := make([]byte, 0, 8*addresses)
			for j := range addresses {
				// IPv4 Address, RFC 9260 section 3.3.2.1.1.
				params = append(params, 0, 5, 0, 8, 100, byte(i>>8), byte(i), byte(j))
			}
			tag := uint32(i + 1)
			init := sctp.Init{Tag: tag, Window: 1 << 20, Out: 10, In: 10, TSN: 100, Params: params}
			h := sctp.Header{SrcPort: uint16(1024 + i%50_000), DstPort: 5001}
			p := init.Chunk(false).Append(h.Append(nil))
			h.Checksum = sctp.Sum(p)
			copy(p, h.Append(nil))
			w.put(&packet.Build{Src: address(i), Dst: packet.Addr4(10, 255, 0, 1), Proto: packet.ProtoSCTP, Payload: p})
		}
	})
}
