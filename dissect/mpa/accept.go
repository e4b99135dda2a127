package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// minHead is the longest DDP header.
const minHead = 18

// keyed reports whether octets begin with the key of a startup frame.
func keyed(b []byte) bool {
	if len(b) < KeyLen || b[0] != 'M' {
		return false
	}
	_, ok := KeyKind(b)
	return ok
}

// accept describes the FPDU whose octets are w and moves behind it. It reports false, and
// does not move, if the octets have to be looked at again.
func (d *Decoder) accept(w []byte, lead, n int) (Event, bool) {
	if (n < MinULPDU || n > MaxULPDU) && !d.seek.force && d.missing(d.off, d.off+int64(len(w))) {
		d.doubt(w, true) // no such length: the place is lost, unless what follows says otherwise
		return None, false
	}
	f := d.FPDU
	f.begin(d.off, w, lead, n)
	if len(d.holes()) > 0 {
		d.listMissing(f)
	}
	whole := len(f.Missing) == 0
	if whole && d.gapAt >= 0 && d.off >= d.gapAt {
		f.Captured = CompleteAfterGap
	}
	d.checkCRC(f, whole)
	if f.CRCStatus != CRCGood && d.misframed(f, lead) {
		return None, false
	}
	if d.off == d.start && d.overlaps(f, w, lead) {
		return None, false
	}
	d.await = 0
	if d.markers {
		d.listMarkers(f, lead)
	}
	if d.rare != nil && d.rare.likeness.left > 0 && !d.crc {
		d.lookOn(w)
	}
	d.cut(f, lead, n)
	if whole && d.framing == Unknown {
		d.proveFraming(f)
	}
	f.Sync, d.seek.found = d.seek.found, InSync
	if f.CRCStatus != CRCGood && whole && !d.seek.force && (!d.cfg.Grammar.Light(f.Head, n) || f.CRCStatus == CRCBad && d.maybeMarked()) {
		d.doubt(w, false)
		return None, false
	}
	f.MayMark = d.mayMark(f)
	d.trusty()
	if f.CRCStatus == CRCBad {
		r := d.seldom()
		r.susOff, r.suspect = d.off, d.cfg.Budget.add(r.suspect, w)
	}
	d.pass(f, whole)
	d.dropPads()
	return Got, true
}

// dropPads has the FPDUs behind the current one framed without pads, if that was found.
func (d *Decoder) dropPads() {
	if d.noPads {
		d.noPads, d.pads = false, No
	}
}

// maybeMarked reports whether an FPDU that was framed without markers may have some: in a
// direction whose first FPDU was not captured, and of which no FPDU was long enough to tell.
func (d *Decoder) maybeMarked() bool {
	return !d.markers && d.framing == Unknown && d.cfg.Markers == Unknown
}

// mayMark reports whether an FPDU may have markers that were read as something else.
func (d *Decoder) mayMark(f *FPDU) bool { return f.CRCStatus != CRCGood && d.maybeMarked() }

// checkCRC sets the status of the CRC of an FPDU. whole: all of its octets were captured.
func (d *Decoder) checkCRC(f *FPDU, whole bool) {
	w := f.Wire
	f.HasCRC = whole || f.has(len(w)-crcSize, len(w))
	switch {
	case !d.crc:
		f.WantCRC, f.CRCStatus = 0, CRCOff
	case !whole:
		f.WantCRC, f.CRCStatus = 0, CRCUnverifiable
	case d.right:
	default:
		if f.WantCRC = CRC32c(w[:len(w)-crcSize]); f.CRC != f.WantCRC {
			f.CRCStatus = CRCBad
		}
	}
}

// misframed reports whether the octets of an FPDU that no CRC confirms are something
// else, and puts them back: another startup frame, whose key looks like a length, an FPDU
// with markers that was framed without, or one without a pad that was framed with it.
func (d *Decoder) misframed(f *FPDU, lead int) bool {
	w := f.Wire
	if (keyed(w) || keyed(w[lead:])) && !d.missing(d.off, d.off+int64(lead+KeyLen)) {
		d.unread(w)
		d.startSeek(d.off, false)
		return true
	}
	if len(f.Missing) == 0 && d.framing == Unknown && d.cfg.Markers != No && !d.markers && d.betrayed(w, int(f.ULPDULength)) {
		d.unread(w)
		return true
	}
	if len(f.Missing) > 0 {
		return false
	}
	return (d.pads == Unknown || d.crc) && d.lacksPad(w, int(f.ULPDULength)) || f.CRCStatus == CRCOff && d.strays(w, lead, int(f.ULPDULength))
}

