package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// Sync tells how the place of an FPDU in the stream was found.
type Sync uint8

// The ways.
const (
	// InSync: by the chain of lengths from the start, or from the last FPDU.
	InSync Sync = iota
	// ByCRC: a right CRC32c proved it.
	ByCRC
	// ByMarker: two agreeing markers proved it.
	ByMarker
	// ByChain: several plausible FPDUs follow each other.
	ByChain
)

// String returns the name of the way.
func (s Sync) String() string {
	switch s {
	case ByCRC:
		return "crc"
	case ByMarker:
		return "marker"
	case ByChain:
		return "chain"
	default:
		return "in-sync"
	}
}

// Limits of the search.
const (
	// window is the number of octets in which a chain must show itself: four
	// FPDUs of the largest size.
	window = 288 << 10
	// maxSearch is how many octets of a connection that is not known to carry
	// MPA are searched.
	maxSearch = 1 << 20
	// disbelief is how many octets are searched without success before a side may not
	// do what it was asked to.
	disbelief = 64 << 10
	// chainTrusted and chainUntrusted are the numbers of FPDUs in a row that
	// prove a place without CRC and markers.
	chainTrusted, chainUntrusted = 3, 5
	// crcFloor and crcFactor bound the octets whose CRC is computed on trial.
	crcFloor, crcFactor = 1 << 20, 16
	// stepFloor and stepFactor bound the headers that are followed in search of a place, by
	// the octets that came in. Who sends small FPDUs that prove nothing could have each of
	// their chains followed again with every packet.
	stepFloor, stepFactor = 1 << 18, 4
)

// seeker is the state of the search for a place in the stream, as far as a decoder that begins with
// full operation needs it.
type seeker struct {
	on       bool
	anchored bool  // only the very start is looked at: how is it framed?
	afterGap bool  // the place was lost to a gap or a late start
	force    bool  // take the next FPDU whatever its header
	found    Sync  // how the next FPDU's place was found
	crcWork  int64 // octets of CRC computed on trial
	came     int64 // octets that came in, searched or not
}

// quest is the rest of it.
type quest struct {
	lost   int64 // offset at which the place was lost
	at     int64 // offset from which to search
	odd    int64 // end of an FPDU with an impossible header, or 0
	limit  int64 // end of the search for an FPDU in the first one, or 0
	passed int64 // octets searched without success
	steps  int64 // headers that were followed
	// segment is the end of the last segment that was tried for an FPDU with an odd header.
	segment int64
	due     int64 // where octets have to end for such FPDUs to be looked for anywhere in them
	swept   int64 // up to where that was done
	bare    *bare // nil: there was none
}

func (d *Decoder) startSeek(from int64, afterGap bool) {
	s, r := &d.seek, d.seldom()
	s.on, s.anchored, s.afterGap, s.force = true, false, afterGap, false
	r.lost, r.at, r.odd, r.limit, r.segment, r.due, r.swept = from, from, 0, 0, 0, 0, d.off
	d.unsure, d.plain = false, 0
	r.strays = r.strays[:0]
	d.beginBare(from)
	d.trusty()
}

// ends reports whether an FPDU ended at an offset whose CRC field may be none.
func (d *Decoder) ends(off int64) bool { return d.crcOff() && d.priorEnd == off }

// beginBare reads what follows an FPDU that ends at an offset as FPDUs without a CRC field, if they may be.
func (d *Decoder) beginBare(off int64) {
	r := d.rare
	switch {
	case d.ends(off):
		r.bare = new(bare)
		r.bare.begin(off, d.prior)
	case r.bare != nil:
		r.bare.on = false
	}
}

// verdict of a trial.
type verdict uint8

const (
	reject verdict = iota
	wait
	confirm
)

