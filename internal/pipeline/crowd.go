package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// Beginning is what a capture begins with.
type Beginning struct {
	// Connections are those of TCP.
	Connections int
	// Frames are all that were looked at, Data those of TCP with a payload, Octets those of all that were captured.
	Frames, Data, Octets int
}

// Look looks at the first frames of a source, until it has seen as many connections, frames or octets as most has.
func Look(src capture.Source, most Beginning) (b Beginning) {
	seen := map[packet.Endpoints]struct{}{}
	var f capture.Frame
	var p packet.Packet
	for b.Frames < most.Frames && b.Octets < most.Octets && len(seen) < most.Connections && src.Next(&f) == nil {
		b.Frames++
		b.Octets += len(f.Data)
		if uint16(f.Link) == packet.LinkEthernet && packet.Plain(f.Data, &p) && p.Proto == packet.ProtoTCP {
			e, _ := p.Endpoints()
			seen[e] = struct{}{}
			if p.PayloadLen > 0 {
				b.Data++
			}
		}
	}
	b.Connections = len(seen)
	return b
}
