package model

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Pos is the offset of a marker in full operation, -1 if that is not known.
func (e *FPDU) Pos(m *mpa.Marker) int64 {
	if !e.PDU.HasOffset {
		return -1
	}
	return m.Offset - e.FPDU.Offset + e.PDU.Offset
}

// Marked reports whether the FPDU has markers, and they were agreed for its direction.
func (e *FPDU) Marked(c *Conn) bool { return len(e.FPDU.Markers) > 0 && e.Agreed(c) }

// Agreed reports whether markers were agreed for the direction of the FPDU, and it has them.
func (e *FPDU) Agreed(c *Conn) bool {
	return c.Trace.Markers[e.Dir] == mpa.Yes && c.Trace.Flow[e.Dir].MarkersSeen == mpa.Unknown
}

// PlaceOf is the place of one of its markers.
func (e *FPDU) PlaceOf(m *mpa.Marker) Place {
	at := e.Where()
	if at.HasOffset {
		at.Offset += m.Offset - e.FPDU.Offset
	}
	return at
}

// WrapsAt is the offset in the stream of a direction at which its TCP sequence numbers
// become 0.
func (c *Conn) WrapsAt(d trace.Dir) int64 { return int64(1)<<32 - int64(c.Trace.Flow[d].Base) }

// Wrapped reports whether an FPDU ends behind the place at which the sequence numbers wrap.
func (e *FPDU) Wrapped(c *Conn) bool { return e.PDU.From+e.PDU.Length > c.WrapsAt(e.Dir) }

// headRoom is how many octets of an FPDU, without markers, ULPDU_Length and the longest DDP header take.
const headRoom = LengthSize + 18

// lead is the size of the marker in front of ULPDU_Length, or 0.
func lead(f *mpa.FPDU) int {
	if f.Lead {
		return mpa.MarkerSize
	}
	return 0
}

// displacedMarker returns the first marker of an FPDU that is not where it must be, or one that is where none must be; nil if there
// is none. grid is the place of a marker in the FPDU, or behind it; last: the FPDU lacks octets, and its sender ended the stream
// behind what it has.
func displacedMarker(f *mpa.FPDU, grid int, last bool) *mpa.Marker {
	bad := f.CRCStatus == mpa.CRCBad
	fewer := bad || last || NeverWhole(f) && f.CRCStatus != mpa.CRCOff
	for i := range f.Markers {
		switch m := &f.Markers[i]; {
		case fewer && m.Expected != 0 && int(m.Pointer) != m.Expected && endsWithFewer(f, int(m.Offset-f.Offset)):
			return m
		case !bad && (Unlike(m) || m.Expected != 0 && int(m.Pointer&^3) != m.Expected && moved(f, m)):
			return m
		}
	}
	if p := markerElsewhere(f, grid); bad && p > 0 {
		n := p - lead(f)
		return &mpa.Marker{Offset: f.Offset + int64(p), Pointer: uint16(n), Expected: n} //nolint:gosec // PointsBack compared it
	}
	return nil
}

// Unlike reports whether the octets at the position of a marker do not look like one at all.
func Unlike(m *mpa.Marker) bool {
	return m.Status() == mpa.MarkerMissing || m.Reserved != 0 && int(m.Pointer&^3) != m.Expected
}

// endsWithFewer reports whether an FPDU is a right one if it has fewer markers than it must have, and ends behind an offset.
func endsWithFewer(f *mpa.FPDU, behind int) bool {
	at := lead(f) + LengthSize + int(f.ULPDULength) + f.PadLen
	return withFewer(f.Wire[:len(f.Wire)-f.Unsent], at, f.Size-CrcSize, behind, f.CRCStatus != mpa.CRCOff)
}

// withFewer reports whether octets begin with an FPDU that has fewer markers than it must have, and ends behind an offset: its CRC is
// right or, if CRCs are off, the octets end with it. at is where its CRC field is without any marker behind ULPDU_Length, full where
// it is with all of them.
func withFewer(w []byte, at, full, behind int, summed bool) bool {
	if at > len(w) {
		return false
	}
	sum := crc32.Checksum(w[:at], Castagnoli)
	for ; at+CrcSize <= len(w) && at < full; at += mpa.MarkerSize {
		right := sum == binary.LittleEndian.Uint32(w[at:])
		if at >= behind && (summed && right || !summed && at+CrcSize == len(w)) {
			return true
		}
		sum = crc32.Update(sum, Castagnoli, w[at:at+mpa.MarkerSize])
	}
	return false
}

