package framing

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// markerRules judge the markers in FPDUs (RFC 5044 sections 4.3 and 7.1).
var markerRules = []rules.Rule{
	{
		ID: "MPA-MARKER-RSVD-01", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Field: "iwd.markers",
		Test:  rules.Test{Related: []string{"MPA-START-07A"}},
		FPDU: eachMarker(func(r *rules.Report, e *model.FPDU, m *mpa.Marker) {
			if m.Reserved != 0 && e.Pos(m) != 0 {
				r.On(e.PlaceOf(m), "the reserved field of a marker is not zero", fmt.Sprintf("%#04x", m.Reserved), "0")
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-01", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-MARKER-PTR-02", "MPA-MARKER-PTR-05", "MPA-MARKER-PTR-07", "MPA-MARKER-POS-01", "MPA-FPDU-FMT-01"},
		Test:     rules.Test{Related: []string{"MPA-MARKER-PTR-02", "MPA-MARKER-PTR-05", "MPA-START-07A"}},
		FPDU: eachMarker(func(r *rules.Report, e *model.FPDU, m *mpa.Marker) {
			if m.Expected != 0 && int(m.Pointer&^3) != m.Expected&^3 { // FPDUs without pads begin anywhere
				reportPointer(r, e, m, "a marker points to the wrong position", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-02", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		Test:     rules.Test{Related: []string{"MPA-MARKER-PTR-01", "MPA-MARKER-PTR-07", "MPA-MARKER-PTR-05", "MPA-START-07A"}},
		FPDU: eachMarker(func(r *rules.Report, e *model.FPDU, m *mpa.Marker) {
			if m.Expected == 0 && e.Pos(m) != 0 && m.Pointer&^3 != 0 {
				reportPointer(r, e, m, "the pointer of a marker between two FPDUs is not zero", fmt.Sprint(m.Pointer), "0")
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-03", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Field: "iwd.markers",
		FPDU: eachMarker(func(r *rules.Report, e *model.FPDU, m *mpa.Marker) {
			if m.Pointer&3 != 0 && int(m.Pointer) != m.Expected { // else the pad is missing in front of the FPDU
				r.On(e.PlaceOf(m), "the two low bits of a marker pointer are not zero", fmt.Sprintf("%#04x", m.Pointer), "both 0")
			}
		}),
	},
	{
		ID: "MPA-MARKER-PTR-05", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(_ *rules.Case, e *model.FPDU) rules.Scope {
				return rules.InScopeIf(e.FPDU.CRCStatus != mpa.CRCBad && e.Displaced == nil && len(pointing(e.FPDU)) >= 2)
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				if m := disagreeing(e.FPDU); m != nil {
					reportPointer(r, e, m, "the markers of an FPDU point to different positions", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
				}
			},
		},
	},
	{
		ID: "MPA-MARKER-PTR-07", Needs: catalogue.Sync | catalogue.Full, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		Test:     rules.Test{Related: []string{"MPA-MARKER-PTR-02", "MPA-MARKER-PTR-05", "MPA-START-07A"}},
		FPDU: eachMarker(func(r *rules.Report, e *model.FPDU, m *mpa.Marker) {
			if pointsToFormer(e, m) {
				reportPointer(r, e, m, "a marker points to an earlier FPDU than the one that contains it", fmt.Sprint(m.Pointer), fmt.Sprint(m.Expected))
			}
		}),
	},
	{
		ID: "MPA-MARKER-POS-01", Needs: catalogue.Neg | catalogue.Start | catalogue.Full | catalogue.Sync, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-M-REQ-01", "MPA-M-REP-01", "MPA-START-07A", "MPA-MARKER-WRAP-01", "RNIC-IOP-MARKER-01"},
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(_ *rules.Case, e *model.FPDU) rules.Scope {
				scope := rules.InScopeIf(e.Displaced != nil || len(e.FPDU.Markers) > 0 && e.FPDU.CRCStatus != mpa.CRCBad)
				if e.Displaced != nil && model.NeverWhole(e.FPDU) {
					scope = scope.Given(catalogue.Full) // what its sender never sent is what shows it, or is behind it
				}
				return scope
			},
			Judge: func(r *rules.Report, e *model.FPDU) {
				switch m := e.Displaced; {
				case m == nil || r.Reported(e.Direction):
				case m.Status() == mpa.MarkerOK:
					r.On(e.PlaceOf(m), "there is a marker where none must be", fmt.Sprintf("pointer %d", m.Pointer), "a marker every 512 octets")
				default:
					r.On(e.PlaceOf(m), noMarker, fmt.Sprintf("%04x%04x", m.Reserved, m.Pointer), fmt.Sprintf("pointer %d", m.Expected))
				}
			},
		},
		Loose: &rules.On[*model.Loose]{
			Applies: func(c *rules.Case, s *model.Loose) rules.Scope {
				_, lacks := s.LacksMarker(c.Conn)
				return rules.InScopeIf(lacks || c.Marking(s.Dir) == mpa.Yes && s.OnGrid() && model.HeadedAt(s.Octets, 0)).Given(catalogue.Full)
			},
			Judge: func(r *rules.Report, s *model.Loose) {
				if !r.Reported(s.Direction) {
					n, _ := s.LacksMarker(r.Conn)
					at := s.Begin()
					at.Offset += int64(n)
					r.On(at, noMarker, fmt.Sprintf("%x", s.Octets[n:][:mpa.MarkerSize]), fmt.Sprintf("pointer %d", n))
				}
			},
		},
	},
	{
		ID: "MPA-START-07A", Needs: catalogue.Neg | catalogue.Start | catalogue.Full, ByShape: true,
		Field:    "iwd.markers",
		YieldsTo: []string{"MPA-M-REQ-01", "MPA-M-REP-01", "RNIC-IOP-MARKER-01"},
		Test:     rules.Test{Needs: rules.ComesFirst},
		FPDU:     &rules.On[*model.FPDU]{Applies: beginsMarked, Judge: firstMarker},
		Loose: &rules.On[*model.Loose]{
			Applies: func(c *rules.Case, s *model.Loose) rules.Scope {
				return rules.InScopeIf(askedForMarkers(c, s.Direction) && c.Accepted() && s.HasPos(0) && model.HeadedAt(s.Octets, 0)).Given(catalogue.Full)
			},
			Judge: func(r *rules.Report, s *model.Loose) {
				r.On(s.Begin(), noFirstMarker, fmt.Sprintf("%x", s.Octets[:mpa.MarkerSize]), zeroMarker)
			},
		},
	},
	{
		ID: "MPA-MARKER-WRAP-01", Needs: catalogue.Start | catalogue.Contig | catalogue.Full, Transport: rules.OnTCP, ByShape: true,
		Test: rules.Test{Needs: rules.KeepsSteps | rules.ComesFirst}, // its markers are counted from the start
		FPDU: &rules.On[*model.FPDU]{
			Applies: func(c *rules.Case, e *model.FPDU) rules.Scope {
				return rules.InScopeIf((e.Marked(c.Conn) || e.Displaced != nil && e.Agreed(c.Conn)) && e.Wrapped(c.Conn))
			},
			Judge: markersAtWrap,
		},
	},
}

// reportPointer reports the pointer of a marker, unless the length of its FPDU turns out to be wrong: then it is in another one.
func reportPointer(r *rules.Report, e *model.FPDU, m *mpa.Marker, message, observed, expected string) {
	r.Report(rules.Violation{Place: e.PlaceOf(m), Message: message, Observed: observed, Expected: expected, Soon: true})
}

// noMarker is what is wrong where octets other than a marker are.
const noMarker = "there is no marker where one must be"

// eachMarker judges the markers of an FPDU one by one. If the CRC is wrong, nothing
// proves that those octets are markers, and if one is elsewhere, that the others are.
func eachMarker(judge func(r *rules.Report, e *model.FPDU, m *mpa.Marker)) *rules.On[*model.FPDU] {
	return &rules.On[*model.FPDU]{
		Applies: func(_ *rules.Case, e *model.FPDU) rules.Scope {
			return rules.InScopeIf(len(e.FPDU.Markers) > 0 && e.FPDU.CRCStatus != mpa.CRCBad && e.Displaced == nil)
		},
		Judge: func(r *rules.Report, e *model.FPDU) {
			for i := range e.FPDU.Markers {
				judge(r, e, &e.FPDU.Markers[i])
			}
		},
	}
}

// What becomes of the first marker of a direction, and what it must be.
const (
	noFirstMarker = "an FPDU begins where the first marker must be"
	zeroMarker    = "00000000"
)

// beginsMarked is the scope of the rule on the first marker of a direction: its first FPDU if that has the marker, or shows that
// there is none. If its CRC is wrong, nothing proves that the octets in front of it are a marker; but where they are the beginning of
// an FPDU, they are none.
func beginsMarked(c *rules.Case, e *model.FPDU) rules.Scope {
	f := e.FPDU
	switch {
	case !e.PDU.HasOffset || e.PDU.Offset != 0:
		return rules.OutOfScope
	case len(f.Markers) > 0 && f.Markers[0].Expected == 0:
		return rules.InScopeIf(f.CRCStatus != mpa.CRCBad || model.HeadedAt(firstOctets(f), 0))
	}
	return rules.InScopeIf(!f.Lead && askedForMarkers(c, e.Direction) && (f.CRCStatus == mpa.CRCGood || model.HeadedAt(firstOctets(f), 0)))
}

// askedForMarkers reports whether the receiver of a direction wants markers.
func askedForMarkers(c *rules.Case, h *model.Direction) bool {
	receiver := c.StartupFrameOf(h.Peer.Dir)
	return receiver != nil && receiver.M
}

func firstMarker(r *rules.Report, e *model.FPDU) {
	f := e.FPDU
	first := firstOctets(f)
	switch {
	case !f.Lead:
		r.On(e, noFirstMarker, fmt.Sprintf("%x", first), zeroMarker)
	case binary.BigEndian.Uint32(first)&^3 != 0:
		r.On(e, "the first marker is not zero", fmt.Sprintf("%x", first), zeroMarker)
	}
}

// firstOctets are the first four octets of an FPDU, which may have been kept without what it looks like on the wire.
func firstOctets(f *mpa.FPDU) []byte {
	if f.Lead && len(f.Markers) > 0 {
		m := &f.Markers[0]
		return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, m.Reserved), m.Pointer)
	}
	return append(binary.BigEndian.AppendUint16(nil, f.ULPDULength), f.Head[:min(2, len(f.Head))]...)
}

// innerMarkers counts the markers after ULPDU_Length.
func innerMarkers(f *mpa.FPDU) (n int) {
	for i := range f.Markers {
		if f.Markers[i].Expected != 0 {
			n++
		}
	}
	return n
}

// pointing returns the markers after ULPDU_Length that are present.
func pointing(f *mpa.FPDU) (all []*mpa.Marker) {
	for i := range f.Markers {
		if m := &f.Markers[i]; m.Expected != 0 && m.Status() != mpa.MarkerMissing {
			all = append(all, m)
		}
	}
	return all
}

// disagreeing returns the first wrong marker of an FPDU whose markers point to different starts; nil if
// they do not, or if a pointer is wrong in itself.
func disagreeing(f *mpa.FPDU) *mpa.Marker {
	all := pointing(f)
	for _, m := range all {
		if p := int64(m.Pointer); p == 0 || p%4 != 0 || p >= int64(f.Size) {
			return nil
		}
	}
	start, differ := all[0].Offset-int64(all[0].Pointer), false
	for _, m := range all[1:] {
		differ = differ || m.Offset-int64(m.Pointer) != start
	}
	if differ {
		for _, m := range all {
			if int(m.Pointer) != m.Expected {
				return m
			}
		}
	}
	return nil
}

// pointsToFormer reports whether a marker points to the start of one of the FPDUs before
// its own.
func pointsToFormer(e *model.FPDU, m *mpa.Marker) bool {
	if int(m.Pointer) == m.Expected || m.Expected == 0 || m.Pointer == 0 || m.Pointer&3 != 0 {
		return false
	}
	for _, start := range e.CRC.Starts() {
		if start > m.Offset-mpa.MarkerInterval && m.Offset-start == int64(m.Pointer) && start != m.Offset-int64(m.Expected) {
			return true
		}
	}
	return false
}

// markersAtWrap judges the first marker that is not in its place once the sequence
// numbers have wrapped.
func markersAtWrap(r *rules.Report, e *model.FPDU) {
	wrap := r.WrapsAt(e.Dir)
	if m := e.Displaced; m != nil && !r.Reported(e.Direction) && shiftsAlone(e, m, wrap) {
		r.On(e.PlaceOf(m), "the marker positions shift where the sequence numbers wrap", "markers at multiples of 512 from sequence number 0 on", shiftedMarkers)
		return
	}
	for i := range e.FPDU.Markers {
		m := &e.FPDU.Markers[i]
		at := e.PDU.From + m.Offset - e.FPDU.Offset
		if at < wrap || !model.Unlike(m) {
			continue
		}
		// Where the marker before it is if the sender counts from sequence number 0.
		p := int(at - (at-wrap)%mpa.MarkerInterval - e.PDU.From)
		if model.PointsBack(e.FPDU, p) && !r.Reported(e.Direction) {
			r.On(e.PlaceOf(m), "the marker positions shift where the sequence numbers wrap",
				fmt.Sprintf("a marker %d octets before its position", int(at-e.PDU.From)-p), shiftedMarkers)
		}
		return
	}
}

// shiftedMarkers is where the markers must be that are elsewhere behind the wrap.
const shiftedMarkers = "a marker every 512 octets from the first FPDU on"

// shiftsAlone reports whether the first displaced marker shows, without the other place in its FPDU, that its sender counts
// from sequence number 0 since that wrapped: it is where that count has one, or it is the first one that is missing behind
// the wrap and the FPDU has no place of that count.
func shiftsAlone(e *model.FPDU, m *mpa.Marker, wrap int64) bool {
	from := e.PDU.From - wrap
	at := from + m.Offset - e.FPDU.Offset
	switch {
	case at < 0:
		return false
	case m.Status() == mpa.MarkerOK:
		return at%mpa.MarkerInterval == 0
	}
	none := e.FPDU.CRCStatus == mpa.CRCBad // which is right without the marker
	return none && from > 0 && at < mpa.MarkerInterval && (from+e.PDU.Length-1)/mpa.MarkerInterval == (from-1)/mpa.MarkerInterval
}
