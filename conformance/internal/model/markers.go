package model

import "github.com/iwdissect/iwdissect/dissect/mpa"

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
