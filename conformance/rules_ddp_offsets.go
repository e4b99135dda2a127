package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// offsetRules judge MO, TO and length of the segments of a message (RFC 5041 sections
// 4 and 5).
var offsetRules = []Rule{
	{
		ID: "DDP-UNTAG-MO-01", Needs: MsgSync, ByShape: true,
		Field:    "iwarp_ddp.mo",
		YieldsTo: []string{"DDP-L-03", "DDP-L-04", "DDP-ORDER-02", "DDP-UNTAG-MSN-04", "DDP-DUP-01"},
		Message: &On[*message]{
			Applies: func(_ *Case, m *message) Scope { return InScopeIf(!m.tagged) },
			Judge: func(r *Report, m *message) {
				if !slices.ContainsFunc(m.runs, func(r stretch) bool { return r.from == 0 }) {
					r.On(m.runPlace(0), "no segment of the message has MO 0", fmt.Sprintf("MO %d", m.runs[0].from), "MO 0")
				}
			},
		},
	},
	{
		ID: "DDP-UNTAG-MO-02", Needs: MsgSync, ByShape: true,
		Field:    "iwarp_ddp.mo",
		YieldsTo: []string{"DDP-L-02", "DDP-L-03", "DDP-L-04", "DDP-ORDER-02", "DDP-UNTAG-MO-01", "DDP-UNTAG-MO-03"},
		Message: &On[*message]{
			Applies: func(_ *Case, m *message) Scope { return InScopeIf(!m.tagged && m.more == 0) },
			Judge: func(r *Report, m *message) {
				if whole, _, at := m.tiles(0); !whole {
					want := uint64(0)
					if at > 0 {
						want = m.runs[at-1].to()
					}
					r.On(m.runPlace(at), "the segments of the message leave a hole or overlap", fmt.Sprintf("MO %d", m.runs[at].from), fmt.Sprintf("MO %d", want))
				}
			},
		},
	},
	{
		ID: "DDP-UNTAG-MO-03", Needs: MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Segment: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if _, to := s.span(); to > math.MaxUint32 {
					r.On(s, "MO and length go beyond 2^32", fmt.Sprintf("%#x + %d", s.seg.MO, s.octets), "below 2^32")
				}
			},
		},
	},
	{
		ID: "DDP-TO-01", Needs: MsgSync, ByShape: true,
		Field:    "iwarp_ddp.tagged_offset",
		YieldsTo: []string{"DDP-ORDER-02", "RDMAP-READRESP-LEN-01"},
		Message: &On[*message]{
			Applies: func(_ *Case, m *message) Scope { return InScopeIf(m.tagged && m.more == 0 && m.segments() >= 2) },
			Judge: func(r *Report, m *message) {
				if whole, _, at := m.tiles(m.start()); !whole {
					r.On(m.runPlace(at), "the segments of the tagged message leave a hole or overlap",
						fmt.Sprintf("TO %#x", m.runs[at].from), fmt.Sprintf("TO %#x", m.runs[at-1].to()))
				}
			},
		},
	},
	{
		ID: "DDP-ORDER-02", Needs: MsgSync, ByShape: true,
		YieldsTo: []string{"DDP-L-03", "DDP-L-04"},
		Message: &On[*message]{
			Applies: func(_ *Case, m *message) Scope { return InScopeIf(m.more == 0 && m.segments() >= 2) },
			Judge: func(r *Report, m *message) {
				if whole, ordered, at := m.tiles(m.start()); whole && !ordered {
					r.On(m.runPlace(at), "the segments of a message are not in the order of their offsets", fmt.Sprintf("%#x", m.runs[at].from), "rising offsets")
				}
			},
		},
	},
	{
		ID: "DDP-ZERO-01", Needs: Sync, ByShape: true,
		Field: "iwd.payload.length",
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				return InScopeIf(s.seg != nil && s.octets == 0 && s.op != opTerminate)
			},
			Judge: func(r *Report, s *segment) {
				rel, m := s.relate()
				switch {
				case rel == goesOn && m.open(), !s.seg.Tagged && s.seg.MO != 0:
					r.OnAs(Warning, s, "a segment without payload within a message", "0 octets", "at least 1")
				case !s.seg.Last:
					r.On(s, "a message of length zero that goes on", "L=0", "L=1")
				}
			},
		},
	},
}
