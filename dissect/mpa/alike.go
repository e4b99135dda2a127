package mpa

// What lies in the payload of an FPDU may look like FPDUs. Ordinary payload does so by chance once in many
// megabytes; payload that does so once is likely to do it again.

const (
	// maxAlike is in how many octets payload is searched for what looks like FPDUs at a time.
	maxAlike = 16 << 10
	// enough is how many octets of payload without anything like that show that it is ordinary.
	enough = 1 << 10
)

// likeness is what the payload of a direction was seen to look like.
type likeness struct {
	alike  bool // some of it looks like FPDUs
	looked int  // octets that were searched
	left   int  // octets of FPDUs to search, behind a place that was found
}

// ordinary reports whether payload was searched, and nothing in it looks like FPDUs.
func (k *likeness) ordinary() bool { return !k.alike && k.looked >= enough }

// inspect searches the payload of the FPDUs of a chain, and what stands in front of it.
func (d *Decoder) inspect(c *chain) {
	k := &d.rare.likeness
	if k.alike {
		return
	}
	for at := d.front(c); at < c.from && !k.alike; at++ {
		k.alike = d.pair(at, c.from, d.from(at)) && !d.leads(at, c.from)
	}
	own := chain{from: c.from, at: c.from, rest: d.from(c.from)}
	for own.at <= c.at && own.at < c.from+maxAlike && !k.alike {
		l, f := d.link(&own)
		if f != fits || len(own.rest) < l.size {
			return
		}
		d.look(own.at, own.rest[:l.size])
		own.add(&l)
	}
}

// front is from where on the octets in front of a chain were captured, as far as they are at hand.
func (d *Decoder) front(c *chain) int64 {
	from := max(d.rare.lost, d.off, c.from-maxAlike)
	holes := d.holes()
	for i := holeBehind(holes, from); i < len(holes) && holes[i].from < c.from; i++ {
		from = holes[i].to
	}
	return from
}

// leads reports whether a run of headers leads to a chain: then it may be right as well.
func (d *Decoder) leads(at, to int64) bool {
	x := chain{from: at, at: at, rest: d.from(at)}
	for x.at < to {
		d.rare.steps++
		l, f := d.link(&x)
		if f != fits || len(x.rest) < l.size {
			return false
		}
		x.add(&l)
		x.count++
	}
	return x.at == to
}

// look searches the payload of the FPDU w at an offset.
func (d *Decoder) look(off int64, w []byte) {
	k := &d.rare.likeness
	for i := lengthSize + MinULPDU; i+crcSize < len(w); i++ {
		if d.pair(off+int64(i), off+int64(len(w)), w[i:]) {
			k.alike = true
			return
		}
	}
	k.looked = min(k.looked+max(len(w)-lengthSize-minHead-crcSize, 0), enough)
}

// lookOn searches the payload of an FPDU behind a place that was found.
func (d *Decoder) lookOn(w []byte) {
	k := &d.rare.likeness
	if k.left -= len(w); !k.alike {
		d.look(d.off, w)
	}
}

// pair reports whether what begins at an offset looks like an FPDU and another header behind it, before
// an end or there, or like an FPDU that ends there: where the one around it does.
func (d *Decoder) pair(at, end int64, b []byte) bool {
	x := chain{from: at, at: at, rest: b}
	if len(x.rest) < lengthSize+MarkerSize || !d.cfg.Grammar.Quick(x.rest[lengthSize], x.rest[lengthSize+1]) {
		return false
	}
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
