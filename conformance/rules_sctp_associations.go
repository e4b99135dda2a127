package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// sctpAssociationRules judge what an association for DDP is, and its streams (RFC 5043
// sections 5.1, 7.1 and 10).
var sctpAssociationRules = []Rule{
	{
		ID: "SCTP-SID-01", Transport: onSCTP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				s, peer := c.t.Side[h.dir].SCTP, c.t.Side[other(h.dir)].SCTP
				if f := &c.t.Flow[h.dir]; f.Chunks+f.Controls == 0 || s.Reconfigured || peer.Reconfigured {
					return OutOfScope
				}
				return knowing(s.HasInit && peer.HasInit)
			},
			Judge: func(r *Report, h *half) {
				s, peer := r.t.Side[h.dir].SCTP, r.t.Side[other(h.dir)].SCTP
				if limit := min(s.Out, peer.In); r.t.SID >= limit {
					r.On(Place{Dir: h.dir, HasDir: true, Frame: r.t.FirstFrame}, "a stream beyond those that were agreed", fmt.Sprintf("stream %d", r.t.SID), fmt.Sprintf("below %d", limit))
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-STREAMS-02", Transport: onSCTP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				switch {
				case !c.t.Side[trace.R2I].HasFunction:
					return OutOfScope
				case !c.t.SYN && !c.t.HasAskedOn:
					return Lacking(Start)
				}
				return InScope
			},
			Judge: func(r *Report, c *conn) {
				if !c.t.SYN {
					r.On(Place{Dir: trace.R2I, HasDir: true, Frame: c.t.FirstFrame}, "the answer comes on another stream than the Initiate",
						fmt.Sprintf("stream %d", c.t.SID), fmt.Sprintf("stream %d", c.t.AskedOn))
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-HOMING-01", Transport: onSCTP,
		EndDirection: &On[*half]{
			Applies: func(_ *Case, h *half) Scope {
				if h.gap {
					return Lacking(Contig)
				}
				return InScope
			},
			Judge: func(r *Report, h *half) {
				if f := r.t.Flow[h.dir].Spread; f != 0 {
					r.On(Place{Dir: h.dir, HasDir: true, Frame: f}, "the chunks of a stream take several paths in turn",
						"more than 100 packets without a retransmission", "another path in case of failure only")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-01", Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(_ *Case, s *side) Scope {
				if s.DDP == 0 {
					return OutOfScope
				}
				return knowing(s.began())
			},
			Judge: func(r *Report, s *side) {
				if !indicatesDDP(s.SCTPSide) {
					onAssociation(r, s, r.t.FirstFrame, "a side that uses DDP did not indicate it when the association began", adaptation(s.SCTPSide), "0x00000001")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-02", Transport: onSCTP, Anywhere: true,
		YieldsTo: []string{"SCTP-DDP-ADAPT-01"},
		CaptureSide: &On[*side]{
			Applies: func(_ *Case, s *side) Scope {
				if s.DDP == 0 || s.peer.DDP > 0 {
					return OutOfScope
				}
				return knowing(s.peerBegan())
			},
			Judge: func(r *Report, s *side) {
				if !indicatesDDP(s.peer) {
					onAssociation(r, s, r.t.FirstFrame, "DDP towards a side that did not indicate it", adaptation(s.peer), "0x00000001")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-03", Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(_ *Case, s *side) Scope {
				if s.dir != trace.R2I {
					return OutOfScope // one finding for both
				}
				return knowing(s.began() && s.peerBegan())
			},
			Judge: func(r *Report, s *side) {
				if !s.HasAdaptation || !s.peer.HasAdaptation || s.Adaptation == s.peer.Adaptation {
					return
				}
				if s.Ended != trace.Abort && s.peer.Ended != trace.Abort {
					onAssociation(r, s, r.t.FirstFrame, "the sides indicate different adaptation layers, and none refuses",
						fmt.Sprintf("%s and %s", adaptation(s.peer), adaptation(s.SCTPSide)), "ABORT")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-04", Needs: Sum, Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(c *Case, s *side) Scope {
				switch {
				case !indicatesDDP(s.SCTPSide) || !indicatesDDP(s.peer):
					return OutOfScope
				case !s.began() || !s.peerBegan():
					return Lacking(Start)
				}
				return certain(trace.OddPayload)(c, s)
			},
			Judge: func(r *Report, s *side) {
				if t := s.Odd[trace.OddPayload]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "user data that are not DDP's on an association for DDP", fmt.Sprintf("payload protocol %d%s", t.Value, times(t.Count)), "16 or 17")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-STREAMS-01", Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(_ *Case, s *side) Scope {
				if s.Reconfigured || s.peer.Reconfigured {
					return OutOfScope
				}
				return knowing(s.HasInit && s.peer.HasInit)
			},
			Judge: func(r *Report, s *side) {
				switch out, in := min(s.Out, s.peer.In), min(s.peer.Out, s.In); {
				case out != in:
					if s.dir == trace.I2R { // one finding for both
						onAssociation(r, s, r.t.FirstFrame, "the numbers of streams of the directions differ", fmt.Sprintf("%d and %d", out, in), "the same")
					}
				case s.Out != s.In:
					r.OnAs(Warning, Place{Dir: s.dir, HasDir: true, Frame: r.t.FirstFrame}, "a side asks for different numbers of streams",
						fmt.Sprintf("out %d, in %d", s.Out, s.In), "the same")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-TERM-01", Transport: onSCTP, Anywhere: true,
		CaptureSide: &On[*side]{
			Applies: func(_ *Case, s *side) Scope { return InScopeIf(s.Ended == trace.Shutdown || s.Ended == trace.Abort) },
			Judge: func(r *Report, s *side) {
				if t := s.Terminates; t.Count > 1 {
					onAssociation(r, s, t.Frame, "a Terminate on each stream before the association is ended", fmt.Sprintf("%d streams, %s in frame %d", t.Count, s.Ended, s.EndFrame), "only the end of the association")
				}
			},
		},
	},
}

// knowing is the scope of rules on how an association began, if that was captured.
func knowing(start bool) Scope {
	if !start {
		return Lacking(Start)
	}
	return InScope.Given(Start)
}

// adaptation is what a side indicated when the association began.
func adaptation(s *trace.SCTPSide) string {
	if !s.HasAdaptation {
		return "none"
	}
	return fmt.Sprintf("%#08x", s.Adaptation)
}
