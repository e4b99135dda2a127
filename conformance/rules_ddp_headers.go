package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// ddpHeaderRules judge the DDP header of single segments (RFC 5041 section 4).
var ddpHeaderRules = []Rule{
	{
		ID: "DDP-HDR-01", Needs: Sync | Full, Transport: onTCP, ByShape: true,
		Field:    "iwarp_mpa.ulpdulength",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		Segment: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if s.seg != nil {
					return
				}
				want := 18
				if len(s.head) == 0 || s.head[0]&0x80 != 0 {
					want = 14
				}
				if _, length, _ := s.p.ULPDU(); length < want {
					r.On(s, "the ULPDU is shorter than a DDP header", fmt.Sprint(length), fmt.Sprintf("at least %d", want))
				}
			},
		},
	},
	{
		ID: "DDP-RSVD-01", Needs: Sync, ByShape: true,
		Field: "iwarp_ddp.rsvd",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if s.seg.Rsvd != 0 {
					r.On(s, "reserved bits of the DDP control octet are set", fmt.Sprintf("%#02x", s.seg.Rsvd<<2), "0")
				}
			},
		},
	},
	{
		ID: "DDP-DV-01", Needs: Sync, ByShape: true,
		Field: "iwarp_ddp.dv",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				switch {
				case s.seg.DV > 1, s.seg.DV == 0 && r.t.Transport == trace.SCTP:
					r.On(s, "the DDP version does not exist", fmt.Sprint(s.seg.DV), "1")
				case s.seg.DV == 0 && r.reply == nil && r.request == nil && !r.Reported(s.half):
					r.OnAs(Note, s, "DDP version 0; no startup was captured that would say why", "0", "1")
				}
			},
		},
	},
	{
		ID: "DDP-DV-02", Needs: Sync, ByShape: true,
		Field:    "iwarp_ddp.dv",
		YieldsTo: []string{"DDP-DV-01"},
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				switch {
				case s.hasVersions && s.seg.DV != s.dv:
					r.On(s, "the DDP version changes within the direction", fmt.Sprint(s.seg.DV), fmt.Sprint(s.dv))
				case !s.hasVersions && r.t.Transport == trace.SCTP && s.peer.hasVersions && s.peer.dv != s.seg.DV:
					r.On(s, "the directions have different DDP versions", fmt.Sprint(s.seg.DV), fmt.Sprint(s.peer.dv))
				}
			},
		},
	},
	{
		ID: "DDP-TO-02", Needs: Sync, Tagged: mpa.Yes, ByShape: true,
		Field: "iwarp_ddp.tagged_offset",
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.octets > 0) },
			Judge: func(r *Report, s *segment) {
				switch end := s.seg.TO + uint64(s.octets); {
				case end == 0:
					r.OnAs(Note, s, "the segment ends with the last octet that can be addressed", fmt.Sprintf("%#x + %d", s.seg.TO, s.octets), "below 2^64")
				case end < s.seg.TO:
					r.On(s, "TO and length go beyond 2^64", fmt.Sprintf("%#x + %d", s.seg.TO, s.octets), "at most 2^64")
				}
			},
		},
	},
	{
		ID: "DDP-UNTAG-QN-02", Needs: Sync, ByShape: true,
		Field: "iwarp_ddp.qn",
		Segment: &On[*segment]{
			Applies: anySegment,
			Judge: func(r *Report, s *segment) {
				if !s.seg.Tagged && s.seg.QN > 3 {
					r.On(s, "the queue does not exist", fmt.Sprint(s.seg.QN), "0 to 3")
				}
			},
		},
	},
}
