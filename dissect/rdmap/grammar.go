package rdmap

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Grammar is what DDP and RDMAP accept (RFC 5041 section 4, RFC 5040 section 4), for an
// [mpa.Decoder] that looks for FPDUs. It is shared and must not be changed.
var Grammar = &mpa.Grammar{Quick: quick, Light: light, Strict: strict, Follows: follows, Queue: queue, Joins: joins}

// quick looks at the two control octets: reserved bits zero, versions 0 or 1,
// and an opcode of the right buffer model.
func quick(c0, c1 byte) bool {
	const reserved, version2 = 0x3c, 0x02
	if c0&(reserved|version2) != 0 || c1&0xb0 != 0 {
		return false
	}
	op := Opcode(c1 & 0x0f)
	return op.Assigned() && op.Tagged() == (c0&0x80 != 0)
}

// light rejects only what cannot be a DDP segment, not even a wrong one: a length that
// is too short, a length that is too long unless everything else is right, or an unknown
// version together with an opcode that contradicts the buffer model.
func light(head []byte, n int) bool {
	if n < mpa.MinULPDU {
		return false
	}
	if len(head) < 2 {
		return n <= mpa.MaxULPDU
	}
	if n > mpa.MaxULPDU {
		return quick(head[0], head[1])
	}
	op := ControlOf(head[1]).Opcode
	return head[0]&0x03 < 2 || op.Assigned() && op.Tagged() == (head[0]&0x80 != 0)
}

// strict accepts only what a correct sender writes.
func strict(head []byte, n int) bool {
	if n < mpa.MinULPDU || n > mpa.MaxULPDU || len(head) < 2 || !quick(head[0], head[1]) {
		return false
	}
	seg, err := ddp.Decode(head)
	if err != nil || n < seg.HeaderLen {
		return false
	}
	if seg.Tagged {
		if head[2] == head[0] && head[3] == head[1] && head[4] == head[0] && head[5] == head[1] {
			return false // a pattern that repeats two octets, not a header
		}
		return seg.TO+uint64(n-seg.HeaderLen) >= seg.TO //nolint:gosec // checked above
	}
	op := ControlOf(seg.RsvdULP).Opcode
	qn, _ := op.Queue()
	if seg.QN != qn || !op.Invalidates() && seg.RsvdULP32 != 0 {
		return false
	}
	if op.Payload() {
		return true
	}
	size := n - seg.HeaderLen
	if seg.MO != 0 || !seg.Last {
		return false
	}
	if op == OpTerminate {
		return size >= TerminateLen && size <= 64
	}
	return size == op.HeaderLen()
}

// follows reports whether one segment can follow another: a message continues where it
// stopped, and the next message of a queue has the next number.
func follows(head []byte, n int, next []byte) bool {
	a, err := ddp.Decode(head)
	if err != nil {
		return false
	}
	b, err := ddp.Decode(next)
	if err != nil {
		return false
	}
	octets := n - a.HeaderLen
	if octets < 0 || a.DV != b.DV {
		return false
	}
	switch {
	case a.Tagged != b.Tagged:
		return true
	case a.Tagged:
		if a.RsvdULP != b.RsvdULP {
			return true
		}
		if !a.Last {
			return a.STag == b.STag && b.TO == a.TO+uint64(octets)
		}
		return true
	case a.QN != b.QN:
		return true
	case !a.Last:
		return a.MSN == b.MSN && b.MO == a.MO+uint32(octets) //nolint:gosec // 16 bits
	}
	return b.MSN == a.MSN+1 && b.MO == 0
}

// queue numbers queues and kinds of tagged messages.
func queue(head []byte) int {
	seg, err := ddp.Decode(head)
	switch {
	case err == nil && !seg.Tagged && seg.QN < 3:
		return int(seg.QN)
	case err == nil && seg.Tagged && ControlOf(seg.RsvdULP).Opcode == OpReadResponse:
		return 3
	}
	return 4
}

// joins reports whether a segment goes on where another one of its queue stopped: with 32 bits and more
// that are as they have to be.
func joins(head []byte, n int, next []byte) bool {
	a, err := ddp.Decode(head)
	if err != nil {
		return false
	}
	b, err := ddp.Decode(next)
	octets := n - a.HeaderLen
	switch {
	case err != nil || octets < 0 || a.DV != b.DV || a.Tagged != b.Tagged:
		return false
	case a.Tagged:
		return a.STag == b.STag && b.TO == a.TO+uint64(octets) && a.RsvdULP&0x0f == b.RsvdULP&0x0f
	case a.Last:
		return b.MSN == a.MSN+1 && b.MO == 0
	}
	return b.MSN == a.MSN && b.MO == a.MO+uint32(octets) //nolint:gosec // 16 bits
}
