package model

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Surplus returns the octets after a startup frame that are neither an FPDU nor the
// subject of another rule. They belong to the frame if its sender had not yet received
// what must precede any FPDU.
func (c *Conn) Surplus(f *Frame) (*Loose, Order) {
	h := &c.Directions[f.Dir]
	s := h.LooseAt(f.End)
	if f.Partial || s == nil || !s.hasOffset || Keyed(s.Octets) || Headed(s.Octets) || ZeroMarker(s.Octets) || c.framed(f, s) {
		return nil, Unproven
	}
	if len(s.Octets) < min(mpa.KeyLen, int(s.Length)) || c.IsCRC(f) || c.Trace.Flow[f.Dir].Cut {
		return s, Unproven // it is not known what they are, or what follows them
	}
	q, r := c.Pair()
	switch {
	case f == q && r != nil:
		return s, s.Knew(r.End)
	case f == q && c.AllOf(h.Peer):
		return s, Without
	case f == q:
		return s, Unproven
	case q == nil || f.R:
		return nil, Unproven // a rejected connection may go on with anything
	}
	end, _ := c.FirstEnd(q)
	return s, s.Knew(end)
}

// maxBounds is at how many places of a startup frame an FPDU is looked for.
const maxBounds = 16

// Swallows returns the offset in a startup frame at which an FPDU begins: at the start of
// a TCP segment, and with a right CRC. The octets after the frame are the rest of that
// FPDU. 0 if there is none.
func (f *Frame) Swallows(rest *Loose) int {
	if f.bounds == nil {
		return 0
	}
	b := f.Raw
	if rest != nil {
		b = append(b[:len(b):len(b)], rest.Octets...)
	}
	for _, at := range *f.bounds {
		if at < len(f.Raw) && beginsFPDU(b[at:]) {
			return at
		}
	}
	return 0
}

// EndOf is where a startup frame ends in the stream: where an FPDU begins in it, if one does, else where
// PD_Length says.
func (c *Conn) EndOf(f *Frame) int64 {
	if at := f.Swallows(c.Directions[f.Dir].LooseAt(f.End)); at > 0 {
		return f.From + int64(at)
	}
	return f.End
}

// beginsFPDU reports whether octets begin with an FPDU whose CRC is right.
func beginsFPDU(b []byte) bool {
	const lengthSize = 2
	for _, lead := range [...]int{0, mpa.MarkerSize} {
		if !Headed(b) || len(b) < lead+lengthSize || lead > 0 && !ZeroMarker(b) {
			continue
		}
		n := int(binary.BigEndian.Uint16(b[lead:]))
		end := lead + lengthSize + n + mpa.PadLen(n)
		if n >= mpa.MinULPDU && end+CrcSize <= len(b) && CRCOf(b[:end]) == binary.BigEndian.Uint32(b[end:]) {
			return true
		}
	}
	return false
}

// Overrun returns how many octets that are not an FPDU follow a startup frame in its TCP
// segment, and whether they were sent before its sender was allowed to continue: a Request
// waits for the Reply, a Reply for the first FPDU of the initiator.
func (c *Conn) Overrun(f *Frame) (octets int, o Order) {
	h := &c.Directions[f.Dir]
	if first := &h.First; f.Partial || first.Seen && h.FirstSpan().From == f.End && (first.good || first.off) {
		return 0, Unproven
	}
	awaited := c.Directions[trace.I2R].FirstSpan().End
	seen := c.Directions[trace.I2R].First.Seen
	if f.Kind == trace.KindRequest {
		if seen = c.Reply != nil; seen {
			awaited = c.Reply.End
		}
	}
	last := Span{Acked: f.LastAcked}
	switch {
	case seen:
		o = last.Knew(awaited)
	case c.SilentAfterStartup(Other(f.Dir)):
		o = Without // there was nothing to wait for
	}
	return f.Behind, o
}
