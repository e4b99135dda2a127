package ddp

import (
	"fmt"
	"math"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// offsetRules judge MO, TO and length of the segments of a message (RFC 5041 sections
// 4 and 5).
var offsetRules = []rules.Rule{
	{
		ID: "DDP-UNTAG-MO-01", Needs: catalogue.MsgSync, ByShape: true,
		Field:    "iwarp_ddp.mo",
		YieldsTo: []string{"DDP-L-03", "DDP-L-04", "DDP-ORDER-02", "DDP-UNTAG-MSN-04", "DDP-UNTAG-MO-03", "DDP-DUP-01"},
		Message: &rules.On[*model.Message]{
			Applies: func(_ *rules.Case, m *model.Message) rules.Scope { return rules.InScopeIf(!m.Tagged) },
			Judge: func(r *rules.Report, m *model.Message) {
				if !slices.ContainsFunc(m.Runs, func(r model.Stretch) bool { return r.From == 0 }) {
					r.On(m.RunPlace(0), "no segment of the message has MO 0", fmt.Sprintf("MO %d", m.Runs[0].From), "MO 0")
				}
			},
		},
	},
	{
		ID: "DDP-UNTAG-MO-02", Needs: catalogue.MsgSync, ByShape: true,
		Field:    "iwarp_ddp.mo",
		YieldsTo: []string{"DDP-L-02", "DDP-L-03", "DDP-L-04", "DDP-ORDER-02", "DDP-UNTAG-MO-01", "DDP-UNTAG-MO-03"},
		Message: &rules.On[*model.Message]{
			Applies: func(_ *rules.Case, m *model.Message) rules.Scope { return rules.InScopeIf(!m.Tagged && m.More == 0) },
			Judge: func(r *rules.Report, m *model.Message) {
				if whole, _, at := m.Tiles(0); !whole {
					want := uint64(0)
					if at > 0 {
						want = m.Runs[at-1].To()
					}
					r.On(m.RunPlace(at), "the segments of the message leave a gap or overlap", fmt.Sprintf("MO %d", m.Runs[at].From), fmt.Sprintf("MO %d", want))
				}
			},
		},
	},
	{
		ID: "DDP-UNTAG-MO-03", Needs: catalogue.MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Segment: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if _, to := s.Span(); to > math.MaxUint32 {
					r.On(s, "MO plus length extends beyond 2^32", fmt.Sprintf("%#x + %d", s.DDP.MO, s.Octets), "below 2^32")
				}
			},
		},
	},
	{
		ID: "DDP-TO-01", Needs: catalogue.MsgSync, ByShape: true,
		Field:    "iwarp_ddp.tagged_offset",
		YieldsTo: []string{"DDP-ORDER-02", "RDMAP-READRESP-LEN-01"},
		Message: &rules.On[*model.Message]{
			Applies: func(_ *rules.Case, m *model.Message) rules.Scope {
				return rules.InScopeIf(m.Tagged && m.More == 0 && m.Segments() >= 2)
			},
			Judge: func(r *rules.Report, m *model.Message) {
				if whole, _, at := m.Tiles(m.Start()); !whole {
					r.On(m.RunPlace(at), "the segments of the tagged message leave a gap or overlap",
						fmt.Sprintf("TO %#x", m.Runs[at].From), fmt.Sprintf("TO %#x", m.Runs[at-1].To()))
				}
			},
		},
	},
	{
		ID: "DDP-ORDER-02", Needs: catalogue.MsgSync, ByShape: true,
		YieldsTo: []string{"DDP-L-03", "DDP-L-04"},
		Test:     rules.Test{Needs: rules.SameSizes},
		Message: &rules.On[*model.Message]{
			Applies: func(_ *rules.Case, m *model.Message) rules.Scope {
				return rules.InScopeIf(m.More == 0 && m.Segments() >= 2)
			},
			Judge: func(r *rules.Report, m *model.Message) {
				if whole, ordered, _ := m.Tiles(m.Start()); whole && !ordered {
					at := firstLower(m)
					r.On(m.RunPlace(at), "the segments of a message are not in the order of their offsets", fmt.Sprintf("%#x", m.Runs[at].From), "rising offsets")
				}
			},
		},
	},
	{
		ID: "DDP-ZERO-01", Needs: catalogue.Sync, ByShape: true,
		Field:    "iwd.payload.length",
		YieldsTo: []string{"RDMAP-TFLAG-01"}, // with the right header it may have some
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.DDP != nil && s.Octets == 0 && s.Op != model.OpTerminate)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				rel, m := s.Relate()
				switch {
				case rel == model.GoesOn && m.Open(), !s.DDP.Tagged && s.DDP.MO != 0:
					r.OnAs(catalogue.Warning, s, "a segment within a message has no payload", "0 octets", "at least 1")
				case !s.DDP.Last:
					r.On(s, "a zero-length segment begins a message, but L is not set", "L=0", "L=1")
				}
			},
		},
	},
}

// firstLower is the first run of a message out of order that begins below the one before it.
func firstLower(m *model.Message) int {
	at := 1
	for m.Runs[at].From >= m.Runs[at-1].From {
		at++
	}
	return at
}
