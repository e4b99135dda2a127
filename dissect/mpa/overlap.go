package mpa

// maxStray is how many octets may stand between a startup frame and the first FPDU for
// that one to be found when they look like an FPDU themselves.
const maxStray = 2048

// overlaps reports whether the octets w of the first FPDU of a direction, of which no CRC
// is right and behind which nothing follows that can be an FPDU, have to be searched for
// one that begins in them, and puts them back.
func (d *Decoder) overlaps(f *FPDU, w []byte, lead int) bool {
	if !d.cfg.Start || f.CRCStatus == CRCGood || len(f.Missing) > 0 || d.seek.force {
		return false
	}
	after, behind := d.in, d.off+int64(len(w))
	if len(d.buf) > 0 {
		after = d.buf[d.rd:]
	}
	known := len(after) >= d.lead(behind)+lengthSize+MarkerSize+minHead
	if known && d.begins(after, behind) || !known && f.CRCStatus != CRCBad {
		return false
	}
	n := int(f.ULPDULength)
	head := d.headOf(w, lead, n)
	if !d.cfg.Grammar.Light(head, n) {
		return false
	}
	from := d.off
	headed := len(head) > 1 && d.cfg.Grammar.Quick(head[0], head[1])
	d.unread(w)
	d.startSeek(from+1, false)
	d.rare.lost, d.rare.odd, d.rare.limit = from, behind, min(behind, from+maxStray)
	if headed {
		// As many as this may be an FPDU with a wrong length.
		d.rare.limit = min(d.rare.limit, from+lengthSize+MinULPDU+crcSize)
	}
	return true
}

// believe takes the FPDU in which none was found as it is.
func (d *Decoder) believe() {
	s := &d.seek
	s.on, d.rare.limit, d.rare.odd = false, 0, 0
	s.force, s.found = true, InSync
}
