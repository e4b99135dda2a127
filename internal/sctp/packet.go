package sctp

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/iwdissect/iwdissect/internal/crc32c"
)

// HeaderLen is the size of the common header in octets.
const HeaderLen = 12

const offChecksum = 8

// Error says why octets could not be parsed.
type Error struct {
	// Code is a stable token.
	Code string
	// Offset counts octets from the first one handed over.
	Offset int
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("sctp: %s, offset %d: %v", e.Code, e.Offset, e.Err)
}

// Unwrap returns the cause; short input is [io.ErrUnexpectedEOF].
func (e *Error) Unwrap() error { return e.Err }

func short(code string, have int) error { return &Error{code, have, io.ErrUnexpectedEOF} }

// Header is the common header (RFC 9260 section 3.1).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          Source Port          |       Destination Port        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Verification Tag                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Checksum                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Header struct {
	SrcPort, DstPort uint16
	// Tag is the verification tag that the receiver has chosen; 0 with INIT.
	Tag uint32
	// Checksum is the field as it stands, its octets read in network order.
	Checksum uint32
}

// DecodeHeader reads the common header at the start of b.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < HeaderLen {
		return Header{}, short("short_header", len(b))
	}
	return Header{
		SrcPort: binary.BigEndian.Uint16(b), DstPort: binary.BigEndian.Uint16(b[2:]),
		Tag: binary.BigEndian.Uint32(b[4:]), Checksum: binary.BigEndian.Uint32(b[offChecksum:]),
	}, nil
}

// Append appends the header with the checksum that it has.
func (h Header) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, h.SrcPort)
	dst = binary.BigEndian.AppendUint16(dst, h.DstPort)
	dst = binary.BigEndian.AppendUint32(dst, h.Tag)
	return binary.BigEndian.AppendUint32(dst, h.Checksum)
}

// noChecksum stands in place of the checksum while it is computed.
var noChecksum = make([]byte, HeaderLen-offChecksum)

// Sum is what the checksum field of a whole packet should be: the CRC32c with
// the field zero, least significant octet first (RFC 9260 appendix A), read in
// network order.
func Sum(packet []byte) uint32 {
	c := crc32c.Checksum(packet[:offChecksum])
	c = crc32c.Update(c, noChecksum)
	c = crc32c.Update(c, packet[HeaderLen:])
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], c)
	return binary.BigEndian.Uint32(b[:])
}

// Field is the checksum field of a packet, read in network order.
func Field(packet []byte) uint32 { return binary.BigEndian.Uint32(packet[offChecksum:]) }

// Prefix is the CRC32c of the beginning of a packet with the checksum field zero.
func Prefix(b []byte) uint32 {
	return crc32c.Update(crc32c.Update(crc32c.Checksum(b[:offChecksum]), noChecksum), b[HeaderLen:])
}

// SumBehind is what the checksum field of a packet would be that consists of a beginning and one chunk, which was captured whole, with a
// pad of zeros.
func SumBehind(prefix uint32, c *Chunk) uint32 {
	var head [chunkHeaderLen]byte
	head[0], head[1] = byte(c.Type), c.Flags
	binary.BigEndian.PutUint16(head[2:], c.Length)
	n := crc32c.Update(crc32c.Update(prefix, head[:]), c.Value)
	return bits.ReverseBytes32(crc32c.Update(n, noChecksum[:padLen(len(c.Value))]))
}

// Seal writes the right checksum into a packet.
func Seal(packet []byte) { binary.BigEndian.PutUint32(packet[offChecksum:], Sum(packet)) }

// Verdict is what is to be said of a checksum.
type Verdict uint8

// The verdicts.
const (
	// Unverifiable: octets of the packet are missing.
	Unverifiable Verdict = iota
	// Good: it is right.
	Good
	// Zero: it was not filled in, as a capture on a sender with checksum offload
	// shows it (and RFC 9653 allows).
	Zero
	// Reversed: right, but its octets are in the other order.
	Reversed
	// Bad: wrong.
	Bad
)

// String returns the verdict in lower case.
func (v Verdict) String() string {
	return [...]string{"unverifiable", "ok", "zero", "reversed", "bad"}[v]
}

// Check judges the checksum of a packet that had wire octets.
func Check(packet []byte, wire int) Verdict {
	if len(packet) < HeaderLen || len(packet) < wire {
		return Unverifiable
	}
	packet = packet[:wire]
	field := binary.BigEndian.Uint32(packet[offChecksum:])
	want := Sum(packet)
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], want)
	switch field {
	case want:
		return Good
	case 0:
		return Zero
	case binary.BigEndian.Uint32(b[:]):
		return Reversed
	}
	return Bad
}
