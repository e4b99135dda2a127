package mpa

import (
	"encoding/binary"
	"slices"
)

// Tri is a boolean that may be unknown.
type Tri uint8

// The three values.
const (
	Unknown Tri = iota
	No
	Yes
)

// TriOf returns Yes or No.
func TriOf(b bool) Tri {
	if b {
		return Yes
	}
	return No
}

// Grammar tells the decoder what the layers above accept, so that it can judge
// whether octets look like an FPDU. head holds the first octets of an ULPDU of
// n octets, as far as they were captured. All functions must be set. The one of DDP and
// RDMAP is Grammar in the package rdmap.
type Grammar struct {
	// Quick judges the first two octets of an ULPDU; it must accept whatever
	// Strict accepts.
	Quick func(c0, c1 byte) bool
	// Light rejects only what no DDP segment can be.
	Light func(head []byte, n int) bool
	// Strict accepts only what a correct sender writes.
	Strict func(head []byte, n int) bool
	// Follows reports whether the segment next can follow the segment head of
	// n octets in a stream.
	Follows func(head []byte, n int, next []byte) bool
	// Queue numbers the queues and the kinds of tagged messages from 0 on, up to 4. Joins reports
	// whether the segment next of a queue goes on where the segment head of n octets of that queue
	// stopped: such as chance does not do.
	Queue func(head []byte) int
	Joins func(head []byte, n int, next []byte) bool
}

// unknown is the grammar of what nothing is known of: nothing in it proves that an FPDU lies
// where it seems to.
var unknown = &Grammar{
	Quick:   func(_, _ byte) bool { return true },
	Light:   func([]byte, int) bool { return true },
	Strict:  func([]byte, int) bool { return true },
	Follows: func([]byte, int, []byte) bool { return false },
	Queue:   func([]byte) int { return 4 },
	Joins:   func([]byte, int, []byte) bool { return false },
}

// Config is what is known of a direction when its full operation begins.
type Config struct {
	// Markers and CRC are what was negotiated.
	Markers, CRC Tri
	// Start is true when the first octet is the start of full operation; then
	// the marker grid is known too. Otherwise the place must be found.
	Start bool
	// AfterGap is true when octets are missing before the first one.
	AfterGap bool
	// Trusted is true when the connection is known to carry MPA. Then less
	// evidence is asked for, and the search never ends.
	Trusted bool
	// Gather asks for the whole ULPDU of every FPDU that was captured whole.
	Gather bool
	// Side is 0 or 1, for the two directions of a connection.
	Side uint8
	// Budget bounds the octets that decoders hold together. Those of a budget share
	// buffers, and those of the same side the FPDU that they hand out: it is valid until
	// the next call of any of them. nil: the decoder is not bounded, and shares nothing.
	Budget *Budget
	// Grammar is that of what the FPDUs carry; nil: it is not known. Then an FPDU is found
	// where Start says that one begins, and behind that one, and nowhere else.
	Grammar *Grammar
	// Segments tells the TCP segments; nil: they are not known. Then each input but the first
	// may begin anywhere.
	Segments Segments
	// Before tells what was seen of the direction; nil: nothing.
	Before Before
}

// Before tells what was seen of a direction by now.
type Before interface {
	// Continues reports whether the segment head goes on with what was seen, with at most within
	// octets of the stream between: such as chance does not do.
	Continues(head []byte, within int64) bool
}

// Event is what [Decoder.Next] found.
type Event uint8

// The events.
const (
	// None: more octets are needed.
	None Event = iota
	// Got: an FPDU is in Decoder.FPDU.
	Got
	// Unframed: octets of the stream are not part of an FPDU, as [Decoder.Loose] says.
	Unframed
	// Hopeless: the search has ended without an FPDU. Only an untrusted direction ends
	// so.
	Hopeless
)

