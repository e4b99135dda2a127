package analysis

import (
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// moves notes that a direction makes progress with the packet at hand, which has not been
// taken in yet.
func (c *Conn) moves(side int, s *reassembly.Segment, end trace.StallEnd) {
	w := c.work
	if w.quiet(side, s.Time) {
		c.paused(side, s, end)
	}
	w.moved[side] = progress{s.Time, s.Frame}
}

// acknowledges notes the progress that a packet tells the other side of.
func (c *Conn) acknowledges(side int, s *reassembly.Segment) {
	h := c.work.tcp.Direction(1 - side)
	if h.Started() && h.Offset(s.Ack) > h.Acked() {
		c.moves(1-side, s, trace.StallAck)
	}
}

// arrival is a packet that is not the next FPDU in order: what was known before it.
type arrival struct {
	off, end  int64
	high      int64
	waiting   bool
	shown     int64 // when octets behind its own came, if they wait
	duplicate bool
}

// arrives notes the progress that a packet makes, before it is taken in.
func (c *Conn) arrives(side int, s *reassembly.Segment) (a arrival) {
	h, peer := c.work.tcp.Direction(side), c.work.tcp.Direction(1-side)
	if news := peer.News(s); news {
		c.acknowledges(side, s)
	} else if s.Len == 0 && s.Flags == reassembly.FlagACK {
		a.duplicate = peer.High() > peer.Acked()
	}
	if s.Flags&reassembly.FlagSYN != 0 {
		c.handshake(side, s)
		return a
	}
	if c.work.syn != 0 && c.work.rtt == 0 && peer.Started() && c.Trace.Flow[c.Dir(side)].Opens {
		c.work.rtt = max(between(c.work.syn, s.Time), 0)
	}
	if s.Len == 0 || !h.Started() || s.Flags&reassembly.FlagRST != 0 {
		return a
	}
	a.off = h.Offset(s.Seq)
	a.end, a.high, a.waiting = a.off+int64(s.Len), h.High(), h.Waiting()
	if a.waiting && a.off < a.high {
		a.shown, _ = h.Since(a.end)
	}
	if next := h.Next(); a.end > a.high || a.off <= next && next < a.end {
		c.moves(side, s, trace.StallData)
	}
	if fin := h.FIN(); fin > a.high { // it shows a hole as octets do
		a.high, a.waiting = fin, true
	}
	return a
}

// handshake notes when the connection was asked for.
func (c *Conn) handshake(side int, s *reassembly.Segment) {
	if s.Flags&reassembly.FlagACK == 0 {
		c.work.syn = s.Time
	} else if !c.Trace.Flow[c.Dir(1-side)].Opens {
		c.work.syn = 0
	}
}

// opensAgain notes that a side sends its SYN again. One that comes sooner than a timer runs out is a copy.
func (c *Conn) opensAgain(fl *trace.Flow, s *reassembly.Segment) {
	wait := trace.Elapsed(c.Trace.FirstTime, s.Time)
	if c.Trace.FirstTime == 0 || s.Time == 0 || wait < minStall {
		return
	}
	d := fl.Delayed()
	d.SYNs++
	d.LastSYN, d.SYNWait = s.Frame, wait
}

// tookIn notes what a packet was, after it was taken in.
func (c *Conn) tookIn(side int, s *reassembly.Segment, a *arrival, note reassembly.Note) {
	w := c.work
	if a.duplicate || s.SACK {
		c.reports(side, s, a.duplicate)
	}
	h := w.tcp.Direction(side)
	if s.Len == 0 || a.end == 0 {
		return
	}
	fl, now := &c.Trace.Flow[c.Dir(side)], trace.Moment{Frame: s.Frame, Time: s.Time}
	switch {
	case note&reassembly.Retransmission != 0:
		if w.more != nil {
			if stamped, ok := w.more.sides[side].clock.overtaken(c.env, a.off); ok {
				behindCopy(fl, stamped, now)
				return
			}
		}
		w.repeated(side, fl, stretch{a.off, a.end}, h.Acked(), a.high, now)
	case a.waiting && a.off < a.high && note&reassembly.LateForGap == 0:
		c.fills(side, fl, a, now)
	case h.Waiting():
		t := &w.trouble().sides[side]
		if !a.waiting {
			t.opens(s.Time)
			t.clock.shows(c.env, a.off)
		} else if a.end > a.high {
			since := s.Time - t.holeAt
			t.clock.goesOn(c.env, since >= 0 && since < w.rtt/muchLonger)
		}
	}
}

// fills notes a packet that was not seen before, whose octets come behind later ones.
func (c *Conn) fills(side int, fl *trace.Flow, a *arrival, now trace.Moment) {
	w := c.work
	k, acked := &w.trouble().sides[side].clock, w.tcp.Direction(side).Acked()
	sent := k.order(c.env, a.off)
	if sent == sentUnknown && acked >= a.end {
		sent = sentBefore // the receiver had it before this packet was captured
	}
	if w.filled(side, fl, acked, now, a.shown, sent) {
		k.overtook(c.env, a.off, sent == sentAfter)
	}
}

// reports notes that a side lacks octets, as its acknowledgement tells. If it has all, it tells of
// octets that came twice, such as that of a keep-alive (RFC 2883).
func (c *Conn) reports(side int, s *reassembly.Segment, again bool) {
	if h := c.work.tcp.Direction(1 - side); h.High() > h.Acked() {
		c.work.trouble().sides[1-side].duplicate(h.Acked(), again, s.SACK)
	}
}

// window notes that a side closed its receive window, or opened it again.
func (c *Conn) window(side int, s *reassembly.Segment) {
	if s.Flags&(reassembly.FlagSYN|reassembly.FlagRST) == 0 && c.running() {
		c.work.announce(side, s.ZeroWindow, c.blocked(1-side) || c.work.probed(1-side), &c.Trace.Flow[c.Dir(side)], trace.Moment{Frame: s.Frame, Time: s.Time})
	}
}

// blocked reports whether a side has something to send for certain.
func (c *Conn) blocked(side int) bool {
	var u undone
	c.waited(side, &u)
	return u.Open || u.Owed > 0
}

// running reports whether FPDUs are under way, or may be.
func (c *Conn) running() bool {
	t := c.Trace
	begun := c.dirs[0].phase >= opening || c.dirs[1].phase >= opening
	return t.IsMPA && begun && t.Outcome != trace.Rejected && t.Terminates == [2]*trace.Terminate{}
}

// paused looks at a direction that made no progress for long until a packet, or until the
// clock went back. s is nil at the end of the capture.
func (c *Conn) paused(side int, s *reassembly.Segment, end trace.StallEnd) {
	w, h, fl := c.work, c.work.tcp.Direction(side), &c.Trace.Flow[c.Dir(side)]
	m := &w.moved[side]
	now := trace.Moment{Time: c.env.End}
	if s != nil {
		now = trace.Moment{Frame: s.Frame, Time: s.Time}
	}
	if !m.timed() || now.Time == 0 {
		return
	}
	if now.Time < m.time {
		w.steppedBack(m.time-now.Time, now.Frame, fl)
		return
	}
	// Behind a FIN nothing has to get on, but for octets in front of it that are missing.
	if !c.running() || (w.closed || w.dirs[0].fin || w.dirs[1].fin) && !(end == trace.StallData && h.Early()) {
		return
	}
	u := undone{Stall: trace.Stall{End: end, Hole: h.Waiting() || h.Early(), LastOnes: !h.Waiting() && h.Early()}}
	high := max(h.High(), h.FIN())
	switch {
	case end == trace.StallData:
		off := h.Offset(s.Seq)
		if off > high {
			return // the capture missed something: there was progress
		}
		u.filled = u.Hole && off <= h.Next()
	case end == trace.StallAck && h.Offset(s.Ack) > high+1:
		return
	}
	if h.Heard() {
		u.Unacked = max(high-h.Acked(), 0)
	}
	c.waited(side, &u)
	if w.judge(side, &u, now) {
		u.Deaf = u.Probes > 0 && w.silent().deaf(side, c.Trace.Flow[c.Dir(1-side)].Frames, u.Probes)
		stalled(fl, &u.Stall)
	}
}

// waited fills in the requests and the message that waited while a direction paused, as
// far as the capture is complete enough to know.
func (c *Conn) waited(side int, u *undone) {
	for i := range 2 {
		fl := &c.Trace.Flow[c.Dir(i)]
		if fl.Cut || fl.Frames == 0 || fl.Rare().Malformed > 0 || fl.CRCBad > 0 || c.tcp.Direction(i).Counts().Gaps > 0 {
			return
		}
	}
	u.waits(&c.queues, side)
	if h := &c.dirs[side]; h.dec != nil && !h.ended && h.dec.Open() > 0 {
		u.Open = true
	}
}

// waits fills in what waits in a direction.
func (u *undone) waits(q *[2]queues, side int) {
	if r := q[1-side].requests(); len(r) > 0 {
		if u.Owed == 0 || r[0].time < u.request.Time {
			u.request = trace.Moment{Frame: r[0].frame, Time: r[0].time}
		}
		u.Owed += len(r)
	}
	u.Asked += len(q[side].requests())
	u.Open = u.Open || q[side].out != nil && q[side].out.anyOpen()
}

// stops looks at both directions when the connection ends.
func (c *Conn) stops(s *reassembly.Segment, end trace.StallEnd) {
	now := c.env.End
	if s != nil {
		now = s.Time
	}
	for side := range 2 {
		if now != 0 && now > c.work.moved[side].time && c.work.quiet(side, now) {
			c.paused(side, s, end)
		}
	}
}

// endWindows sums up the windows that were never opened again.
func (c *Conn) endWindows() {
	for side, shut := range c.work.shut {
		if shut {
			c.work.reopened(side, c.blocked(1-side) || c.work.probed(1-side), &c.Trace.Flow[c.Dir(side)], trace.Moment{Time: max(c.Trace.LastTime, c.env.End)})
		}
	}
}

// leads notes for both directions by how much acknowledgements came before what they acknowledge.
func (c *Conn) leads() {
	for side := range 2 {
		if by, ack, data := c.tcp.Direction(side).Lead(); by > 0 {
			c.Trace.Flow[c.Dir(side)].Delayed().Lead = trace.Lead{By: by, Ack: ack, Data: data}
		}
	}
}
