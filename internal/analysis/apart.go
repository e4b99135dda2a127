package analysis

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Continues reports whether a packet of a side is the next one, as nearly every packet is.
func (c *Conn) Continues(side int, s *reassembly.Segment) bool {
	return c.tcp.Direction(side).Continues(s.Seq)
}

// Strays reports whether a packet is certain to belong to another connection on the same ports, whose SYNs were not captured.
func (c *Conn) Strays(side int, s *reassembly.Segment) bool {
	switch c.tcp.Apart(side, s) {
	case reassembly.Other:
		return true
	case reassembly.FarApart:
		return startupAlone(s)
	case reassembly.Apart: // a startup frame comes once
		return c.wasReset() || (c.Trace.Side[c.Dir(side)].HasStartup || c.dirs[side].phase == full) && startupAlone(s)
	default:
		return false
	}
}

// wasReset reports whether a RST ended the connection, as far as can be seen: it had the number that the other side awaits, and nothing
// shows that it had no effect.
func (c *Conn) wasReset() bool {
	r := c.work.reset
	return (c.tcp.Reset(0) || c.tcp.Reset(1)) && (r == nil || !r.inexact && r.record.On == 0 && r.record.Challenge == 0)
}

// FarFrom reports whether a packet lies so far from the connection that it need not be of it. While that is no more than a SYN, the numbers
// of one side tell.
func (c *Conn) FarFrom(side int, s *reassembly.Segment) bool {
	if c.Asked() {
		number := s.Seq
		if side == 1 {
			number = s.Ack
		}
		return s.Flags&(reassembly.FlagSYN|reassembly.FlagRST|reassembly.FlagACK) == reassembly.FlagACK && c.tcp.Direction(0).Outside(number)
	}
	return c.tcp.Apart(side, s) >= reassembly.FarApart
}

// startupAlone reports whether a packet holds a startup frame and nothing else.
func startupAlone(s *reassembly.Segment) bool {
	kind, ok := mpa.KeyKind(s.Data)
	return ok && kind != mpa.StartupRTR && len(s.Data) >= mpa.StartupLen && s.Len == mpa.StartupLen+int(mpa.PrivateLen(s.Data))
}

// Closer reports whether the numbers of a packet of a side are closer to those of one that strayed, which another side may have sent, than
// to the connection.
func (c *Conn) Closer(strayed, side int, s, stray *reassembly.Segment) bool {
	number, ack := stray.Seq, stray.Ack
	if side != strayed {
		number, ack = ack, number
	}
	return c.tcp.Direction(side).Closer(s.Seq, number) && c.tcp.Direction(1-side).Closer(s.Ack, ack)
}

// Superseded notes that another connection took the ports, the SYNs of which were not captured: a packet of a side is its first.
func (c *Conn) Superseded(side int, first *reassembly.Segment) {
	c.tcp.Superseded(side, first)
	k := c.halfOpen()
	if k.Lones--; k.Lone == first.Frame {
		k.Lone = 0
	}
	if c.Open() && c.Trace.IsMPA {
		c.usedAgain(&trace.HalfOpen{Again: first.Frame, By: c.Dir(side), Opened: true, Unseen: true})
	}
}

// Strayed notes a packet that waits, as [Conn.Strays] says.
func (c *Conn) Strayed(frame uint64) {
	k := c.halfOpen()
	if k.Lones++; k.Lone == 0 {
		k.Lone = frame
	}
}

// Late notes that the connection took the ports of another one, and that its SYNs were not captured: a frame is its first.
func (c *Conn) Late(frame uint64) { c.halfOpen().Late = frame }

// leaps notes a packet that may belong to another connection: so much is missing in front of it, in both directions, or any octets of both
// are, and it comes when the ports may have been used again.
func (c *Conn) leaps(side int, s *reassembly.Segment) {
	var quiet int64
	switch c.tcp.Apart(side, s) {
	case reassembly.FarApart:
		c.tcp.Leaps()
	case reassembly.Apart:
		if quiet = c.slept(side); quiet == 0 {
			return
		}
	default:
		return
	}
	if k := c.halfOpen(); k.Leap == 0 {
		k.Leap, k.Quiet = s.Frame, quiet
	}
}

// slept is how long nothing was captured before the packet at hand, of a side, or before those from which on nothing but acknowledgements
// was; 0 if it was not long.
func (c *Conn) slept(side int) int64 {
	k, w := c.work.silence, c.work
	if k == nil || k.woke == 0 || w.moved[side].time > k.slept || w.moved[1-side].time > k.woke {
		return 0
	}
	return k.woke - k.slept
}

// jumps notes whether a packet whose numbers are gigabytes ahead, if not behind, can have been sent so soon. If so its direction makes progress.
func (c *Conn) jumps(side int, s *reassembly.Segment) {
	h, at := c.tcp.Direction(side), &c.work.moved[side]
	if s.Soon = at.frame == 0 || h.Soon(s.Seq, s.Time-at.time); !s.Soon && h.Outside(s.Seq) && h.Offset(s.Seq) < 0 {
		c.moves(side, s, trace.StallData)
	}
}
