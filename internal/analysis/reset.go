package analysis

import (
	"time"

	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// reset is a RST, which ended the connection as far as is known. Its receiver may ignore it, or answer
// it with an acknowledgement only (RFC 5961 section 3.2), and the connection goes on. Or it came from
// somebody else, and then its sender goes on. What both send behind it shows that.
type reset struct {
	side  int
	stray trace.Stray
	// at is its number in its direction; high and other are where the octets end that were captured
	// before it in its direction, and in the other one.
	at, high, other int64
	time            int64
	ends            bool // the connection ended with it, as far as is known
	heard           bool // the other side has acknowledged more than high since
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
	// outOfOrder is how late a packet may be captured behind one that was sent after it.
	outOfOrder = int64(10 * time.Millisecond)
	// closeNumber is the number that a FIN takes, which may not have been captured.
	closeNumber = 1
	// maxWindow is the largest receive window (RFC 7323 section 2.3).
	maxWindow = 1 << 30
)

// resets notes a RST.
func (c *Conn) resets(side int, s *reassembly.Segment, act *trace.Closing) {
	t, w, h := c.Trace, c.work, c.tcp.Direction(side)
	fl := &t.Flow[c.Dir(side)]
	x := reset{
		side: side, stray: trace.Stray{Frame: s.Frame}, at: h.Offset(s.Seq), high: h.High(), other: c.tcp.Direction(1 - side).High(), time: s.Time,
		before: ending{t.Ending, t.EndedBy, t.EndFrame},
	}
	// Behind its FIN a side may answer what still comes with numbers of the past.
	follow := h.Started() && fl.FIN == nil
	if follow && !c.closed && (x.at+closeNumber < h.Acked() || x.at > max(x.high, h.Acked())+maxWindow) {
		x.stray.Outside = true
		c.tcp.Revive(side)
		if w.reset == nil || !w.reset.ends {
			w.reset = &x
		}
		c.strays(&x)
		return
	}
	if fl.RST == nil {
		fl.RST, act.Behind = act, c.before(side)
	}
	switch {
	case !follow:
	case !c.closed:
		x.ends = true
		w.reset = &x
	case w.reset != nil && w.reset.side == side && w.reset.ends: // whatever shows that both had no effect
		r := w.reset
		r.at, r.high, r.other, r.time = max(r.at, x.at), x.high, x.other, x.time
		r.stray.More++
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
	case s.Flags&reassembly.FlagSYN != 0:
		return
	case s.Flags&reassembly.FlagRST != 0:
		if side != r.side {
			c.work.reset = nil // for both sides the connection is over
		}
		return
	case side == r.side:
		if r.stray.On == 0 && c.goesOn(r, s) {
			r.stray.On = s.Frame
			c.strays(r)
		}
		return
	case s.Flags&reassembly.FlagACK == 0 || !r.ends:
		return
	}
	acked := c.tcp.Direction(r.side).Offset(s.Ack)
	r.heard = r.heard || acked > r.high
	if acked > r.at+closeNumber || r.stray.On > 0 && acked > r.high {
		r.stray.Passed = s.Frame
		c.revive(r)
	}
}

// goesOn reports whether a packet of the side that sent a RST shows that the side has not reset the
// connection: it has octets that were not sent by then, or acknowledges some.
func (c *Conn) goesOn(r *reset, s *reassembly.Segment) bool {
	h, peer := c.tcp.Direction(r.side), c.tcp.Direction(1-r.side)
	if s.Flags&reassembly.FlagACK != 0 && peer.Started() && !peer.Trails() && !h.Trails() {
		if acked := peer.Offset(s.Ack); acked > r.other && acked <= peer.High() {
			return true
		}
	}
	if s.Len == 0 {
		return false
	}
	end := h.Offset(s.Seq) + int64(s.Len)
	if end <= r.high { // sent again, as its timer ran out, and no copy of what came before
		return end > h.Acked() && s.Time-r.time >= minStall
	}
	return end > r.at || r.heard || s.Time-r.time >= outOfOrder
}

// strays puts a RST into the record of its direction, or what is known of it by now.
func (c *Conn) strays(r *reset) {
	k := c.Trace.Flow[c.Dir(r.side)].Rarely()
	n := len(k.Strays)
	switch {
	case r.listed:
		if last := &k.Strays[n-1]; last.Frame == r.stray.Frame {
			*last = r.stray
		}
	case n < trace.MaxStrays:
		k.Strays, r.listed = append(k.Strays, r.stray), true
	default:
		k.Strays[n-1].More++
	}
}

// revive takes back that a RST ended the connection.
func (c *Conn) revive(r *reset) {
	t := c.Trace
	t.Ending, t.EndedBy, t.EndFrame = r.before.how, r.before.by, r.before.frame
	t.Flow[c.Dir(r.side)].RST = nil
	c.closed, c.told = c.dirs[0].fin && c.dirs[1].fin, false
	c.tcp.Revive(r.side)
	c.strays(r)
	c.work.reset = nil
}
