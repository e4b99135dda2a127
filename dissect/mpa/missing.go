package mpa

import "sort"

// maxBridge is the longest run of missing octets that is kept as such; an open
// FPDU cannot reach beyond it.
const maxBridge = 64 << 10

// hole is a run of octets of the stream that is not in the capture.
type hole struct{ from, to int64 }

// Missing says that the next n octets of the stream are not in the capture.
// gap is true when no captured packet carried them, false when they fell to
// the snap length.
func (d *Decoder) Missing(n int64, gap bool) {
	d.in = nil
	at := d.off + int64(len(d.buf)-d.rd)
	if gap && d.gapAt < 0 {
		d.gapAt = at
	}
	switch {
	case d.stopped:
		d.off += n
	case n > maxBridge:
		d.seldom().jumpTo = at + n
	default:
		d.compact()
		r := d.seldom()
		r.holes = append(r.holes, hole{at, at + n})
		d.keep(zeros[:n])
	}
}

var zeros [maxBridge]byte

// missing reports whether any octet of [from, to) is missing.
func (d *Decoder) missing(from, to int64) bool {
	holes := d.holes()
	if len(holes) == 0 {
		return false
	}
	i := holeBehind(holes, from)
	return i < len(holes) && holes[i].from < to
}

// holeEnd is the first captured octet at or behind off.
func (d *Decoder) holeEnd(off int64) int64 {
	holes := d.holes()
	for i := holeBehind(holes, off); i < len(holes) && holes[i].from <= off; i++ {
		off = holes[i].to
	}
	return off
}

// holeBehind is the index of the first hole that ends behind off. The holes are
// in order, and an FPDU may have as many as it has octets.
func holeBehind(holes []hole, off int64) int {
	return sort.Search(len(holes), func(i int) bool { return holes[i].to > off })
}
