package mpa

import "encoding/binary"

// Whole frames the next octets b of the direction if they are one FPDU from its
// first octet to its last, as nearly all TCP segments of an RNIC are, and nothing
// about it is unusual: right markers where there are some, a CRC that is right, and a
// place that is beyond doubt. It reports whether it did, with the FPDU in f. Otherwise nothing has
// happened, and b goes the way of [Decoder.WriteVerified]. v is what [Verify] said of b, and e
// are the ends of b, or nil: with them octets of b are mostly not read. [FPDU.Head] may lie in e.
// Next must have returned None.
func (d *Decoder) Whole(b []byte, v Verified, e *Ends, f *FPDU) bool {
	if !d.sure() || len(d.buf) > 0 || len(b) < MarkerSize+lengthSize+MinULPDU+crcSize {
		return false
	}
	lead, front := d.lead(d.off), b
	if e != nil {
		front = e.first[:]
	}
	n := int(binary.BigEndian.Uint16(front[lead:]))
	if n < MinULPDU || n > MaxULPDU || d.size(d.off, n) != len(b) {
		return false
	}
	right, _ := v.next(b, len(b), n)
	if !right && !rightCRC(b) {
		return false
	}
	if e != nil && right && !d.markers {
		d.byEnds(f, b, e, n)
		return true
	}
	f.begin(d.off, b, lead, n)
	switch {
	case !d.markers:
	case v.markersRight(d.toMarker(d.off)):
		d.expectMarkers(f, lead)
	default:
		if d.listMarkers(f, lead); !f.MarkersOK() {
			return false
		}
	}
	d.cut(f, lead, n)
	d.behind(f)
	return true
}

// behind goes on behind a whole FPDU.
func (d *Decoder) behind(f *FPDU) {
	d.await = 0
	d.off += int64(f.Size)
	d.proven = d.off
	d.prior, d.priorEnd, d.long = f.CRC, d.off, d.believed(f.Size)
}

// byEnds frames a whole FPDU without markers by its ends.
func (d *Decoder) byEnds(f *FPDU, b []byte, e *Ends, n int) {
	f.beginWith(d.off, b, 0, n, e.crc())
	f.Head, f.ULPDU = e.first[lengthSize:lengthSize+min(n, headSize)], b[lengthSize:lengthSize+n]
	f.PadLen, f.PadKnown = PadLen(n), true
	f.Pad = e.pad(f.PadLen)
	d.behind(f)
}

// sure reports whether nothing about the place of the next FPDU is unusual.
func (d *Decoder) sure() bool {
	return d.crc && d.framing == TriOf(d.markers) && !d.seek.on && !d.unsure && !d.ended && !d.stopped && d.gapAt < 0 &&
		(d.rare == nil || len(d.rare.suspect) == 0 && len(d.rare.holes) == 0) && !d.seek.force && d.seek.found == InSync
}

// expectMarkers lists the markers that an FPDU has to have.
func (d *Decoder) expectMarkers(f *FPDU, lead int) {
	for at := d.toMarker(f.Offset); at+MarkerSize <= f.Size; at += MarkerInterval {
		ptr := max(at-lead, 0)
		f.Markers = append(f.Markers, Marker{Offset: f.Offset + int64(at), Pointer: uint16(ptr), Expected: ptr, Proven: true}) //nolint:gosec // below MaxULPDU and some
	}
}