// search looks for a place at which FPDUs begin.
func (d *Decoder) search() (Event, bool) {
	if len(d.in) > 0 {
		d.compact()
		d.keep(d.in)
		d.in = nil
	}
	if d.seek.anchored {
		return d.anchor()
	}
	s := d.rare
	last := d.ended || d.jumps()
	end := d.off + int64(len(d.buf)-d.rd)
	d.follow()
	for s.at = max(s.at, d.off); s.at+lengthSize+MinULPDU <= end && (s.limit == 0 || s.at < s.limit); s.at++ {
		if len(d.holes()) > 0 {
			if to := d.holeEnd(s.at); to > s.at {
				lead := to - int64(MarkerInterval-d.toMarker(to))
				if _, without := d.ways(); without || !d.hasGrid || lead < s.at || to-lead > MarkerSize {
					s.at = to - 1
					continue
				}
				s.at = lead // the marker in front of an FPDU, or its end, is missing
				if lead+lengthSize+MinULPDU > end {
					break
				}
			}
		}
		if to := min(d.skip(s.at), end); to > s.at {
			s.at = to - 1
			continue
		}
		v := d.try(trial{at: s.at, last: last || end-s.at >= window})
		if v == wait {
			d.forget()
			return None, true
		}
		if v == confirm && d.seek.found == ByCRC {
			d.sweep(s.at, true)
		}
		if v == confirm || d.oddHeader(s.at) {
			return d.resync()
		}
		s.passed++
		if !d.cfg.Trusted && s.passed > maxSearch {
			d.stopped = true
			return Hopeless, true
		}
	}
	if s.limit > 0 {
		d.believe()
		return None, false
	}
	return d.endSearch(end, last)
}

// endSearch ends a search that has found nothing, or waits for more octets. last: none come.
func (d *Decoder) endSearch(end int64, last bool) (Event, bool) {
	switch {
	case last && d.sweep(end, false), !last && d.sweepMore(end):
		return d.resync()
	case last:
		return d.giveUp(end)
	}
	d.forget()
	return None, true
}

// giveUp ends a search that has found nothing up to the last octet there is.
func (d *Decoder) giveUp(end int64) (Event, bool) {
	if end <= d.off {
		return None, true
	}
	if d.oddToEnd() {
		d.seek.on, d.seek.force, d.seek.found = false, true, InSync
		return None, false
	}
	lost := d.rare.lost
	if lost > d.off { // what is before was told
		d.rd += int(lost - d.off)
		d.off = lost
	}
	return d.unframed(lost, end)
}

// oddToEnd reports whether the octets that are searched are the FPDU with an impossible header, and FPDUs up to the end of the stream:
// too few to prove a place, but no CRC and nothing else speaks against it. Where there are CRCs, it is the last one.
func (d *Decoder) oddToEnd() bool {
	s := d.rare
	switch {
	case !d.ended || s.odd == 0 || s.lost != d.off || len(d.holes()) > 0:
		return false
	case d.crc:
		return d.lastDamaged()
	}
	c := chain{from: s.odd, at: s.odd, rest: d.from(s.odd)}
	for len(c.rest) > 0 {
		s.steps++
		l, f := d.link(&c)
		if f != fits || len(c.rest) < l.size {
			return false
		}
		c.add(&l)
	}
	return true
}

// lastDamaged reports whether the octets that are searched are the last FPDU of the stream, with a wrong CRC: they have its length and
// begin with a header where one must begin, behind an FPDU with a right CRC. With a marker in it there would be more of them.
func (d *Decoder) lastDamaged() bool {
	b, lead := d.from(d.off), d.lead(d.off)
	if d.proven != d.off || d.framed != d.off || d.off == d.start || d.rare.odd != d.off+int64(len(b)) {
		return false
	}
	n := int(binary.BigEndian.Uint16(b[lead:]))
	return d.cfg.Grammar.Strict(d.headOf(b, lead, n), n)
}

