package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/trace"
)

// Of a connection on the ports of an earlier one the SYNs may be missing from the capture. Its first packet that can belong to no
// other, see [reassembly.Conn.Apart], waits beside the old connection as a SYN does (pendingsyn.go): one packet may be forged or
// damaged. With the next one that has such numbers, of either side, the new connection takes the ports.

// holdsStray takes the segment at hand down, if it is certain to belong to another connection than the one on its ports.
func (r *Run) holdsStray(fl *flow, side int, p *packet.Packet) bool {
	if fl.conn.Continues(side, &r.seg) || !fl.conn.Strays(side, &r.seg) || r.spoils(p) {
		return false
	}
	r.hold(fl, side, p)
	fl.conn.Strayed(r.seg.Frame)
	return true
}

// former returns the connection that had the ports of late, if the segment at hand lies in that and not in the one that has them now:
// it is a late one.
func (r *Run) former(p *packet.Packet, fl *flow, side int) (was settled, dir trace.Dir, ok bool) {
	s := &r.seg
	if !r.reused || fl == nil || fl.conn.Continues(side, s) || !fl.conn.FarFrom(side, s) {
		return was, 0, false
	}
	e, swap := p.Endpoints()
	for _, was := range r.repeatsOf(&e).past[e] {
		if side := sideOf(swap, was.swap); s.Time < was.until && was.syns.Holds(side, s) && was.syns.Acknowledged(side, s) {
			return was, was.dir(side), true
		}
	}
	return was, 0, false
}
