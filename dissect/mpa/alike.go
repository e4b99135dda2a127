package mpa

// What lies in the payload of an FPDU may look like FPDUs, the last of which ends where the one
// around it does: the run of headers goes on with what is right, and its first ones are none. A
// CRC tells, and so do markers in the first one. Without them payload that looks so is a warning.

// maxAlike is in how many octets payload is searched for what looks like FPDUs.
const maxAlike = 16 << 10

// byChain takes a place as proven by a run of headers. If payload looks like FPDUs, those of them
// that may lie in the payload of a single one are left out, unless they begin with a segment.
func (d *Decoder) byChain(c *chain) {
	d.seek.found = ByChain
	if c.beyond > 0 && !c.atStart && d.alike(c) {
		d.rare.at = c.beyond
	}
}

// byMarker takes a place as proven by markers. Without a CRC they prove the FPDU that they stand in: if
// payload looks like FPDUs,
// those in front of it may lie in the payload of another one, unless they begin with a segment.
func (d *Decoder) byMarker(c *chain) {
	d.seek.found = ByMarker
	if d.cfg.CRC == No && d.cfg.Segments != nil && !c.atStart && d.alike(c) {
		d.rare.at = c.marked
	}
}

// alike reports whether payload of the FPDUs of a chain looks like FPDUs, see pair.
func (d *Decoder) alike(c *chain) bool {
	own, end := *c, min(c.at, c.from+maxAlike)
	own.at, own.count, own.rest = c.from, 0, d.from(c.from)
	for at := c.from; at < end; at++ {
		if at == own.at { // where an FPDU of the chain begins
			l, f := d.link(&own)
			if f != fits || len(own.rest) < l.size {
				return false
			}
			own.add(&l)
			continue
		}
		if b := d.from(at); len(b) < lengthSize+MarkerSize || !d.cfg.Grammar.Quick(b[lengthSize], b[lengthSize+1]) {
			continue
		}
		if d.pair(at, own.at) {
			return true
		}
	}
	return false
}

// pair reports whether what begins at an offset looks like an FPDU and another header behind it, before
// an end or there, or like an FPDU that ends there: where the one around it does.
func (d *Decoder) pair(at, end int64) bool {
	x := chain{from: at, at: at, rest: d.from(at)}
	d.rare.steps++
	l, f := d.link(&x)
	if f != fits || at+int64(l.size) > end || len(x.rest) < l.size {
		return false
	}
	x.add(&l)
	x.count++
	if x.at == end {
		return true
	}
	_, f = d.link(&x)
	return f == fits
}

// from are the octets at hand from an offset on.
func (d *Decoder) from(off int64) []byte {
	return d.buf[min(d.rd+int(off-d.off), len(d.buf)):]
}
