package mpa

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// DecodeFPDU reads the one FPDU at the start of b (RFC 5044 section 4.1), in a
// direction without markers, and returns the number of octets it takes there. It
// is for octets that are known to begin with an FPDU; a [Decoder] frames a
// stream.
//
// Size, ULPDULength, Head, ULPDU, Wire, Pad and the members about the CRC are
// set; the slices are parts of b. Whether CRCs were negotiated does not show in
// the octets: CRCStatus says whether the field is right. When b ends before the
// FPDU does the error is a [*dissect.Error] that wraps io.ErrUnexpectedEOF, and
// nothing is set.
func DecodeFPDU(b []byte) (f FPDU, n int, err error) {
	if len(b) < lengthSize {
		return FPDU{}, 0, dissect.Short(dissect.LayerMPA, "short_ulpdu_length", len(b))
	}
	ulpdu := int(binary.BigEndian.Uint16(b))
	end := lengthSize + ulpdu
	pad := PadLen(ulpdu)
	n = end + pad + crcSize
	if len(b) < n {
		return FPDU{}, 0, dissect.Short(dissect.LayerMPA, "short_fpdu", len(b))
	}
	f = FPDU{
		Size: n, Wire: b[:n:n], ULPDULength: binary.BigEndian.Uint16(b), ULPDU: b[lengthSize:end:end],
		PadLen: pad, PadKnown: true, HasCRC: true,
		CRC: binary.BigEndian.Uint32(b[n-crcSize:]), WantCRC: CRC32c(b[:n-crcSize]), CRCStatus: CRCBad,
	}
	f.Head = f.ULPDU[:min(ulpdu, headSize)]
	copy(f.Pad[:], b[end:end+pad])
	if f.CRC == f.WantCRC {
		f.CRCStatus = CRCGood
	}
	return f, n, nil
}
