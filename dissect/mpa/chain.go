package mpa

import "encoding/binary"

// chain is a run of octets that may be FPDUs, one after the other.
type chain struct {
	from int64  // where it begins
	at   int64  // offset of the next one
	rest []byte // octets from there on
	need int    // how many FPDUs in a row prove a place without CRC and markers
	// count is how many there were, agree how many markers in them are right, inner
	// how many of these stand behind the ULPDU_Length.
	count, agree, inner int
	alone, ends         int   // how many have TCP segments of their own, or end with one
	atStart             bool  // the first one begins with a segment
	out                 bool  // it leads out of any FPDU in whose payload it may lie
	marked              int64 // where the first one begins in which a marker is right, or 0
	again               int   // how many FPDUs it takes to look again for one that can be told
	failed              bool  // a CRC was wrong
	prev                [minHead]byte
	prevN               int // ULPDU_Length of the last one
}

// link is what the header of one FPDU of a chain says.
type link struct {
	lead int // octets of the marker in front
	n    int // ULPDU_Length
	size int // octets on the wire
	head []byte
}

// fit is how the octets at hand fit the header of an FPDU.
type fit uint8

const (
	fits    fit = iota
	unfit       // they are none
	short       // there are too few of them
	missing     // some of them were not captured
)

// chain follows FPDUs from the offset of a trial under the present way of framing.
func (d *Decoder) chain(t trial) verdict {
	o, last := t.at, t.last
	c := chain{from: o, at: o, rest: d.from(o), need: chainUntrusted}
	if t.byCRC > 0 {
		return d.single(&c, t.byCRC)
	}
	if d.cfg.Trusted && (d.cfg.Markers == Unknown || d.markers == (d.cfg.Markers == Yes)) {
		c.need = chainTrusted
	}
	for {
		if d.rare.steps >= stepFloor+stepFactor*d.seek.came {
			return reject
		}
		d.rare.steps++
		l, f := d.link(&c)
		if f == short || f == fits && len(c.rest) < l.size {
			break
		}
		switch f {
		case unfit:
			return reject
		case missing:
			return d.few(&c, last || c.out)
		default:
		}
		if v := d.verify(&c, &l); v != wait {
			return v
		}
		c.count++
		if v := d.fills(&c, &l); v != wait {
			return v
		}
		if d.proves(&c, &l) {
			return confirm
		}
		c.add(&l)
	}
	if !last {
		return wait
	}
	if o == d.rare.lost && d.ended && len(c.rest) == 0 && c.count > 0 {
		c.count++ // start and end are where they should be
	}
	return d.few(&c, last)
}

// add takes an FPDU into the chain.
func (c *chain) add(l *link) {
	c.prev = [minHead]byte{}
	copy(c.prev[:], l.head)
	c.prevN = l.n
	c.rest, c.at = c.rest[l.size:], c.at+int64(l.size)
}

// link reads the header of the next FPDU.
func (d *Decoder) link(c *chain) (l link, f fit) {
	if l, f = d.extent(c); f != fits {
		return l, f
	}
	if l.n < MinULPDU || l.n > MaxULPDU {
		return l, unfit
	}
	o, b := c.at, c.rest
	room := min(l.size, l.lead+lengthSize+MarkerSize+minHead)
	if len(b) < room {
		return l, short
	}
	if d.missing(o+int64(l.lead), o+int64(room)) {
		return l, missing
	}
	l.head = d.headAt(b[:room], o, l.lead, l.n)
	if !d.cfg.Grammar.Strict(l.head, l.n) || c.count > 0 && !d.cfg.Grammar.Follows(c.prev[:], c.prevN, l.head) {
		return l, unfit
	}
	return l, fits
}

// extent reads the ULPDU_Length of the next FPDU.
func (d *Decoder) extent(c *chain) (l link, f fit) {
	o, b := c.at, c.rest
	l.lead = d.lead(o)
	if len(b) < l.lead+lengthSize {
		return l, short
	}
	if d.missing(o+int64(l.lead), o+int64(l.lead+lengthSize)) {
		return l, missing
	}
	if l.lead > 0 && binary.BigEndian.Uint32(b) != 0 {
		return l, unfit
	}
	if d.markers && d.toMarker(o) == MarkerInterval-MarkerSize {
		return l, unfit // the marker before it would be the start
	}
	l.n = int(binary.BigEndian.Uint16(b[l.lead:]))
	l.size = d.size(o, l.n)
	return l, fits
}

