package conformance

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// crcSize is the size of the CRC field in octets.
const crcSize = 4

// crcRun is what the FPDUs of a direction had in their CRC field so far.
type crcRun struct {
	good   int    // FPDUs with a right CRC
	run    uint32 // of bad ones with the same value
	value  uint32 // of those
	frame  uint64 // of the first of those, or of the last FPDU
	pdu    uint64
	starts []int64 // of the last FPDUs, in the stream
	unsent int     // octets that the last FPDU lacks, since its sender closed before it sent them
}

// add takes in an FPDU, once the rules were asked about it.
func (r *crcRun) add(p *trace.PDU) {
	f := p.FPDU
	switch {
	case f.CRCStatus == mpa.CRCGood:
		r.good++
		r.run = 0
	case f.CRCStatus == mpa.CRCBad && r.run > 0 && f.CRC == r.value:
		r.run++
	case f.CRCStatus == mpa.CRCBad:
		r.run, r.value = 1, f.CRC
	}
	if r.run <= 1 {
		r.frame, r.pdu = p.Frame, p.Number
	}
	r.unsent = f.Unsent
	if len(f.Markers) > 0 || len(r.starts) > 0 {
		start := f.Offset
		if f.Lead {
			start += mpa.MarkerSize
		}
		for len(r.starts) > 0 && r.starts[0] <= start-mpa.MarkerInterval {
			r.starts = r.starts[:copy(r.starts, r.starts[1:])]
		}
		r.starts = append(r.starts, start)
	}
}

// constant reports whether a CRC field has a value of memory that nobody wrote to.
func constant(v uint32) bool { return v == 0 || v == 0xffffffff }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crcOf is the CRC32c of octets as it is on the wire, read in network order.
func crcOf(b []byte) uint32 {
	var w [4]byte
	binary.LittleEndian.PutUint32(w[:], crc32.Checksum(b, castagnoli))
	return binary.BigEndian.Uint32(w[:])
}

// repeatsConstant reports whether an FPDU with a wrong CRC has the same value in its
// CRC field as the one before it, and that is a constant.
func (e *fpdu) repeatsConstant() bool {
	return e.f.CRCStatus == mpa.CRCBad && constant(e.f.CRC) && e.f.CRC == e.crc.value
}

// constantsBegin is the place of the first FPDU of those that have the same wrong value
// in their CRC field.
func (e *fpdu) constantsBegin() Place {
	return Place{Dir: e.dir, HasDir: true, Frame: e.crc.frame, PDU: e.crc.pdu}
}