// forget lets go of octets that were searched without success, so that the buffer stays
// within the window.
func (d *Decoder) forget() {
	s := d.rare
	if s.odd > 0 && s.at <= s.odd {
		return // what follows the odd FPDU decides
	}
	to := d.kept()
	if s.bare != nil && s.bare.on && s.bare.have == 0 {
		to = min(to, s.bare.at)
	}
	if n := to - d.off; n > 0 && to > s.lost {
		d.stray(s.lost)
		d.rd += int(n)
		d.off = to
		keep := 0
		for _, h := range s.holes {
			if h.to > d.off {
				s.holes[keep] = h
				keep++
			}
		}
		s.holes = s.holes[:keep]
		d.shrink()
	}
}

// resync goes on framing at the place that was found.
func (d *Decoder) resync() (Event, bool) {
	s := d.rare
	if d.framing == Unknown && d.cfg.Markers == Unknown && d.seek.found == ByChain && d.cfg.Segments != nil && !d.crc {
		d.framing = TriOf(d.markers)
	}
	if d.cfg.Segments != nil {
		s.likeness.left = maxAlike
	}
	d.seek.on = false
	d.cfg.Trusted = true // what is proven once need not be proven as hard again
	if s.odd > 0 && s.at == s.odd {
		// A good FPDU follows directly: the odd one is an FPDU too.
		d.seek.force, d.seek.found = true, InSync
		return None, false
	}
	return d.unframed(s.lost, s.at)
}

// try judges whether an FPDU begins at the offset, under every way of framing
// that is possible, and adopts the way that is proven.
func (d *Decoder) try(t trial) verdict {
	o := t.at
	b := d.from(o)
	quick := t.byCRC > 0 || d.cfg.Grammar.Quick(b[2], b[3])
	result := reject
	keep := func(v verdict) verdict {
		result = max(result, v)
		return v
	}
	markers, grid := d.markers, d.grid
	with, without := d.ways()
	if quick && without {
		if d.markers = false; keep(d.chain(t)) == confirm {
			return confirm
		}
	}
	if with {
		d.markers = true
		if d.hasGrid && (o-d.grid)&3 == 0 && keep(d.chain(t)) == confirm {
			return confirm
		}
		switch {
		case d.hasGrid: // there is no other one
		case binary.BigEndian.Uint32(b) == 0:
			if d.grid = o; keep(d.chain(t)) == confirm {
				d.hasGrid = true
				return confirm
			}
		case quick:
			// A marker inside tells where this FPDU begins: try each place
			// that says so.
			for p := MarkerSize; p < MarkerInterval && p+MarkerSize <= len(b); p += 4 {
				if int(binary.BigEndian.Uint32(b[p:])) != p {
					continue
				}
				if d.grid = o + int64(p); keep(d.chain(t)) == confirm {
					d.hasGrid = true
					return confirm
				}
			}
		}
	}
	d.markers, d.grid = markers, grid
	return result
}

// ways tells which ways of framing are possible, with markers and without: what
// was seen counts more than what was negotiated.
func (d *Decoder) ways() (with, without bool) {
	switch {
	case d.framing != Unknown:
		return d.framing == Yes, d.framing == No
	case d.cfg.Start && d.cfg.Markers != Unknown && d.markers != (d.cfg.Markers == Yes):
		return true, true // the start looked otherwise than negotiated
	}
	doubt := !d.cfg.Start && d.searched() > disbelief
	return d.cfg.Markers != No || doubt, d.cfg.Markers != Yes || doubt
}

// mustMark reports whether there are markers for sure, and where. Else four zero octets in
// front of an FPDU are not known to be one: an unused CRC field looks the same.
func (d *Decoder) mustMark() bool {
	_, without := d.ways()
	return d.hasGrid && !without
}

// knowsGrid reports whether the markers of a chain are on a grid that is known, or that the chain shows: where
// there may be none, a single one may be an MSN.
func (d *Decoder) knowsGrid(c *chain) bool {
	_, without := d.ways()
	return !d.markers || d.mustMark() || c.inner > 1 || c.inner == 1 && (d.hasGrid || !without)
}

