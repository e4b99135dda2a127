package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// Connections counts the TCP connections that a source begins with: it stops when there are as many as asked for, or
// after so many frames or octets.
func Connections(src capture.Source, most, frames, octets int) int {
	seen := map[packet.Endpoints]struct{}{}
	var f capture.Frame
	var p packet.Packet
	for frames > 0 && octets > 0 && len(seen) < most && src.Next(&f) == nil {
		frames--
		octets -= len(f.Data)
		if uint16(f.Link) == packet.LinkEthernet && packet.Plain(f.Data, &p) && p.Proto == packet.ProtoTCP {
			e, _ := p.Endpoints()
			seen[e] = struct{}{}
		}
	}
	return len(seen)
}
