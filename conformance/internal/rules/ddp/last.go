package ddp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// lastFlagRules judge the L bit, which ends a message (RFC 5041 sections 4 and 5).
var lastFlagRules = []rules.Rule{
	{
		ID: "DDP-L-01", Needs: catalogue.MsgSync | catalogue.Sync, ByShape: true, Closes: true,
		Field:    "iwarp_ddp.last_flag",
		YieldsTo: []string{"DDP-UNTAG-MSN-04", "DDP-STAG-01", "DDP-TO-01", "DDP-RSVDULP-TAG-01", "RDMAP-READREQ-SEG-01", "RDMAX-SEG-01", "RDMAP-TERM-SEG-01", "DDP-ZERO-01"},
		Test:     rules.Test{Related: []string{"DDP-ORDER-01"}}, // nothing more came on its queue
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				if s.DDP == nil || s.Op == model.OpTerminate {
					return rules.OutOfScope
				}
				rel, m := s.Relate()
				return rules.InScopeIf(rel == model.Begins && m.There)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				_, m := s.Relate()
				if !m.Done && (s.DDP.Tagged || s.DDP.MO == 0) && !s.ResumesWrite() { // what begins within others is told at the first
					last := m.PlaceOf(&m.Final)
					r.Report(rules.Violation{
						Place: s.Where(), Message: "another message begins, but the last segment of the previous one had no L", Variant: catalogue.AnotherBegins,
						Observed: fmt.Sprintf("L=0 in frame %d", last.Frame), Expected: "L=1 on the last segment",
					})
				}
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				f := &c.Trace.Flow[h.Dir]
				open := c.Trace.Ending == trace.Open && h.LacksOnlyL() // nothing of the message is still to come
				over := (closes(c, h) || open) && h.Terminates+h.Peer.Terminates == 0
				switch {
				case !over || h.CutShort() == nil || h.Gap || h.Unsure || f.Rare().Partial+f.Rare().Unframed > 0:
					return rules.OutOfScope
				case !open && c.Trace.Transport == trace.TCP && !c.NoTerminate(h.Peer):
					return rules.Lacking(catalogue.Contig)
				}
				return rules.InScope.Given(catalogue.MsgSync | catalogue.Sync)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				cut := h.CutShort()
				at := cut.PlaceOf(&cut.Final)
				at.End = 0 // its receiver cannot notice it
				if h.Abandoned() {
					r.On(at, "the message ends here, but the segment has no L", "L=0", "L=1")
					return
				}
				r.OnAs(catalogue.Warning, at, "the connection closes behind a segment that is not the last one of its message", "L=0", "L=1")
			},
		},
	},
	{
		ID: "DDP-L-02", Needs: catalogue.MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Segment: inQueue(
			hasEnded,
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				if last := m.LastStart(); uint64(s.DDP.MO) >= last && !s.Repeats(m) && !m.Followed(func(mo uint64) bool { return mo >= last }) {
					reportInQueue(r, s, m, "a segment follows the one with L in its message", fmt.Sprintf("MSN %d, MO %d", s.DDP.MSN, s.DDP.MO), "nothing after the last segment")
				}
			}),
	},
	{
		ID: "DDP-L-03", Needs: catalogue.MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Test:  rules.Test{Needs: rules.KeepsSteps | rules.SameSizes}, // of two segments, the second first
		Segment: inQueue(
			hasEnded,
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				if last := m.LastStart(); uint64(s.DDP.MO) < last && !s.Repeats(m) && !m.Followed(func(mo uint64) bool { return mo < last }) {
					reportInQueue(r, s, m, "the segment with L is sent before others of its message", fmt.Sprintf("MO %d after L at MO %d", s.DDP.MO, last), "L on the last segment sent")
				}
			}),
	},
	{
		ID: "DDP-L-04", Needs: catalogue.MsgSync, Tagged: mpa.No, ByShape: true,
		Field: "iwarp_ddp.mo",
		Test:  rules.Test{Needs: rules.KeepsSteps | rules.SameSizes},
		Segment: inQueue(
			func(s *model.Segment, rel model.Relation, _ *model.Message) bool {
				return rel == model.GoesOn && s.DDP.Last
			},
			func(r *rules.Report, s *model.Segment, m *model.Message) {
				if higher, ok := firstNotBelow(m, uint64(s.DDP.MO)); ok {
					reportInQueue(r, s, m, "the segment with L does not have the highest MO", fmt.Sprintf("MO %d", s.DDP.MO), fmt.Sprintf("above %d", higher))
				}
			}),
	},
}

// closes reports whether a side is known to send nothing more, without a fault. Over SCTP that is so
// behind its Terminate of the session, since nothing is carried over to the next one
// (RFC 5043 section 6). The end of the association proves nothing: the last chunks may be missing.
func closes(c *rules.Case, h *model.Direction) bool {
	if c.Trace.Transport == trace.TCP {
		return c.Trace.Ending == trace.FIN && c.Trace.Flow[h.Dir].FIN != nil
	}
	return h.Ended()
}

// hasEnded reports whether a segment belongs to a message that already had its L.
func hasEnded(_ *model.Segment, rel model.Relation, _ *model.Message) bool {
	return rel == model.Behind
}

// firstNotBelow returns the MO of the first segment of a message that is not below mo, if
// there is one.
func firstNotBelow(m *model.Message, mo uint64) (at uint64, ok bool) {
	for i := range m.Runs {
		r := &m.Runs[i]
		if r.Start() < mo || r.Start() == mo && r.Size == 0 {
			continue
		}
		at = r.From
		if r.Size > 0 && at < mo {
			at += (mo - at + r.Size - 1) / r.Size * r.Size
		}
		return at, true
	}
	return 0, false
}