// Covers reports whether an offset seems to lie in an FPDU, while a place is searched for: the octets from which the search began
// look like FPDUs, one after the other, and one of them leads over it.
func (d *Decoder) Covers(off int64) bool {
	if !d.Seeking() || d.rare.lost < d.off {
		return false
	}
	c := chain{from: d.rare.lost, at: d.rare.lost, rest: d.from(d.rare.lost)}
	for c.at < off {
		l, f := d.link(&c)
		if f != fits || len(c.rest) < l.size {
			return f == fits && c.at+int64(l.size) > off
		}
		c.add(&l)
	}
	return c.at > off
}

// verify looks at the CRC, the markers and the pad of an FPDU: a right CRC confirms
// the place, what is wrong rejects it, and anything else leaves it open: wait.
func (d *Decoder) verify(c *chain, l *link) verdict {
	w := c.rest[:l.size]
	if !d.missing(c.at, c.at+int64(l.size)) {
		if v := d.verifyCRC(c, l, w); v != wait {
			return v
		}
		for at := d.toMarker(c.at); d.markers && at < l.size; at += MarkerInterval {
			if !pointsBack(w, at, l.lead) {
				return reject
			}
			c.agree++
			if at >= l.lead+lengthSize {
				if c.inner++; c.inner == 1 {
					c.marked = c.at
				}
			}
		}
	}
	if !d.padZero(w, c.at, l.n) && (d.markers || d.cfg.Markers == No || d.framing == No || !tells(w)) {
		return reject // right senders write zeros, and chance seldom does
	}
	return wait
}

// verifyCRC is verify for the CRC of an FPDU w that was captured whole.
func (d *Decoder) verifyCRC(c *chain, l *link, w []byte) verdict {
	switch ok, tested := d.trialCRC(w); {
	case ok && c.failed:
		return reject // CRCs are in use, and the first one was wrong
	case ok && d.markers && !d.hasGrid && !d.onGrid(w, l.lead, d.toMarker(c.at)):
		return reject
	case ok && d.markers && d.hasGrid && d.framing == Unknown && d.gapAt >= 0 && d.elsewhere(w, l.lead, d.toMarker(c.at)):
		d.hasGrid = false // full operation began elsewhere: a startup frame was lost
		return reject
	case ok:
		d.seek.found, d.crc = ByCRC, true
		return confirm
	case tested && d.cfg.CRC == Yes:
		return reject
	case tested:
		c.failed = true
	}
	return wait
}

// onGrid reports whether the markers of an FPDU, whose grid it has to show, are on one grid only,
// the first of them behind first octets. The CRC does not tell where markers are, only how many; and
// an MSN of 12 stands where a marker says 12.
func (d *Decoder) onGrid(w []byte, lead, first int) bool {
	for at := first; at < len(w); at += MarkerInterval {
		if at+MarkerSize > len(w) || !pointsBack(w, at, lead) {
			return false
		}
	}
	return lead > 0 || !otherGrid(w, first)
}

// elsewhere reports whether the first marker of an FPDU does not stand where the grid has it, behind
// first octets, but at another place.
func (d *Decoder) elsewhere(w []byte, lead, first int) bool {
	return first+MarkerSize <= len(w) && !pointsBack(w, first, lead) && otherGrid(w, first)
}

// pointsBack reports whether the four octets at a place of an FPDU, which begins with lead octets of a marker, are a
// marker with the right FPDU pointer.
func pointsBack(w []byte, at, lead int) bool {
	return int(binary.BigEndian.Uint32(w[at:])) == max(at-lead, 0)
}

// otherGrid reports whether markers seem to stand in an FPDU at another place than p.
func otherGrid(w []byte, p int) bool {
	for at := MarkerSize; at < MarkerInterval && at+MarkerSize <= len(w); at += 4 {
		if at != p && marked(w, at) {
			return true
		}
	}
	return false
}

// proves reports whether the chain proves the place: by its markers, or by its length
// where there is no CRC to prove it.
func (d *Decoder) proves(c *chain, l *link) bool {
	if d.markers && !d.hasGrid {
		// Four zero octets are also what an unused CRC field looks like: only markers
		// inside FPDUs tell where the grid lies.
		if c.inner < 2 {
			return false
		}
		d.seek.found = ByMarker
		return true
	}
	if !d.knowsGrid(c) {
		return false
	}
	if d.cfg.CRC == Yes && !d.missing(c.at, c.at+int64(l.size)) || !d.unmarked(c) {
		return false
	}
	switch {
	case c.agree >= 2 && d.cfg.Trusted:
		return d.told(c, ByMarker)
	case c.count >= c.need && d.leadsOut(c):
		return d.told(c, ByChain)
	}
	return false
}
