package render

import (
	"math"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// carries lists the parts of PDUs that lie in the frame's own octets, each octet once.
func (r *Records) carries(b []byte, f *pipeline.Frame) []byte {
	b = append(b, `,"carries":[`...)
	n := len(b)
	if f.HasSpan {
		r.clip(f)
		for i := range r.own {
			if w := &r.own[i]; w.conn == f.Conn && w.dir == f.Dir {
				b = appendCarried(b, f, w.from, w.to, w.framed, true)
			}
		}
		// Octets behind the end of the PDU that has begun may be of any PDU.
		if f.HasOpen {
			b = appendCarried(b, f, f.Open, f.OpenTo, f.HasOrig, f.OpenEnds)
		}
	}
	if len(b) > n {
		b = b[:len(b)-1] // a comma is behind each
	}
	return append(b, ']')
}

// clip ends PDUs that overlap a later one where that begins: their length is wrong, and
// that one's place is proven.
func (r *Records) clip(f *pipeline.Frame) {
	limit := int64(math.MaxInt64)
	if f.HasOpen {
		limit = f.Open
	}
	for i := len(r.own) - 1; i >= 0; i-- {
		if w := &r.own[i]; w.conn == f.Conn && w.dir == f.Dir {
			w.to = min(w.to, limit)
			limit = min(limit, w.from)
		}
	}
}

// appendCarried appends the part of a PDU that lies in the frame. ends says that the PDU
// ends at to.
func appendCarried(b []byte, f *pipeline.Frame, from, to int64, framed, ends bool) []byte {
	first, last := max(from, f.From), min(to, f.To)
	if first >= last {
		return b
	}
	b = append(b, '{')
	if framed && first >= f.Origin {
		b = appendInt(append(b, `"offset":`...), first-f.Origin)
		b = append(b, ',')
	}
	b = appendInt(append(b, `"length":`...), last-first)
	part := "middle"
	switch ends = ends && last == to; {
	case first == from && ends:
		part = "whole"
	case first == from:
		part = "start"
	case ends:
		part = "end"
	}
	b = appendWord(b, `,"part":`, part)
	return append(b, "},"...)
}
