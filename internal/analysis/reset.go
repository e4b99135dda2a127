package analysis

import (
	"github.com/iwdissect/iwdissect/internal/ahead"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// reset is a RST, which ended the connection as far as is known. Its receiver may ignore it, or answer
// it with an acknowledgement only (RFC 5961 section 3.2), and the connection goes on. Or it came from
// somebody else, and then its sender goes on. What both send behind it shows that.
type reset struct {
	side   int
	record trace.DoubtfulReset
	// at is its number in its direction; high and other are where the octets end that were captured
	// before it in its direction, and in the other one.
	at, high, other int64
	time            int64
	ends            bool // the connection ended with it, as far as is known
	heard           bool // the other side has acknowledged more than high since
	far             bool // beyond the receive window, unless the capture lacks what lies between
	inexact         bool // its number is not the next one of its side
	listed          bool // in the record of the direction
	before          ending
}

// ending is how a connection ended.
type ending struct {
	how   trace.Ending
	by    trace.Dir
	frame uint64
}

const (
	// closeNumber is the number that a FIN takes, which may not have been captured.
	closeNumber = 1
	// maxWindow is the largest receive window (RFC 7323 section 2.3).
	maxWindow = 1 << 30
	// maxScale is the largest shift of windows (RFC 7323 section 2.3).
	maxScale = 14
)

// resets notes a RST.
func (c *Conn) resets(side int, s *reassembly.Segment, act *trace.Closing) {
	t, w, h := c.Trace, c.work, c.tcp.Direction(side)
	fl := &t.Flow[c.Dir(side)]
	x := reset{
		side: side, record: trace.DoubtfulReset{Frame: s.Frame}, at: h.Offset(s.Seq), high: h.High(), other: c.tcp.Direction(1 - side).High(), time: s.Time,
		before: ending{t.Ending, t.EndedBy, t.EndFrame},
	}
	// Behind its FIN a side may answer what still comes with numbers of the past.
	follow := h.Started() && fl.FIN == nil
	x.far, x.inexact = x.at > max(x.high, h.Acked())+c.reach(1-side), x.at != max(x.high, h.Acked())
	if follow && !c.closed && (x.at+closeNumber < h.Acked() || x.at > max(x.high, h.Acked())+maxWindow) {
		x.record.Outside = true
		c.tcp.Revive(side)
		if w.reset == nil || !w.reset.ends {
			w.reset = &x
		}
		c.keepDoubtful(&x)
		return
	}
	if fl.RST == nil {
		fl.RST, act.Behind = act, c.before(side)
	}
	switch {
	case !follow:
		if w.reset != nil && w.reset.side != side {
			w.reset = nil // for both sides the connection is over
		}
	case !c.closed:
		x.ends = true
		w.reset = &x
	case w.reset == nil || !w.reset.ends:
	case w.reset.side != side:
		if w.counter == nil && !x.far && x.at+closeNumber >= h.Acked() {
			w.counter = &x
		}
	default: // whatever shows that both had no effect
		r := w.reset
		r.at, r.high, r.other, r.time = max(r.at, x.at), x.high, x.other, x.time
		if r.far, r.inexact = x.far, x.inexact; !r.inexact {
			r.record.Challenge = 0 // the answer to that may be the reset with the right number
		}
		r.record.More++
	}
	if !c.closed {
		c.stops(s, trace.StallReset)
		t.Ending, t.EndFrame = trace.RST, s.Frame
		t.EndedBy = trace.Dir(side) //nolint:gosec // a side until Finish
		c.closed = true
	}
	// No startup frame will come any more for what waits for one.
	c.force(side)
	c.force(1 - side)
}

// behindReset looks at a packet behind a RST, before it is taken in.
func (c *Conn) behindReset(side int, s *reassembly.Segment) {
	r := c.work.reset
	switch {
	case s.Flags&(reassembly.FlagSYN|reassembly.FlagRST) != 0:
		return
	case side == r.side:
		c.behindOwn(r, s)
		return
	case c.work.counter != nil: // for both sides the connection is over
		c.behindOwn(c.work.counter, s)
		return
	case s.Flags&reassembly.FlagACK == 0 || !r.ends:
		return
	}
	h := c.tcp.Direction(r.side)
	acked := h.Offset(s.Ack)
	r.heard = r.heard || acked > r.high
	if r.inexact && r.record.Challenge == 0 && s.Len == 0 && s.Flags == reassembly.FlagACK && !s.SACK && acked == r.high {
		r.record.Challenge = s.Frame
	}
	if acked > r.at+closeNumber || r.record.On > 0 && acked > r.high {
		c.passes(r, s.Frame)
	}
}

// behindOwn looks at a packet of the side that sent a RST before.
func (c *Conn) behindOwn(r *reset, s *reassembly.Segment) {
	if r.record.On > 0 || !c.goesOn(r, s) {
		return
	}
	r.record.On = s.Frame
	c.keepDoubtful(r)
	switch {
	case !r.ends || c.work.counter != nil:
	case r.far:
		r.record.Outside = true
		c.revive(r)
	case r.record.Challenge > 0:
		c.passes(r, r.record.Challenge)
	}
}

// passes notes that a RST had no effect, as a packet of the other side shows.
func (c *Conn) passes(r *reset, frame uint64) {
	if r.record.Passed = frame; r.far {
		r.record.Outside = true
	}
	c.revive(r)
}

// reach is how far the receive window of a side reaches at most.
func (c *Conn) reach(side int) int64 {
	w, t := c.work, c.Trace
	if !t.Flow[0].SYN || !t.Flow[1].SYN {
		return maxWindow
	}
	shift := uint8(0)
	if w.scale[0] > 0 && w.scale[1] > 0 {
		shift = min(w.scale[side]-1, maxScale)
	}
	const newer = 2 // a larger one may be on its way
	return newer * 4 << (2 * w.room[side]) << shift
}

// goesOn reports whether a packet of the side that sent a RST shows that the side has not reset the
// connection: it has octets that were not sent by then, or acknowledges some.
func (c *Conn) goesOn(r *reset, s *reassembly.Segment) bool {
	h, peer := c.tcp.Direction(r.side), c.tcp.Direction(1-r.side)
	if s.Flags&reassembly.FlagACK != 0 && peer.Started() && !peer.Trails() && !h.Trails() {
		if acked := peer.Offset(s.Ack); acked > r.other && acked <= peer.High()+closeNumber {
			return true
		}
	}
	if s.Len == 0 {
		return r.far && s.Flags&reassembly.FlagFIN != 0
	}
	end := h.Offset(s.Seq) + int64(s.Len)
	if end <= r.high { // sent again, as its timer ran out, and no copy of what came before
		return end > h.Acked() && s.Time-r.time >= minStall
	}
	return end > r.at || r.far || r.heard || s.Time-r.time >= ahead.OutOfOrder
}

// keepDoubtful puts a RST into the record of its direction, or what is known of it by now.
func (c *Conn) keepDoubtful(r *reset) {
	k := c.Trace.Flow[c.Dir(r.side)].Rarely()
	n := len(k.DoubtfulResets)
	switch {
	case r.listed:
		if last := &k.DoubtfulResets[n-1]; last.Frame == r.record.Frame {
			*last = r.record
		}
	case n < trace.MaxDoubtfulResets:
		k.DoubtfulResets, r.listed = append(k.DoubtfulResets, r.record), true
	default:
		k.DoubtfulResets[n-1].More++
	}
}

// revive takes back that a RST ended the connection.
func (c *Conn) revive(r *reset) {
	t := c.Trace
	t.Ending, t.EndedBy, t.EndFrame = r.before.how, r.before.by, r.before.frame
	if r.before.how == trace.Open {
		c.closedBehind()
	}
	t.Flow[c.Dir(r.side)].RST = nil
	c.closed, c.told = c.dirs[0].fin && c.dirs[1].fin, false
	c.tcp.Revive(r.side)
	c.keepDoubtful(r)
	c.work.reset, c.work.counter = nil, nil
}

// closedBehind says which side closed the connection behind a RST that had no effect, if one did: see ending.
func (c *Conn) closedBehind() {
	t := c.Trace
	fin := [2]*trace.Closing{t.Flow[c.Dir(0)].FIN, t.Flow[c.Dir(1)].FIN}
	side := 0
	switch {
	case fin[0] == nil && fin[1] == nil:
		return
	case fin[0] == nil:
		side = 1
	case fin[1] != nil:
		if fin[1].Frame < fin[0].Frame {
			side = 1
		}
		if fin[side].Acked > fin[1-side].At { // captured first, and yet an answer
			side = 1 - side
		}
	}
	t.Ending, t.EndFrame = trace.FIN, fin[side].Frame
	t.EndedBy = trace.Dir(side) // a side until Finish
}
