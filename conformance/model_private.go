package conformance

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// surplus returns the octets behind a startup frame that are no FPDU and nothing else
// that a rule speaks of. They belong to the frame if its sender had not received what
// has to come before any FPDU.
func (c *conn) surplus(f *frame) (*loose, order) {
	h := &c.half[f.dir]
	s := h.looseAt(f.end)
	if f.partial || s == nil || !s.hasOffset || keyed(s.octets) || headed(s.octets) || zeroMarker(s.octets) || c.framed(f, s) {
		return nil, unproven
	}
	if len(s.octets) < min(mpa.KeyLen, int(s.length)) || c.isCRC(f) || c.t.Flow[f.dir].Cut {
		return s, unproven // it is not known what they are, or what comes behind them
	}
	q, r := c.pair()
	switch {
	case f == q && r != nil:
		return s, s.knew(r.end)
	case f == q && c.allOf(h.peer):
		return s, without
	case f == q:
		return s, unproven
	case q == nil || f.R:
		return nil, unproven // a rejected connection may go on with anything
	}
	end, _ := c.firstEnd(q)
	return s, s.knew(end)
}

// maxBounds is at how many places of a startup frame an FPDU is looked for.
const maxBounds = 16

// swallows returns the offset in a startup frame at which an FPDU begins: where a TCP
// segment begins, and with a right CRC. The octets behind the frame are the rest of
// it. 0: there is none.
func (f *frame) swallows(rest *loose) int {
	b := f.raw
	if rest != nil {
		b = append(b[:len(b):len(b)], rest.octets...)
	}
	for _, at := range f.bounds[:min(len(f.bounds), maxBounds)] {
		if at >= mpa.StartupLen && at < len(f.raw) && beginsFPDU(b[at:]) {
			return at
		}
	}
	return 0
}

// beginsFPDU reports whether octets begin with an FPDU whose CRC is right.
func beginsFPDU(b []byte) bool {
	const lengthSize = 2
	for _, lead := range [...]int{0, mpa.MarkerSize} {
		if !headed(b) || len(b) < lead+lengthSize || lead > 0 && !zeroMarker(b) {
			continue
		}
		n := int(binary.BigEndian.Uint16(b[lead:]))
		end := lead + lengthSize + n + mpa.PadLen(n)
		if n >= mpa.MinULPDU && end+crcSize <= len(b) && crcOf(b[:end]) == binary.BigEndian.Uint32(b[end:]) {
			return true
		}
	}
	return false
}

// overrun returns how many octets that are no FPDU stand behind a startup frame in its
// TCP segment, and whether they were sent before its sender was allowed to go on: a
// Request waits for the Reply, a Reply for the first FPDU of the initiator.
func (c *conn) overrun(f *frame) (octets int, o order) {
	if first := &c.half[f.dir].first; f.partial || first.seen && first.from == f.end && (first.good || first.off) {
		return 0, unproven
	}
	awaited := c.half[trace.I2R].first.end
	seen := c.half[trace.I2R].first.seen
	if f.kind == trace.KindRequest {
		if seen = c.reply != nil; seen {
			awaited = c.reply.end
		}
	}
	last := span{acked: f.lastAcked}
	switch {
	case seen:
		o = last.knew(awaited)
	case c.mute(other(f.dir)):
		o = without // there was nothing to wait for
	}
	return f.behind, o
}
