package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// A SYN with another number on the ports of a connection that is open opens none yet: a side that has the connection answers with an
// acknowledgement only (RFC 9293 section 3.10.7.4), and the SYN may come from anybody. So it waits beside the connection. With
// the first packet that has its numbers the one that it asks for takes the ports; whatever has the old ones belongs to
// the connection that is there.

// pendingSYN is such a SYN.
type pendingSYN struct {
	halfOpen
	of   uint64 // the number of the connection that is open
	side int    // of that one
}

// holdsSYN takes the segment at hand down, if it is a SYN that asks for another connection on the ports of one that is open.
func (r *Run) holdsSYN(fl *flow, side int, p *packet.Packet) bool {
	s := &r.seg
	if !loneSYN(s) || !fl.conn.Held() || r.forced(p) || !fl.conn.NewConnection(side, s) {
		return false
	}
	if r.opt.Sums {
		if verdict, _ := p.Sum(); verdict == packet.ChecksumBad {
			return false
		}
	}
	e, swap := p.Endpoints()
	if r.pending == nil {
		r.pending = map[packet.Endpoints]pendingSYN{}
	}
	r.pending[e] = pendingSYN{halfOpen{r.number(), e, swap, *s}, fl.conn.Trace.Number, side}
	fl.conn.SYNPending(side, s)
	return true
}

// pendingOf returns the SYN that waits beside a connection, if there is one.
func (r *Run) pendingOf(fl *flow) (v pendingSYN, ok bool) {
	if len(r.pending) > 0 && fl != nil {
		v, ok = r.pending[fl.ends]
		ok = ok && v.of == fl.conn.Trace.Number
	}
	return v, ok
}

// hasPending reports whether a SYN waits beside a connection.
func (r *Run) hasPending(fl *flow) bool {
	_, ok := r.pendingOf(fl)
	return ok
}

// settlePending sees to the SYN that waits beside a connection, if there is one. It returns the connection that the segment at
// hand belongs to, which is another one with the first packet that has the numbers of the SYN, and reports whether the segment is
// the SYN once more.
func (r *Run) settlePending(fl *flow, side int, p *packet.Packet) (now *flow, from int, again bool) {
	v, ok := r.pendingOf(fl)
	if !ok || r.opt.Sums && fl.spoilt(side, p) {
		return fl, side, false
	}
	s := &r.seg
	switch again := side == v.side && loneSYN(s) && s.Seq == v.seg.Seq; {
	case again && fl.conn.Held():
		return fl, side, true
	case again || v.began(fl, side, s):
		_, swap := p.Endpoints()
		fl.conn.Displaced()
		before := fl.conn.Trace
		fl = r.reuse(fl, v.swap)
		r.begin(fl, &v.halfOpen)
		fl.conn.Inherit(before)
		return fl, sideOf(swap, v.swap), false
	}
	fl.conn.Keeps(side, v.side, s)
	return fl, side, false
}

// began reports whether a segment has the numbers of the connection that a SYN asks for, and not those of the one that is open.
func (v *pendingSYN) began(fl *flow, side int, s *reassembly.Segment) bool {
	first, ack := v.seg.Seq+1, s.Flags&reassembly.FlagACK != 0
	switch {
	case side == v.side:
		return s.Flags&reassembly.FlagSYN == 0 && fl.conn.Farther(v.side, s.Seq, first)
	case s.Flags&(reassembly.FlagSYN|reassembly.FlagRST) != 0:
		return ack && s.Ack == first
	}
	return ack && fl.conn.Farther(v.side, s.Ack, first)
}

// tellPending tells of the SYN at hand, which opens nothing yet, as of that of the connection that it asks for.
func (r *Run) tellPending(f *capture.Frame, p *packet.Packet, number uint64) {
	r.tellStraggler(f, p, &settled{number: number}, trace.I2R)
}
