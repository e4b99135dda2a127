package packet

import (
	"encoding/binary"
	"math/bits"
)

// Checksum is the outcome of verifying a checksum.
type Checksum uint8

// The outcomes. ChecksumUnknown stands for octets that were not captured, for
// packets whose endpoints the frame does not show, and for SCTP, whose CRC32c
// is the business of its chunk decoder.
const (
	ChecksumUnknown Checksum = iota
	ChecksumOK
	ChecksumBad
)

// String returns the outcome in a word.
func (c Checksum) String() string {
	switch c {
	case ChecksumOK:
		return "ok"
	case ChecksumBad:
		return "bad"
	default:
		return "unknown"
	}
}

// VerifyChecksum computes the TCP checksum over the pseudo header and the
// segment (RFC 9293 section 3.1, RFC 8200 section 8.1). It reads the whole
// segment, so it is not for every packet of a big capture.
//
// A bad checksum on a frame captured at its sender mostly means that the
// adapter was still to fill it in.
func (p *Packet) VerifyChecksum() Checksum {
	if p.Proto != ProtoTCP || len(p.Segment) < TCPLen || len(p.Segment) < p.SegmentLen || p.Notes&NoteRouted != 0 {
		return ChecksumUnknown
	}
	if fold(pseudo(p.Src, p.Dst, p.V6, p.Proto, p.SegmentLen)+sum(p.Segment)) != 0xffff {
		return ChecksumBad
	}
	return ChecksumOK
}

// pseudo sums the pseudo header. Both forms of it sum to the same for the same
// fields; the address length is the difference.
func pseudo(src, dst Addr, v6 bool, proto Proto, length int) uint64 {
	s, d := src[:], dst[:]
	if !v6 {
		s, d = s[12:], d[12:]
	}
	return sum(s) + sum(d) + uint64(proto) + uint64(length) //nolint:gosec // a length is not negative
}

// sum adds the 16-bit words of b in ones' complement (RFC 1071), an odd last
// octet padded with zero. It stays below 2^34, so a few sums can be added before
// fold.
func sum(b []byte) uint64 {
	// 2^16 is congruent to 1 modulo 2^16-1, and so are 2^32 and 2^64: eight
	// octets can be added at once, if the carries are added back.
	var s, carry uint64
	for len(b) >= 8 {
		s, carry = bits.Add64(s, binary.BigEndian.Uint64(b), carry)
		b = b[8:]
	}
	t := s>>32 + s&0xffffffff + carry
	for len(b) >= 2 {
		t += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		t += uint64(b[0]) << 8
	}
	return t
}

// fold brings a sum down to 16 bits.
func fold(s uint64) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