// Decoder frames one direction of a connection. Hand it octets with
// [Decoder.Write] or [Decoder.Missing], then call [Decoder.Next] until it
// returns None.
type Decoder struct {
	// The fields that each FPDU touches come first: thousands of decoders share a cache.

	in       []byte // borrowed input, behind what buf holds
	off      int64  // offset of the next octet to frame: that at buf[rd], else in[0]
	grid     int64  // an offset at which a marker stands
	priorEnd int64  // where the last FPDU ends, if its CRC field was there
	gapAt    int64  // offset of the first gap, or -1
	start    int64  // offset of the first octet of the direction
	proven   int64  // where the last FPDU with a right CRC ends, or start
	framed   int64  // where the last FPDU ends that was not framed by Whole
	prior    uint32 // the CRC field of the last FPDU, if it was there
	await    int32  // octets to be there before the next FPDU is judged, or 0
	long     int32  // how long FPDUs were of late, in octets
	plain    int32  // octets framed without markers since the place was found, as far as they count

	crc, markers, hasGrid, unsure, ended, stopped bool // unsure: the last FPDU had a hole, markers in it may not be known of

	framing Tri  // whether there are markers, once an FPDU has shown it
	pads    Tri  // whether FPDUs have pads, once that was shown; Yes only where no CRC tells
	right   bool // the CRC of the current FPDU is known to be right
	noPads  bool // FPDUs have no pads behind the current one

	verified Verified // CRCs in in
	aligned  alignment
	seek     seeker

	// buf keeps octets that wait: an open FPDU, or what is being searched.
	buf []byte
	rd  int
	cfg Config

	// FPDU is the one that Next found.
	FPDU *FPDU
	rare *rare // nil: there was no need
}

// Loose is what [Decoder.Next] found when it last returned Unframed; nil: it never did. It is valid
// until the next call of it.
func (d *Decoder) Loose() *Loose {
	if d.rare == nil {
		return nil
	}
	return &d.rare.loose
}

// Loose are octets of the stream that are not part of an FPDU.
type Loose struct {
	// From and To are the offsets of unframed octets, on the scale of Reset; AfterGap
	// is true when a gap or a late start is why they could not be framed.
	From, To int64
	AfterGap bool
	// Lied is true when the octets are what a wrong ULPDU_Length leaves over: they follow
	// an FPDU whose length no CRC confirms, or look like an FPDU themselves. Else they are
	// no part of the stream of FPDUs.
	Lied bool
	// Stray are the first of them, at most 64, valid until the next call.
	Stray []byte
	// Bare is how many FPDUs the unframed octets can be read as if they have no CRC
	// field, including the last one before From; 0 if that is impossible.
	Bare int
}

const strayLen = 64

// Reset prepares the decoder for a direction whose next octet has the offset. All
// offsets count octets on from there. Buffers are kept.
func (d *Decoder) Reset(cfg Config, off int64) {
	d.Free()
	if cfg.Grammar == nil {
		cfg.Grammar = unknown
	}
	var f *FPDU
	switch {
	case cfg.Budget != nil:
		f = &cfg.Budget.fpdus[cfg.Side&1]
	case d.FPDU != nil && d.cfg.Budget == nil:
		f = d.FPDU
		*f = FPDU{Missing: f.Missing, Markers: f.Markers}
	default:
		f = new(FPDU)
	}
	*d = Decoder{
		FPDU: f, cfg: cfg, off: off, gapAt: -1, start: off, proven: off, framed: off, buf: d.buf, rare: d.rare,
		crc: cfg.CRC == Yes, markers: cfg.Markers == Yes, hasGrid: cfg.Start, grid: off,
	}
	if d.rare != nil {
		d.rare.reset()
	}
	if cfg.AfterGap {
		d.gapAt = off
	}
	if d.seek.on, d.seek.afterGap, d.seek.anchored = true, true, cfg.Start; !cfg.Start || d.ends(off) {
		d.startSeek(off, true)
		d.seek.anchored = cfg.Start
	}
}

// Markers reports whether FPDUs are framed with markers.
func (d *Decoder) Markers() bool { return d.markers }

// CRC reports whether CRCs are verified.
func (d *Decoder) CRC() bool { return d.crc }

// Seeking reports whether the place in the stream is not known.
func (d *Decoder) Seeking() bool { return d.seek.on && !d.seek.anchored }

// Trust says that the connection is now known to carry MPA.
func (d *Decoder) Trust() { d.cfg.Trusted = true }

