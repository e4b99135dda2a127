package conformance

import "github.com/iwdissect/iwdissect/dissect/mpa"

// pos is the offset of a marker in full operation, -1 if that is not known.
func (e *fpdu) pos(m *mpa.Marker) int64 {
	if !e.p.HasOffset {
		return -1
	}
	return m.Offset - e.f.Offset + e.p.Offset
}

// marked reports whether the FPDU has markers, and they were agreed for its direction.
func (e *fpdu) marked(c *conn) bool {
	return len(e.f.Markers) > 0 && c.t.Markers[e.dir] == mpa.Yes && c.t.Flow[e.dir].MarkersSeen == mpa.Unknown
}

// placeOf is the place of one of its markers.
func (e *fpdu) placeOf(m *mpa.Marker) Place {
	at := e.where()
	if at.HasOffset {
		at.Offset += m.Offset - e.f.Offset
	}
	return at
}
