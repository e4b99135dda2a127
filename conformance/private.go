package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// privateChecks are about PD_Length and what follows a startup frame (RFC 5044
// section 7.1.1).
var privateChecks = []check{
	{id: "MPA-PDLEN-01", tells: true, needs: Start, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		for _, f := range [...]*frame{q, r} {
			if f == nil || f.partial {
				continue
			}
			h := &c.half[f.dir]
			c.about(h)
			if at := f.swallows(h.looseAt(f.end)); at > 0 && c.applies() {
				c.frame(f, "an FPDU begins inside the private data that the frame announces", fmt.Sprintf("PD_Length %d", f.PDLength), fmt.Sprint(at-mpa.StartupLen))
				continue
			}
			switch s, how := c.surplus(f); {
			case s == nil && h.hole && !(h.opening.seen() && h.opening.first.from == f.end):
				c.lacks(Contig)
			case s == nil:
				c.applies()
			case how == unproven:
				c.lacks(Causal)
			case how == without && c.applies():
				x := f.at()
				x.Frame, x.Message = s.start, "more private data follows than the frame announces"
				x.Observed, x.Expected = fmt.Sprintf("%d octets more", s.length), fmt.Sprintf("PD_Length %d", f.PDLength)
				c.fire(x)
			}
		}
	}},
}

// surplus returns the octets behind a startup frame that are no FPDU and nothing
// else that there is a rule for. They belong to the frame if they were sent
// without what has to come before any FPDU.
func (c *conn) surplus(f *frame) (*loose, order) {
	h := &c.half[f.dir]
	s := h.looseAt(f.end)
	if f.partial || s == nil || !s.hasOffset || keyed(s.octets) || headed(s.octets) || zeroMarker(s.octets) || c.framed(f, s) {
		return nil, unproven
	}
	if len(s.octets) < min(mpa.KeyLen, int(s.length)) || c.isCRC(f) || c.t.Flow[f.dir].Cut {
		return s, unproven // who knows what they are, or what comes behind
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

// maxBounds is at how many places an FPDU is looked for in a startup frame.
const maxBounds = 16

// swallows returns the place in a startup frame at which an FPDU begins: where a
// TCP segment does, and with a CRC that is right. The octets behind the frame are
// the rest of it.
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
