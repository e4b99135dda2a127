package packet

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/onesum"
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
	// ChecksumUnfilled: the field has only the sum of the pseudo header, as long
	// as the adapter of the sender is still to add the rest.
	ChecksumUnfilled
)

// String returns the outcome in a word.
func (c Checksum) String() string {
	switch c {
	case ChecksumOK:
		return "ok"
	case ChecksumBad:
		return "bad"
	case ChecksumUnfilled:
		return "unfilled"
	default:
		return "unknown"
	}
}

// VerifyChecksum computes the TCP checksum over the pseudo header and the
// segment (RFC 9293 section 3.1, RFC 8200 section 8.1). It reads the whole
// segment, so it is not for every packet of a big capture.
func (p *Packet) VerifyChecksum() Checksum {
	c, _ := p.Sum()
	return c
}

// Sum is VerifyChecksum, and the ones' complement sum of the payload.
func (p *Packet) Sum() (c Checksum, payload uint64) {
	if p.Proto != ProtoTCP || len(p.Segment) < TCPLen || len(p.Segment) < p.SegmentLen {
		return ChecksumUnknown, 0
	}
	payload = onesum.Sum(p.Payload)
	return p.SumWith(payload), payload
}

// SumWith is VerifyChecksum for one who has summed the payload of a TCP packet, all of which was
// captured.
func (p *Packet) SumWith(payload uint64) Checksum {
	if p.Notes&NoteRouted != 0 {
		return ChecksumUnknown
	}
	header := p.Segment[:p.SegmentLen-p.PayloadLen]
	front := pseudo(p.Src, p.Dst, p.V6, p.Proto, p.SegmentLen)
	switch {
	case onesum.Carried(front+sum(header)+uint64(onesum.Fold(payload))) == 0xffff:
		return ChecksumOK
	case binary.BigEndian.Uint16(header[16:]) == onesum.Carried(front):
		return ChecksumUnfilled
	}
	return ChecksumBad
}

// Front is what the pseudo header adds to the checksum, but for the length: the same for
// all packets of two endpoints.
func (p *Packet) Front() uint32 {
	return uint32(pseudo(p.Src, p.Dst, p.V6, p.Proto, 0)) //nolint:gosec // two sums of 16 bits
}

// SumRight reports whether [Packet.Sum] finds the checksum right, of a TCP packet that was
// captured whole and not routed, between endpoints with that Front. payload is the sum of the
// payload, if it was summed before; else it is 0.
func (p *Packet) SumRight(front uint32, payload uint64, summed bool) bool {
	rest := uint64(front) + uint64(len(p.Segment))
	if !summed && len(p.Payload) > 0 {
		return onesum.Carried(rest+sum(p.Segment)) == 0xffff
	}
	// A header is short, and has whole words of 32 bits.
	s := payload>>32 + payload&0xffffffff
	for h := p.Segment[:len(p.Segment)-len(p.Payload)]; len(h) >= 4; h = h[4:] {
		s += uint64(binary.LittleEndian.Uint32(h))
	}
	return onesum.Carried(rest+uint64(onesum.Fold(s))) == 0xffff
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
// octet padded with zero.
func sum(b []byte) uint64 { return uint64(onesum.Fold(onesum.Sum(b))) }