// tells reports whether four octets of an FPDU look like a marker in it.
func tells(w []byte) bool {
	for p := MarkerSize; p < MarkerInterval && p+MarkerSize <= len(w); p += 4 {
		if marked(w, p) {
			return true
		}
	}
	return false
}

// padZero reports whether the pad of an FPDU at the offset is zero, as far as it
// was captured: a hole reads as zeros.
func (d *Decoder) padZero(w []byte, off int64, n int) bool {
	at := len(w) - crcSize
	for i := d.padLen(n); i > 0; i-- {
		if d.markers && (off+int64(at)-MarkerSize-d.grid)&(MarkerInterval-1) == 0 {
			at -= MarkerSize
		}
		if at--; w[at] != 0 {
			return false
		}
	}
	return true
}

// few judges a chain that could not be followed to the end.
func (d *Decoder) few(c *chain, last bool) verdict {
	if !d.knowsGrid(c) {
		return reject // the zeros in front may be anything
	}
	few := d.cfg.Segments == nil || len(c.rest) == 0 && !d.missing(c.from, c.at) // it ends with the stream
	if len(c.rest) > 0 && !d.unmarked(c) {
		return reject
	}
	if last && d.cfg.CRC != Yes && (c.out || few && (d.cfg.Trusted && c.count >= chainTrusted-1 || c.count > c.need)) {
		c.again = 0
		if d.told(c, ByChain) {
			return confirm
		}
	}
	return reject
}

// trialCRC verifies the CRC of octets that may be an FPDU, within the work that
// a search may cost.
func (d *Decoder) trialCRC(w []byte) (ok, tested bool) {
	s := &d.seek
	if d.cfg.CRC == No || s.crcWork > crcFloor+crcFactor*d.searched() {
		return false, false
	}
	s.crcWork += int64(len(w))
	n := len(w) - crcSize
	return crc32c.Checksum(w[:n]) == binary.LittleEndian.Uint32(w[n:]), true
}

// anchor decides how the stream is framed from its first octet: as negotiated
// if that fits, else in the other way if that one fits.
func (d *Decoder) anchor() (Event, bool) {
	s := &d.seek
	b := d.buf[d.rd:]
	if len(b) == 0 {
		return None, true
	}
	last := d.ended || d.jumps()
	first := d.cfg.Markers == Yes
	choice, chosen := first, false
	for _, markers := range [2]bool{first, !first} {
		d.markers = markers
		lead := d.lead(d.off)
		need := lead + lengthSize + MarkerSize + minHead
		n, size := 0, 0
		if len(b) >= lead+lengthSize {
			n = int(binary.BigEndian.Uint16(b[lead:]))
			size = d.size(d.off, n)
			need = min(need, size)
		}
		if len(b) < need && !last {
			return None, true
		}
		if size == 0 || d.missing(d.off, d.off+int64(min(need, len(b)))) {
			continue
		}
		if markers && binary.BigEndian.Uint32(b) != 0 {
			continue
		}
		if d.cfg.CRC != No && len(b) >= size && !d.missing(d.off, d.off+int64(size)) {
			if ok, _ := d.trialCRC(b[:size]); ok {
				choice, chosen, d.crc = markers, true, true
				break
			}
		}
		if !d.cfg.Grammar.Strict(d.headOf(b, lead, n), n) {
			continue
		}
		if d.cfg.CRC != No && len(b) < size && !last {
			return None, true
		}
		if !chosen {
			choice, chosen = markers, true
		}
		if d.cfg.CRC == No {
			break
		}
	}
	d.markers = choice
	if chosen {
		d.framing = TriOf(choice) // the very first FPDU begins with a marker if there are any
	}
	s.on, s.anchored = false, false
	return None, false
}
