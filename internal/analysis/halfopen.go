package analysis

import (
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Open reports whether neither side has closed or reset the connection.
func (c *Conn) Open() bool { return c.work != nil && !c.closed && !c.dirs[0].fin && !c.dirs[1].fin }

// Displace notes that a side opens another connection on the same ports, while this one is open.
func (c *Conn) Displace(side int, s *reassembly.Segment) {
	if !c.Open() || s.Flags&reassembly.FlagACK != 0 || !c.Trace.IsMPA {
		return
	}
	k := c.halfOpen()
	k.Again, k.By, k.Opened = s.Frame, c.Dir(side), true
}

// Held reports whether both sides have the connection, and neither has closed or reset it.
func (c *Conn) Held() bool {
	return c.Open() && c.tcp.Direction(0).Started() && c.tcp.Direction(1).Started()
}

// SYNPending notes a SYN or a SYN-ACK with another number, while both sides have the connection.
func (c *Conn) SYNPending(side int, s *reassembly.Segment) {
	c.usedAgain(&trace.HalfOpen{Again: s.Frame, By: c.Dir(side), Answers: s.Flags&reassembly.FlagACK != 0})
}

// usedAgain notes how the ports are used again, in place of what was noted of that before.
func (c *Conn) usedAgain(now *trace.HalfOpen) {
	k := c.halfOpen()
	now.Answer, now.Reset, now.Late, now.Leap, now.Quiet, now.Lone, now.Lones = k.Answer, k.Reset, k.Late, k.Leap, k.Quiet, k.Lone, k.Lones
	*k = *now
}

// Displaced notes that the connection which the SYN asked for took the ports.
func (c *Conn) Displaced() {
	if k := c.halfOpen(); c.Open() {
		k.On, k.Opened = 0, true
	}
}

// Keeps notes a packet with the numbers of the connection, behind a SYN of a side with others.
func (c *Conn) Keeps(side, by int, s *reassembly.Segment) {
	k := c.halfOpen()
	switch reset := s.Flags&reassembly.FlagRST != 0; {
	case !c.Open() || s.Flags&reassembly.FlagSYN != 0:
	case side == by && reset:
		if k.Held > 0 && k.On == 0 {
			k.Ended = s.Frame
		}
	case side == by:
		if k.On == 0 {
			k.On = s.Frame
		}
	case k.Held == 0 && k.On == 0 && !reset && s.Len == 0 && !c.tcp.Direction(by).News(s):
		k.Held = s.Frame
	}
}

// Farther reports whether a number of a side, or one that the other side acknowledges, is farther from where the connection is than
// from the first number behind a SYN.
func (c *Conn) Farther(side int, number, first uint32) bool {
	const reach = 1 << 24
	h := c.tcp.Direction(side)
	at := h.Offset(number) - max(h.High(), h.Acked())
	return number-first < reach && max(at, -at) > int64(number-first)
}

func (c *Conn) halfOpen() *trace.HalfOpen {
	if c.Trace.HalfOpen == nil {
		c.Trace.HalfOpen = new(trace.HalfOpen)
	}
	return c.Trace.HalfOpen
}

// Asked reports whether nothing but SYNs of the side that opens the connection was seen of it.
func (c *Conn) Asked() bool {
	if c.work == nil {
		return false
	}
	fl := &c.Trace.Flow[c.Dir(0)]
	return fl.Opens && fl.Octets == 0 && c.Trace.Flow[c.Dir(1)].Frames == 0
}

// Challenged notes a packet with the numbers of the connection that was open on the same ports before: the answer of the other
// side to the SYN, and the reset by which that is answered. It reports whether it is one of them.
func (c *Conn) Challenged(side int, s *reassembly.Segment) bool {
	reset := s.Flags&reassembly.FlagRST != 0
	switch {
	case side == 1 && !reset && s.Flags&reassembly.FlagACK != 0:
		if k := c.halfOpen(); k.Answer == 0 {
			k.Answer = s.Frame
		}
		return true
	case side == 0 && reset && c.Trace.HalfOpen != nil && c.Trace.HalfOpen.Answer > 0:
		if k := c.Trace.HalfOpen; k.Reset == 0 {
			k.Reset = s.Frame
		}
		return true
	}
	return false
}

// Inherit takes over what the connection before it on the same ports showed when this one was asked for, or what one showed that was
// asked for and not answered.
func (c *Conn) Inherit(from *trace.Connection) {
	k := from.HalfOpen
	switch {
	case k == nil:
	case k.Held > 0 && k.On == 0:
		c.Trace.HalfOpen = &trace.HalfOpen{Answer: k.Held, Reset: k.Ended}
	case k.Answer > 0 && from.Flow[0].Octets+from.Flow[1].Octets == 0:
		c.Trace.HalfOpen = &trace.HalfOpen{Answer: k.Answer, Reset: k.Reset}
	}
}
