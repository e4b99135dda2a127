package mpa

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// Sizes of full operation, in octets (RFC 5044 sections 3 and 4).
const (
	// MarkerInterval is the distance from one marker to the next, the marker
	// itself included.
	MarkerInterval = 512
	// MarkerSize is the size of a marker.
	MarkerSize = 4
	// MaxULPDU is the largest ULPDU_Length that RFC 5044 section 3 allows.
	MaxULPDU = 64768
	// MinULPDU is the shortest ULPDU there is: a tagged DDP header.
	MinULPDU = 14

	lengthSize = 2
	crcSize    = 4
	// headSize is what of an ULPDU is always gathered into one slice: the
	// longest message header, a Terminate with all it may quote (18 + 52), and
	// room for a longer one.
	headSize = 96
)

// CRC32c returns the CRC32c of b as the four octets on the wire, read as a
// number in network byte order: the way it is printed in RFC 5044 figure 5.
func CRC32c(b []byte) uint32 {
	return bits.ReverseBytes32(crc32c.Checksum(b))
}

// PadLen is the number of pad octets behind an ULPDU of n octets: they fill the
// FPDU up to a multiple of four (RFC 5044 section 4.1).
func PadLen(n int) int { return (2 - n) & 3 }

// CRCStatus is the verdict on the CRC field of an FPDU.
type CRCStatus uint8

// The verdicts.
const (
	// CRCOff: neither side asked for CRCs, the field means nothing.
	CRCOff CRCStatus = iota
	// CRCGood and CRCBad: verified.
	CRCGood
	CRCBad
	// CRCUnverifiable: octets of the FPDU were not captured.
	CRCUnverifiable
)

// String returns the verdict as the records spell it.
func (s CRCStatus) String() string {
	switch s {
	case CRCGood:
		return "ok"
	case CRCBad:
		return "bad"
	case CRCUnverifiable:
		return "unverifiable"
	default:
		return "not-negotiated"
	}
}

// Capture says how much of an FPDU was captured.
type Capture uint8

// The states.
const (
	// Full: every octet, in a stream without a gap before it.
	Full Capture = iota
	// CompleteAfterGap: every octet, but the stream has a gap before it.
	CompleteAfterGap
	// Partial: octets are missing.
	Partial
)

// String returns the state as the records spell it.
func (c Capture) String() string {
	switch c {
	case CompleteAfterGap:
		return "complete-after-gap"
	case Partial:
		return "partial"
	default:
		return "full"
	}
}

// Range is a run of octets, [From, To), counted from the start of an FPDU.
type Range struct{ From, To int }

// FPDU is one Framed PDU (RFC 5044 section 4.1):
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          ULPDU_Length         |                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+                               +
//	~                             ULPDU                             ~
//	|               +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|               |                PAD (0-3 octets)               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                             CRC                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// Slices are valid until the next call on the decoder.
type FPDU struct {
	// Offset is where the FPDU begins, in octets on the scale of [Decoder.Reset]:
	// the offset that was given there, and the octets of the stream since, markers
	// included. A marker in front of ULPDU_Length is its first octet (RFC 5044
	// section 4.3). In the PDUs of a capture the scale is that of the TCP stream, in
	// which 0 is the first octet after the SYN; trace.PDU.Offset counts from the
	// start of full operation.
	Offset int64
	// Size is the number of octets on the wire: markers, pad and CRC included.
	Size int
	// Lead is true when the FPDU begins with a marker.
	Lead bool
	// ULPDULength is the field.
	ULPDULength uint16
	// Head holds the first octets of the ULPDU as far as they were captured:
	// all headers, up to 96 octets.
	Head []byte
	// ULPDU is the whole ULPDU without markers. It is nil when octets are
	// missing, and when gathering it would cost a copy that was not asked for.
	ULPDU []byte
	// Wire is the FPDU as it was on the wire; missing octets are zero.
	Wire []byte
	// Pad are the pad octets, of which PadLen are there.
	Pad    [3]byte
	PadLen int
	// PadKnown is true when all pad octets were captured.
	PadKnown bool
	// CRC is the field and WantCRC what it should be, both as the octets on the
	// wire read in network byte order.
	CRC, WantCRC uint32
	// HasCRC is true when the field was captured.
	HasCRC bool
	// CRCStatus is the verdict.
	CRCStatus CRCStatus
	// Markers are the captured markers of the FPDU in order.
	Markers []Marker
	// Missing are the octets that were not captured.
	Missing []Range
	// Unsent counts the missing octets that are missing because the stream ends
	// before them.
	Unsent int
	// Captured sums up what was captured.
	Captured Capture
	// MayMark is true when markers may stand in the FPDU that were read as headers and payload: its direction began
	// earlier than the capture, nothing before shows whether it has markers, and no CRC proves the reading.
	MayMark bool
	// Sync tells how the place of this FPDU was found.
	Sync Sync
}

