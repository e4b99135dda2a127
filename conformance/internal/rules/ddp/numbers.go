package ddp

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// messageNumberRules judge MSN and QN of untagged segments (RFC 5041 section 5.1).
var messageNumberRules = []rules.Rule{
	{
		ID: "DDP-UNTAG-MSN-01", Needs: catalogue.Start | catalogue.Sync | catalogue.Contig, Tagged: mpa.No, ByShape: true,
		Field:    "iwarp_ddp.msn",
		YieldsTo: []string{"RDMAP-TERM-QN-01", "RDMAX-ARESP-MSN-01", "RDMAP-QN-01", "RDMAP-TFLAG-01", "DDP-UNTAG-QN-02"},
		Test:     rules.Test{Needs: rules.KeepsSteps | rules.ComesFirst},
		Segment: inQueue(
			func(s *model.Segment, rel model.Relation, _ *model.Message) bool {
				return rel == model.Begins && !s.Queues[s.DDP.QN].Seen && !ofResponses(s)
			},
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				if _, ok := s.SkipsSwallowed(r.Conn); !ok && !s.Follows(1) {
					reportCount(r, s, m, "the first message of the queue does not have MSN 1", 1)
				}
			}),
	},
	{
		ID: "DDP-UNTAG-MSN-02", Needs: catalogue.Sync, Tagged: mpa.No, ByShape: true,
		Field:    "iwarp_ddp.msn",
		YieldsTo: []string{"DDP-DUP-01", "DDP-UNTAG-MSN-03", "DDP-UNTAG-MSN-04", "RDMAP-TERM-ONCE-01", "RDMAP-TERM-QN-01", "RDMAX-ARESP-MSN-01", "RDMAP-QN-01", "RDMAP-TFLAG-01"},
		Segment: inQueue(
			func(s *model.Segment, rel model.Relation, m *model.Message) bool {
				return beginsNext(s, rel, m) && !ofResponses(s)
			},
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				if _, ok := s.SkipsSwallowed(r.Conn); ok || !s.Misnumbered() {
					return // the length of another FPDU is wrong, and its numbers are right
				}
				how := "skips ahead"
				switch {
				case s.DDP.MSN == m.MSN:
					how = "is repeated"
				case int32(s.DDP.MSN-m.MSN) < 0:
					how = "goes back"
				}
				reportCount(r, s, m, "the MSN of the queue "+how, m.MSN+1)
			}),
	},
	{
		ID: "DDP-UNTAG-MSN-03", Needs: catalogue.Sync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.msn",
		Test:  rules.Test{Bound: "its capture begins with the frame behind the startup"},
		Segment: inQueue(
			func(s *model.Segment, rel model.Relation, m *model.Message) bool {
				return beginsNext(s, rel, m) && m.MSN == math.MaxUint32
			},
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				// Where the first MSN is known to be wrong, the count goes on behind it.
				if s.DDP.MSN == 1 && !(s.Resumes() && r.Has(catalogue.Start|catalogue.Contig)) {
					reportInQueue(r, s, m, "the MSN skips 0 when it wraps", "MSN 1", "MSN 0")
				}
			}),
	},
	{
		ID: "DDP-UNTAG-MSN-04", Needs: catalogue.MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.msn",
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				rel, m := s.Relate()
				scope := rules.InScopeIf(rel == model.Renamed || rel == model.GoesOn)
				if rel == model.Renamed && s.Adjoins(m) {
					scope = scope.Given(catalogue.MsgSync) // the headers prove it, whatever the snap length cut off
				}
				return scope
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if rel, m := s.Relate(); rel == model.Renamed {
					reportInQueue(r, s, m, "a segment continues the open message with a different MSN", fmt.Sprintf("MSN %d", s.DDP.MSN), fmt.Sprintf("MSN %d", m.MSN))
				}
			},
		},
	},
	{
		ID: "DDP-DUP-01", Needs: catalogue.Sync, Tagged: mpa.No, ByShape: true,
		Segment: inQueue(
			func(_ *model.Segment, rel model.Relation, _ *model.Message) bool {
				return rel == model.Behind || rel == model.GoesOn
			},
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				if from, to := s.Span(); m.Has(from, to, s.Hash) {
					reportInQueue(r, s, m, "a segment that was sent before is sent again as new data", fmt.Sprintf("MSN %d, MO %d again", s.DDP.MSN, s.DDP.MO), "each segment once")
				}
			}),
	},
	{
		ID: "DDP-UNTAG-QN-01", Needs: catalogue.MsgSync, Tagged: mpa.No, ByShape: true,
		Field:    "iwarp_ddp.qn",
		YieldsTo: []string{"DDP-UNTAG-QN-02"},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope { return rules.InScopeIf(s.DDP.MO != 0) },
			Judge: func(r *rules.Report, s *model.Segment) {
				for qn := range s.Queues {
					if m := s.Queues[qn].Msg; s.ChangesQueue(m) {
						r.On(s, "a segment continues the open message on a different queue", fmt.Sprintf("QN %d", s.DDP.QN), fmt.Sprintf("QN %d", m.QN))
					}
				}
			},
		},
	},
}

