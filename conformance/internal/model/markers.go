package model

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Pos is the offset of a marker in full operation, -1 if that is not known.
func (e *FPDU) Pos(m *mpa.Marker) int64 {
	if !e.PDU.HasOffset {
		return -1
	}
	return m.Offset - e.FPDU.Offset + e.PDU.Offset
}

// Marked reports whether the FPDU has markers, and they were agreed for its direction.
func (e *FPDU) Marked(c *Conn) bool {
	return len(e.FPDU.Markers) > 0 && c.Trace.Markers[e.Dir] == mpa.Yes && c.Trace.Flow[e.Dir].MarkersSeen == mpa.Unknown
}

// PlaceOf is the place of one of its markers.
func (e *FPDU) PlaceOf(m *mpa.Marker) Place {
	at := e.Where()
	if at.HasOffset {
		at.Offset += m.Offset - e.FPDU.Offset
	}
	return at
}

// WrapsAt is the offset in the stream of a direction at which its TCP sequence numbers
// become 0.
func (c *Conn) WrapsAt(d trace.Dir) int64 { return int64(1)<<32 - int64(c.Trace.Flow[d].Base) }

// Wrapped reports whether an FPDU ends behind the place at which the sequence numbers wrap.
func (e *FPDU) Wrapped(c *Conn) bool { return e.PDU.From+e.PDU.Length > c.WrapsAt(e.Dir) }