// begin makes f an FPDU whose octets are w, at an offset: with all of them captured in a
// stream without gaps, in sync, its CRC field right and no markers yet. ULPDULength is n
// and stands behind lead octets of a marker. Head, ULPDU and pad are set by cut.
func (f *FPDU) begin(off int64, w []byte, lead, n int) {
	f.beginWith(off, w, lead, n, binary.BigEndian.Uint32(w[len(w)-crcSize:]))
}

// beginWith is begin for a CRC field that was read already.
func (f *FPDU) beginWith(off int64, w []byte, lead, n int, crc uint32) {
	f.Offset, f.Size, f.Lead, f.ULPDULength, f.Wire = off, len(w), lead > 0, uint16(n), w //nolint:gosec // read from 16 bits
	f.Markers, f.Missing, f.Unsent, f.Captured, f.Sync = f.Markers[:0], f.Missing[:0], 0, Full, InSync
	f.CRC, f.WantCRC, f.HasCRC, f.CRCStatus, f.MayMark = crc, crc, true, CRCGood, false
}

// PadZero reports whether all pad octets are zero, as they must be.
func (f *FPDU) PadZero() bool { return f.Pad[0]|f.Pad[1]|f.Pad[2] == 0 }

// MarkersOK reports whether every captured marker is as expected.
func (f *FPDU) MarkersOK() bool {
	for i := range f.Markers {
		if f.Markers[i].Status() != MarkerOK {
			return false
		}
	}
	return true
}

// has reports whether octets [from, to) were captured.
func (f *FPDU) has(from, to int) bool {
	for _, m := range f.Missing {
		if m.From < to && from < m.To {
			return false
		}
	}
	return true
}

