package mpa

import (
	"encoding/binary"
	"slices"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// trial is the question whether FPDUs begin at an offset.
type trial struct {
	at   int64
	last bool // no octets follow those at hand
	// byCRC is 0, or the offset up to which one FPDU has to end whose CRC is right. Then it may have any header:
	// a CRC32c that is right by chance is rarer than a sender at fault.
	byCRC int64
}

// oddHeader reports whether an FPDU begins at an offset whose header no correct sender writes, but whose CRC is right. It is
// looked for only where a TCP segment begins, and only in that segment, so that each octet is summed once. Others sweep finds, later.
func (d *Decoder) oddHeader(o int64) bool {
	r := d.rare
	if o < r.segment || d.cfg.Segments == nil || d.cfg.CRC == No || r.limit > 0 {
		return false
	}
	from, to, ok := d.cfg.Segments.Segment(o)
	if !ok || to <= o {
		return false
	}
	r.segment = to
	if from != o || int64(len(d.from(o))) < to-o || d.try(trial{at: o, last: true, byCRC: to}) != confirm {
		return false
	}
	r.at, d.seek.force = o, true
	return true
}

// single judges the FPDU of a trial by its CRC.
func (d *Decoder) single(c *chain, to int64) verdict {
	l, f := d.extent(c)
	if f != fits || c.at+int64(l.size) > to || d.missing(c.at, to) {
		return reject
	}
	if d.verifyCRC(c, &l, c.rest[:l.size]) == confirm {
		return confirm
	}
	return reject
}

// strays reports whether an FPDU w whose control octets no correct sender writes, and which no CRC confirms, is perhaps none: the length of
// the one before may be wrong. It puts it back, to search for a place, or to wait for what follows. It is one if a TCP segment begins or
// ends where it does, or if what follows begins as an FPDU, or with the same control octets.
func (d *Decoder) strays(w []byte, lead, n int) bool {
	head := d.headOf(w, lead, n)
	end := d.off + int64(len(w))
	if len(head) < 2 || d.cfg.Grammar.Quick(head[0], head[1]) || d.seek.force || d.off == d.start || d.bounds(d.off) || d.bounds(end) {
		return false
	}
	const last = 0x40 // the flag of DDP that varies from segment to segment
	c0, c1 := head[0]|last, head[1]
	x := d.spread(nil)
	if d.missing(end, end+int64(lengthSize+MarkerSize+minHead)) {
		return false
	}
	switch next, v := d.headIn(&x, end, 0); {
	case v == wait && d.cfg.Segments != nil:
		d.unread(w)
		d.await = int32(len(w) + x.len() + 1) //nolint:gosec // of an FPDU
		return true
	case v != reject, next.n > 0 && next.head[0]|last == c0 && next.head[1] == c1, x.len() < lengthSize+2:
		return false
	}
	d.doubt(w, false)
	return true
}

// Limits of the search for FPDUs with odd headers that lie anywhere.
const (
	// firstSweep and fullSweep are with how many octets at hand it is done first, and how many are kept for it: then it is done each time
	// that they have doubled, and at last that half of them are new. Larger ones than the rest are not found.
	firstSweep, fullSweep = 2 << 10, 48 << 10
	// sweptAgain is for how many octets behind a place that was lost.
	sweptAgain = 1 << 20
)

// sweeps reports whether octets that were searched are kept, since FPDUs with odd headers may lie in them.
func (d *Decoder) sweeps() bool {
	r := d.rare
	return d.cfg.Trusted && d.cfg.CRC != No && d.cfg.Grammar != unknown && r.limit == 0 && r.at-r.lost < sweptAgain && d.cfg.Budget.ample()
}

// kept is up to which offset octets may be let go that were searched up to s.at.
func (d *Decoder) kept() int64 {
	if !d.sweeps() {
		return d.rare.at
	}
	return min(d.rare.at, d.rare.swept)
}

// sweepMore is sweep up to an offset, if so many octets came since the last time that it is due.
func (d *Decoder) sweepMore(end int64) bool {
	r := d.rare
	held := end - d.off
	if held < firstSweep || end < r.due || !d.sweeps() {
		return false
	}
	r.due = end + min(held, fullSweep/2)
	if held >= fullSweep {
		r.swept = end - fullSweep/2
	}
	return d.sweep(end, false)
}

// sweep looks for FPDUs whose CRC is right, whatever their header, among the octets up to an offset, and makes the first one the place that
// was found. proven: an FPDU is known to begin at that offset. A CRC that is right by chance is rare, but there are as many as octets: so
// something else has to speak for an FPDU, which is that another one follows, or that a TCP segment begins or ends where it does.
func (d *Decoder) sweep(end int64, proven bool) bool {
	r := d.rare
	if d.cfg.CRC == No || d.cfg.Grammar == unknown || r.limit > 0 || !proven && !d.cfg.Trusted {
		return false
	}
	from := max(d.off, end-2*fullSweep)
	b := d.from(from)
	b = b[:min(int64(len(b)), end-from)]
	markers := d.markers
	with, without := markers, !markers
	if !proven {
		with, without = d.ways()
	}
	first, size := end, 0
	for _, way := range [2]bool{false, true} {
		if d.markers = way; way && (!with || !d.hasGrid) || !way && !without {
			continue
		}
		next := int64(-1)
		if proven {
			next = end
		}
		crc32c.Spans(b, d.sums(len(b)+1), func(at int) int { return d.sizeAt(from+int64(at), b[at:]) }, func(at, n int) {
			o := from + int64(at)
			if d.missing(o, o+int64(n)) {
				return
			}
			if (o+int64(n) == next || d.bounds(o) || d.bounds(o+int64(n))) && o < first {
				first, size = o, n
			}
			next = o
		})
	}
	d.markers = markers
	hasGrid := d.hasGrid
	if first == end || d.try(trial{at: first, last: true, byCRC: first + int64(size)}) != confirm {
		d.hasGrid = hasGrid
		return false
	}
	r.at, d.seek.force = first, true
	return true
}

// sizeAt is how many octets an FPDU has that begins at an offset with octets b, or 0.
func (d *Decoder) sizeAt(o int64, b []byte) int {
	lead := d.lead(o)
	if len(b) < lead+lengthSize {
		return 0
	}
	return d.size(o, int(binary.BigEndian.Uint16(b[lead:])))
}

// bounds reports whether a TCP segment begins or ends at an offset.
func (d *Decoder) bounds(o int64) bool {
	if d.cfg.Segments == nil {
		return false
	}
	if from, _, ok := d.cfg.Segments.Segment(o); ok && from == o {
		return true
	}
	_, to, ok := d.cfg.Segments.Segment(o - 1)
	return ok && to == o
}

// sums is room for n numbers, valid until the next call on a decoder of the same budget.
func (d *Decoder) sums(n int) []uint32 {
	s := &d.rare.sums
	if m := d.cfg.Budget; m != nil {
		s = &m.sums
	}
	*s = slices.Grow((*s)[:0], n)
	return (*s)[:n]
}
