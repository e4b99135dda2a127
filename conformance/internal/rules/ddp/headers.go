package ddp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// ddpHeaderRules judge the DDP header of single segments (RFC 5041 section 4).
var ddpHeaderRules = []rules.Rule{
	{
		ID: "DDP-HDR-01", Needs: catalogue.Sync | catalogue.Full, Transport: rules.OnTCP, ByShape: true,
		Field:    "iwarp_mpa.ulpdulength",
		YieldsTo: []string{"MPA-FPDU-FMT-01"},
		Segment: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.DDP != nil || s.IsIndication(r.Conn) {
					return
				}
				want := 18
				if len(s.Head) == 0 || s.Head[0]&0x80 != 0 {
					want = 14
				}
				if _, length, _ := s.PDU.ULPDU(); length < want {
					r.Report(rules.Violation{Place: s.Where(), Message: "the ULPDU is shorter than a DDP header", Observed: fmt.Sprint(length), Expected: fmt.Sprintf("at least %d", want), Soon: true})
				}
			},
		},
	},
	{
		ID: "DDP-RSVD-01", Needs: catalogue.Sync, ByShape: true,
		Field: "iwarp_ddp.rsvd",
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.DDP.Rsvd != 0 {
					r.On(s, "reserved bits of the DDP control octet are set", fmt.Sprintf("%#02x", s.DDP.Rsvd<<2), "0")
				}
			},
		},
	},
	{
		ID: "DDP-DV-01", Needs: catalogue.Sync, ByShape: true,
		Field:    "iwarp_ddp.dv",
		YieldsTo: []string{"RNIC-IOP-VER-01"}, // its note: the other direction shows that it is wrong
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				switch {
				case s.DDP.DV > 1, s.DDP.DV == 0 && r.Trace.Transport == trace.SCTP:
					r.Report(rules.Violation{
						Place: s.Where(), Message: "the DDP version is not defined", Observed: fmt.Sprint(s.DDP.DV), Expected: "1", Stands: true,
					})
				case s.HasVersions && s.DDP.DV != s.DDPVersion: // no startup would explain that
				case s.DDP.DV == 0 && r.Reply == nil && r.Request == nil && !r.Reported(s.Direction):
					r.OnAs(catalogue.Note, s, "the DDP version is 0; the startup, which might explain it, was not captured", "0", "1")
				}
			},
		},
	},
	{
		ID: "DDP-DV-02", Needs: catalogue.Sync, ByShape: true,
		Field:    "iwarp_ddp.dv",
		YieldsTo: []string{"DDP-DV-01"},
		Test:     rules.Test{Related: []string{"RNIC-IOP-VER-02"}}, // it was the first message
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				switch {
				case s.HasVersions && s.DDP.DV != s.DDPVersion:
					r.On(s, "the DDP version changes within the direction", fmt.Sprint(s.DDP.DV), fmt.Sprint(s.DDPVersion))
				case !s.HasVersions && r.Trace.Transport == trace.SCTP && s.Peer.HasVersions && s.Peer.DDPVersion != s.DDP.DV:
					r.On(s, "the directions have different DDP versions", fmt.Sprint(s.DDP.DV), fmt.Sprint(s.Peer.DDPVersion))
				}
			},
		},
	},
	{
		ID: "DDP-TO-02", Needs: catalogue.Sync, Tagged: mpa.Yes, ByShape: true,
		Field: "iwarp_ddp.tagged_offset",
		Test:  rules.Test{Needs: rules.NoSmaller},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope { return rules.InScopeIf(s.Octets > 0) },
			Judge: func(r *rules.Report, s *model.Segment) {
				switch end := s.DDP.TO + uint64(s.Octets); {
				case end >= s.DDP.TO, end == 0 && !s.DDP.Last: // another one shows whether it goes on at 0
				case s.Op == model.OpReadResponse && !r.Has(catalogue.ReadSync):
					r.Unproven(catalogue.ReadSync) // its request may say so
				case s.AskedToWrap():
				case end == 0:
					r.OnAs(catalogue.Note, s, "the segment ends exactly at 2^64", fmt.Sprintf("%#x + %d", s.DDP.TO, s.Octets), "below 2^64")
				default:
					r.On(s, "TO plus length extends beyond 2^64", fmt.Sprintf("%#x + %d", s.DDP.TO, s.Octets), "at most 2^64")
				}
			},
		},
		Message: &rules.On[*model.Message]{
			Applies: func(_ *rules.Case, m *model.Message) rules.Scope {
				return rules.InScopeIf(m.Tagged && m.Segments() > 1)
			},
			Judge: func(r *rules.Report, m *model.Message) {
				if run, octets, ok := m.GoesOnAtZero(); ok && m.Op != model.OpReadResponse { // that would be RDMAP-READREQ-WRAP-02
					r.On(m.RunPlace(run), "the message goes on at TO 0 behind its segment that ends at 2^64",
						fmt.Sprintf("%#x + %d", m.Runs[run].From, octets), "at most 2^64")
				}
			},
		},
	},
	{
		ID: "DDP-UNTAG-QN-02", Needs: catalogue.Sync, ByShape: true,
		Field:    "iwarp_ddp.qn",
		YieldsTo: []string{"RDMAP-TFLAG-01"}, // there is no QN in what the opcode says
		Segment: &rules.On[*model.Segment]{
			Applies: rules.AnySegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if !s.DDP.Tagged && s.DDP.QN > 3 {
					r.On(s, "the queue does not exist", fmt.Sprint(s.DDP.QN), "0 to 3")
				}
			},
		},
	},
}
