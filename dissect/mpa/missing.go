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
		d.jumpTo = at + n
	default:
		d.compact()
		d.holes = append(d.holes, hole{at, at + n})
		d.keep(zeros[:n])
	}
}

var zeros [maxBridge]byte

// missing reports whether any octet of [from, to) is missing.
func (d *Decoder) missing(from, to int64) bool {
	if len(d.holes) == 0 {
		return false
	}
	i := d.holeBehind(from)
	return i < len(d.holes) && d.holes[i].from < to
}

// holeEnd is the first captured octet at or behind off.
func (d *Decoder) holeEnd(off int64) int64 {
	for i := d.holeBehind(off); i < len(d.holes) && d.holes[i].from <= off; i++ {
		off = d.holes[i].to
	}
	return off
}

// holeBehind is the index of the first hole that ends behind off. The holes are
// in order, and an FPDU may have as many as it has octets.
func (d *Decoder) holeBehind(off int64) int {
	return sort.Search(len(d.holes), func(i int) bool { return d.holes[i].to > off })
}
