package ulp

import (
	"strconv"

	"github.com/iwdissect/iwdissect/dissect"
)

// What lines are made of. All of it is printable ASCII.

func appendUint(b []byte, name string, v uint64) []byte {
	return strconv.AppendUint(append(b, name...), v, 10)
}

func appendHex(b []byte, name string, v uint64, digits int) []byte {
	return dissect.AppendHex(append(b, name...), v, digits)
}

// appendOctets appends a number of octets.
func appendOctets(b []byte, n uint64) []byte {
	return append(strconv.AppendUint(b, n, 10), " B"...)
}

// appendDuration appends a duration in nanoseconds with three digits behind the point.
func appendDuration(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	unit, per := "us", int64(1e3)
	switch {
	case ns >= 1e9:
		unit, per = "s", 1e9
	case ns >= 1e6:
		unit, per = "ms", 1e6
	}
	b = append(strconv.AppendInt(b, ns/per, 10), '.')
	part := ns % per * 1000 / per
	for digit := int64(100); digit > 0; digit /= 10 {
		b = append(b, byte('0'+part/digit%10))
	}
	return append(append(b, ' '), unit...)
}