// Learn sets what was negotiated, for FPDUs that come later.
func (d *Decoder) Learn(markers, crc Tri) {
	if d.framing == Unknown && d.cfg.Markers == Unknown {
		d.cfg.Markers = markers
		d.markers = d.markers || markers == Yes && d.seek.anchored
	}
	if d.cfg.CRC == Unknown {
		d.cfg.CRC = crc
		d.crc = crc == Yes
	}
}

// Open is the number of octets of an FPDU that has begun but is not whole.
func (d *Decoder) Open() int {
	return len(d.buf) - d.rd
}

// Begun returns where the FPDU that has begun but is not whole lies, by its length; to is
// 0 while that is not there.
func (d *Decoder) Begun() (from, to int64) {
	lead := d.lead(d.off)
	b := d.buf[d.rd:]
	if at := d.off + int64(lead); len(b) < lead+lengthSize || d.missing(at, at+lengthSize) {
		return d.off, 0
	}
	return d.off, d.off + int64(d.size(d.off, int(binary.BigEndian.Uint16(b[lead:]))))
}

// Oldest is the lowest offset that may still become part of an FPDU.
func (d *Decoder) Oldest() int64 {
	if len(d.suspect()) > 0 {
		return d.rare.susOff
	}
	return d.off
}

// Searched returns where the octets begin that were searched for an FPDU and let go of, up to [Decoder.Oldest]; ok is false if there
// are none, or they are behind a gap.
func (d *Decoder) Searched() (from int64, ok bool) {
	if !d.Seeking() || d.seek.afterGap || d.rare.lost >= d.off {
		return 0, false
	}
	return d.rare.lost, true
}

// Write hands over the next octets. They are borrowed until Next returns None.
func (d *Decoder) Write(b []byte) { d.WriteVerified(b, 0) }

// WriteVerified is Write with what [Verify] said of these octets.
func (d *Decoder) WriteVerified(b []byte, v Verified) {
	d.in, d.verified = b, v
	d.seek.came += int64(len(b))
	if !d.seek.on {
		d.aligned.input(len(d.buf) > d.rd)
	}
}

// End says that no more octets come; Next then hands out what is left.
func (d *Decoder) End() { d.ended = true }

// Next returns the next result.
func (d *Decoder) Next() Event {
	for {
		ev, done := d.step()
		if !done {
			continue
		}
		if ev == None && d.jumps() {
			d.drop()
			d.off, d.rare.jumpTo = d.rare.jumpTo, 0
			d.startSeek(d.off, true)
		}
		if ev == None && len(d.buf) > 0 && d.cfg.Budget.over() {
			d.starve()
		}
		return ev
	}
}

// step does one thing; done is false when there may be more to do.
func (d *Decoder) step() (ev Event, done bool) {
	switch {
	case d.stopped:
		d.drop()
		return None, true
	case d.seek.on:
		return d.search()
	case d.rd < len(d.buf):
		return d.buffered()
	}
	d.empty()
	if len(d.in) > 0 {
		return d.direct()
	}
	if d.ended && len(d.suspect()) > 0 {
		d.rewind()
		return None, false
	}
	return None, true
}

// direct frames an FPDU that lies whole in the input, without a copy.
func (d *Decoder) direct() (Event, bool) {
	lead := d.lead(d.off)
	if len(d.in) >= lead+lengthSize && len(d.suspect()) == 0 && !d.unsure {
		n := int(binary.BigEndian.Uint16(d.in[lead:]))
		if size := d.size(d.off, n); size <= len(d.in) {
			w := d.in[:size:size]
			d.right, d.verified = d.verified.next(d.in, size, n)
			d.in = d.in[size:]
			d.aligned.framed()
			ev, done := d.accept(w, lead, n)
			d.right = false
			return ev, done
		}
	}
	d.take(lead + lengthSize)
	return None, false
}

// take moves octets of the input into the buffer until it holds n unread ones.
func (d *Decoder) take(n int) {
	all := n
	n = min(n-(len(d.buf)-d.rd), len(d.in))
	if n <= 0 {
		return
	}
	d.compact()
	// Allocate for the claimed length only as far as recent FPDUs were as long.
	if all <= 2*int(d.long) {
		d.buf = d.cfg.Budget.room(d.buf, all)
	}
	d.keep(d.in[:n])
	d.in, d.verified = d.in[n:], 0
}

