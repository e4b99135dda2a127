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
	k.Again, k.By = s.Frame, c.Dir(side)
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

// Inherit takes over what another connection, which was asked for before and not answered, showed of the one before it.
func (c *Conn) Inherit(from *trace.Connection) {
	if k := from.HalfOpen; k != nil && k.Answer > 0 && from.Flow[0].Octets+from.Flow[1].Octets == 0 {
		c.Trace.HalfOpen = &trace.HalfOpen{Answer: k.Answer, Reset: k.Reset}
	}
}
