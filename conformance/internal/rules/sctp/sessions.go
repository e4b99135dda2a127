package sctp

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// sctpSessionRules judge the order of the chunks of a session (RFC 5043 section 6).
var sctpSessionRules = []rules.Rule{
	{
		ID: "SCTP-DDP-SEQ-01", Needs: catalogue.Start | catalogue.Contig, Transport: rules.OnSCTP, Anywhere: true,
		YieldsTo: []string{"SCTP-DDP-STREAMS-02", "SCTP-DDP-SEQ-03", "SCTP-DDP-ENH-01"},
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope {
				switch {
				case !e.Ok || e.Chunk.Order == trace.Duplicate:
					return rules.OutOfScope
				case e.Misplaced() != model.InPlace && !model.Ordered(e.PDU):
					return rules.Lacking(catalogue.Contig) // an Initiate may be missing before it
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, e *model.Control) {
				reportTooEarly(r, e)
				switch f := e.Function.String(); e.Misplaced() {
				case model.InPlace, model.SegmentFirst:
				case model.BehindTerminate:
					r.On(e, "the side sends session control after its own Terminate", f, "nothing")
				case model.NoInitiate:
					reportNoInitiate(r, e)
				case model.InitiateWithin:
					r.On(e, "an Initiate is sent within a session", f, "none")
				case model.StrayAnswer:
					reportStray(r, e)
				case model.InitiateBack:
					reportBack(r, e)
				}
			},
		},
		Chunk: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				switch {
				case s.PDU.Chunk.Order == trace.Duplicate:
					return rules.OutOfScope
				case s.Misplaced(c.Conn) != model.InPlace && !model.Ordered(s.PDU):
					return rules.Lacking(catalogue.Contig)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				switch s.Misplaced(r.Conn) {
				case model.BehindTerminate:
					r.On(s, "the side sends a segment after its own session Terminate", s.Op.String(), "nothing")
				case model.NoInitiate:
					r.On(s, "the session begins with a segment, and not with an Initiate", s.Op.String(), "Initiate")
				case model.SegmentFirst:
					r.On(s, "the passive side begins with a segment", "a DDP segment", "Accept, Reject or Terminate")
				default:
				}
			},
		},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Trace.Unasked && !c.Trace.HasAskedOn).Given(catalogue.Start | catalogue.Contig)
			},
			Judge: reportUnasked,
		},
	},
	{
		ID: "SCTP-DDP-SEQ-02", Needs: catalogue.Contig, Transport: rules.OnSCTP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				a, b := c.Trace.Side[0].SCTP, c.Trace.Side[1].SCTP
				switch end := c.Trace.Ending; {
				case !c.Accepted():
				case end == trace.Terminated:
					return rules.InScope
				case end != trace.Shutdown && end != trace.Superseded:
				case a.GapTSNs+b.GapTSNs > 0 || a.Unseen || b.Unseen, end == trace.Shutdown && !a.ShutDown && !b.ShutDown:
					return rules.Lacking(catalogue.Contig) // the Terminate may be what was not captured
				default:
					return rules.InScope
				}
				return rules.OutOfScope
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				// A Terminate with a number that was used before is there, too.
				if c.Trace.Ending != trace.Terminated && !c.Directions[0].Ended() && !c.Directions[1].Ended() {
					r.Report(rules.Violation{
						Place: model.Place{Frame: c.Trace.EndFrame}, Message: "an accepted session ends without a session Terminate from either side",
						Observed: c.Trace.Ending.String(), Expected: "a Terminate",
					})
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-03", Needs: catalogue.Start, Transport: rules.OnSCTP, Anywhere: true,
		Control: &rules.On[*model.Control]{
			Applies: func(c *rules.Case, e *model.Control) rules.Scope {
				if e.Chunk.Order == trace.Duplicate {
					return rules.OutOfScope
				}
				if c.Refusal() != nil {
					return inOrder(e.PDU)
				}
				return rules.InScope
			},
			Judge: controlAfterReject,
		},
		Chunk: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				if c.Refusal() != nil {
					return inOrder(s.PDU)
				}
				return rules.InScope
			},
			Judge: afterReject,
		},
	},
	{
		ID: "SCTP-DDP-SEQ-06", Transport: rules.OnSCTP,
		Chunk: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				if s.Dir != trace.I2R || !c.Trace.SYN {
					return rules.OutOfScope
				}
				return overtaking(pendingInitiate(s))
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				w := pendingInitiate(s)
				if w == nil || r.Reported(s.Direction) || r.Holds(s.Direction) {
					return
				}
				v := rules.Violation{
					Place: s.Where(), Message: "a segment is sent that may arrive before the Initiate",
					Observed: unacknowledged("Initiate", w, &s.PDU.Chunk.Arrival), Expected: "a SACK or an answer first",
				}
				if w.Frame == s.PDU.Chunk.Arrival.Frame {
					v.Severity = catalogue.Warning
				}
				reportOvertaking(r, w, &s.PDU.Chunk.Arrival, v)
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-07", Transport: rules.OnSCTP,
		Test: rules.Test{Needs: rules.ComesLast}, // what follows is in no session, or in another one
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope {
				if e.Chunks == 0 || e.Chunk.Order == trace.Duplicate || len(e.Controls) == 0 {
					return rules.OutOfScope
				}
				return overtaking(overtakable(&e.Chunk.Arrival))
			},
			Judge: func(r *rules.Report, e *model.Control) {
				if w := overtakable(&e.Chunk.Arrival); w != nil {
					reportOvertaking(r, w, &e.Chunk.Arrival, rules.Violation{
						Place: e.Where(), Message: "session control is sent that may arrive before the previous one",
						Observed: unacknowledged(w.Function.String(), w, &e.Chunk.Arrival), Expected: "a SACK first",
					})
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-08", Transport: rules.OnSCTP,
		Test: rules.Test{Needs: rules.ComesLast},
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope {
				if !model.Initiates(e.Function) || e.Chunks > 0 || e.PDU.Dir != trace.I2R {
					return rules.OutOfScope
				}
				return overtaking(overtakable(&e.Chunk.Arrival))
			},
			Judge: func(r *rules.Report, e *model.Control) {
				if w := overtakable(&e.Chunk.Arrival); w != nil {
					reportOvertaking(r, w, &e.Chunk.Arrival, rules.Violation{
						Place: e.Where(), Message: "a session begins on a stream where chunks of the previous session are unacknowledged",
						Observed: unacknowledged("chunk", w, &e.Chunk.Arrival), Expected: "all chunks acknowledged",
					})
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-09", Transport: rules.OnSCTP, Reacts: true,
		Test: rules.Test{ // the Accept that went astray is missed in its session
			Related:     []string{"SCTP-DDP-STREAMS-02"},
			NotDetected: "the session is over before anything acknowledges the chunk",
		},
		Chunk: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				switch a := &s.PDU.Chunk.Arrival; {
				case !s.Peer.Offended || s.PDU.Chunk.Order == trace.Duplicate, s.Op == model.OpTerminate:
					return rules.OutOfScope // a Terminate of RDMAP says why the session ends
				case a.Heard < 0:
					return rules.Lacking(catalogue.Causal)
				default:
					return rules.InScopeIf(model.Heard(a, s.Peer.Offence) == model.Having)
				}
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if !r.Reported(s.Direction) {
					r.On(s, "a segment is sent although a chunk that fits no session pattern had arrived", "the session continues", "a Terminate")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-TERM-02", Weighs: true, Needs: catalogue.Sync | catalogue.Contig, Transport: rules.OnSCTP,
		Test: rules.Test{Needs: rules.KeepsSteps | rules.ComesLast},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				h := &c.Directions[c.Trace.EndedBy]
				return rules.InScopeIf(c.Trace.Ending == trace.Terminated && c.Accepted() && h.Terminates == 0 && h.Ended())
			},
			Judge: func(r *rules.Report, c *model.Conn) { reportSilentEnd(r, &c.Directions[c.Trace.EndedBy]) },
		},
	},
	{
		ID: "SCTP-DDP-SSN-02", Needs: catalogue.Start, Transport: rules.OnSCTP, Anywhere: true,
		Field:    "iwd.sctp.ssn",
		YieldsTo: []string{"SCTP-DDP-SSN-01"},
		Control: &rules.On[*model.Control]{
			Applies: func(c *rules.Case, e *model.Control) rules.Scope {
				if k := e.Chunk; k.Order == trace.Duplicate && k.SSN == 0 {
					return rules.OutOfScope // it may begin another session, of which the Initiate was not captured
				}
				return numbered(c, e.Direction, e.Chunk)
			},
			Judge: func(r *rules.Report, e *model.Control) { reportNumber(r, e, e.Chunk) },
		},
		Chunk: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope { return numbered(c, s.Direction, s.PDU.Chunk) },
			Judge:   func(r *rules.Report, s *model.Segment) { reportNumber(r, s, s.PDU.Chunk) },
		},
	},
	{
		ID: "SCTP-DDP-SSN-03", Transport: rules.OnSCTP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if f := &c.Trace.Flow[h.Dir]; f.Crowded && f.Rare().Unnumbered == 0 {
					return rules.Lacking(catalogue.Causal)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if f := r.Trace.Flow[h.Dir].Rare().Unnumbered; f != 0 {
					r.On(model.Place{Dir: h.Dir, HasDir: true, Frame: f}, "too many chunks of a stream are outstanding to tell their DDP-SSNs apart", "32768 or more", "at most 32767")
				}
			},
		},
	},
}