// believed returns the new value of long after an FPDU of size octets: one small FPDU
// among large ones lowers it only a little.
func (d *Decoder) believed(size int) int32 {
	return max(int32(size), d.long-d.long/4) //nolint:gosec // ULPDU_Length has 16 bits
}

// compact moves what is unread to the front of the buffer.
func (d *Decoder) compact() {
	if d.rd > 0 {
		d.buf = d.buf[:copy(d.buf, d.buf[d.rd:])]
		d.rd = 0
	}
}

// buffered frames the FPDU that begins at buf[rd].
func (d *Decoder) buffered() (Event, bool) {
	lead := d.lead(d.off)
	d.take(lead + lengthSize)
	b := d.buf[d.rd:]
	if behind := d.off + int64(lead+lengthSize); d.missing(behind-lengthSize, behind) {
		// The length of this FPDU is not known. The next one may begin with a marker
		// that ends in the hole.
		d.startSeek(d.holeEnd(behind-1), true)
		d.rare.at = max(d.rare.at-MarkerSize, d.off)
		return None, false
	}
	if len(b) < lead+lengthSize {
		return d.rest()
	}
	n := int(binary.BigEndian.Uint16(b[lead:]))
	size := d.size(d.off, n)
	if len(d.suspect()) > 0 || d.unsure {
		wait, bad := d.implausible(lead, n, size)
		switch {
		case bad && len(d.suspect()) > 0:
			d.rewind()
			return None, false
		case bad:
			d.unsure = false
			d.startSeek(d.off, true)
			return None, false
		case wait:
			return d.rest()
		}
		d.unsure = false
	}
	d.take(max(size, int(d.await)))
	b = d.buf[d.rd:]
	switch {
	case len(b) < size:
		return d.rest()
	case len(b) < int(d.await) && !d.ended && !d.jumps():
		return None, true
	}
	d.rd += size
	d.placed(size)
	return d.accept(b[:size:size], lead, n)
}

// implausible judges the FPDU behind one with a bad CRC by its header: wait is
// true until that is there.
func (d *Decoder) implausible(lead, n, size int) (wait, bad bool) {
	need := min(size-crcSize, lead+lengthSize+MarkerSize+minHead)
	d.take(need)
	if len(d.buf)-d.rd < need {
		return !d.ended, false
	}
	b := d.buf[d.rd : d.rd+need]
	if d.missing(d.off, d.off+int64(need)) {
		return false, false
	}
	return false, !d.cfg.Grammar.Strict(d.headOf(b, lead, n), n)
}

// rewind goes back into the FPDU with the bad CRC: its length was wrong.
func (d *Decoder) rewind() {
	r := d.rare
	b := d.cfg.Budget.add(r.suspect, d.buf[d.rd:])
	r.suspect = nil
	end := d.off // everything before was handed out
	d.empty()
	d.buf, d.off = b, r.susOff
	d.startSeek(r.susOff+1, false)
	r.lost = end
}

// rest handles an FPDU that is not whole yet, or never will be.
func (d *Decoder) rest() (Event, bool) {
	if !d.ended && !d.jumps() {
		return None, true
	}
	if len(d.suspect()) > 0 {
		d.rewind()
		return None, false
	}
	b := d.buf[d.rd:]
	lead := d.lead(d.off)
	if len(b) < lead+lengthSize {
		d.seek.afterGap = d.jumps()
		return d.unframed(d.off, d.off+int64(len(b)))
	}
	n := int(binary.BigEndian.Uint16(b[lead:]))
	head := d.headOf(b, lead, n)
	if !d.likely(head, n) {
		d.startSeek(d.off+1, false)
		d.rare.lost = d.off
		d.beginBare(d.off)
		return None, false
	}
	// Hand it out as it is. It may also be whole FPDUs that a wrong length
	// swallowed, so look inside.
	size := d.size(d.off, n)
	have := int64(len(b))
	w := d.scratch(size)
	copy(w, b)
	off := d.off
	r := d.seldom()
	holes := slices.Clone(r.holes) // accept forgets them, the look inside needs them
	r.holes = append(r.holes, hole{off + have, off + int64(size)})
	ev, done := d.accept(w, lead, n)
	if d.ended {
		d.FPDU.Unsent = size - int(have)
	}
	d.trusty()
	d.off, r.holes = off, holes
	d.startSeek(off+1, false)
	d.rare.lost = off + have
	return ev, done
}