// doubt puts an FPDU that makes no sense back: it is an odd one in a good chain, or the
// place is lost. What follows tells.
func (d *Decoder) doubt(w []byte, afterGap bool) {
	d.unread(w)
	d.noPads = false
	d.startSeek(d.off, afterGap)
	d.rare.odd = d.off + int64(len(w))
}

// pass moves behind the FPDU.
func (d *Decoder) pass(f *FPDU, whole bool) {
	d.seek.force = false
	d.unsure = !whole && d.cfg.Markers == Unknown
	d.off += int64(f.Size)
	d.framed = d.off
	d.long = d.believed(f.Size)
	d.aligned.largest = max(d.aligned.largest, int32(f.Size)) //nolint:gosec // ULPDU_Length has 16 bits
	if f.CRCStatus == CRCGood {
		d.proven = d.off
	}
	if d.priorEnd = -1; f.HasCRC {
		d.prior, d.priorEnd = f.CRC, d.off
	}
}

// proveFraming notes how the stream is framed once an FPDU shows it that
// differs in the two ways: what was once seen still holds behind a hole.
func (d *Decoder) proveFraming(f *FPDU) {
	switch {
	case d.markers && len(f.Markers) > 0 && f.MarkersOK() && (f.CRCStatus == CRCGood || f.Markers[len(f.Markers)-1].Pointer > 0):
		d.framing = Yes
	case !d.markers && f.Size >= MarkerInterval && (f.CRCStatus == CRCGood || f.CRCStatus == CRCOff):
		d.framing = No // any grid has a marker in it, and it was looked for
	case !d.markers && d.plain >= MarkerInterval && d.cfg.Grammar.Strict(f.Head, int(f.ULPDULength)):
		d.framing = No // a marker before this would have broken the chain
	case !d.markers:
		d.plain = min(d.plain+int32(f.Size), MarkerInterval) //nolint:gosec // ULPDU_Length has 16 bits
	}
}

// betrayed looks for a marker in an FPDU that was framed without knowing of
// any: four octets that tell their own distance. A field or payload can do that
// by chance, so what follows the FPDU, framed in either way, decides. It is true
// when the FPDU must be looked at again: with markers, or with more octets.
func (d *Decoder) betrayed(w []byte, n int) bool {
	for p := MarkerSize; p < MarkerInterval && p+MarkerSize <= len(w); p += 4 {
		if !marked(w, p) || d.hasGrid && (d.off+int64(p)-d.grid)&(MarkerInterval-1) != 0 {
			continue
		}
		more := MarkerSize*markersIn(p, len(w)) + MarkerSize + lengthSize + minHead
		after, off := d.in, d.off+int64(len(w))
		if len(d.buf) > 0 {
			after = d.buf[d.rd:]
		}
		if !d.hasGrid && otherGrid(w, p) {
			if len(after) < more || d.begins(after, off) {
				continue
			}
			d.startSeek(d.off, false) // which one it is the next FPDUs tell
			return true
		}
		if len(after) < more && int(d.await) < len(w)+more && !d.ended && !d.jumps() {
			d.await = int32(len(w) + more) //nolint:gosec // of an FPDU
			return true
		}
		hadGrid, grid := d.hasGrid, d.grid
		plain := d.begins(after, off)
		d.markers, d.hasGrid, d.grid = true, true, d.off+int64(p)
		skip := d.size(d.off, n) - len(w)
		if skip >= crcSize && skip <= len(after) && d.cfg.CRC != No {
			rest := after[:skip-crcSize]
			sum := crc32c.Update(crc32c.Checksum(w), rest)
			if sum == binary.LittleEndian.Uint32(after[len(rest):]) {
				return true
			}
		}
		if !plain && (hadGrid || d.crc || d.ended && skip == len(after) || skip <= len(after) && d.begins(after[skip:], off+int64(skip))) {
			return true
		}
		d.markers, d.hasGrid, d.grid = false, hadGrid, grid
	}
	return false
}

// marked reports whether markers seem to stand at p and at all places of its
// grid in an FPDU.
func marked(w []byte, p int) bool {
	for ; p+MarkerSize <= len(w); p += MarkerInterval {
		if !pointsBack(w, p, 0) {
			return false
		}
	}
	return true
}

// begins reports whether the octets at the offset look like the beginning of an
// FPDU.
func (d *Decoder) begins(b []byte, off int64) bool {
	lead := d.lead(off)
	if len(b) < lead+lengthSize || d.missing(off, off+int64(lead+lengthSize+minHead)) {
		return false
	}
	n := int(binary.BigEndian.Uint16(b[lead:]))
	b = b[:min(len(b), lead+lengthSize+MarkerSize+minHead, d.size(off, n))]
	if lead > 0 && binary.BigEndian.Uint32(b) != 0 {
		return false
	}
	return d.cfg.Grammar.Strict(d.headAt(b, off, lead, n), n)
}

