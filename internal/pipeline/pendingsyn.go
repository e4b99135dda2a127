package pipeline

import (
	"bytes"
	"slices"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// A SYN or a SYN-ACK with another number on the ports of a connection that is open opens none yet: a side that has the connection
// answers with an acknowledgement only (RFC 9293 section 3.10.7.4), and the SYN may come from anybody. So it waits beside the
// connection, with what octets it has. With the first packet that has its numbers the one that it belongs to takes the ports; whatever
// has the old ones belongs to the connection that is there.

// pendingSYN is such a SYN.
type pendingSYN struct {
	halfOpen
	of    uint64 // the number of the connection that is open
	side  int    // of that one
	stray bool   // it is no SYN, see holdsStray
	seq   uint32 // its number: seg has another one if it begins behind octets that were not kept
}

// heldOctets is how many octets of a SYN wait with it. As TCP Fast Open has them they fill no more than a segment. What is no SYN may be
// several segments that the host put together.
const (
	heldOctets = 9 << 10
	heldStray  = 64 << 10
)

// holdsSYN takes the segment at hand down, if it is a SYN that asks for another connection on the ports of one that is open, or a
// SYN-ACK of another one.
func (r *Run) holdsSYN(fl *flow, side int, p *packet.Packet) bool {
	s := &r.seg
	if s.Flags&reassembly.FlagSYN == 0 || !fl.conn.Held() || !fl.conn.NewConnection(side, s) {
		return false
	}
	if r.spoils(p) {
		return false
	}
	r.hold(fl, side, p)
	fl.conn.SYNPending(side, s)
	return true
}

// spoils reports whether a packet is damaged, so that nothing begins with it.
func (r *Run) spoils(p *packet.Packet) bool {
	if !r.opt.Sums {
		return false
	}
	verdict, _ := p.Sum()
	return verdict == packet.ChecksumBad
}

// hold has the segment at hand wait beside a connection, in place of what waits there.
func (r *Run) hold(fl *flow, side int, p *packet.Packet) {
	s := &r.seg
	e, swap := p.Endpoints()
	if r.pending == nil {
		r.pending = map[packet.Endpoints]pendingSYN{}
	}
	r.dropPending(fl)
	v := pendingSYN{halfOpen: halfOpen{r.number(), e, swap, *s, r.forced(p)}, of: fl.conn.Trace.Number, side: side, seq: s.Seq}
	most := heldOctets
	if v.stray = s.Flags&reassembly.FlagSYN == 0; v.stray {
		most = heldStray
	}
	v.seg.Data, v.seg.Fragments = bytes.Clone(s.Data[:min(len(s.Data), most)]), slices.Clone(s.Fragments)
	if v.stray && s.Len > most { // a jumbogram: what follows it is in order
		v.seg.Seq, v.seg.Data, v.seg.Len = s.Seq+uint32(s.Len), nil, 0 //nolint:gosec // of a packet
	}
	r.memory.Take(len(v.seg.Data))
	r.pending[e] = v
}

// dropPending forgets the SYN that waits on the ports of a connection, if there is one.
func (r *Run) dropPending(fl *flow) {
	if v, ok := r.pending[fl.ends]; ok {
		r.memory.Take(-len(v.seg.Data))
		delete(r.pending, fl.ends)
	}
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
	switch again := side == v.side && s.Flags&synFlags == v.seg.Flags&synFlags && s.Seq == v.seq && (!v.stray || s.Len > 0); {
	case again && (v.stray || fl.conn.Held()):
		return fl, side, true
	case again || v.began(fl, side, s):
		_, swap := p.Endpoints()
		if v.stray {
			fl.conn.Superseded(v.side, &v.seg)
		} else {
			fl.conn.Displaced()
		}
		before := fl.conn.Trace
		fl = r.reuse(fl, v.swap)
		r.begin(fl, &v.halfOpen)
		if fl.conn.Inherit(before); v.stray {
			fl.conn.Late(v.seg.Frame)
		}
		return fl, sideOf(swap, v.swap), false
	}
	if !v.stray {
		fl.conn.Keeps(side, v.side, s)
	}
	return fl, side, false
}

// synFlags tell a SYN from a SYN-ACK and from what is neither.
const synFlags = reassembly.FlagSYN | reassembly.FlagACK | reassembly.FlagRST

// began reports whether a segment has the numbers of the connection that a SYN is of, and not those of the one that is open.
func (v *pendingSYN) began(fl *flow, side int, s *reassembly.Segment) bool {
	if v.stray {
		return s.Flags&(reassembly.FlagSYN|reassembly.FlagRST|reassembly.FlagACK) == reassembly.FlagACK &&
			fl.conn.Closer(v.side, side, s, &v.seg)
	}
	first, ack := v.seg.Seq+1, s.Flags&reassembly.FlagACK != 0
	answers := v.seg.Flags&reassembly.FlagACK != 0
	switch {
	case side == v.side:
		return s.Flags&reassembly.FlagSYN == 0 && fl.conn.Farther(v.side, s.Seq, first)
	case s.Flags&(reassembly.FlagSYN|reassembly.FlagRST) == 0:
		return ack && fl.conn.Farther(v.side, s.Ack, first)
	case ack: // with or without the octets of the SYN
		return s.Ack == first || s.Ack == first+uint32(v.seg.Len) //nolint:gosec // of a packet
	case s.Flags&reassembly.FlagRST != 0: // a SYN-ACK is refused with the number that it acknowledges
		return answers && s.Seq == v.seg.Ack && fl.conn.Farther(side, s.Seq, v.seg.Ack)
	}
	return answers && (v.seg.Ack == s.Seq+1 || v.seg.Ack == s.Seq+1+uint32(s.Len)) //nolint:gosec // of a packet
}

// tellPending tells of the SYN at hand, which opens nothing yet, as of that of the connection that it asks for.
func (r *Run) tellPending(f *capture.Frame, p *packet.Packet, number uint64) {
	dir := trace.I2R
	if r.seg.Flags&reassembly.FlagACK != 0 {
		dir = trace.R2I
	}
	r.tellStraggler(f, p, &settled{number: number}, dir)
}
