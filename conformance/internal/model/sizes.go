package model

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// sizes is how large the FPDUs of a direction are, and how they lie in TCP segments. All
// lengths are in octets.
type sizes struct {
	alignment
	// LargestAt is the first FPDU that has the largest ULPDU_Length.
	LargestAt site
	// Partial are the ULPDUs that do not end their message.
	Partial   lengths
	PartialAt site // the first of them, or the one that may turn out to be
	*oddities
	// Small counts those of Partial below the least MULPDU; inRow the latest consecutive
	// ones; row says that there were smallRow in a row.
	Small, inRow uint32
	Row          bool
	Largest      uint16 // ULPDU_Length
	// open is the length of the last ULPDU if its message continues, else 0.
	open uint16
}

// oddities are the places where a direction did what few do.
type oddities struct {
	// SmallAt is the first ULPDU below the least MULPDU, or the one that may turn out to
	// be. For tornAt, tailAt and tailNow see alignment.
	SmallAt, TornAt, tailAt, tailNow site
	// InnerAt is the first TCP segment that begins inside an FPDU.
	InnerAt site
}

// odd returns the oddities; it allocates them if there are none yet.
func (s *sizes) odd() *oddities {
	if s.oddities == nil {
		s.oddities = &oddities{}
	}
	return s.oddities
}

// add records an FPDU. A doubtful one says nothing about how its sender sizes FPDUs.
func (s *sizes) add(c *Conn, e *FPDU) {
	n := e.FPDU.ULPDULength
	if e.doubtful() {
		s.tail, s.whole = false, false
		return
	}
	if n > s.Largest && e.FPDU.Unsent == 0 {
		s.Largest, s.LargestAt = n, e.site()
	}
	if m := e.PDU.Message; s.open > 0 && m != nil && m.Segments > 1 {
		s.goesOn()
	} else {
		s.inRow = 0
	}
	s.open = 0
	// A message of a fixed header that is cut, and an empty segment, have rules of their own.
	if g := e.PDU.Segment; g != nil && !g.Last && int(n) > g.HeaderLen && e.PDU.Control.Opcode.HeaderLen() == 0 {
		s.open = e.FPDU.ULPDULength
		if s.Partial.N == 0 {
			s.PartialAt = e.site()
		}
		if s.Small == 0 && n < LeastMULPDU {
			s.odd().SmallAt = e.site()
		}
	}
	s.place(c, e)
}

// goesOn counts the last ULPDU, which did not end its message.
func (s *sizes) goesOn() {
	s.Partial.add(int(s.open))
	if s.open >= LeastMULPDU {
		s.inRow = 0
		return
	}
	s.Small++
	s.inRow++
	s.Row = s.Row || s.inRow >= SmallRow
}

const (
	// LeastMULPDU is the smallest MULPDU that is allowed (RFC 5044 section 4.5).
	LeastMULPDU = 128
	// SmallRow is how many smaller ULPDUs in a row are no accident.
	SmallRow = 3
)

// The MSS of a receiver that announces none, over IPv4 and IPv6 (RFC 9293 section 3.7.1).
const (
	defaultMSS4 = 536
	defaultMSS6 = 1220
)

// Emss is how many octets the TCP segments of a direction can hold: the MSS of the
// receiver, less the options that each segment has. ok is false if a SYN is missing.
func (c *Conn) Emss(d trace.Dir) (octets int, ok bool) {
	if !c.Trace.Flow[0].SYN || !c.Trace.Flow[1].SYN {
		return 0, false
	}
	mss := int(c.Trace.Flow[Other(d)].MSS)
	if mss == 0 {
		if mss = defaultMSS4; c.Trace.Side[d].Addr.Addr().Unmap().Is6() {
			mss = defaultMSS6
		}
	}
	return mss - int(c.Trace.Flow[d].LeastOptions), true
}

// MULPDU is the largest ULPDU that fits a TCP segment with emss octets (RFC 5044 section
// 4.5).
func MULPDU(emss int, markers bool) int {
	over := 6 + emss%4
	if markers {
		over += mpa.MarkerSize * ((emss + mpa.MarkerInterval - 1) / mpa.MarkerInterval)
	}
	return max(emss-over, LeastMULPDU)
}

// Marking reports whether a direction has markers, if known.
func (c *Conn) Marking(d trace.Dir) mpa.Tri {
	if m := c.Trace.Flow[d].MarkersSeen; m != mpa.Unknown {
		return m
	}
	return c.Trace.Markers[d]
}