// numbered is the scope of the rule that each chunk of a session has the next DDP-SSN.
func numbered(c *rules.Case, h *model.Direction, k *trace.Chunk) rules.Scope {
	switch {
	case k.Arrival.Mixed:
		return rules.Lacking(catalogue.Causal)
	case k.Order == trace.Duplicate && (h.Gap || c.Trace.Flow[h.Dir].Waiting):
		return rules.OutOfScope // with numbers missing it may be one that wrapped
	case k.Order == trace.AfterMissing && !h.NeverSent:
		return rules.Lacking(catalogue.Contig)
	}
	return rules.InScope
}

// reportNumber reports a DDP-SSN that comes twice, or before which some are missing.
func reportNumber(r *rules.Report, at model.Placed, k *trace.Chunk) {
	switch k.Order {
	case trace.Duplicate:
		r.On(at, "two chunks have the same DDP-SSN", fmt.Sprintf("DDP-SSN %d again", k.SSN), "each DDP-SSN once")
	case trace.AfterMissing:
		r.On(at, "DDP-SSNs are missing", fmt.Sprintf("DDP-SSN %d", k.SSN), "no gap")
	default:
	}
}

// inOrder is the scope of rules on a chunk in its session, where what stood before the chunk matters: the beginning of
// another session may have been captured by nobody.
func inOrder(p *trace.PDU) rules.Scope {
	if !model.Ordered(p) {
		return rules.Lacking(catalogue.Contig)
	}
	return rules.InScope
}