// FPDUHeader describes the fields around the ULPDU. The length stands at the
// front; pad and CRC follow the ULPDU, so their place is computed.
var FPDUHeader = dissect.Header{
	Layer: dissect.LayerMPA, Name: "FPDU", Ref: "RFC 5044 4.1", Size: lengthSize,
	Fields: []dissect.Field{
		{Name: "iwarp_mpa.ulpdulength", Label: "ULPDU length", Kind: dissect.Dec, Bit: 0, Width: 16, Ref: "RFC 5044 4.1"},
		{Name: "iwarp_mpa.pad", Label: "Padding", Kind: dissect.Bytes, Bit: -1, Ref: "RFC 5044 4.1"},
		{Name: "iwarp_mpa.crc", Label: "CRC", Kind: dissect.Hex, Bit: -1, Width: 32, Ref: "RFC 5044 4.4"},
		{Name: "iwarp_mpa.crc_check", Label: "CRC, verified", Kind: dissect.Hex, Bit: -1, Width: 32, Ref: "RFC 5044 4.4"},
		{Name: "iwd.crc.status", Label: "CRC status", Kind: dissect.Text, Bit: -1, Ref: "RFC 5044 4.4"},
		{Name: "iwd.crc.expected", Label: "CRC expected", Kind: dissect.Hex, Bit: -1, Width: 32, Ref: "RFC 5044 4.4"},
		{Name: "iwd.markers", Label: "Markers", Kind: dissect.List, Bit: -1, Ref: "RFC 5044 4.3"},
		{Name: "iwd.pad.zero", Label: "Padding is zero", Kind: dissect.Bool, Bit: -1, Width: 1, Ref: "RFC 5044 4.1"},
		{Name: "iwd.captured", Label: "Captured", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.sync", Label: "Place found by", Kind: dissect.Text, Bit: -1},
		{Name: "iwd.payload.length", Label: "Octets after the DDP header", Kind: dissect.Dec, Bit: -1, Width: 32},
		{Name: "iwd.payload.crc32c", Label: "CRC32c of those octets", Kind: dissect.Hex, Bit: -1, Width: 32},
	},
}

// ErrLongULPDU says that a ULPDU has more octets than ULPDU_Length can tell.
var ErrLongULPDU = errors.New("an FPDU holds 65535 at most, since ULPDU_Length has 16 bits (RFC 5044 section 4.1)")

// Encoder writes the FPDUs of one direction. The zero value writes neither
// markers nor a meaningful CRC, from the start of full operation on.
type Encoder struct {
	// Markers and CRC say what was negotiated for this direction.
	Markers, CRC bool
	// Offset is the place in the stream: octets since full operation began.
	Offset int64
}

// Append appends the FPDU that carries the ULPDU, and moves the offset behind it.
//
// ULPDU_Length has 16 bits (RFC 5044 section 4.1): of a ULPDU of more than 65,535
// octets nothing is appended, the offset stays, and the error wraps [ErrLongULPDU].
// A ULPDU longer than [MaxULPDU], which a sender must not send, is written up to that
// length: with markers the FPDUPTR of the last ones may not fit 16 bits, and has the low ones.
func (e *Encoder) Append(dst, ulpdu []byte) ([]byte, error) {
	if len(ulpdu) > math.MaxUint16 {
		return dst, fmt.Errorf("mpa: the ULPDU has %d octets: %w", len(ulpdu), ErrLongULPDU)
	}
	start := len(dst)
	if e.Markers && e.Offset%MarkerInterval == 0 {
		dst = append(dst, 0, 0, 0, 0)
	}
	base := len(dst) // place of ULPDU_Length, from which markers point back
	n := len(ulpdu)
	dst = append(dst, byte(n>>8), byte(n)) //nolint:gosec // the two octets of ULPDU_Length
	dst = e.fill(dst, start, base, ulpdu)
	var pad [3]byte
	dst = e.fill(dst, start, base, pad[:PadLen(n)])
	// A marker may stand between pad and CRC; the CRC covers it.
	dst = e.marker(dst, start, base)
	var crc uint32
	if e.CRC {
		crc = CRC32c(dst[start:])
	}
	dst = binary.BigEndian.AppendUint32(dst, crc)
	e.Offset += int64(len(dst) - start)
	return dst, nil
}

// fill appends octets with the markers that fall between them.
func (e *Encoder) fill(dst []byte, start, base int, b []byte) []byte {
	for len(b) > 0 {
		dst = e.marker(dst, start, base)
		n := len(b)
		if e.Markers {
			at := e.Offset + int64(len(dst)-start)
			n = min(n, MarkerInterval-int(at%MarkerInterval))
		}
		dst = append(dst, b[:n]...)
		b = b[n:]
	}
	return dst
}

// marker appends a marker if one stands here.
func (e *Encoder) marker(dst []byte, start, base int) []byte {
	if !e.Markers || (e.Offset+int64(len(dst)-start))%MarkerInterval != 0 {
		return dst
	}
	m := Marker{Pointer: uint16(len(dst) - base)} //nolint:gosec // an FPDU of 64768 octets fits
	return m.Append(dst)
}
