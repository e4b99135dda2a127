package readahead

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// Note is the predecoded and verified state of a frame. It is three cache lines long, of which
// two are read mostly.
type Note struct {
	// Segment is the TCP segment with its header, if the kind is TCP.
	Segment  []byte
	Time     int64 // of the frame, in nanoseconds since the Unix epoch
	Seq, Ack uint32
	// Captured and OrigLen are the octets of the frame that are there, and on the wire.
	Captured, OrigLen uint32
	// Number stands for the endpoints of the segment: it is the same for both directions,
	// until endpoints are numbered again in another Epoch, modulo 65536.
	Number uint32
	Epoch  uint16
	// Part is the part of the connections that it belongs to, if these are distinguished.
	Part uint16
	// CRCs is the result of [mpa.Verify] for the payload.
	CRCs   mpa.Verified
	Flags  uint16 // of the TCP header
	Header uint8  // octets of it, with options
	bits   uint8
	// Ends are those of the payload, if CRCs says something of it: the octets of a frame need
	// not come into the cache of another processor then.
	Ends mpa.Ends
}

// Kind says what a frame holds.
type Kind uint8

// The kinds.
const (
	// Other frames have to be decoded: the rest of the note is not valid.
	Other Kind = iota
	// TCP is a segment over IP without fragments, all of it captured.
	TCP
	// SCTP is such a packet of SCTP. Only ChecksumRight is valid.
	SCTP
	// Elsewhere is one of either that is in another shard. Only Time is valid.
	Elsewhere
)

// bits of a note, above its kind.
const (
	kindBits = 3
	sackBit  = 1 << (iota + 1)
	swapBit
	sumBit
	roomShift = 5 // above them: see [packet.Room]
)

// Kind tells what the frame holds.
func (n *Note) Kind() Kind {
	if n == nil {
		return Other
	}
	return Kind(n.bits & kindBits)
}

// SACK reports whether the segment acknowledges octets out of order.
func (n *Note) SACK() bool { return n.bits&sackBit != 0 }

// Room tells about how large a window the segment announces, see [packet.Room].
func (n *Note) Room() uint8 { return n.bits >> roomShift }

// ZeroWindow reports whether the segment announces a window of no octets.
func (n *Note) ZeroWindow() bool { return n.bits>>roomShift == 0 }

// FromLarger reports whether the larger endpoint sent the segment, see
// [packet.Endpoints].
func (n *Note) FromLarger() bool { return n.bits&swapBit != 0 }

// ChecksumRight reports whether the checksum of TCP, or the CRC32c of SCTP, was verified
// and is right.
func (n *Note) ChecksumRight() bool { return n != nil && n.bits&sumBit != 0 }

// Payload is that of the TCP segment.
func (n *Note) Payload() []byte { return n.Segment[n.Header:] }

// noter makes notes.
type noter struct {
	numbers numbers
	packet  packet.Packet
	sums    bool // verify the checksums of TCP
	shard   packet.Shard
}

// note fills in the note of a frame, and p if the frame is plain.
func (t *noter) note(f *capture.Frame, n *Note, p *packet.Packet) {
	if n.bits = uint8(Other); uint16(f.Link) != packet.LinkEthernet || !packet.Plain(f.Data, p) {
		return
	}
	if !t.shard.Has(p) {
		n.bits, n.Time = uint8(Elsewhere), f.Moment()
		return
	}
	if p.Proto != packet.ProtoTCP {
		if n.bits = uint8(SCTP); sctp.Check(p.Payload, p.PayloadLen) == sctp.Good {
			n.bits |= sumBit
		}
		return
	}
	n.bits = uint8(TCP)
	n.Segment, n.Time, n.Captured, n.OrigLen = p.Segment, f.Moment(), uint32(len(f.Data)), f.OrigLen //nolint:gosec // bounded by the reader
	// From the segment: a processor waits for both numbers if it loads them as one word just after they were written.
	n.Seq, n.Ack = binary.BigEndian.Uint32(p.Segment[4:]), binary.BigEndian.Uint32(p.Segment[8:])
	n.Flags, n.Header = p.Flags, uint8(packet.TCPLen+len(p.Options)) //nolint:gosec // at most 60
	if len(p.Options) > 0 && packet.SACK(p.Options) != nil {
		n.bits |= sackBit
	}
	n.bits |= packet.Room(p.Window) << roomShift
	number := t.numbers.of(p)
	n.Number, n.Epoch, n.Part = number.n, t.numbers.epoch, number.part
	if number.swap {
		n.bits |= swapBit
	}
	crcs, sum, summed := mpa.VerifySum(p.Payload)
	if n.CRCs = crcs; crcs != 0 {
		n.Ends.Copy(p.Payload)
	}
	if t.sums && p.SumRight(number.front, sum, summed) {
		n.bits |= sumBit
	}
}
