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
	if len(s.Octets) < min(mpa.KeyLen, int(s.Length)) || c.IsCRC(f) || c.Trace.Flow[f.Dir].Cut || c.KeysInDoubt() {
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
// a TCP segment, and with a right CRC, or as the first of three that follow each other, or of some that lead to the end of
// the stream or of the octets after the frame. These are the rest of that FPDU. 0 if there is none.
func (c *Conn) Swallows(f *Frame) int {
	if f.bounds == nil {
		return 0
	}
	h, b, end := &c.Directions[f.Dir], f.Raw, 0
	if rest := h.LooseAt(f.End); rest != nil {
		end = len(b) + int(rest.Length)
		b = append(b[:len(b):len(b)], rest.Octets...)
	} else if f.Partial {
		end = len(b)
	}
	for _, at := range *f.bounds {
		if at < len(f.Raw) && (beginsFPDU(b[at:]) || h.Opening.Count >= 2 && h.Opening.follows(b[at:], f.From+int64(at)) || leadsTo(b, at, end)) {
			return at
		}
	}
	return 0
}

// leadsTo reports whether FPDUs without markers begin at a place in octets, each where the one before it ends, and the last one ends
// at another place.
func leadsTo(b []byte, at, end int) bool {
	for at < len(b) && at < end && headsFPDU(b[at:]) {
		at += int(sizeOf(int(binary.BigEndian.Uint16(b[at:]))))
		if at == end {
			return true
		}
	}
	return false
}

// SwallowedIn reports whether an FPDU begins inside the private data that the Request, or the Reply, of a direction announces.
func (c *Conn) SwallowedIn(d trace.Dir) bool {
	f, reply := c.Pair()
	if d == trace.R2I {
		f = reply
	}
	return f != nil && c.Swallows(f) > 0
}

// EndOf is where a startup frame ends in the stream: where an FPDU begins in it, if one does, else where
// PD_Length says.
func (c *Conn) EndOf(f *Frame) int64 {
	if at := c.Swallows(f); at > 0 {
		return f.From + int64(at)
	}
	return f.End
}

// EndsThere reports whether a startup frame is known to go on behind an offset of the stream, up to where PD_Length says:
// no FPDU can begin there or earlier in it. A right CRC of the FPDU behind the frame proves it, too.
func (c *Conn) EndsThere(f *Frame, offset int64) bool {
	if f.Partial || c.Swallows(f) > 0 {
		return false
	}
	if n := &c.Directions[f.Dir].Opening.First; n.Seen && n.From == f.End && n.CRC == mpa.CRCGood {
		return true
	}
	places := []int{int(offset - f.From)}
	if f.bounds != nil {
		places = append(places, *f.bounds...)
	}
	for _, at := range places {
		if int64(at) > offset-f.From {
			continue
		}
		if at > len(f.Raw) {
			return false
		}
		if rest := f.Raw[at:]; len(rest) < mpa.MarkerSize || Headed(rest) || ZeroMarker(rest) {
			return false
		}
	}
	return true
}

// beginsFPDU reports whether octets begin with an FPDU whose CRC is right.
func beginsFPDU(b []byte) bool {
	for _, lead := range leads {
		end := fpduEnd(b, lead)
		if end > 0 && end <= len(b) && CRCOf(b[:end-CrcSize]) == binary.BigEndian.Uint32(b[end-CrcSize:]) {
			return true
		}
	}
	return false
}

// follows reports whether the first FPDU of a direction begins where the one would end that octets begin
// with. They stand at an offset of the stream, and may be the first of it only.
func (o *opening) follows(b []byte, from int64) bool {
	for _, lead := range leads {
		if end := fpduEnd(b, lead); end > 0 && o.Seen() && from+int64(end) == o.First.From {
			return true
		}
	}
	return false
}

// leads are the octets before ULPDU_Length: none, or a marker.
var leads = [...]int{0, mpa.MarkerSize}

// fpduEnd is where an FPDU ends that octets begin with, after lead octets; 0 if there is none.
func fpduEnd(b []byte, lead int) int {
	if !Headed(b) || len(b) < lead+LengthSize || lead > 0 && !ZeroMarker(b) {
		return 0
	}
	n := int(binary.BigEndian.Uint16(b[lead:]))
	if n < mpa.MinULPDU {
		return 0
	}
	return lead + LengthSize + n + mpa.PadLen(n) + CrcSize
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
	return int(f.Behind), o
}
