package model

import "github.com/iwdissect/iwdissect/dissect/mpa"

// alignment describes how the FPDUs of a direction lie in TCP segments, counting each
// segment when it was first captured.
type alignment struct {
	ends endings
	// Segments counts the TCP segments that begin in FPDUs, aligned those of them that
	// begin at the start of one.
	Segments, Aligned uint32
	// whole: the current segment begins at the start of an FPDU. torn counts the segments
	// that do so and end inside an FPDU that would fit in a segment; tornAt is the first of
	// them.
	Torn  uint32
	whole bool
	// tail: the last segment, at tailNow, has so far held nothing but the pad and CRC of an
	// FPDU. tails counts such segments; tailAt is the first of them.
	tail  bool
	tails uint32
}

// Acked returns the last FPDU that ends at an offset of the stream or before it.
func (a *alignment) Acked(off int64) ending { return a.ends.upTo(off) }

// place records where TCP segments begin in an FPDU.
func (s *sizes) place(c *Conn, e *FPDU) {
	a := &s.alignment
	size := e.FPDU.Size
	split := false
	for _, at := range e.PDU.Bounds {
		a.Segments++
		split = split || at > size-CrcSize
		if at == 0 {
			a.Aligned++
			s.endTail()
			a.whole = true
			continue
		}
		if a.whole {
			if emss, ok := c.Emss(e.Dir); ok && size <= emss {
				if a.Torn == 0 {
					s.odd().TornAt = e.site()
				}
				a.Torn++
			}
		}
		if a.Segments-a.Aligned == 1 {
			s.odd().InnerAt = e.inner()
		}
		a.whole = false
		if at >= size-CrcSize-e.FPDU.PadLen {
			a.tail, s.odd().tailNow = true, e.site()
		}
	}
	if n := len(e.PDU.Bounds); n == 0 || e.PDU.Bounds[n-1] < size-CrcSize-e.FPDU.PadLen {
		a.tail = false
	}
	a.ends.add(endingAt(e.PDU.From+e.PDU.Length, e.PDU.Frame, split, e.FPDU.CRCStatus == mpa.CRCGood))
}

// inner is the place of the first TCP segment that begins inside an FPDU.
func (e *FPDU) inner() site {
	x := e.site()
	if e.PDU.Inner > 0 {
		x.Frame = e.PDU.Inner
	}
	return x
}

// endTail counts the last segment if it held only the end of an FPDU.
func (s *sizes) endTail() {
	if s.tail {
		if s.tails == 0 {
			s.tailAt = s.tailNow
		}
		s.tails++
	}
	s.tail = false
}

// AllTails returns how many segments hold only the end of an FPDU, and where the first of
// them is. ended: nothing was sent after the last FPDU, so the current segment counts as
// well.
func (s *sizes) AllTails(ended bool) (n uint32, first site) {
	switch {
	case s.tails > 0:
		first = s.tailAt
	case ended && s.tail:
		first = s.tailNow
	}
	return s.tails + uint32(Bit(ended && s.tail)), first //nolint:gosec // 0 or 1
}
