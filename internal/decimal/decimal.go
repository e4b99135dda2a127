// Package decimal writes decimal numbers. They make up half of a line, so they are written two
// digits at a time, and where they belong at once.
package decimal

import (
	"math/bits"
	"slices"
)

const pairs = "" +
	"00010203040506070809" + "10111213141516171819" + "20212223242526272829" + "30313233343536373839" + "40414243444546474849" +
	"50515253545556575859" + "60616263646566676869" + "70717273747576777879" + "80818283848586878889" + "90919293949596979899"

// powers are those of ten that 64 bits hold.
var powers = func() (p [20]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// digits is how many decimal digits a number has.
func digits(v uint64) int {
	n := bits.Len64(v|1) * 1233 >> 12 // times the logarithm of two
	if v >= powers[n] {
		n++
	}
	return max(n, 1)
}

// Append appends a number.
func Append(b []byte, v uint64) []byte {
	if v < 10 {
		return append(b, byte('0'+v))
	}
	n := digits(v)
	b = slices.Grow(b, n)[:len(b)+n]
	fill(b[len(b)-n:], v)
	return b
}

// AppendInt appends a number with its sign.
func AppendInt(b []byte, v int64) []byte {
	if v < 0 {
		return Append(append(b, '-'), -uint64(v)) //nolint:gosec // the least number has its own absolute value
	}
	return Append(b, uint64(v))
}

// AppendFixed appends the last digits of a number, with leading zeros.
func AppendFixed(b []byte, v uint64, n int) []byte {
	b = slices.Grow(b, n)[:len(b)+n]
	fill(b[len(b)-n:], v)
	return b
}

// fill fills b with the last digits of v.
func fill(b []byte, v uint64) {
	i := len(b)
	for ; i >= 2; i -= 2 {
		q := v / 100
		r := 2 * (v - 100*q)
		b[i-1], b[i-2] = pairs[r+1], pairs[r]
		v = q
	}
	if i == 1 {
		b[0] = byte('0' + v%10)
	}
}
