package mpa_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

// TestFPDU_Offset: it counts on the scale of Reset, markers included, and a marker
// in front of an FPDU is its first octet.
func TestFPDU_Offset(t *testing.T) {
	const start = 1000 // what Reset is told
	ulpdu := make([]byte, 300)
	for _, markers := range []bool{false, true} {
		enc := mpa.Encoder{Markers: markers, CRC: true}
		var stream []byte
		var at []int
		for range 40 {
			at = append(at, len(stream))
			stream = tracetest.Framed(enc.Append(stream, ulpdu))
		}
		for _, piece := range []int{1, 7, len(stream)} {
			var d mpa.Decoder
			d.Reset(mpa.Config{Markers: mpa.TriOf(markers), CRC: mpa.Yes, Start: true, Trusted: true, Grammar: &anything}, start)
			n, lead, grid := 0, 0, int64(start)
			for from := 0; from < len(stream); from += piece {
				d.Write(stream[from:min(from+piece, len(stream))])
				for d.Next() == mpa.Got {
					f := d.FPDU
					if want := int64(start + at[n]); f.Offset != want {
						t.Fatalf("markers %v, pieces of %d: FPDU %d at %d, want %d", markers, piece, n, f.Offset, want)
					}
					for _, m := range f.Markers {
						if m.Offset != grid {
							t.Fatalf("a marker at %d, want %d", m.Offset, grid)
						}
						grid += mpa.MarkerInterval
					}
					if f.Lead {
						if lead++; f.Markers[0].Offset != f.Offset {
							t.Errorf("the marker in front of the FPDU at %d is at %d", f.Offset, f.Markers[0].Offset)
						}
					}
					n++
				}
			}
			if n != len(at) || markers != (lead > 0) {
				t.Errorf("markers %v, pieces of %d: %d FPDUs, %d behind a marker", markers, piece, n, lead)
			}
		}
	}
}
