// Package dissecttest has what the tests of packages that read and write headers of a fixed
// size have in common.
package dissecttest

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
)

// Codec is a header of a fixed size, without its type.
type Codec struct {
	// Name is what the code of the error for too few octets ends in, behind "short_".
	Name string
	// Size is in octets.
	Size   int
	Decode func(b []byte) (any, error)
	Append func(x any) []byte
}

// Of makes a codec of the decoder and the encoder of a header.
func Of[T any](name string, size int, decode func([]byte) (T, error), encode func(T, []byte) []byte) Codec {
	return Codec{
		Name: name, Size: size,
		Decode: func(b []byte) (any, error) { return decode(b) },
		Append: func(x any) []byte { return encode(x.(T), nil) },
	}
}

// Unhex reads octets from hexadecimal digits, spaced as they like.
func Unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Octets makes n random octets.
func Octets(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.UintN(256)) //nolint:gosec // an octet
	}
	return b
}

// Flag is the bit of a flag.
func Flag(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// RoundTrip tests that any octets of a header decode to what encodes to the same octets,
// whatever comes behind them.
func RoundTrip(t *testing.T, r *rand.Rand, codecs []Codec) {
	t.Helper()
	for _, c := range codecs {
		for range 2000 {
			b := Octets(r, c.Size)
			x, err := c.Decode(append(b[:len(b):len(b)], 0xff))
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if got := c.Append(x); !bytes.Equal(got, b) {
				t.Fatalf("%s: % x becomes % x", c.Name, b, got)
			}
		}
	}
}

// Truncation tests that each prefix of a header fails with io.ErrUnexpectedEOF, in an error
// of the layer that tells how many octets there were.
func Truncation(t *testing.T, layer dissect.Layer, codecs []Codec) {
	t.Helper()
	for _, c := range codecs {
		for n := range c.Size {
			_, err := c.Decode(make([]byte, n))
			var e *dissect.Error
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Layer != layer || e.Code != "short_"+c.Name || e.Offset != n {
				t.Errorf("%s cut to %d octets: %v", c.Name, n, err)
			}
		}
	}
}

// Fuzz tests octets of a fuzzer: they decode if there are enough of them, and to what encodes
// to the same octets.
func Fuzz(t *testing.T, b []byte, codecs []Codec) {
	t.Helper()
	for _, c := range codecs {
		x, err := c.Decode(b)
		if (err == nil) != (len(b) >= c.Size) {
			t.Fatalf("%s of %d octets: %v", c.Name, len(b), err)
		}
		if err == nil && !bytes.Equal(c.Append(x), b[:c.Size]) {
			t.Fatalf("%s: % x becomes % x", c.Name, b[:c.Size], c.Append(x))
		}
	}
}

// Printable tests that the names of values are printable ASCII, whatever the value.
func Printable(t *testing.T, headers []*dissect.Header) {
	t.Helper()
	for _, h := range headers {
		for _, f := range h.Fields {
			if f.Names == nil {
				continue
			}
			for v := range uint64(1 << 16) {
				for _, c := range f.Names(v) {
					if c < ' ' || c > '~' {
						t.Fatalf("%s: %q", f.Name, f.Names(v))
					}
				}
			}
		}
	}
}