// reportTooEarly reports an answer that the active side had when it sent its Initiate. Where the capture
// begins later than the association, it may answer an earlier one.
func reportTooEarly(r *rules.Report, e *model.Control) {
	if x := e.TooEarly(); x != nil && r.Trace.Side[trace.I2R].SCTP.HasInit {
		r.On(x.Place, "an Initiate is answered before it is sent", fmt.Sprintf("%s; the Initiate in frame %d acknowledges it", x.Function, e.Where().Frame), "the Initiate first")
	}
}

// reportNoInitiate reports what begins a session in the place of an Initiate. A Terminate may refuse an Initiate of the other side that
// was not captured.
func reportNoInitiate(r *rules.Report, e *model.Control) {
	v := rules.Violation{Place: e.Where(), Message: "the session does not begin with an Initiate", Observed: e.Function.String(), Expected: "Initiate"}
	switch {
	case unassigned(e.Function): // it is for SCTP-DDP-CTL-02
	case e.Function == sctpddp.Terminate && e.Chunk.SSN == 0:
		r.ReportUnlessUnseen(v)
	default:
		r.Report(v)
	}
}

// reportBack reports an Initiate of the passive side. Where it did not have that of the active side, both may
// have crossed: then neither could know, and still the session fits no pattern.
func reportBack(r *rules.Report, e *model.Control) {
	v := rules.Violation{
		Place: e.Where(), Message: "the passive side begins with an Initiate, and not with an answer",
		Observed: e.Function.String(), Expected: "Accept, Reject or Terminate",
	}
	asked := e.Peer.Initiate()
	if asked == nil || model.Heard(&e.Chunk.Arrival, asked.TSN) != model.Having {
		v.Message, v.Severity = "both sides begin the session with an Initiate", catalogue.Warning
	}
	r.Report(v)
}

// reportStray reports an answer that fits no Initiate: one to its sender's own, a second one, or one to nothing.
func reportStray(r *rules.Report, e *model.Control) {
	switch i := slices.IndexFunc(e.Controls, (*model.Control).Answers); {
	case i >= 0:
		first := e.Controls[i]
		r.On(e, "an Initiate is answered a second time", fmt.Sprintf("%s, behind the %s in frame %d", e.Function, first.Function, first.Place.Frame), "one answer")
	case e.PDU.Dir == trace.I2R && e.Initiate() != nil:
		r.On(e, "the active side answers its own Initiate", e.Function.String(), "an answer of the passive side")
	default:
		r.On(e, strayAnswer, e.Function.String(), "none")
	}
}

// reportUnasked reports the answer that begins a session without an Initiate, unless what the
// active side sent in it instead was reported.
func reportUnasked(r *rules.Report, c *model.Conn) {
	if asks := &c.Directions[trace.I2R]; r.Reported(asks) || asks.Experiments() {
		return // an experiment may take the place of the Initiate
	}
	for _, e := range c.Directions[trace.R2I].Controls {
		if e.Answers() {
			r.On(e.Place, strayAnswer, e.Function.String(), "none")
			return
		}
	}
}

// strayAnswer is what is wrong with an answer to no Initiate.
const strayAnswer = "an Initiate is answered although there is none"

