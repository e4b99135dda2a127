package mpa

import (
	"errors"
	"testing"
)

// framed is what [Encoder.Append] returns for an ULPDU that is not too long.
func framed(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// TestEncoder_Long: ULPDU_Length has 16 bits. An ULPDU that it cannot tell is an error, and nothing
// is written of it.
func TestEncoder_Long(t *testing.T) {
	for _, markers := range []bool{false, true} {
		e := Encoder{Markers: markers, CRC: true}
		dst, err := e.Append([]byte("before"), make([]byte, 1<<16-1))
		if f, n, wrong := DecodeFPDU(dst[len("before"):]); !markers && (err != nil || wrong != nil || n != len(dst)-len("before") || f.ULPDULength != 1<<16-1 || f.CRCStatus != CRCGood) {
			t.Errorf("65535 octets: %v, %v", err, wrong)
		}
		at := e.Offset
		if at != int64(len(dst)-len("before")) {
			t.Errorf("the offset is %d behind %d octets", at, len(dst)-len("before"))
		}
		again, err := e.Append(dst, make([]byte, 1<<16))
		if !errors.Is(err, ErrLongULPDU) || len(again) != len(dst) || e.Offset != at {
			t.Errorf("65536 octets: %v, %d octets appended, offset %d", err, len(again)-len(dst), e.Offset-at)
		}
		want := "mpa: the ULPDU has 65536 octets: an FPDU holds 65535 at most, since ULPDU_Length has 16 bits (RFC 5044 section 4.1)"
		if err == nil || err.Error() != want {
			t.Errorf("the error is %v", err)
		}
	}
}
