package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// markerRules judge the markers in FPDUs (RFC 5044 sections 4.3 and 7.1).
var markerRules = []Rule{
	{
		ID: "MPA-MARKER-RSVD-01", Needs: Sync | Full, ByShape: true,
		Field: "iwd.markers",
		FPDU: eachMarker(func(r *Report, e *fpdu, m *mpa.Marker) {
			if m.Reserved != 0 && !displaced(m) && e.pos(m) != 0 {
				r.On(e.placeOf(m), "the reserved half of a marker is not zero", fmt.Sprintf("%#04x", m.Reserved), "0")
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-01", Needs: Sync | Full, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-MARKER-PTR-02", "MPA-MARKER-PTR-05", "MPA-MARKER-PTR-07", "MPA-MARKER-POS-01"},
		FPDU: eachMarker(func(r *Report, e *fpdu, m *mpa.Marker) {
			if m.Expected != 0 && int(m.Pointer&^3) != m.Expected && !displaced(m) {
				r.On(e.placeOf(m), "a marker points to the wrong place", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-02", Needs: Sync | Full, ByShape: true,
		Field: "iwd.markers",
		FPDU: eachMarker(func(r *Report, e *fpdu, m *mpa.Marker) {
			if m.Expected == 0 && e.pos(m) != 0 && m.Pointer&^3 != 0 && !displaced(m) {
				r.On(e.placeOf(m), "a marker between two FPDUs has a pointer", fmt.Sprint(m.Pointer), "0")
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-03", Needs: Sync | Full, ByShape: true,
		Field: "iwd.markers",
		FPDU: eachMarker(func(r *Report, e *fpdu, m *mpa.Marker) {
			if m.Pointer&3 != 0 && !displaced(m) {
				r.On(e.placeOf(m), "the two low bits of a pointer are set", fmt.Sprintf("%#04x", m.Pointer), "both 0")
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-05", Needs: Sync | Full, ByShape: true,
		Field: "iwd.markers",
		FPDU: &On[*fpdu]{
			Applies: func(_ *Case, e *fpdu) Scope {
				return InScopeIf(e.f.CRCStatus != mpa.CRCBad && len(pointing(e.f)) >= 2)
			},
			Judge: func(r *Report, e *fpdu) {
				if m := disagreeing(e.f); m != nil {
					r.On(e.placeOf(m), "the markers of an FPDU point to different places", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
				}
			},
		},
	},
	{
		ID: "MPA-MARKER-PTR-07", Needs: Sync | Full, ByShape: true,
		Field: "iwd.markers",
		FPDU: eachMarker(func(r *Report, e *fpdu, m *mpa.Marker) {
			if pointsToFormer(e, m) {
				r.On(e.placeOf(m), "a marker points to an FPDU before the one that it stands in", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
			}
		}),
	},
	{
		ID: "MPA-MARKER-POS-01", Needs: Neg | Start | Full | Sync, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-M-REQ-01", "MPA-M-REP-01", "MPA-START-07A", "MPA-MARKER-WRAP-01", "RNIC-IOP-MARKER-01"},
		FPDU: eachMarker(func(r *Report, e *fpdu, m *mpa.Marker) {
			if displaced(m) && !r.Reported(e.half) {
				r.On(e.placeOf(m), "no marker where one has to be", fmt.Sprintf("%04x%04x", m.Reserved, m.Pointer), fmt.Sprintf("pointer %d", m.Expected))
			}
		}),
	},
	{
		ID: "MPA-START-07A", Needs: Neg | Start | Full, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-M-REQ-01", "MPA-M-REP-01", "RNIC-IOP-MARKER-01"},
		FPDU: eachMarker(func(r *Report, e *fpdu, m *mpa.Marker) {
			if e.pos(m) == 0 && (m.Reserved != 0 || m.Pointer&^3 != 0) {
				r.On(e.placeOf(m), "the first marker is not zero", fmt.Sprintf("%04x%04x", m.Reserved, m.Pointer), "00000000")
			}
		}),
	},
	{
		ID: "MPA-MARKER-WRAP-01", Needs: Start | Contig | Full, Transport: onTCP, ByShape: true,
		FPDU: &On[*fpdu]{
			Applies: func(c *Case, e *fpdu) Scope {
				return InScopeIf(e.marked(c.conn) && e.p.From+e.p.Length > wrapsAt(c.conn, e.dir))
			},
			Judge: markersAtWrap,
		},
	},
}

// eachMarker judges the markers of an FPDU one by one. If the CRC is wrong, nothing
// proves that those octets are markers.
func eachMarker(judge func(r *Report, e *fpdu, m *mpa.Marker)) *On[*fpdu] {
	return &On[*fpdu]{
		Applies: func(_ *Case, e *fpdu) Scope {
			return InScopeIf(len(e.f.Markers) > 0 && e.f.CRCStatus != mpa.CRCBad)
		},
		Judge: func(r *Report, e *fpdu) {
			for i := range e.f.Markers {
				judge(r, e, &e.f.Markers[i])
			}
		},
	}
}

// displaced reports whether nothing in the octets where a marker has to be looks like
// one: the marker is elsewhere, or there is none.
func displaced(m *mpa.Marker) bool {
	return m.Status() == mpa.MarkerMissing || m.Reserved != 0 && int(m.Pointer&^3) != m.Expected
}

// innerMarkers counts the markers behind ULPDU_Length.
func innerMarkers(f *mpa.FPDU) (n int) {
	for i := range f.Markers {
		if f.Markers[i].Expected != 0 {
			n++
		}
	}
	return n
}

// pointing are the markers behind ULPDU_Length that are there.
func pointing(f *mpa.FPDU) (all []*mpa.Marker) {
	for i := range f.Markers {
		if m := &f.Markers[i]; m.Expected != 0 && m.Status() != mpa.MarkerMissing {
			all = append(all, m)
		}
	}
	return all
}

// disagreeing returns the first marker of an FPDU that points to another start than the
// first marker does; nil if there is none, or if a pointer is wrong by itself.
func disagreeing(f *mpa.FPDU) *mpa.Marker {
	all := pointing(f)
	for _, m := range all {
		if p := int64(m.Pointer); p == 0 || p%4 != 0 || p >= int64(f.Size) {
			return nil
		}
	}
	start := all[0].Offset - int64(all[0].Pointer)
	for _, m := range all[1:] {
		if m.Offset-int64(m.Pointer) != start {
			return m
		}
	}
	return nil
}

// pointsToFormer reports whether a marker points to the start of one of the FPDUs before
// its own.
func pointsToFormer(e *fpdu, m *mpa.Marker) bool {
	if int(m.Pointer) == m.Expected || m.Expected == 0 || m.Pointer == 0 || m.Pointer&3 != 0 || displaced(m) {
		return false
	}
	for _, start := range e.crc.starts {
		if start > m.Offset-mpa.MarkerInterval && m.Offset-start == int64(m.Pointer) && start != m.Offset-int64(m.Expected) {
			return true
		}
	}
	return false
}

// wrapsAt is the offset in the stream of a direction at which its TCP sequence numbers
// become 0.
func wrapsAt(c *conn, d trace.Dir) int64 { return int64(1)<<32 - int64(c.t.Flow[d].Base) }

// markersAtWrap judges the first marker that is not in its place once the sequence
// numbers have wrapped.
func markersAtWrap(r *Report, e *fpdu) {
	wrap := wrapsAt(r.conn, e.dir)
	for i := range e.f.Markers {
		m := &e.f.Markers[i]
		at := e.p.From + m.Offset - e.f.Offset
		if at < wrap || !displaced(m) {
			continue
		}
		// Where the marker before it is if the sender counts from sequence number 0.
		p := int(at - (at-wrap)%mpa.MarkerInterval - e.p.From)
		if looksMarked(e.f, p) && !r.Reported(e.half) {
			r.On(e.placeOf(m), "the markers shift where the sequence numbers wrap",
				fmt.Sprintf("a marker %d octets before its place", int(at-e.p.From)-p), "one every 512 octets from the first FPDU on")
		}
		return
	}
}

// looksMarked reports whether the octets at p of an FPDU are a marker that points to its
// start.
func looksMarked(f *mpa.FPDU, p int) bool {
	start := 0
	if f.Lead {
		start = mpa.MarkerSize
	}
	if p <= start || p+mpa.MarkerSize > len(f.Wire) {
		return false
	}
	return int(binary.BigEndian.Uint32(f.Wire[p:])) == p-start
}