// controlAfterReject judges session control in a session that is refused. What the passive side sends behind its Terminate, and an
// Initiate within the session, are for SCTP-DDP-SEQ-01. The active side may have sent its own before the refusal came.
func controlAfterReject(r *rules.Report, e *model.Control) {
	refusal := r.Conn.Refusal()
	if refusal == nil || r.Reported(e.Direction) {
		return
	}
	switch {
	case e.PDU.Dir == trace.R2I:
		if e.Rejects() != nil {
			r.On(e, "the passive side sends session control after its Reject", e.Function.String(), "nothing")
		}
	case e.Misplaced() == model.InPlace && model.Heard(&e.Chunk.Arrival, refusal.TSN) == model.Having:
		r.On(e, "the active side sends session control although it had the "+refusedWith(refusal), e.Function.String(), "nothing")
	}
}

// refusedWith names what refused a session.
func refusedWith(refusal *model.Control) string {
	if refusal.Function == sctpddp.Terminate {
		return "Terminate that refuses the session"
	}
	return "Reject"
}

// afterReject judges a segment in a session that is refused. What the passive side sends behind its Terminate
// is for SCTP-DDP-SEQ-01.
func afterReject(r *rules.Report, s *model.Segment) {
	refusal := r.Conn.Refusal()
	if refusal == nil || r.Reported(s.Direction) {
		return
	}
	with := refusedWith(refusal)
	switch {
	case s.Dir == trace.R2I:
		if refusal.Function != sctpddp.Terminate {
			r.On(s, "the passive side sends a segment after its Reject", "a DDP segment", "nothing")
		}
	case model.Heard(&s.PDU.Chunk.Arrival, refusal.TSN) == model.Having:
		r.On(s, "the active side sends a segment although it had the "+with, "a DDP segment", "nothing")
	default:
		r.OnAs(catalogue.Note, s, "the active side sends a segment in a session that is rejected", "a DDP segment", "nothing once the "+with+" has arrived")
	}
}

// unacknowledged says why what a chunk may overtake was not acknowledged.
func unacknowledged(what string, w *trace.Pending, a *trace.Arrival) string {
	if w.Frame == a.Frame {
		return "the " + what + " is in the same packet"
	}
	return fmt.Sprintf("the %s in frame %d cannot have been acknowledged by then, and the capture has no SACK for it", what, w.Frame)
}

// overtakable is what a chunk may overtake; nil: nothing.
func overtakable(a *trace.Arrival) *trace.Pending {
	if !a.HasPending {
		return nil
	}
	return &a.Pending
}

// pendingInitiate is the Initiate that a segment may overtake; nil if there is none.
func pendingInitiate(s *model.Segment) *trace.Pending {
	if w := overtakable(&s.PDU.Chunk.Arrival); w != nil && model.Initiates(w.Function) {
		return w
	}
	return nil
}

// overtaking is the scope of rules on chunks that may overtake another one.
func overtaking(w *trace.Pending) rules.Scope {
	if w != nil && !w.Certain {
		return rules.Lacking(catalogue.Causal)
	}
	return rules.InScope
}

// reportOvertaking reports a chunk that may overtake another one. In the same packet nothing
// can have come between them; else an acknowledgement may be missing from the capture.
func reportOvertaking(r *rules.Report, w *trace.Pending, a *trace.Arrival, v rules.Violation) {
	if w.Frame == a.Frame {
		r.Report(v)
		return
	}
	r.ReportUnlessUnseen(v)
}

// reportSilentEnd reports the session Terminate of a side that had an error of DDP or
// RDMAP from the other side and did not report it with an RDMAP Terminate.
func reportSilentEnd(r *rules.Report, h *model.Direction) {
	found := r.Found()
	for _, e := range h.Controls {
		if e.Function != sctpddp.Terminate {
			continue
		}
		for i := range found {
			if f := &found[i]; isLayerError(f, model.Other(h.Dir)) && e.Before.Heard(f.PDU, e.Heard) {
				r.On(e.Place, "the session ends after an error without an RDMAP Terminate", f.Rule.ID+" in frame "+fmt.Sprint(f.Frame), "a Terminate that reports the error")
				return
			}
		}
	}
}

// isLayerError reports whether a finding is an error of DDP or RDMAP in a direction. A request
// that the end leaves without an answer is none: the error is the end.
func isLayerError(f *rules.Finding, d trace.Dir) bool {
	if f.Rule.ID == "RDMAP-READ-PAIR-01" || f.Rule.ID == "RDMAX-AREQ-ANSWER-01" {
		return false
	}
	switch f.Rule.Layer {
	case "ddp", "rdmap", "rdmap-ext":
		return f.Severity == catalogue.Error && f.HasDir && f.Dir == d && f.HasPDU
	}
	return false
}
