package model

import (
	"encoding/binary"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// covered are octets in an FPDU that may be another FPDU, or several of them: where they begin, with a TCP segment or with the next
// message of its queue, and where they end, as their lengths say. by is where the FPDU ends that they are in, at is its place.
type covered struct {
	from, to, by int64
	at           Place
	length       uint16 // its ULPDU_Length
	// They are the last part of that FPDU, and n of them are whole messages of one queue, with consecutive numbers.
	qn, msn, n uint32
}

// counts takes in one of them, of which the first octets are given.
func (k *covered) counts(b []byte) {
	var g ddp.Segment
	switch {
	case ddp.DecodeTo(&g, b[LengthSize:]) != nil, g.Tagged, g.MO != 0, !g.Last:
	case k.n == 0:
		k.qn, k.msn, k.n = g.QN, g.MSN, 1
	case g.QN == k.qn && g.MSN == k.msn+k.n:
		k.n++
	}
}

// goesOn notes that the count of a queue goes on: it tells of a later FPDU only, whether it reaches over messages of the queue.
func (k *chain) goesOn(qn uint32) {
	if k.suspected != nil && k.qn == qn {
		k.n = 0
	}
}

// Swallowed is what an FPDU reaches over.
type Swallowed struct {
	At       Place  // of the FPDU
	Length   uint16 // its ULPDU_Length
	By, Most int    // by how many octets it reaches over others, and the length that it can have at most
}

// SkipsSwallowed reports whether a segment begins a message behind others that are missing in the count of its queue, and stand where
// an FPDU reaches over them: its length is wrong.
func (s *Segment) SkipsSwallowed(c *Conn) (x Swallowed, ok bool) {
	if s.Chain.suspected == nil || s.DDP == nil || s.DDP.Tagged || !c.LengthsOnly(s.Direction) {
		return x, false
	}
	k, g := &s.Chain.covered, s.DDP
	rel, m := s.Relate()
	if rel != Begins || k.n == 0 || g.QN != k.qn || g.MSN != k.msn+k.n {
		return x, false
	}
	want := uint32(1)
	if s.Queues[g.QN].Seen {
		want = m.MSN + 1
	}
	return k.swallowed(), k.msn == want
}

// swallowed is what the FPDU reaches over.
func (k *covered) swallowed() Swallowed {
	most := int(k.from-(k.by-sizeOf(int(k.length)))) - LengthSize - CrcSize
	return Swallowed{k.at, k.length, int(k.by - k.from), most}
}

// LengthsOnly reports whether nothing but lengths leads from one FPDU of a direction to the next, and all octets are there.
func (c *Conn) LengthsOnly(h *Direction) bool {
	return c.Trace.CRC == mpa.No && c.Trace.Negotiated && c.Marking(h.Dir) == mpa.No && h.Began && c.Streamed(h)
}

// lengths records the length of an FPDU after the rules have judged it. One that does not begin with a segment may be what is left of
// another one whose length is wrong.
func (h *Direction) lengths(p *trace.PDU) {
	f := p.FPDU
	h.LastLength = 0
	if LacksPad(f) || f.CRCStatus != mpa.CRCOff || len(f.Markers) > 0 || !headsFPDU(f.Wire) {
		return
	}
	if len(p.Bounds) > 0 && p.Bounds[0] == 0 {
		h.LastLength = f.ULPDULength
	}
	switch {
	case len(f.Missing) > 0:
	case h.LastLength > 0 && len(p.Bounds) > 1 && h.covers(p, p.Bounds[1]):
	case p.Segment != nil && !p.Segment.Tagged && p.Segment.Last:
		if from := nextInside(f.Wire, p.Segment); from > 0 {
			h.covers(p, from)
		}
	}
}

// covers records that FPDUs seem to begin at a place inside an FPDU, and reports whether they do.
func (h *Direction) covers(p *trace.PDU, from int) bool {
	f, to, k := p.FPDU, from, covered{}
	for to < len(f.Wire) && headsFPDU(f.Wire[to:]) {
		k.counts(f.Wire[to:])
		to += int(sizeOf(int(binary.BigEndian.Uint16(f.Wire[to:]))))
	}
	if to < len(f.Wire) || to == from {
		return false
	}
	k.from, k.to, k.by = p.From+int64(from), p.From+int64(to), p.From+p.Length
	if k.at, k.length = h.LastFPDU(), f.ULPDULength; k.to != k.by {
		k.n = 0
	}
	h.Chain.suspects().covered = k
	return true
}

// nextInside is the place in the FPDU w of a segment at which the next message of its queue seems to begin; 0: there is none. Such an
// FPDU is one behind it in the same TCP segment, if its length is wrong.
func nextInside(w []byte, g *ddp.Segment) int {
	const (
		header = LengthSize + 6 // in front of the queue number
		least  = LengthSize + ddp.UntaggedLen + CrcSize
	)
	next := uint64(g.QN)<<32 | uint64(g.MSN+1)
	for at := least; at+least <= len(w); at += 4 { // FPDUs are multiples of four octets
		if b := w[at+header:]; binary.BigEndian.Uint64(b) == next && binary.BigEndian.Uint32(b[8:]) == 0 { // it begins at offset 0
			return at
		}
	}
	return 0
}

// lastFrom is where the FPDU with LastLength begins.
func (h *Direction) lastFrom() int64 { return h.Latest.End - sizeOf(int(h.LastLength)) }

// headsFPDU reports whether the first octets of an FPDU are possible ones: its length, and the control octets of DDP and RDMAP.
func headsFPDU(b []byte) bool { return HeadedAt(b, 0) && binary.BigEndian.Uint16(b) >= mpa.MinULPDU }

// sizeOf is how many octets an FPDU without markers has, by the length of its ULPDU.
func sizeOf(ulpdu int) int64 { return int64(LengthSize + ulpdu + mpa.PadLen(ulpdu) + CrcSize) }

// swapped returns a length with its octets swapped, if that is a possible one, and the size of the FPDU with that.
func swapped(length uint16) (n int, size int64, ok bool) {
	n = int(bits.ReverseBytes16(length))
	return n, sizeOf(n), n >= mpa.MinULPDU && n != int(length)
}

// leadsTo returns the length of the last FPDU with its octets swapped, if it ends at a place with that.
func (h *Direction) leadsTo(at int64) (n int, ok bool) {
	n, size, ok := swapped(h.LastLength)
	return n, ok && at == h.lastFrom()+size
}

// SwappedBefore returns the length of the FPDU before one that was found by search, with its octets swapped, if the one that was found
// begins just where that ends.
func (e *FPDU) SwappedBefore() (n int, ok bool) {
	n, ok = e.leadsTo(e.PDU.From)
	return n, ok && e.FPDU.Sync != mpa.InSync
}

// ShortBefore returns the octets between the FPDU before one that was found by search and that one, if they begin as an FPDU whose length
// is less than that of any DDP header. least and most are between what its length must be: it ends where the next one begins, at a TCP
// segment, or earlier.
func (e *FPDU) ShortBefore() (s *Loose, least, most int) {
	if e.FPDU.Sync == mpa.InSync || !e.BeginsSegment() {
		return nil, 0, 0
	}
	if s = e.before(); s == nil || len(s.Octets) <= LengthSize || binary.BigEndian.Uint16(s.Octets) >= mpa.MinULPDU {
		return nil, 0, 0
	}
	head := s.Octets[LengthSize:]
	if least, most = ddp.UntaggedLen, int(s.Length)-LengthSize-CrcSize; head[0]&0x80 != 0 {
		least = ddp.TaggedLen
	}
	if _, ok := s.Swapped(); ok || !HeadedAt(s.Octets, 0) || most < least || !rdmap.Grammar.Strict(head, most) {
		return nil, 0, 0
	}
	return s, least, most
}

// SwappedToEnd returns the length of an FPDU whose end was never sent, with its octets swapped, if it leads to the end of what was
// sent, or to others with such lengths that do.
func (e *FPDU) SwappedToEnd() (n int, ok bool) {
	f := e.FPDU
	if f.CRCStatus != mpa.CRCOff || f.Unsent == 0 || len(f.Markers) > 0 || len(f.Missing) != 1 || f.Missing[0].To-f.Missing[0].From != f.Unsent {
		return 0, false
	}
	rest := f.Wire[:len(f.Wire)-f.Unsent]
	for len(rest) > 0 {
		if !HeadedAt(rest, 0) {
			return 0, false
		}
		_, size, ok := swapped(binary.BigEndian.Uint16(rest))
		if !ok || size > int64(len(rest)) {
			return 0, false
		}
		rest = rest[size:]
	}
	n, _, ok = swapped(f.ULPDULength)
	return n, ok
}

// SwappedBefore returns the length of the FPDU that reaches over others in front of these octets, with its octets swapped, if the
// first of them begins just where that ends.
func (s *Loose) SwappedBefore() (n int, ok bool) {
	if _, ok := s.Overlaps(); !ok {
		return 0, false
	}
	return s.leadsTo(s.Chain.covered.from)
}

// Swapped returns the length with which octets begin that are no FPDU, with its octets swapped, if they are one with that.
func (s *Loose) Swapped() (n int, ok bool) {
	if s.From != s.Latest.End || !HeadedAt(s.Octets, 0) {
		return 0, false
	}
	n, size, ok := swapped(binary.BigEndian.Uint16(s.Octets))
	return n, ok && size == s.Length
}

// Overlaps returns by how many octets the last FPDU reaches over others, the first of which begins with a TCP segment, or is the next
// message of its queue, and the last of which ends where these octets do. ok is false if it does not, as far as is known.
func (s *Loose) Overlaps() (x Swallowed, ok bool) {
	if s.Chain.suspected == nil || s.From != s.Latest.End {
		return x, false
	}
	k := &s.Chain.covered
	return k.swallowed(), k.by == s.From && k.to == s.End
}

// restOfFrame reports whether an FPDU is none: nothing but what follows a startup frame in its TCP segment, up to the end of the
// stream, and not the beginning of one.
func (h *Direction) restOfFrame(p *trace.PDU) bool {
	f := p.FPDU
	return h.Count == 0 && f.Unsent > 0 && !f.Lead && len(p.Bounds) == 0 && len(h.looses()) == 0 && !HeadedAt(f.Wire[:len(f.Wire)-f.Unsent], 0)
}
