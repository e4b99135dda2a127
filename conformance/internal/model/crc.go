package model

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// CrcSize is the size of the CRC field in octets.
const CrcSize = 4

// crcRun describes the CRC fields of the FPDUs of a direction so far.
type crcRun struct {
	Run    uint32 // of bad ones with the same value
	Value  uint32 // of those
	Frame  uint64 // of the first of those, or of the last FPDU
	PDU    uint64
	begun  uint64   // the frame in which the last FPDU begins
	starts *[]int64 // of the last FPDUs, in the stream; nil: none had a marker
	Unsent uint32   // octets that the last FPDU lacks, since its sender closed before it sent them
	Good   bool     // some FPDU had a right CRC
	sound  bool     // so has the last one
	// Early says that a wrong one lies where the first marker would be that does not begin an FPDU.
	Early bool
	// BehindGap says that octets may be missing in front of an FPDU with Unsent.
	BehindGap bool
}

// add records an FPDU after the rules have judged it. contig: no octets in front of it are missing.
func (r *crcRun) add(p *trace.PDU, contig bool) {
	f := p.FPDU
	switch {
	case f.CRCStatus == mpa.CRCGood:
		r.Good, r.Run = true, 0
	case f.CRCStatus == mpa.CRCBad && r.Run > 0 && f.CRC == r.Value:
		r.Run++
	case f.CRCStatus == mpa.CRCBad:
		r.Run, r.Value = 1, f.CRC
		r.Early = r.Early || p.Offset <= mpa.MarkerInterval
	}
	if r.Run <= 1 {
		r.Frame, r.PDU = p.Frame, p.Number
	}
	r.begun = begunIn(p)
	r.Unsent, r.sound = uint32(f.Unsent), f.CRCStatus == mpa.CRCGood //nolint:gosec // of an FPDU
	r.BehindGap = f.Unsent > 0 && !contig
	if len(f.Markers) > 0 || len(r.Starts()) > 0 {
		r.begin(f)
	}
}

// begin records where an FPDU begins.
func (r *crcRun) begin(f *mpa.FPDU) {
	if r.starts == nil {
		r.starts = new([]int64)
	}
	start, all := f.Offset, *r.starts
	if f.Lead {
		start += mpa.MarkerSize
	}
	for len(all) > 0 && all[0] <= start-mpa.MarkerInterval {
		all = all[:copy(all, all[1:])]
	}
	*r.starts = append(all, start)
}

// Starts are where the last FPDUs begin in the stream, of a direction with markers.
func (r *crcRun) Starts() []int64 {
	if r.starts == nil {
		return nil
	}
	return *r.starts
}

// Constant reports whether a CRC field has a value that is typical of memory that was
// never written.
func Constant(v uint32) bool { return v == 0 || v == 0xffffffff }

// Castagnoli is the table of CRC32c.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRCOf is the CRC32c of octets as it is on the wire, read in network order.
func CRCOf(b []byte) uint32 {
	var w [4]byte
	binary.LittleEndian.PutUint32(w[:], crc32.Checksum(b, Castagnoli))
	return binary.BigEndian.Uint32(w[:])
}

// RepeatsConstant reports whether an FPDU with a wrong CRC has the same value in its
// CRC field as the one before it, and that is a constant.
func (e *FPDU) RepeatsConstant() bool {
	return e.FPDU.CRCStatus == mpa.CRCBad && Constant(e.FPDU.CRC) && e.FPDU.CRC == e.CRC.Value
}

// ConstantsBegin is the place of the first FPDU of those that have the same wrong value
// in their CRC field.
func (e *FPDU) ConstantsBegin() Place {
	return Place{Dir: e.Dir, HasDir: true, Frame: e.CRC.Frame, PDU: e.CRC.PDU}
}