// unread puts the FPDU that was just looked at back in front of the rest.
func (d *Decoder) unread(w []byte) {
	if len(d.buf) > 0 {
		d.rd -= len(w)
		return
	}
	d.empty()
	d.keep(w)
}

// listMissing lists the missing octets of the FPDU and forgets them.
func (d *Decoder) listMissing(f *FPDU) {
	end := f.Offset + int64(f.Size)
	keep, holes := 0, d.holes()
	for _, h := range holes {
		if h.from < end && h.to > f.Offset {
			f.Missing = append(f.Missing, Range{int(max(h.from-f.Offset, 0)), int(min(h.to, end) - f.Offset)})
		}
		if h.to > end {
			holes[keep] = h
			keep++
		}
	}
	d.rare.holes = holes[:keep]
	if len(f.Missing) > 0 {
		f.Captured = Partial
	}
}

// listMarkers lists the markers of an FPDU.
func (d *Decoder) listMarkers(f *FPDU, lead int) {
	for at := d.toMarker(f.Offset); at+MarkerSize <= f.Size; at += MarkerInterval {
		if len(f.Missing) > 0 && !f.has(at, at+MarkerSize) {
			continue
		}
		f.Markers = append(f.Markers, Marker{
			Offset:   f.Offset + int64(at),
			Reserved: binary.BigEndian.Uint16(f.Wire[at:]),
			Pointer:  binary.BigEndian.Uint16(f.Wire[at+2:]),
			Expected: max(at-lead, 0),
			Proven:   f.CRCStatus == CRCGood,
		})
	}
}

// cut sets the parts of the FPDU: head, ULPDU and pad.
func (d *Decoder) cut(f *FPDU, lead, n int) {
	from := lead + lengthSize
	whole := len(f.Missing) == 0
	have := f.Wire
	if !whole {
		have = f.Wire[:f.Missing[0].From]
	}
	f.ULPDU, f.PadLen, f.PadKnown, f.Pad = nil, d.padLen(n), whole, [3]byte{}
	at := d.toMarker(f.Offset)
	if lead > 0 {
		at += MarkerInterval
	}
	if !d.markers || at >= f.Size {
		// No marker behind ULPDU_Length.
		f.Head = have[min(from, len(have)):min(from+min(n, headSize), len(have))]
		if whole {
			f.ULPDU = f.Wire[from : from+n]
		}
		copy(f.Pad[:], f.Wire[from+n:from+n+f.PadLen])
		return
	}
	if d.cfg.Gather && whole {
		full := d.strip(d.scratch(n + f.PadLen)[:0], f.Wire, f.Offset, from, n+f.PadLen)
		f.ULPDU = full[:n]
		f.Head = f.ULPDU[:min(n, headSize)]
		copy(f.Pad[:], full[n:])
		return
	}
	f.Head = d.strip(d.headRoom(), have, f.Offset, from, min(n, headSize))
	if whole && f.PadLen > 0 {
		// The pad may be split by a marker: go back from the CRC.
		for i, at := f.PadLen-1, f.Size-crcSize-1; i >= 0; i, at = i-1, at-1 {
			if (f.Offset+int64(at)+1-MarkerSize-d.grid)&(MarkerInterval-1) == 0 {
				at -= MarkerSize
			}
			f.Pad[i] = f.Wire[at]
		}
	}
}

// strip appends n octets of the FPDU w at offset off, from place at on, without
// the markers between them and as far as w reaches.
func (d *Decoder) strip(dst, w []byte, off int64, at, n int) []byte {
	next := at + d.toMarker(off+int64(at))
	for n > 0 && at < len(w) {
		if at == next {
			at += MarkerSize
			next += MarkerInterval
			continue
		}
		stop := min(at+n, next, len(w))
		dst = append(dst, w[at:stop]...)
		n -= stop - at
		at = stop
	}
	return dst
}

// headOf gathers the head of an ULPDU of n octets from what there is of the
// FPDU at d.off.
func (d *Decoder) headOf(w []byte, lead, n int) []byte {
	return d.headAt(w, d.off, lead, n)
}

func (d *Decoder) headAt(w []byte, off int64, lead, n int) []byte {
	from := lead + lengthSize
	if !d.markers {
		return w[min(from, len(w)):min(from+min(n, headSize), len(w))]
	}
	return d.strip(d.headRoom(), w, off, from, min(n, headSize))
}

// headRoom is empty room for a head.
func (d *Decoder) headRoom() []byte {
	r := d.seldom()
	if r.head == nil {
		r.head = make([]byte, 0, headSize)
	}
	return r.head
}
