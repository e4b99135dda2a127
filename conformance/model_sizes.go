package conformance

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// sizes is how large the FPDUs of a direction are, and how they lie in TCP segments. All
// lengths are in octets.
type sizes struct {
	alignment
	// largest is the largest ULPDU_Length, largestAt the first FPDU that has it.
	largest   int
	largestAt site
	// partial are the ULPDUs that do not end their message.
	partial   lengths
	partialAt site // the first of them, or the one that may turn out to be
	// open is the length of the last ULPDU if its message goes on, else 0.
	open int
	// small counts those of partial below the least MULPDU, inRow the latest ones that
	// follow each other; row says that there were smallRow in a row.
	small, inRow uint32
	row          bool
	*oddities
}

// oddities are the places where a direction did what few do.
type oddities struct {
	// smallAt is the first ULPDU below the least MULPDU, or the one that may turn out to
	// be. For tornAt, tailAt and tailNow see alignment.
	smallAt, tornAt, tailAt, tailNow site
}

// odd returns the oddities, and allocates them if there are none yet.
func (s *sizes) odd() *oddities {
	if s.oddities == nil {
		s.oddities = &oddities{}
	}
	return s.oddities
}

// add takes in an FPDU. One with a wrong CRC tells nothing about how its sender sizes
// FPDUs.
func (s *sizes) add(c *conn, e *fpdu) {
	n := int(e.f.ULPDULength)
	if e.f.CRCStatus == mpa.CRCBad {
		s.tail, s.whole = false, false
		return
	}
	if n > s.largest && e.f.Unsent == 0 {
		s.largest, s.largestAt = n, e.site()
	}
	if m := e.p.Message; s.open > 0 && m != nil && m.Segments > 1 {
		s.goesOn()
	} else {
		s.inRow = 0
	}
	if s.open = 0; e.p.Segment != nil && !e.p.Segment.Last {
		s.open = n
		if s.partial.n == 0 {
			s.partialAt = e.site()
		}
		if s.small == 0 && n < leastMULPDU {
			s.odd().smallAt = e.site()
		}
	}
	s.place(c, e)
}

// goesOn counts the last ULPDU, which did not end its message.
func (s *sizes) goesOn() {
	s.partial.add(s.open)
	if s.open >= leastMULPDU {
		s.inRow = 0
		return
	}
	s.small++
	s.inRow++
	s.row = s.row || s.inRow >= smallRow
}

const (
	// leastMULPDU is the smallest MULPDU that is allowed (RFC 5044 section 4.5).
	leastMULPDU = 128
	// smallRow is how many smaller ULPDUs in a row are no accident.
	smallRow = 3
)

// lengths counts lengths by powers of two.
type lengths struct {
	count      [16]uint32
	n, largest uint32
}

func (l *lengths) add(n int) { l.addSome(n, 1) }

// addSome counts several of one length.
func (l *lengths) addSome(n int, several uint32) {
	l.count[max(bits.Len16(uint16(n))-1, 0)] += several //nolint:gosec // of 16 bits
	l.n += several
	l.largest = max(l.largest, uint32(n)) //nolint:gosec // of 16 bits
}

// below counts those that are certainly shorter than n.
func (l *lengths) below(n int) (sum uint32) {
	for i, k := range l.count {
		if 2<<i <= n {
			sum += k
		}
	}
	return sum
}

// String lists how many there are of each size.
func (l *lengths) String() string {
	var s []string
	for i, n := range l.count {
		if n > 0 {
			s = append(s, fmt.Sprintf("%d of %d to %d", n, 1<<i, 2<<i-1))
		}
	}
	return strings.Join(s, ", ")
}

// The MSS of a receiver that names none, over IPv4 and IPv6 (RFC 9293 section 3.7.1).
const (
	defaultMSS4 = 536
	defaultMSS6 = 1220
)

// emss is how many octets the TCP segments of a direction can hold: the MSS of the
// receiver, less the options that each segment has. ok is false if a SYN is missing.
func (c *conn) emss(d trace.Dir) (octets int, ok bool) {
	if !c.t.Flow[0].SYN || !c.t.Flow[1].SYN {
		return 0, false
	}
	mss := int(c.t.Flow[other(d)].MSS)
	if mss == 0 {
		if mss = defaultMSS4; c.t.Side[d].Addr.Addr().Unmap().Is6() {
			mss = defaultMSS6
		}
	}
	return mss - int(c.t.Flow[d].LeastOptions), true
}

// mulpdu is the largest ULPDU that fits a TCP segment with emss octets (RFC 5044 section
// 4.5).
func mulpdu(emss int, markers bool) int {
	over := 6 + emss%4
	if markers {
		over += mpa.MarkerSize * ((emss + mpa.MarkerInterval - 1) / mpa.MarkerInterval)
	}
	return max(emss-over, leastMULPDU)
}

// marking reports whether a direction has markers, as far as that is known.
func (c *conn) marking(d trace.Dir) mpa.Tri {
	if m := c.t.Flow[d].MarkersSeen; m != mpa.Unknown {
		return m
	}
	return c.t.Markers[d]
}