// moved reports whether a marker that does not point to the start of its FPDU is at another place of it, or nowhere: other octets
// point to the start, or the DDP header makes sense only with those at its place.
func moved(f *mpa.FPDU, m *mpa.Marker) bool {
	start, at := lead(f), int(m.Offset-f.Offset)
	switch {
	case len(f.Missing) > 0:
		return false
	case markerElsewhere(f, at) > 0:
		return true
	case at >= start+headRoom || sensible(f):
		return false
	}
	for p := start + mpa.MarkerSize; p < start+headRoom; p += mpa.MarkerSize {
		if p != at && plausibleHead(f, p) {
			return true
		}
	}
	return plausibleHead(f, len(f.Wire))
}

// markerElsewhere returns the place of octets in an FPDU that point to its start, and are not on the grid of markers; 0 if there are
// none. Words that each hold their own place are payload. In the DDP header they are a marker only if the header makes no sense else.
func markerElsewhere(f *mpa.FPDU, grid int) int {
	start := lead(f)
	for p := start + mpa.MarkerSize; p < len(f.Wire); p += mpa.MarkerSize {
		if (p-grid)%mpa.MarkerInterval != 0 && PointsBack(f, p) && !PointsBack(f, p-mpa.MarkerSize) && !PointsBack(f, p+mpa.MarkerSize) &&
			(p >= start+headRoom || !sensible(f) && plausibleHead(f, p)) {
			return p
		}
	}
	return 0
}

// sensible reports whether the DDP header of an FPDU, as it is read, makes sense.
func sensible(f *mpa.FPDU) bool { return rdmap.Grammar.Strict(f.Head, int(f.ULPDULength)) }

// plausibleHead reports whether the DDP header of an FPDU makes sense if a marker is at a place of the FPDU, and no other one
// is in the header.
func plausibleHead(f *mpa.FPDU, marker int) bool {
	var head [headRoom + mpa.MarkerSize]byte
	w := f.Wire[lead(f):min(lead(f)+len(head), len(f.Wire))]
	n := copy(head[:], w[:min(marker-lead(f), len(w))])
	n += copy(head[n:], w[min(n+mpa.MarkerSize, len(w)):])
	return rdmap.Grammar.Strict(head[LengthSize:max(min(n, headRoom), LengthSize)], int(f.ULPDULength))
}

// PointsBack reports whether the octets at a place of an FPDU are a marker that points to its start.
func PointsBack(f *mpa.FPDU, at int) bool {
	start := lead(f)
	return at > start && at+mpa.MarkerSize <= len(f.Wire) && int(binary.BigEndian.Uint32(f.Wire[at:])) == at-start
}

// places notes which of its markers are not where they must be, and whether the FPDUs and markers of its direction still are.
func (e *FPDU) places(c *Conn) {
	f := e.FPDU
	bad := f.CRCStatus == mpa.CRCBad
	switch inner := len(f.Markers) - Bit(f.Lead); {
	case !bad && f.MarkersOK():
		e.displaced = e.displaced && inner == 0
		return
	case bad && c.Marking(e.Dir) != mpa.Yes:
		return
	}
	grid := -int(e.PDU.Offset % mpa.MarkerInterval)
	if len(f.Markers) > 0 {
		grid = int(f.Markers[0].Offset - f.Offset)
	}
	e.Displaced = displacedMarker(f, grid, c.CutOff)
	e.displaced = e.displaced || e.Displaced != nil && e.Displaced.Expected != 0
	for i := range f.Markers {
		m := &f.Markers[i]
		inHead := m.Expected != 0 && m.Expected < headRoom && int(m.Pointer&^3) != m.Expected
		e.misread = e.misread || inHead && (f.CRCStatus == mpa.CRCOff || e.Displaced != nil)
	}
}

// LacksMarker returns the place in octets of a marker that must be there, if they are nothing but an FPDU that lacks it: its DDP header
// makes sense only without it, and its end is where it is with fewer markers.
func (s *Loose) LacksMarker(c *Conn) (at int, ok bool) {
	at = int(-s.offset & (mpa.MarkerInterval - 1))
	if c.Marking(s.Dir) != mpa.Yes || !s.hasOffset || s.From != s.Latest.End || at == 0 || at >= headRoom || len(s.Octets) < headRoom || !HeadedAt(s.Octets, 0) {
		return 0, false
	}
	n := int(binary.BigEndian.Uint16(s.Octets))
	bare := sizeOf(n)
	full := bare
	for p := int64(at); p < full; p += mpa.MarkerInterval {
		full += mpa.MarkerSize
	}
	switch {
	case !rdmap.Grammar.Strict(s.Octets[LengthSize:headRoom], n), s.Length < bare, s.Length >= full, (s.Length-bare)%mpa.MarkerSize != 0:
		return 0, false
	case c.Trace.CRC != mpa.Yes || s.Length > int64(len(s.Octets)):
		return at, true // the header and the end say so
	}
	return at, withFewer(s.Octets, int(bare)-CrcSize, int(full)-CrcSize, at, true)
}
