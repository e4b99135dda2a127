package mpa

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// TestDecodeFPDU reads what an Encoder wrote, of every length that matters, and
// every beginning of it.
func TestDecodeFPDU(t *testing.T) {
	for n := range 130 {
		ulpdu := bytes.Repeat([]byte{byte(n)}, n)
		wire := framed((&Encoder{CRC: true}).Append(nil, ulpdu))
		f, size, err := DecodeFPDU(append(bytes.Clone(wire), "next"...))
		if err != nil || size != len(wire) || f.Size != size || !bytes.Equal(f.Wire, wire) || !bytes.Equal(f.ULPDU, ulpdu) {
			t.Fatalf("%d octets: %+v, %d, %v", n, f, size, err)
		}
		if f.CRCStatus != CRCGood || f.CRC != f.WantCRC || f.PadLen != PadLen(n) || int(f.ULPDULength) != n || len(f.Head) != min(n, headSize) {
			t.Fatalf("%d octets: %+v", n, f)
		}
		for cut := range wire {
			if _, size, err := DecodeFPDU(wire[:cut]); !errors.Is(err, io.ErrUnexpectedEOF) || size != 0 {
				t.Fatalf("%d octets of %d: %d, %v", cut, len(wire), size, err)
			}
		}
		wire[len(wire)-1] ^= 1
		if f, _, err := DecodeFPDU(wire); err != nil || f.CRCStatus != CRCBad {
			t.Fatalf("a bad CRC: %v, %v", f.CRCStatus, err)
		}
	}
}
