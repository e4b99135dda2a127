package mpa

import (
	"encoding/binary"
	"math/bits"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// Whole frames the next octets b of the direction if they are one FPDU from its
// first octet to its last, as nearly all TCP segments of an RNIC are, and nothing
// about it is unusual: right markers where there are some, a CRC that is right, and a
// place that is beyond doubt. It reports whether it did, with the FPDU in f. Otherwise nothing has
// happened, and b goes the way of [Decoder.Write]. Next must have returned None.
func (d *Decoder) Whole(b []byte, f *FPDU) bool {
	if !d.sure() || len(d.buf) > 0 || d.g != nil || len(b) < MarkerSize+lengthSize+MinULPDU+crcSize {
		return false
	}
	lead := d.lead(d.off)
	n := int(binary.BigEndian.Uint16(b[lead:]))
	if n < MinULPDU || n > MaxULPDU || d.size(d.off, n) != len(b) {
		return false
	}
	field := b[len(b)-crcSize:]
	f.Offset, f.Size, f.Lead, f.ULPDULength, f.Wire = d.off, len(b), lead > 0, uint16(n), b
	f.Markers, f.Missing, f.Unsent, f.Captured, f.Sync = f.Markers[:0], f.Missing[:0], 0, Full, InSync
	f.CRC = bits.ReverseBytes32(binary.LittleEndian.Uint32(field))
	f.WantCRC, f.HasCRC, f.CRCStatus = f.CRC, true, CRCGood
	q, first := d.cfg.Deferred, -1
	switch {
	case d.markers && q != nil:
		first = d.toMarker(d.off)
		d.expectMarkers(f, lead)
	case d.markers:
		if d.listMarkers(f, lead); !f.MarkersOK() {
			return false
		}
	}
	if q != nil {
		q.pending = append(q.pending, promise{wire: b, at: first, lead: lead})
	} else if crc32c.Checksum(b[:len(b)-crcSize]) != binary.LittleEndian.Uint32(field) {
		return false
	}
	d.cut(f, lead, n)
	d.await = 0
	d.off += int64(len(b))
	d.prior, d.priorEnd, d.long = f.CRC, d.off, d.believed(len(b))
	return true
}

// expectMarkers lists the markers that an FPDU has to have.
func (d *Decoder) expectMarkers(f *FPDU, lead int) {
	for at := d.toMarker(f.Offset); at+MarkerSize <= f.Size; at += MarkerInterval {
		ptr := max(at-lead, 0)
		f.Markers = append(f.Markers, Marker{Offset: f.Offset + int64(at), Pointer: uint16(ptr), Expected: ptr, Proven: true}) //nolint:gosec // below MaxULPDU and some
	}
}
