package mpa

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestDecoder_NoGrammar: without a grammar, FPDUs are framed from a known start on, and no octets make
// a decoder panic, whatever is known of the direction.
func TestDecoder_NoGrammar(t *testing.T) {
	e := Encoder{Markers: true, CRC: true}
	var stream []byte
	for i := range 20 {
		stream = framed(e.Append(stream, write(uint64(i), bytes.Repeat([]byte{byte(i)}, 100*i))))
	}
	var d Decoder
	d.Reset(Config{Markers: Yes, CRC: Yes, Start: true, Trusted: true}, 0)
	if out := split(&d, stream, 999, nil); len(out) != 20 {
		t.Errorf("%d FPDUs", len(out))
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range 2000 {
		b := bytes.Clone(stream[rnd.IntN(len(stream)):])
		for range rnd.IntN(4) {
			b[rnd.IntN(len(b))] ^= byte(1 + rnd.IntN(255))
		}
		tri := func() Tri { return Tri(rnd.IntN(3)) }
		d.Reset(Config{Markers: tri(), CRC: tri(), Start: i&1 != 0, Trusted: i&2 != 0, AfterGap: i&4 != 0, Gather: i&8 != 0}, 0)
		split(&d, b, 0, rnd)
	}
}
