package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// sctpSessionRules judge the order of the chunks of a session (RFC 5043 section 6).
var sctpSessionRules = []Rule{
	{
		ID: "SCTP-DDP-SEQ-01", Needs: Start | Contig, Transport: onSCTP, Anywhere: true,
		YieldsTo: []string{"SCTP-DDP-STREAMS-02", "SCTP-DDP-SEQ-03", "SCTP-DDP-ENH-01"},
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope {
				switch {
				case !e.ok || e.k.Order == trace.Duplicate:
					return OutOfScope
				case e.misplaced() != inPlace && !e.k.Arrival.Complete:
					return Lacking(Contig) // an Initiate may be missing before it
				}
				return InScope
			},
			Judge: func(r *Report, e *control) {
				switch f := e.function.String(); e.misplaced() {
				case inPlace, segmentFirst:
				case behindTerminate:
					r.On(e, "a session control behind the Terminate of the same side", f, "nothing")
				case noInitiate:
					r.On(e, "the session does not begin with an Initiate", f, "Initiate")
				case initiateWithin:
					r.On(e, "an Initiate within a session", f, "none")
				case strayAnswer:
					r.On(e, "an answer to an Initiate where there is none", f, "none")
				}
			},
		},
		Chunk: &On[*segment]{
			Applies: func(c *Case, s *segment) Scope {
				switch {
				case s.p.Chunk.Order == trace.Duplicate:
					return OutOfScope
				case s.misplaced(c.conn) != inPlace && !s.p.Chunk.Arrival.Complete:
					return Lacking(Contig)
				}
				return InScope
			},
			Judge: func(r *Report, s *segment) {
				switch s.misplaced(r.conn) {
				case behindTerminate:
					r.On(s, "a segment behind the Terminate of the session of the same side", s.op.String(), "nothing")
				case segmentFirst:
					r.On(s, "the passive side begins with a segment", "a DDP segment", "Accept, Reject or Terminate")
				default:
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-02", Needs: Contig, Transport: onSCTP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				a, b := c.t.Side[0].SCTP, c.t.Side[1].SCTP
				if a.GapTSNs+b.GapTSNs > 0 || c.t.Ending == trace.Shutdown && !a.ShutDown && !b.ShutDown {
					return OutOfScope // the Terminate may be what was not captured
				}
				over := c.t.Ending == trace.Shutdown || c.t.Ending == trace.Superseded || c.t.Ending == trace.Terminated
				return InScopeIf(c.accepted() && over)
			},
			Judge: func(r *Report, c *conn) {
				if c.t.Ending != trace.Terminated {
					r.Report(Violation{
						Place: Place{Frame: c.t.EndFrame}, Message: "an accepted session ends without a Terminate of either side",
						Observed: c.t.Ending.String(), Expected: "a Terminate",
					})
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-03", Needs: Start, Transport: onSCTP, Anywhere: true,
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope {
				return InScopeIf(e.p.Dir == trace.R2I && e.k.Order != trace.Duplicate)
			},
			Judge: func(r *Report, e *control) {
				if e.rejects() != nil && !r.Reported(e.half) {
					r.On(e, "session control of the passive side behind its Reject", e.function.String(), "nothing")
				}
			},
		},
		Chunk: &On[*segment]{Judge: afterReject},
	},
	{
		ID: "SCTP-DDP-SEQ-06", Transport: onSCTP,
		Chunk: &On[*segment]{
			Applies: func(c *Case, s *segment) Scope {
				if s.dir != trace.I2R || !c.t.SYN {
					return OutOfScope
				}
				return overtaking(pendingInitiate(s))
			},
			Judge: func(r *Report, s *segment) {
				w := pendingInitiate(s)
				if w == nil || r.Reported(s.half) {
					return
				}
				v := Violation{
					Place: s.where(), Message: "a segment that may arrive before the Initiate",
					Observed: fmt.Sprintf("nothing acknowledges the Initiate of frame %d", w.Frame), Expected: "its SACK or its answer first",
				}
				if w.Frame == s.p.Chunk.Arrival.Frame {
					v.Severity = Warning
				}
				r.Report(v)
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-07", Transport: onSCTP,
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope {
				if e.chunks == 0 || e.k.Order == trace.Duplicate || len(e.controls) == 0 {
					return OutOfScope
				}
				return overtaking(overtakable(&e.k.Arrival))
			},
			Judge: func(r *Report, e *control) {
				if w := overtakable(&e.k.Arrival); w != nil {
					r.On(e, "session control that may arrive before the one before it",
						fmt.Sprintf("nothing acknowledges the %s of frame %d", w.Function, w.Frame), "its SACK first")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-08", Transport: onSCTP,
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope {
				if !initiates(e.function) || e.chunks > 0 || e.p.Dir != trace.I2R {
					return OutOfScope
				}
				return overtaking(overtakable(&e.k.Arrival))
			},
			Judge: func(r *Report, e *control) {
				if w := overtakable(&e.k.Arrival); w != nil {
					r.On(e, "a session begins on a stream on which chunks of the one before are under way",
						fmt.Sprintf("nothing acknowledges that of frame %d", w.Frame), "all of them acknowledged")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEQ-09", Transport: onSCTP, Reacts: true,
		Chunk: &On[*segment]{
			Applies: func(c *Case, s *segment) Scope {
				switch a := &s.p.Chunk.Arrival; {
				case !s.peer.offended || s.p.Chunk.Order == trace.Duplicate:
					return OutOfScope
				case a.Heard < 0:
					return Lacking(Causal)
				default:
					return InScopeIf(heard(a, s.peer.offence) == having)
				}
			},
			Judge: func(r *Report, s *segment) {
				if !r.Reported(s.half) {
					r.On(s, "a segment although a chunk that fits no pattern of a session had come", "the session goes on", "a Terminate")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-TERM-02", Needs: Sync | Contig, Transport: onSCTP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				h := &c.half[c.t.EndedBy]
				return InScopeIf(c.t.Ending == trace.Terminated && c.accepted() && h.terminates == 0 && h.ended())
			},
			Judge: func(r *Report, c *conn) { reportSilentEnd(r, &c.half[c.t.EndedBy]) },
		},
	},
	{
		ID: "SCTP-DDP-SSN-02", Needs: Start, Transport: onSCTP, Anywhere: true,
		Field:    "iwd.sctp.ssn",
		YieldsTo: []string{"SCTP-DDP-SSN-01"},
		Chunk: &On[*segment]{
			Applies: func(c *Case, s *segment) Scope {
				switch k := s.p.Chunk; {
				case k.Order == trace.Duplicate && (s.gap || c.t.Flow[s.dir].Waiting):
					return OutOfScope // with numbers missing it may be one that wrapped
				case k.Order == trace.AfterMissing && !s.neverSent:
					return Lacking(Contig)
				}
				return InScope
			},
			Judge: func(r *Report, s *segment) {
				switch k := s.p.Chunk; k.Order {
				case trace.Duplicate:
					r.On(s, "two chunks have the same DDP-SSN", fmt.Sprintf("DDP-SSN %d again", k.SSN), "each number once")
				case trace.AfterMissing:
					r.On(s, "DDP-SSNs are left out", fmt.Sprintf("DDP-SSN %d", k.SSN), "no gap")
				default:
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SSN-03", Transport: onSCTP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if f := &c.t.Flow[h.dir]; f.Crowded && f.Unnumbered == 0 {
					return Lacking(Causal)
				}
				return InScope
			},
			Judge: func(r *Report, h *half) {
				if f := r.t.Flow[h.dir].Unnumbered; f != 0 {
					r.On(Place{Dir: h.dir, HasDir: true, Frame: f}, "too many chunks of a stream are under way to tell their DDP-SSNs apart", "32768 or more", "at most 32767")
				}
			},
		},
	},
}

// afterReject judges a segment in a session that is rejected.
func afterReject(r *Report, s *segment) {
	passive := s.half
	if s.dir == trace.I2R {
		passive = s.peer
	}
	reject := passive.rejects()
	if reject == nil || r.Reported(s.half) {
		return
	}
	switch {
	case s.dir == trace.R2I:
		r.On(s, "a segment of the passive side behind its Reject", "a DDP segment", "nothing")
	case heard(&s.p.Chunk.Arrival, reject.tsn) == having:
		r.On(s, "a segment of the active side, which had the Reject", "a DDP segment", "nothing")
	default:
		r.OnAs(Note, s, "a segment of the active side in a session that is rejected", "a DDP segment", "nothing, once the Reject has come")
	}
}

// overtakable is what a chunk may overtake; nil: nothing.
func overtakable(a *trace.Arrival) *trace.Pending {
	if !a.HasPending {
		return nil
	}
	return &a.Pending
}

// pendingInitiate is the Initiate that a segment may overtake; nil: none.
func pendingInitiate(s *segment) *trace.Pending {
	if w := overtakable(&s.p.Chunk.Arrival); w != nil && initiates(w.Function) {
		return w
	}
	return nil
}

// overtaking is the scope of rules on chunks that may overtake another one.
func overtaking(w *trace.Pending) Scope {
	if w != nil && !w.Certain {
		return Lacking(Causal)
	}
	return InScope
}

// reportSilentEnd reports the Terminate of a session whose sender had an error of DDP
// or RDMAP of the other side, and has not told it with a Terminate of RDMAP.
func reportSilentEnd(r *Report, h *half) {
	found := r.Found()
	for _, e := range h.controls {
		if e.function != sctpddp.Terminate {
			continue
		}
		for i := range found {
			if f := &found[i]; isLayerError(f, other(h.dir)) && e.before.heard(f.PDU, e.heard) {
				r.On(e.place, "the session ends behind an error without a Terminate of RDMAP", f.Rule.ID+" in frame "+fmt.Sprint(f.Frame), "a Terminate that tells the error")
				return
			}
		}
	}
}

// isLayerError reports whether a finding is an error of DDP or RDMAP in a direction.
func isLayerError(f *ruleFinding, d trace.Dir) bool {
	switch f.Rule.Layer {
	case "ddp", "rdmap", "rdmap-ext":
		return f.Severity == Error && f.HasDir && f.Dir == d && f.HasPDU
	}
	return false
}
