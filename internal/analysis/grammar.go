package analysis

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Continues reports whether a segment goes on behind what was seen of its queue before, with at most so
// many octets of the stream between: the same message, or one of the next.
func (q *queues) Continues(head []byte, within int64) bool {
	seg, err := ddp.Decode(head)
	if err != nil || q.out == nil {
		return false
	}
	m := &q.out.messages
	if seg.Tagged {
		g := m.seen(taggedRow(rdmap.ControlOf(seg.RsvdULP).Opcode))
		return g != nil && g.segments > 0 && seg.STag == g.name && seg.TO-g.next <= uint64(within) //nolint:gosec // not negative
	}
	g, least := m.seen(untaggedRow(seg.QN)), int64(mpa.MinULPDU)
	return g != nil && g.segments > 0 && int64(seg.MSN-g.name) <= within/least && (seg.MSN != g.name || g.open || m.lost) &&
		int64(seg.MO) <= g.octets+within
}

// opens reports whether octets can be the beginning of a stream of FPDUs, with a
// marker in front or without.
func opens(b []byte) bool {
	for _, lead := range [...]int{0, mpa.MarkerSize} {
		const lengthSize = 2
		if len(b) < lead+lengthSize || lead > 0 && binary.BigEndian.Uint32(b) != 0 {
			continue
		}
		if rdmap.Grammar.Strict(b[lead+lengthSize:], int(binary.BigEndian.Uint16(b[lead:]))) {
			return true
		}
	}
	return false
}
