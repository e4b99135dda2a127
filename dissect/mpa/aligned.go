package mpa

// Segments tells which octets of a direction came in one TCP segment.
type Segments interface {
	// Segment is where the segment begins and ends that the octet at off came in; ok is false if
	// that is not known.
	Segment(off int64) (from, to int64, ok bool)
}

// alignment is how a sender lays FPDUs into TCP segments, as it was seen in sync. RNICs begin
// each segment with an FPDU (RFC 5044 section 5), and streams over sockets begin none so but by
// chance.
type alignment struct {
	// begun are segments that begin with an FPDU, split those that begin inside one; inside are
	// FPDUs that begin inside a segment.
	begun, split, inside uint32
	largest              int32 // FPDU, in octets
	fresh                bool  // the next FPDU begins where the input begins
}

const (
	// fewBegun is from how many segments on there is a habit; one in rareBreach may breach it.
	fewBegun, rareBreach = 4, 16
	// longAgo is of how many segments counts are halved.
	longAgo = 1 << 16
	// fewEnds is how many FPDUs that end with a segment prove a place that begins one.
	fewEnds = 2
	// chainAligned is how many FPDUs in a row, each in segments of its own, prove a place.
	chainAligned = 2
)

// each reports whether each segment begins with an FPDU.
func (a *alignment) each() bool { return a.begun >= fewBegun && a.split*rareBreach < a.begun }

// apart reports whether FPDUs begin at the beginning of segments only.
func (a *alignment) apart() bool { return a.begun >= fewBegun && a.inside*rareBreach < a.begun }

// input notes that octets came. goesOn: they go on with an FPDU.
func (a *alignment) input(goesOn bool) {
	if a.fresh = !goesOn; goesOn {
		a.split++
		a.fade()
	}
}

// fade halves what was seen long ago, so that a habit can change and no count overflows.
func (a *alignment) fade() {
	if a.begun|a.split|a.inside >= longAgo {
		a.begun, a.split, a.inside = a.begun/2, a.split/2, a.inside/2
	}
}

// framed notes that an FPDU begins in the input, and where.
func (a *alignment) framed() {
	if a.fresh {
		a.begun++
	} else {
		a.inside++
	}
	a.fresh = false
	a.fade()
}

// placed notes where an FPDU lies that was put together.
func (d *Decoder) placed(size int) {
	if d.cfg.Segments == nil || d.crc {
		return // a CRC tells more
	}
	a := &d.aligned
	a.fresh = false
	first, _, ok := d.cfg.Segments.Segment(d.off)
	last, _, known := d.cfg.Segments.Segment(d.off + int64(size) - 1)
	switch {
	case !ok || !known:
		return
	case first == d.off:
		a.begun++
	default:
		a.inside++
	}
	if last > d.off {
		a.split++
	}
}

// skip is the next place from off on at which an FPDU can begin, by the habit of the sender.
func (d *Decoder) skip(off int64) int64 {
	if d.cfg.Segments == nil || d.crc || !d.aligned.each() && !d.aligned.apart() {
		return off
	}
	if from, to, ok := d.cfg.Segments.Segment(off); ok && from < off {
		return to
	}
	return off
}

// fills judges an FPDU of a chain by the segments that it lies in: a header at the start of a
// segment whose length fills the segment is seldom anything else.
func (d *Decoder) fills(c *chain, l *link) verdict {
	end := c.at + int64(l.size)
	if d.cfg.Segments == nil || d.cfg.CRC == Yes && !d.missing(c.at, end) || !d.knowsGrid(c) || !d.unmarked(c) {
		return wait
	}
	first, _, ok := d.cfg.Segments.Segment(c.at)
	last, to, known := d.cfg.Segments.Segment(end - 1)
	if !ok || !known {
		return wait
	}
	if c.count == 1 {
		c.atStart = first == c.at
	}
	if to == end {
		c.ends++
		if first == c.at {
			c.alone++
		}
	}
	switch a := &d.aligned; {
	case !d.cfg.Trusted, d.crc:
	case a.each() && last > c.at, !a.each() && a.apart() && to != end:
		return reject
	case a.each() && to == end, a.apart() && c.alone >= chainAligned:
		d.seek.found = ByChain
		return confirm
	}
	switch {
	case c.count < c.need:
	case c.alone == c.count:
		d.seek.found = ByChain
		return confirm
	case c.atStart && c.ends >= fewEnds && d.told(c, ByChain):
		return confirm
	}
	return wait
}

// leadsOut reports whether a run of headers that goes on with an FPDU leads so far that it lies in
// the payload of none: payload may look like FPDUs, but seldom so where the next one begins.
func (d *Decoder) leadsOut(c *chain) bool {
	if d.cfg.Segments == nil {
		return true
	}
	reach := int64(d.aligned.largest)
	switch from, to, ok := d.cfg.Segments.Segment(c.from); {
	case reach == 0:
		reach = MaxULPDU
	case ok && d.aligned.begun+d.aligned.inside < manyFPDUs:
		reach = max(reach, 2*(to-from)) // larger ones may follow
	}
	span := c.at - c.from // from the first header to the last one
	// What lies in payload may lead over a hole to what is right, while the FPDU around it ends in
	// the hole.
	c.out = span > reach && (c.atStart || !d.missing(c.from, c.at))
	return c.out && span > farOut*reach
}

// manyFPDUs are so many that the largest of them is taken for the largest there is.
const manyFPDUs = 32

// farOut is how often a run of headers must lead out of an FPDU if more may follow it.
const farOut = 4
