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
	marked := right && d.markers && v.markersRight(d.toMarker(d.off))
	switch {
	case e != nil && right && !d.markers:
		d.byEnds(f, b, e, 0, n)
	case e != nil && marked && !d.cfg.Gather:
		d.byEnds(f, b, e, lead, n)
		d.expectMarkers(f, lead)
		d.marked(f, e, lead, n)
	default:
		f.begin(d.off, b, lead, n)
		if marked {
			d.expectMarkers(f, lead)
		} else if d.markers {
			if d.listMarkers(f, lead); !f.MarkersOK() {
				return false
			}
		}
		d.cut(f, lead, n)
	}
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

// byEnds frames a whole FPDU by its ends, one with no marker but that in front, of lead octets.
func (d *Decoder) byEnds(f *FPDU, b []byte, e *Ends, lead, n int) {
	from := lead + lengthSize
	f.beginWith(d.off, b, lead, n, e.crc())
	f.Head, f.ULPDU = e.first[from:from+min(n, headSize)], b[from:from+n]
	f.PadLen, f.PadKnown = PadLen(n), true
	f.Pad = e.pad(f.PadLen)
}

// marked sets what markers behind ULPDU_Length change in an FPDU that was framed by its ends.
func (d *Decoder) marked(f *FPDU, e *Ends, lead, n int) {
	first := d.toMarker(f.Offset)
	if lead > 0 {
		first += MarkerInterval
	}
	if first >= f.Size {
		return
	}
	f.ULPDU = nil // it is not in one piece
	f.Head = d.strip(d.headRoom(), e.first[:], f.Offset, lead+lengthSize, min(n, headSize))
	// A marker between the pad and the CRC leaves no room for the pad in the end.
	if end := f.Size - crcSize; f.PadLen > 0 && d.toMarker(f.Offset+int64(end-MarkerSize)) == 0 {
		f.Pad = [3]byte{}
		copy(f.Pad[:], f.Wire[end-MarkerSize-f.PadLen:end-MarkerSize])
	}
}

// sure reports whether nothing about the place of the next FPDU is unusual.
func (d *Decoder) sure() bool {
	return d.crc && d.framing == TriOf(d.markers) && !d.seek.on && !d.unsure && !d.ended && !d.stopped && d.gapAt < 0 &&
		(d.rare == nil || len(d.rare.suspect) == 0 && len(d.rare.holes) == 0) && !d.seek.force && d.seek.found == InSync && d.pads != No
}

// expectMarkers lists the markers that an FPDU has to have.
func (d *Decoder) expectMarkers(f *FPDU, lead int) {
	for at := d.toMarker(f.Offset); at+MarkerSize <= f.Size; at += MarkerInterval {
		ptr := max(at-lead, 0)
		f.Markers = append(f.Markers, Marker{Offset: f.Offset + int64(at), Pointer: uint16(ptr), Expected: ptr, Proven: true}) //nolint:gosec // below MaxULPDU and some
	}
}
