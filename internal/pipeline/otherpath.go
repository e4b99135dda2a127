package pipeline

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// A capture that begins late does not show the addresses of an association with several of them. Between two paths that share no address, its
// tags and ports are the same; and the TSNs of the one go on with those of the other. On the two sides of a translator of
// addresses the TSNs are the same, and the copies come with the first packets.

// otherPath returns the association with which a packet goes on that comes between addresses of none, or of a, which only has
// HEARTBEATs; and which side sent it. nil: there is none.
func (r *Run) otherPath(a *association, p *packet.Packet, tag uint32, o *opening) (x *association, side int) {
	t := r.assocs
	if !o.ok || o.Type == sctp.TypeInit || o.reflected || tag == 0 || r.chunks.Checksum == sctp.Bad {
		return nil, 0
	}
	k, _ := p.Endpoints()
	if a != nil {
		if x = a.twin; !a.conn.Idle() || len(t.places[k]) > 1 {
			return nil, 0
		}
	} else if x = t.tags[tagKey{tag, p.SrcPort, p.DstPort}]; len(t.places[k]) > 0 {
		return nil, 0
	}
	if x == nil || x.keys == nil || x.conn.HasInit() || len(x.addrs[0]) >= maxAddresses || len(x.addrs[1]) >= maxAddresses {
		return nil, 0
	}
	for side = range 2 {
		if x.ports[side] == p.SrcPort && x.ports[1-side] == p.DstPort && x.known[side] && x.tag[side] == tag {
			if !x.conn.Continues(side, p.Payload, p.PayloadLen) {
				return nil, 0
			}
			if a != nil {
				r.dissociate(a)
			}
			for s, addr := range [...]packet.Addr{p.Src, p.Dst} {
				if s ^= side; !slices.Contains(x.addrs[s], addr) {
					x.addrs[s] = append(x.addrs[s], addr)
				}
			}
			t.enterAll(x)
			return x, side
		}
	}
	return nil, 0
}
