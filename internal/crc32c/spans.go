package crc32c

// Spans finds the spans of b that end with the CRC32c of their octets before, least significant octet first as in an FPDU. One may begin at
// each place, and size says of how many octets it is, 0 for none. found is called with the place and the size of those that are right, the
// last place first. ends is room for len(b)+1 numbers.
//
// The CRC of each span anew would take as long as all spans together. The CRC is linear, however: the register behind a span is the sum of
// what its octets and its first value add, each moved on by the octets behind it. Moved on to the end of b, what an octet adds is the same
// in each span. So the sum of all octets behind the beginning of a span, less those behind its end, tells whether it is right.
func Spans(b []byte, ends []uint32, size func(at int) int, found func(at, size int)) {
	const (
		initial = ^uint32(0) // what the register begins with
		right   = 0xb798b438 // what it holds behind a right CRC
	)
	sum, begin, end, bit := uint32(0), uint32(initial), uint32(right), uint32(1<<7)
	ends[len(b)] = end
	for at := len(b) - 1; at >= 0; at-- {
		begin, end, bit = past(begin), past(end), past(bit)
		sum ^= times(b[at], bit)
		ends[at] = sum ^ end
		if n := size(at); n > Size && n <= len(b)-at && ends[at+n] == sum^begin {
			found(at, n)
		}
	}
}

// past is what the register holds behind a zero octet.
func past(register uint32) uint32 { return table[register&0xff] ^ register>>8 }

// times is what an octet adds, of which the highest bit adds w.
func times(octet byte, w uint32) (sum uint32) {
	const polynomial = 0x82f63b78
	for x, i := uint32(octet), 7; i >= 0; i-- {
		sum ^= w & -(x >> i & 1)
		w = w>>1 ^ polynomial&-(w&1)
	}
	return sum
}
