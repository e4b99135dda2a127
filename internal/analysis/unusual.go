package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// unusual are the frames of a side that carried octets again or out of order, in rising
// order. Those that no PDU can have any more are forgotten.
type unusual struct {
	list []unusualFrame
	to   int64 // the end of the octets that they carried
	// mixed says that some of them filled holes, or may have.
	mixed bool
	// leftOut is what packets carried that were left out.
	leftOut []leftOut
	// breaks are where the stream stood when the capture file was damaged.
	breaks []int64
}

type unusualFrame struct {
	frame uint64
	note  reassembly.Note
}

// maxUnusual bounds the frames that are kept of a side.
const maxUnusual = 1024

// add notes a frame.
func (u *unusual) add(frame uint64, note reassembly.Note) {
	if n := len(u.list); n > 0 && u.list[n-1].frame >= frame {
		if u.list[n-1].frame == frame {
			u.list[n-1].note |= note
		}
		return
	}
	if len(u.list) == maxUnusual {
		u.list = u.list[:copy(u.list, u.list[maxUnusual/2:])]
	}
	u.list = append(u.list, unusualFrame{frame, note})
}

// release forgets all frames if no octet from an offset on was in them.
func (u *unusual) release(off int64) {
	if len(u.list) > 0 && off >= u.to {
		u.list, u.mixed = u.list[:0], false
	}
}

// gap notes that a hole was given up. What waited behind it came in order, unless something filled another hole meanwhile.
func (u *unusual) gap() {
	if u == nil || u.mixed {
		return
	}
	for i := range u.list {
		u.list[i].note &^= reassembly.OutOfOrder
	}
}

// none reports whether there are none.
func (u *unusual) none() bool { return u == nil || len(u.list) == 0 }

// mark sets the frames of a PDU that carried octets of it again or out of order.
func (u *unusual) mark(p *trace.PDU) {
	p.Retransmitted, p.OutOfOrder = p.Retransmitted[:0], p.OutOfOrder[:0]
	if u.none() {
		return
	}
	for _, f := range p.Frames {
		i, ok := slices.BinarySearchFunc(u.list, f, func(x unusualFrame, f uint64) int {
			switch {
			case x.frame < f:
				return -1
			case x.frame > f:
				return 1
			}
			return 0
		})
		if !ok {
			continue
		}
		if u.list[i].note&reassembly.Retransmission != 0 {
			p.Retransmitted = append(p.Retransmitted, f)
		}
		if u.list[i].note&reassembly.OutOfOrder != 0 {
			p.OutOfOrder = append(p.OutOfOrder, f)
		}
	}
}

// noteUnusual notes the frame of a segment that came again or out of order. late says that
// octets were missing; fills, that octets behind it had been captured before it.
func (c *Conn) noteUnusual(side int, s *reassembly.Segment, note reassembly.Note, late, fills bool) {
	const again = reassembly.Retransmission | reassembly.OutOfOrder
	if late && note&(reassembly.KeepAlive|reassembly.Retransmission) == 0 {
		note |= reassembly.OutOfOrder
	}
	if note&again == 0 || s.Len == 0 || !c.env.wantsMarks() {
		return
	}
	h := &c.dirs[side]
	if h.unusual == nil {
		h.unusual = new(unusual)
	}
	u := h.unusual
	u.mixed = u.mixed || fills
	for _, f := range s.Fragments {
		u.add(f, note&again)
	}
	u.add(s.Frame, note&again)
	if _, to, ok := c.Span(side, s); ok {
		u.to = max(u.to, to)
	}
}
