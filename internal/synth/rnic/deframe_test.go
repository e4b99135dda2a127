package rnic

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// What the encoder writes comes out again, whatever the sizes, the markers and
// the splits.
func TestDeframer_Splits(t *testing.T) {
	for _, markers := range []bool{false, true} {
		rnd := rand.New(rand.NewPCG(3, 4))
		enc := mpa.Encoder{Markers: markers, CRC: true}
		d := deframer{markers: markers, crc: true}
		var wire []byte
		var want [][]byte
		for n := range 1200 {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(rnd.Uint32())
			}
			want, wire = append(want, b), tracetest.Framed(enc.Append(wire, b))
		}
		got := 0
		for len(wire) > 0 {
			n := min(1+rnd.IntN(3000), len(wire))
			d.in, wire = wire[:n:n], wire[n:]
			for {
				f, ok := d.next()
				if !ok {
					break
				}
				if f.badCRC || f.badMark || !bytes.Equal(f.ulpdu, want[got]) {
					t.Fatalf("markers %v: FPDU %d: %d octets, CRC bad %v, marker bad %v", markers, got, len(f.ulpdu), f.badCRC, f.badMark)
				}
				got++
			}
		}
		if got != len(want) {
			t.Errorf("markers %v: %d FPDUs of %d", markers, got, len(want))
		}
	}
}
