package model

import "github.com/iwdissect/iwdissect/dissect/mpa"

// alignment describes how the FPDUs of a direction lie in TCP segments, counting each
// segment when it was first captured.
type alignment struct {
	// ends are the ends of the last FPDUs, a ring; end is the index of the next one.
	ends [8]ending
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
	end   uint8
	tails uint32
}

// ending is where an FPDU ends in the stream, in which frame, and how its CRC was.
type ending struct {
	End int64
	of  uint64 // the frame, above two flags
}

// The flags of an ending: the CRC field is in several segments; the CRC is right.
const (
	splitEnd = 1 << iota
	goodEnd
	endFlags = iota
)

func endingAt(end int64, frame uint64, split, good bool) ending {
	return ending{end, frame<<endFlags | uint64(Bit(split))*splitEnd | uint64(Bit(good))*goodEnd} //nolint:gosec // 0 or 1
}

func (e ending) Frame() uint64 { return e.of >> endFlags }

func (e ending) Split() bool { return e.of&splitEnd != 0 }

func (e ending) Good() bool { return e.of&goodEnd != 0 }

// Acked returns the last FPDU that ends at an offset of the stream or before it.
func (a *alignment) Acked(off int64) (last ending) {
	for _, k := range a.ends {
		if k.End <= off && k.End > last.End {
			last = k
		}
	}
	return last
}

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
	a.note(endingAt(e.PDU.From+e.PDU.Length, e.PDU.Frame, split, e.FPDU.CRCStatus == mpa.CRCGood))
}

// inner is the place of the first TCP segment that begins inside an FPDU.
func (e *FPDU) inner() site {
	x := e.site()
	if e.PDU.Inner > 0 {
		x.Frame = e.PDU.Inner
	}
	return x
}

// note remembers where an FPDU ends.
func (a *alignment) note(k ending) {
	a.ends[a.end] = k
	a.end = (a.end + 1) % uint8(len(a.ends))
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
