package conformance

import (
	"fmt"
	"math"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// messageNumberRules judge MSN and QN of untagged segments (RFC 5041 section 5.1).
var messageNumberRules = []Rule{
	{
		ID: "DDP-UNTAG-MSN-01", Needs: Start | Sync | Contig, Tagged: mpa.No, ByShape: true,
		Field:    "iwarp_ddp.msn",
		YieldsTo: []string{"RDMAP-TERM-QN-01", "RDMAX-ARESP-MSN-01", "RDMAP-QN-01", "RDMAP-TFLAG-01", "DDP-UNTAG-QN-02"},
		Segment: inQueue(
			func(s *segment, rel relation, _ *message) bool { return rel == begins && !s.queues[s.seg.QN].seen },
			func(r *Report, s *segment, m *message) {
				if !s.follows(1) {
					reportInQueue(r, s, m, "the first message of the queue has another number than 1", fmt.Sprintf("MSN %d", s.seg.MSN), "MSN 1")
				}
			}),
	},
	{
		ID: "DDP-UNTAG-MSN-02", Needs: Sync, Tagged: mpa.No, ByShape: true,
		Field:    "iwarp_ddp.msn",
		YieldsTo: []string{"DDP-DUP-01", "DDP-UNTAG-MSN-03", "DDP-UNTAG-MSN-04", "RDMAP-TERM-ONCE-01", "RDMAP-TERM-QN-01", "RDMAX-ARESP-MSN-01", "RDMAP-QN-01", "RDMAP-TFLAG-01"},
		Segment: inQueue(
			beginsNext,
			func(r *Report, s *segment, m *message) {
				want := m.msn + 1
				if s.follows(want) || m.hasAlias && s.seg.MSN == m.alias+1 || m.msn == math.MaxUint32 && s.seg.MSN == 1 {
					return
				}
				how := "skips ahead"
				switch {
				case s.seg.MSN == m.msn:
					how = "is repeated"
				case int32(s.seg.MSN-m.msn) < 0:
					how = "goes back"
				}
				reportInQueue(r, s, m, "the MSN of the queue "+how, fmt.Sprintf("MSN %d", s.seg.MSN), fmt.Sprintf("MSN %d", want))
			}),
	},
	{
		ID: "DDP-UNTAG-MSN-03", Needs: Sync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.msn",
		Segment: inQueue(
			func(s *segment, rel relation, m *message) bool {
				return beginsNext(s, rel, m) && m.msn == math.MaxUint32
			},
			func(r *Report, s *segment, m *message) {
				if s.seg.MSN == 1 {
					reportInQueue(r, s, m, "the MSN leaves out 0 when it wraps", "MSN 1", "MSN 0")
				}
			}),
	},
	{
		ID: "DDP-UNTAG-MSN-04", Needs: MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.msn",
		Segment: inQueue(
			func(_ *segment, rel relation, _ *message) bool { return rel == renamed || rel == goesOn },
			func(r *Report, s *segment, m *message) {
				if rel, _ := s.relate(); rel == renamed {
					reportInQueue(r, s, m, "a segment goes on with the open message under another number", fmt.Sprintf("MSN %d", s.seg.MSN), fmt.Sprintf("MSN %d", m.msn))
				}
			}),
	},
	{
		ID: "DDP-DUP-01", Needs: Sync, Tagged: mpa.No, ByShape: true,
		Segment: inQueue(
			func(_ *segment, rel relation, _ *message) bool { return rel == behind || rel == goesOn },
			func(r *Report, s *segment, m *message) {
				if from, to := s.span(); m.has(from, to, s.hash) {
					reportInQueue(r, s, m, "a segment that was sent before is sent as a new one", fmt.Sprintf("MSN %d, MO %d again", s.seg.MSN, s.seg.MO), "each segment once")
				}
			}),
	},
	{
		ID: "DDP-UNTAG-QN-01", Needs: MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.qn",
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.seg.MO != 0) },
			Judge: func(r *Report, s *segment) {
				for qn := range s.queues {
					if m := s.queues[qn].msg; s.changesQueue(m) {
						r.On(s, "a segment goes on with the open message on another queue", fmt.Sprintf("QN %d", s.seg.QN), fmt.Sprintf("QN %d", m.qn))
					}
				}
			},
		},
	},
}

// inQueue judges untagged segments on queues that exist. rel is how the segment stands to
// m, the last message of its queue.
func inQueue(applies func(s *segment, rel relation, m *message) bool, judge func(r *Report, s *segment, m *message)) *On[*segment] {
	return &On[*segment]{
		Applies: func(_ *Case, s *segment) Scope {
			rel, m := s.relate()
			return InScopeIf(rel != stray && applies(s, rel, m))
		},
		Judge: func(r *Report, s *segment) {
			_, m := s.relate()
			judge(r, s, m)
		},
	}
}

// reportInQueue reports a segment, to be seen with the last segment of the last message
// of its queue.
func reportInQueue(r *Report, s *segment, m *message, message, observed, expected string) {
	at := s.where()
	if m.there && m.segments() > 0 && m.final.pdu != at.PDU {
		at.Related = append(at.Related, m.final.pdu)
	}
	r.On(at, message, observed, expected)
}

// beginsNext reports whether a segment begins the message behind another one of its queue.
func beginsNext(s *segment, rel relation, _ *message) bool {
	return rel == begins && s.queues[s.seg.QN].seen
}
