package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// Marker is one marker in an FPDU (RFC 5044 section 4.2):
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|           RESERVED            |            FPDUPTR            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Marker struct {
	// Offset is where the marker begins, on the scale of FPDU.Offset.
	Offset int64
	// Reserved and Pointer are the fields; the two low bits of the pointer are
	// sent as zero.
	Reserved, Pointer uint16
	// Expected is the right pointer: octets from the first octet of
	// ULPDU_Length to the marker, 0 in front of it. It is wider than the field
	// because an ULPDU_Length beyond the allowed size can exceed it.
	Expected int
	// Proven is true when a right CRC over the FPDU shows that the octets are a
	// marker, whatever they hold.
	Proven bool
}

// MarkerStatus says what is wrong with a marker.
type MarkerStatus uint8

// The states of a marker.
const (
	MarkerOK MarkerStatus = iota
	MarkerBadPointer
	MarkerBadReserved
	// MarkerMissing: nothing of the four octets is as in a marker.
	MarkerMissing
)

// String returns the state as the records spell it.
func (s MarkerStatus) String() string {
	switch s {
	case MarkerBadPointer:
		return "bad-pointer"
	case MarkerBadReserved:
		return "bad-reserved"
	case MarkerMissing:
		return "missing"
	default:
		return "ok"
	}
}

// Status compares the marker with what is expected.
func (m *Marker) Status() MarkerStatus {
	badPtr := int(m.Pointer) != m.Expected
	switch {
	case m.Reserved == 0 && !badPtr:
		return MarkerOK
	case m.Reserved == 0:
		return MarkerBadPointer
	case !badPtr:
		return MarkerBadReserved
	case m.Proven:
		return MarkerBadPointer
	}
	return MarkerMissing
}

// DecodeMarker reads a marker from four octets.
func DecodeMarker(b []byte) (Marker, error) {
	if len(b) < MarkerSize {
		return Marker{}, dissect.Short(dissect.LayerMPA, "marker", len(b))
	}
	return Marker{Reserved: binary.BigEndian.Uint16(b), Pointer: binary.BigEndian.Uint16(b[2:])}, nil
}

// Append appends the four octets of the marker.
func (m Marker) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, m.Reserved)
	return binary.BigEndian.AppendUint16(dst, m.Pointer)
}

// MarkerHeader describes the fields of a marker.
var MarkerHeader = dissect.Header{
	Layer: dissect.LayerMPA, Name: "Marker", Ref: "RFC 5044 4.2", Size: MarkerSize,
	Fields: []dissect.Field{
		{Name: "iwarp_mpa.marker_res", Label: "Reserved", Kind: dissect.Hex, Bit: 0, Width: 16, Ref: "RFC 5044 4.2"},
		{Name: "iwarp_mpa.marker_fpduptr", Label: "FPDU back pointer", Kind: dissect.Dec, Bit: 16, Width: 16, Ref: "RFC 5044 4.2"},
	},
}
