package packet

import (
	"encoding/binary"
	"math/bits"
)

// Kinds of TCP options (RFC 9293 section 3.2, RFC 7323, RFC 2018).
const (
	OptEnd           = 0
	OptNop           = 1
	OptMSS           = 2
	OptWindowScale   = 3
	OptSACKPermitted = 4
	OptSACK          = 5
	OptTimestamps    = 8
)

// NextOption takes the first option off b, stepping over padding. It reports
// false at the end of the list and where the octets make no sense or are cut.
func NextOption(b []byte) (kind byte, data, rest []byte, ok bool) {
	for len(b) > 0 && b[0] == OptNop {
		b = b[1:]
	}
	if len(b) < 2 || b[0] == OptEnd || b[1] < 2 || int(b[1]) > len(b) {
		return 0, nil, nil, false
	}
	n := int(b[1])
	return b[0], b[2:n], b[n:], true
}

// option finds the first option of a kind whose data is size octets long.
func option(options []byte, kind byte, size int) ([]byte, bool) {
	for {
		k, data, rest, ok := NextOption(options)
		if !ok {
			return nil, false
		}
		if k == kind && len(data) == size {
			return data, true
		}
		options = rest
	}
}

// MSS returns the maximum segment size in octets (RFC 9293 section 3.7.1).
func MSS(options []byte) (uint16, bool) {
	d, ok := option(options, OptMSS, 2)
	if !ok {
		return 0, false
	}
	return binary.BigEndian.Uint16(d), true
}

// Room is about how large a receive window is, in 3 bits: 0 is one of no octets, any other is less than 4 << 2*Room.
func Room(window uint16) uint8 {
	if window == 0 {
		return 0
	}
	return uint8(max(bits.Len16(window)-1, 2) / 2) //nolint:gosec // at most 7
}

// WindowScale returns the shift count as sent (RFC 7323 section 2.2; receivers
// use at most 14).
func WindowScale(options []byte) (uint8, bool) {
	d, ok := option(options, OptWindowScale, 1)
	if !ok {
		return 0, false
	}
	return d[0], true
}

// Timestamps returns TSval and TSecr (RFC 7323 section 3.2).
func Timestamps(options []byte) (val, ecr uint32, ok bool) {
	d, ok := option(options, OptTimestamps, 8)
	if !ok {
		return 0, 0, false
	}
	return binary.BigEndian.Uint32(d), binary.BigEndian.Uint32(d[4:]), true
}

// SACKPermitted reports whether selective acknowledgements are offered (RFC
// 2018 section 2).
func SACKPermitted(options []byte) bool {
	_, ok := option(options, OptSACKPermitted, 0)
	return ok
}

// SACK returns the blocks of the first SACK option, for NextSACK; nil when
// there is none (RFC 2018 section 3).
func SACK(options []byte) []byte {
	if len(options) == len(timestampsAlone)+8 && [4]byte(options) == timestampsAlone {
		return nil // nearly always, and looking for it shows in the profile
	}
	for {
		k, data, rest, ok := NextOption(options)
		if !ok {
			return nil
		}
		if k == OptSACK {
			return data
		}
		options = rest
	}
}

// timestampsAlone is how the options of nearly all segments begin, before the two
// timestamps with which they end (RFC 7323 appendix A).
var timestampsAlone = [4]byte{OptNop, OptNop, OptTimestamps, 10}

// NextSACK takes the first block off what SACK returned: the octets from left
// on, right excluded, have arrived. It reports false when no block is left.
func NextSACK(blocks []byte) (left, right uint32, rest []byte, ok bool) {
	if len(blocks) < 8 {
		return 0, 0, nil, false
	}
	return binary.BigEndian.Uint32(blocks), binary.BigEndian.Uint32(blocks[4:]), blocks[8:], true
}

// AppendMSS appends a maximum segment size option.
func AppendMSS(dst []byte, mss uint16) []byte {
	return binary.BigEndian.AppendUint16(append(dst, OptMSS, 4), mss)
}

// AppendWindowScale appends a window scale option.
func AppendWindowScale(dst []byte, shift uint8) []byte {
	return append(dst, OptWindowScale, 3, shift)
}

// AppendSACKPermitted appends a SACK-permitted option.
func AppendSACKPermitted(dst []byte) []byte { return append(dst, OptSACKPermitted, 2) }

// AppendTimestamps appends a timestamps option.
func AppendTimestamps(dst []byte, val, ecr uint32) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, OptTimestamps, 10), val)
	return binary.BigEndian.AppendUint32(dst, ecr)
}

// AppendSACK appends a SACK option with blocks given as left and right edges;
// four is the most that fits a header.
func AppendSACK(dst []byte, blocks ...[2]uint32) []byte {
	dst = append(dst, OptSACK, byte(2+8*len(blocks))) //nolint:gosec // at most four blocks
	for _, b := range blocks {
		dst = binary.BigEndian.AppendUint32(dst, b[0])
		dst = binary.BigEndian.AppendUint32(dst, b[1])
	}
	return dst
}
