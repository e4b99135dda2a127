package mpa

// trial is the question whether FPDUs begin at an offset.
type trial struct {
	at   int64
	last bool // no octets follow those at hand
	// byCRC is 0, or the offset up to which one FPDU has to end whose CRC is right. Then it may have any header:
	// a CRC32c that is right by chance is rarer than a sender at fault.
	byCRC int64
}

// oddHeader reports whether an FPDU begins at an offset whose header no correct sender writes, but whose CRC is right. It is
// looked for only where a TCP segment begins, and only in that segment, so that each octet is summed once.
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
