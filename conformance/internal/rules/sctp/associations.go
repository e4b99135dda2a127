package sctp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// sctpAssociationRules judge what an association for DDP is, and its streams (RFC 5043
// sections 5.1, 7.1 and 10).
var sctpAssociationRules = []rules.Rule{
	{
		ID: "SCTP-SID-01", Transport: rules.OnSCTP,
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				s, peer := c.Trace.Side[h.Dir].SCTP, c.Trace.Side[model.Other(h.Dir)].SCTP
				if f := &c.Trace.Flow[h.Dir]; f.Rare().Chunks+f.Rare().Controls == 0 || s.Reconfigured || peer.Reconfigured {
					return rules.OutOfScope
				}
				return knowing(s.HasInit && peer.HasInit)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				s, peer := r.Trace.Side[h.Dir].SCTP, r.Trace.Side[model.Other(h.Dir)].SCTP
				if limit := min(s.Out, peer.In); r.Trace.SID >= limit {
					at := h.AtFirstChunk()
					if at.Frame == 0 { // none could be read
						at.Frame = r.Trace.FirstFrame
					}
					r.On(at, "the session uses a stream that was not negotiated", fmt.Sprintf("stream %d", r.Trace.SID), fmt.Sprintf("below %d", limit))
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-STREAMS-02", Transport: rules.OnSCTP,
		Test: rules.Test{Needs: rules.OnlyStream},
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				switch {
				case !c.Trace.Side[trace.R2I].HasFunction:
					return rules.OutOfScope
				case !c.Trace.SYN && !c.Trace.Unasked:
					return rules.Lacking(catalogue.Start)
				}
				return rules.InScopeIf(c.Trace.SYN || c.Trace.HasAskedOn) // else it is for SCTP-DDP-SEQ-01
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if !c.Trace.SYN {
					r.On(model.Place{Dir: trace.R2I, HasDir: true, Frame: c.Trace.FirstFrame}, "the answer is not on the stream of the Initiate",
						fmt.Sprintf("stream %d", c.Trace.SID), fmt.Sprintf("stream %d", c.Trace.AskedOn))
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-HOMING-01", Transport: rules.OnSCTP,
		Test: rules.Test{NotDetected: "the link loses packets: the path may change for that"},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope {
				if h.Gap {
					return rules.Lacking(catalogue.Contig)
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				if f := r.Trace.Flow[h.Dir].Rare().Spread; f != 0 {
					r.On(model.Place{Dir: h.Dir, HasDir: true, Frame: f}, "the chunks of a stream alternate between several paths",
						"more than 100 packets without a retransmission", "a change of path only after a failure")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-01", Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(_ *rules.Case, s *model.Side) rules.Scope {
				if s.DDP == 0 {
					return rules.OutOfScope
				}
				return knowing(s.Began())
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if !model.IndicatesDDP(s.SCTPSide) {
					onAssociation(r, s, s.InitFrame, "a side uses DDP but did not indicate it when the association began", adaptation(s.SCTPSide), "0x00000001")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-02", Transport: rules.OnSCTP, Anywhere: true,
		YieldsTo: []string{"SCTP-DDP-ADAPT-01"},
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(_ *rules.Case, s *model.Side) rules.Scope {
				if s.DDP == 0 || s.Peer.DDP > 0 {
					return rules.OutOfScope
				}
				return knowing(s.PeerBegan())
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if !model.IndicatesDDP(s.Peer) {
					onAssociation(r, s, r.Trace.FirstFrame, "DDP is sent to a side that did not indicate it", adaptation(s.Peer), "0x00000001")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-03", Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(_ *rules.Case, s *model.Side) rules.Scope {
				if s.Dir != trace.R2I {
					return rules.OutOfScope // one finding for both
				}
				return knowing(s.Began() && s.PeerBegan())
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if !s.HasAdaptation || !s.Peer.HasAdaptation || s.Adaptation == s.Peer.Adaptation {
					return
				}
				if s.Ended != trace.Abort && s.Peer.Ended != trace.Abort {
					onAssociation(r, s, s.InitFrame, "the sides indicate different adaptation layers, and neither refuses",
						fmt.Sprintf("%s and %s", adaptation(s.Peer), adaptation(s.SCTPSide)), "ABORT")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ADAPT-04", Needs: catalogue.Sum, Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(c *rules.Case, s *model.Side) rules.Scope {
				switch {
				case !model.IndicatesDDP(s.SCTPSide) || !model.IndicatesDDP(s.Peer):
					return rules.OutOfScope
				case !s.Began() || !s.PeerBegan():
					return rules.Lacking(catalogue.Start)
				}
				return certain(trace.OddPayload)(c, s)
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if t := s.Odd[trace.OddPayload]; t.Count > 0 {
					onAssociation(r, s, t.Frame, "the association is for DDP but carries other user data", fmt.Sprintf("payload protocol identifier %d%s", t.Value, times(t.Count)), "16 or 17")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-STREAMS-01", Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(_ *rules.Case, s *model.Side) rules.Scope {
				if s.Reconfigured || s.Peer.Reconfigured {
					return rules.OutOfScope
				}
				return knowing(s.HasInit && s.Peer.HasInit)
			},
			Judge: func(r *rules.Report, s *model.Side) {
				switch out, in := min(s.Out, s.Peer.In), min(s.Peer.Out, s.In); {
				case out != in:
					if s.Dir == trace.I2R { // one finding for both
						side := asksUnequal(s)
						onAssociation(r, side, side.InitFrame, "the two directions have different numbers of streams", fmt.Sprintf("%d and %d", out, in), "the same")
					}
				case s.Out != s.In && !takesWhatIsLeft(s):
					r.OnAs(catalogue.Warning, model.Place{Dir: s.Dir, HasDir: true, Frame: s.InitFrame}, "a side requests different numbers of streams",
						fmt.Sprintf("out %d, in %d", s.Out, s.In), "the same")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-TERM-01", Transport: rules.OnSCTP, Anywhere: true,
		CaptureSide: &rules.On[*model.Side]{
			Applies: func(_ *rules.Case, s *model.Side) rules.Scope {
				return rules.InScopeIf(s.Ended == trace.Shutdown || s.Ended == trace.Abort)
			},
			Judge: func(r *rules.Report, s *model.Side) {
				if t := s.Terminates; t.Count > 1 {
					onAssociation(r, s, t.Frame, "a Terminate is sent on each stream before the association ends", fmt.Sprintf("%d streams, %s in frame %d", t.Count, s.Ended, s.EndFrame), "the end of the association only")
				}
			},
		},
	},
}

// asksUnequal is the side of an association that made its numbers of streams differ: the first one
// that asked for different numbers. If both ask for equal ones they never differ.
func asksUnequal(s *model.Side) *model.Side {
	peer := &model.Side{SCTPSide: s.Peer, Peer: s.SCTPSide, Dir: model.Other(s.Dir)}
	first, second := s, peer
	if peer.InitFrame < s.InitFrame {
		first, second = peer, s
	}
	if first.Out != first.In {
		return first
	}
	return second
}

// takesWhatIsLeft reports whether an INIT ACK has fewer streams outbound than inbound since the
// INIT does not take more (RFC 9260 section 5.1.1).
func takesWhatIsLeft(s *model.Side) bool {
	return s.InitFrame > s.Peer.InitFrame && s.Out == s.Peer.In && s.Out < s.In
}

// knowing is the scope of rules on how an association began, if that was captured.
func knowing(start bool) rules.Scope {
	if !start {
		return rules.Lacking(catalogue.Start)
	}
	return rules.InScope.Given(catalogue.Start)
}

// adaptation is what a side indicated when the association began.
func adaptation(s *trace.SCTPSide) string {
	if !s.HasAdaptation {
		return "none"
	}
	return fmt.Sprintf("%#08x", s.Adaptation)
}