// inQueue judges untagged segments on queues that exist. rel is the relation of the
// segment to m, the last message of its queue.
func inQueue(applies func(s *model.Segment, rel model.Relation, m *model.Message) bool, judge func(r *rules.Report, s *model.Segment, m *model.Message)) *rules.On[*model.Segment] {
	return &rules.On[*model.Segment]{
		Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
			rel, m := s.Relate()
			return rules.InScopeIf(rel != model.Stray && applies(s, rel, m))
		},
		Judge: func(r *rules.Report, s *model.Segment) {
			_, m := s.Relate()
			judge(r, s, m)
		},
	}
}

// reportInQueue reports a segment, to be seen with the last segment of the last message
// of its queue.
func reportInQueue(r *rules.Report, s *model.Segment, m *model.Message, message, observed, expected string) {
	r.On(inQueueOf(s, m), message, observed, expected)
}

// inQueueOf is where a segment is, to be seen with the last segment of the last message of its queue.
func inQueueOf(s *model.Segment, m *model.Message) model.Place {
	at := s.Where()
	if m.There && m.Segments() > 0 && m.Final.PDU != at.PDU {
		at.Related = append(at.Related, m.Final.PDU)
	}
	return at
}

// reportCount reports a segment whose MSN is not the next one.
func reportCount(r *rules.Report, s *model.Segment, m *model.Message, message string, next uint32) {
	v := rules.Violation{
		Place: inQueueOf(s, m), Message: message, Observed: fmt.Sprintf("MSN %d", s.DDP.MSN), Expected: fmt.Sprintf("MSN %d", next),
		Variant: otherCount(s, next),
	}
	switch v.Variant {
	case catalogue.SwappedOctets:
		v.Message += ", and its octets are swapped"
	case catalogue.OtherQueue:
		v.Message += fmt.Sprintf(", and goes on where queue %d is", 1-s.DDP.QN)
	default:
	}
	r.Report(v)
}

// otherCount reports whether a wrong MSN in place of the next one is that with its octets swapped, or would be the next one of
// another queue: its sender may have one counter for both.
func otherCount(s *model.Segment, next uint32) catalogue.Variant {
	if was := bits.ReverseBytes32(next - 1); bits.ReverseBytes32(s.DDP.MSN) == next || next > 1 && bits.ReverseBytes32(s.DDP.MSN) == was+1 {
		return catalogue.SwappedOctets
	}
	if s.DDP.QN > 1 {
		return 0
	}
	q := &s.Queues[1-s.DDP.QN]
	if !q.Seen || !q.Msg.There || s.DDP.MSN != q.Msg.MSN+1 {
		return 0
	}
	return catalogue.OtherQueue
}

// beginsNext reports whether a segment begins the next message of its queue.
func beginsNext(s *model.Segment, rel model.Relation, _ *model.Message) bool {
	return rel == model.Begins && s.Queues[s.DDP.QN].Seen
}

// ofResponses reports whether a segment is on the queue of Atomic Responses, of whose MSNs RDMAX-ARESP-MSN-01
// speaks.
func ofResponses(s *model.Segment) bool { return s.DDP.QN == 3 }
