package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// wrapChecks are about sequence numbers that wrap (RFC 5044 section 4.3).
var wrapChecks = []check{
	{id: "MPA-MARKER-WRAP-01", shape: true, needs: Start | Contig | Full, transport: onTCP, fpdu: func(c *conn, e *fpdu) {
		wrap := int64(1)<<32 - int64(c.t.Flow[e.dir].Base)
		if !e.marked(c) || e.p.From+e.p.Length <= wrap || !c.applies() {
			return
		}
		for i := range e.f.Markers {
			m := &e.f.Markers[i]
			at := e.p.From + m.Offset - e.f.Offset
			if at < wrap || !displaced(m) {
				continue
			}
			// The place in the FPDU of the number before it that a count from 0 has.
			if p := int(at - (at-wrap)%mpa.MarkerInterval - e.p.From); e.looksMarked(p) && c.once(e.half) {
				c.marker(e, m, "the markers shift where the sequence numbers wrap", fmt.Sprintf("a marker %d octets before its place", int(at-e.p.From)-p), "one every 512 octets from the first FPDU on")
			}
			return
		}
	}},
}

// looksMarked reports whether the octets at a place of the FPDU are a marker of
// it.
func (e *fpdu) looksMarked(p int) bool {
	start := 0
	if e.f.Lead {
		start = mpa.MarkerSize
	}
	if p <= start || p+mpa.MarkerSize > len(e.f.Wire) {
		return false
	}
	return int(binary.BigEndian.Uint32(e.f.Wire[p:])) == p-start
}
