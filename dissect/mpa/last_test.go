package mpa

import (
	"math/rand/v2"
	"testing"
)

// TestLastDamaged: in a direction that was not captured from its start the last FPDU is told though its CRC is wrong, if it has the
// length and the header of one. Other octets at the end are none.
func TestLastDamaged(t *testing.T) {
	for _, c := range []struct {
		name string
		last func(last []byte) []byte
		want int
	}{
		{"right", func(b []byte) []byte { return b }, 6},
		{"a wrong CRC", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, 6},
		{"a wrong CRC, and octets behind it", func(b []byte) []byte { b[len(b)-1] ^= 1; return append(b, 0, 0, 0, 0) }, 5},
		{"another header", func(b []byte) []byte { b[3] ^= 0x0f; return b }, 5},
	} {
		for _, chunk := range []int{1, 7, 1448} {
			var stream []byte
			e := Encoder{CRC: true}
			for i := range uint32(5) {
				stream = framed(e.Append(stream, send(i+1, make([]byte, 10))))
			}
			stream = append(stream, c.last(framed(e.Append(nil, send(6, make([]byte, 14)))))...)
			var d Decoder
			d.Reset(Config{Grammar: testGrammar}, 0)
			out := split(&d, stream, chunk, rand.New(rand.NewPCG(1, 1)))
			if len(out) != c.want {
				t.Errorf("%s, %d octets at a time: %d FPDUs, want %d", c.name, chunk, len(out), c.want)
			}
		}
	}
}
