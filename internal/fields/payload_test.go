package fields

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestPayloads: what is found without going over the octets is what they have.
func TestPayloads(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var c payloads
	taken := 0
	for range 100 {
		length := 14 + rnd.IntN(3000)
		if rnd.IntN(10) == 0 {
			length = mpa.MaxULPDU - rnd.IntN(100)
		}
		for range rnd.IntN(1000) {
			hl := 14 + 4*rnd.IntN(2)
			ulpdu := make([]byte, max(length, hl))
			for i := range ulpdu[:min(len(ulpdu), 40)] {
				ulpdu[i] = byte(rnd.Uint32())
			}
			ulpdu[rnd.IntN(len(ulpdu))] ^= 0x81
			e := mpa.Encoder{CRC: true}
			wire := tracetest.Framed(e.Append(nil, ulpdu))
			f := &mpa.FPDU{Size: len(wire), Wire: wire, ULPDU: ulpdu, PadLen: mpa.PadLen(len(ulpdu)), PadKnown: true, CRCStatus: mpa.CRCGood}
			for i := range f.PadLen { // a pad that is wrong has a CRC as well
				f.Pad[i] = byte(rnd.Uint32())
				wire[2+len(ulpdu)+i] = f.Pad[i]
			}
			f.CRC = mpa.CRC32c(wire[:len(wire)-4])
			if got, want := c.of(f, ulpdu, hl), crc32.Checksum(ulpdu[hl:], castagnoli); got != want {
				t.Fatalf("%d octets behind %d: %#x, want %#x", len(ulpdu)-hl, hl, got, want)
			}
			if s := c[uint(len(ulpdu)-hl)/4%8]; s.length == len(ulpdu)-hl && s.made {
				taken++
			}
		}
	}
	if taken < 1000 {
		t.Errorf("that was tested %d times only", taken)
	}
}