// likely judges the head of an FPDU that will not become whole: all of it if it
// is there, else the two control octets, else the length alone.
func (d *Decoder) likely(head []byte, n int) bool {
	g := d.cfg.Grammar
	switch {
	case n > MaxULPDU || !g.Light(head, n) || len(head) < 2 && d.unsure:
		return false
	case len(head) >= min(n, minHead):
		return g.Strict(head, n)
	}
	return len(head) < 2 || g.Quick(head[0], head[1])
}

// unframed reports octets that are not part of an FPDU and moves behind them.
func (d *Decoder) unframed(from, to int64) (Event, bool) {
	r := d.seldom()
	l := &r.loose
	l.From, l.To, l.AfterGap, l.Bare = from, to, d.seek.afterGap, r.bare.followed()
	d.stray(from)
	l.Lied = d.lied(from, to)
	d.rd += int(to - d.off)
	d.off = to
	if from >= to {
		return None, false
	}
	l.Stray = r.strays[:min(int64(len(r.strays)), to-from)]
	r.strays = r.strays[:0]
	return Unframed, true
}

// lied reports whether the octets in no FPDU are what a wrong length leaves over. They are
// not if they stand where an FPDU must begin, and cannot be one.
func (d *Decoder) lied(from, to int64) bool {
	if from != d.proven || d.rare == nil {
		return true
	}
	b := d.rare.strays
	if lead := d.lead(from); len(b) >= lead {
		b = b[lead:]
	}
	return to-from >= lengthSize+MinULPDU+crcSize && len(b) >= lengthSize+2 && d.cfg.Grammar.Quick(b[lengthSize], b[lengthSize+1])
}

// stray keeps the first octets of those that are in no FPDU, from an offset on, as
// far as they were captured.
func (d *Decoder) stray(from int64) {
	at := d.rd + int(from-d.off)
	if d.rare != nil && len(d.rare.strays) > 0 || from < d.off || at >= len(d.buf) {
		return
	}
	end := from + int64(min(len(d.buf)-at, strayLen))
	for _, h := range d.holes() {
		if h.to > from && h.from < end {
			end = max(h.from, from)
		}
	}
	r := d.seldom()
	r.strays = append(r.strays, d.buf[at:at+int(end-from)]...)
}

// drop discards all buffered octets.
func (d *Decoder) drop() {
	d.off += int64(len(d.buf) - d.rd + len(d.in))
	d.empty()
	d.trusty()
	d.in = nil
	d.fill()
}

// lead is the size of the marker in front of an FPDU at the offset, or 0.
func (d *Decoder) lead(off int64) int {
	if d.markers && (off-d.grid)&(MarkerInterval-1) == 0 {
		return MarkerSize
	}
	return 0
}

// crcOff reports whether FPDUs are framed without markers and CRCs.
func (d *Decoder) crcOff() bool { return d.cfg.CRC == No && !d.markers }

// size is the number of octets of an FPDU at the offset with an ULPDU of n
// octets.
func (d *Decoder) size(off int64, n int) int {
	body := lengthSize + n + d.padLen(n) + crcSize
	if !d.markers {
		return body
	}
	return body + MarkerSize*markersIn(d.toMarker(off), body)
}

// toMarker is the distance from the offset to the next marker.
func (d *Decoder) toMarker(off int64) int {
	return int((d.grid - off) & (MarkerInterval - 1))
}

// markersIn is the number of markers in an FPDU of body other octets, the first
// of them after first octets. A marker that would stand behind the last octet
// belongs to the next FPDU (RFC 5044 section 4.3).
func markersIn(first, body int) int {
	if body <= first {
		return 0
	}
	return 1 + (body-first-1)/(MarkerInterval-MarkerSize)
}
