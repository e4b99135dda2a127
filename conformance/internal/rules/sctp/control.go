package sctp

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// unlessIP is what RFC 5043 section 9 lets SCTP do: which packets IP would have to fragment does not show.
const unlessIP = "one, unless IP would have to fragment its packet"

// sctpControlRules judge single chunks of DDP over SCTP (RFC 5043 section 5, RFC 6581
// section 7).
var sctpControlRules = []rules.Rule{
	{
		ID: "SCTP-DDP-CTL-01", Needs: catalogue.Full | catalogue.Sum, Transport: rules.OnSCTP,
		Control: &rules.On[*model.Control]{
			Judge: func(r *rules.Report, e *model.Control) {
				if !e.Ok {
					r.On(e, "the session control chunk is too short for a function code", fmt.Sprintf("%d octets", e.Chunk.Length), "at least 4")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-CTL-02", Needs: catalogue.Sum, Transport: rules.OnSCTP,
		Field: "iwd.sctp.function",
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope { return rules.InScopeIf(e.Ok) },
			Judge: func(r *rules.Report, e *model.Control) {
				switch f := e.Function; {
				case f == sctpddp.Experimental:
					r.OnAs(catalogue.Note, e, "the function code is reserved for experiments", "0xffff", "1 to 7")
				case unassigned(f):
					r.On(e, "the function code is not assigned", fmt.Sprintf("%#04x", uint16(f)), "1 to 7")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-CTL-PD-01", Needs: catalogue.Sum, Transport: rules.OnSCTP,
		Field: "iwd.sctp.private_data",
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope {
				return rules.InScopeIf(e.Ok && e.Function != sctpddp.Terminate && e.Function <= sctpddp.EnhancedReject && e.Function != 0)
			},
			Judge: func(r *rules.Report, e *model.Control) {
				if n := e.Chunk.Length - sctpddp.ControlLen; n > sctpddp.MaxPrivateData {
					r.On(e, "there is more private data than is allowed", fmt.Sprintf("%d octets", n), "at most 512")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-CTL-PD-02", Needs: catalogue.Sum, Transport: rules.OnSCTP,
		Field: "iwd.sctp.private_data",
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope {
				return rules.InScopeIf(e.Ok && e.Function == sctpddp.Terminate)
			},
			Judge: func(r *rules.Report, e *model.Control) {
				if n := e.Chunk.Length - sctpddp.ControlLen; n != 0 {
					r.On(e, "the session Terminate has private data", fmt.Sprintf("%d octets", n), "none")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-U-01", Needs: catalogue.Sum, Transport: rules.OnSCTP,
		Field: "sctp.data_u_bit",
		Control: &rules.On[*model.Control]{
			Judge: func(r *rules.Report, e *model.Control) { reportOrdered(r, e.Where(), e.Chunk) },
		},
		Chunk: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) { reportOrdered(r, s.Where(), s.PDU.Chunk) },
		},
	},
	{
		ID: "SCTP-DDP-SEG-01", Needs: catalogue.Full | catalogue.Sum, Transport: rules.OnSCTP,
		Chunk: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.DDP == nil {
					r.On(s, "the DDP segment chunk is too short for a DDP header", fmt.Sprintf("%d octets", s.PDU.Chunk.Length), "at least 2 + 14 or 2 + 18")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-FRAG-01", Needs: catalogue.Full, Transport: rules.OnSCTP,
		Field: "sctp.data_tsn",
		Control: &rules.On[*model.Control]{
			Judge: func(r *rules.Report, e *model.Control) {
				if n := len(e.Chunk.TSNs); n > 1 {
					r.On(e, "SCTP fragmented the message", fmt.Sprintf("%d chunks, together %d octets", n, e.Chunk.Length), unlessIP)
				}
			},
		},
		Chunk: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if n := len(s.PDU.Chunk.TSNs); n > 1 {
					r.On(s, "SCTP fragmented the DDP segment", fmt.Sprintf("%d chunks, together %d octets", n, s.PDU.Chunk.Length), unlessIP)
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SIZE-01", Transport: rules.OnSCTP,
		Chunk: &rules.On[*model.Segment]{
			Judge: func(r *rules.Report, s *model.Segment) {
				if k := s.PDU.Chunk; k.InFragments && k.Length > leastSegment && !r.Reported(s.Direction) {
					r.On(s, "a DDP segment larger than the guaranteed minimum was sent in IP fragments", fmt.Sprintf("%d octets", k.Length), "segments that do not need fragmentation")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-01", Transport: rules.OnSCTP,
		Field: "iwd.sctp.function",
		Control: &rules.On[*model.Control]{
			Applies: func(c *rules.Case, e *model.Control) rules.Scope {
				if c.Request == nil || c.Reply == nil || e.PDU.Number != c.Reply.PDUNumber {
					return rules.OutOfScope
				}
				return inOrder(e.PDU) // else it may answer another Initiate
			},
			Judge: func(r *rules.Report, e *model.Control) {
				asked := r.Request.Function == sctpddp.EnhancedInitiate
				switch f := e.Function; {
				case asked && f == sctpddp.Accept:
					r.On(e, "the answer does not match the kind of the Initiate", f.String(), "an enhanced one")
				case !asked && (f == sctpddp.EnhancedAccept || f == sctpddp.EnhancedReject):
					r.On(e, "the answer does not match the kind of the Initiate", f.String(), "a plain one")
				case asked && f == sctpddp.Reject:
					r.OnAs(catalogue.Warning, e, "a plain Reject answers an Enhanced Initiate", "Reject", "Enhanced Reject, if the plain session would have been accepted")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-02", Needs: catalogue.Full | catalogue.Sum, Transport: rules.OnSCTP,
		Field: "iwd.sctp.function",
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope {
				return rules.InScopeIf(e.Function == sctpddp.EnhancedInitiate || e.Function == sctpddp.EnhancedAccept)
			},
			Judge: func(r *rules.Report, e *model.Control) {
				if _, _, ok := e.Chunk.Control.Word(); !ok {
					r.On(e, "the enhanced session control lacks the establishment word", fmt.Sprintf("%d octets of private data", len(e.Chunk.Control.PrivateData)), "at least 4")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-05", Needs: catalogue.Full | catalogue.Sum, Transport: rules.OnSCTP,
		Field: "iwd.sctp.function",
		Control: &rules.On[*model.Control]{
			Applies: func(_ *rules.Case, e *model.Control) rules.Scope {
				_, _, ok := e.Chunk.Control.Word()
				return rules.InScopeIf(ok && e.Function == sctpddp.EnhancedInitiate)
			},
			Judge: func(r *rules.Report, e *model.Control) {
				if w, _, _ := e.Chunk.Control.Word(); !w.A && w.IRD == model.UnknownDepth && w.ORD == model.UnknownDepth {
					r.On(e, "the Enhanced Initiate negotiates nothing", "A=0, IRD and ORD 0x3fff", "an Initiate")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SSN-01", Transport: rules.OnSCTP,
		Field: "iwd.sctp.ssn",
		Control: &rules.On[*model.Control]{
			Applies: func(c *rules.Case, e *model.Control) rules.Scope {
				switch {
				case !e.Ok || e.Chunks > 0 || !e.Chunk.HasSSN:
					return rules.OutOfScope
				case e.Chunk.Order == trace.AfterMissing && !e.NeverSent || c.Waits(e.Direction):
					return rules.Lacking(catalogue.Contig)
				case model.Initiates(e.Function):
					return rules.InScope
				case e.PDU.Dir == trace.R2I && c.Trace.SYN && !e.Chunk.Arrival.OnePlace:
					return rules.Lacking(catalogue.Causal) // what came before may seem to lie in front of the Initiate
				}
				return rules.InScopeIf(e.PDU.Dir == trace.R2I && c.Trace.SYN)
			},
			Judge: func(r *rules.Report, e *model.Control) {
				if e.Chunk.SSN != 0 {
					r.On(e, "the DDP-SSNs of the session do not begin with 0", fmt.Sprintf("DDP-SSN %d", e.Chunk.SSN), "DDP-SSN 0")
				}
			},
		},
	},
}

// reportOrdered reports a chunk that is not sent unordered, or one that goes on with it.
func reportOrdered(r *rules.Report, at model.Place, k *trace.Chunk) {
	switch {
	case !k.Unordered:
		r.On(at, "the unordered flag of a DDP chunk is not set", "U=0", "U=1")
	case k.Ordered > 0:
		at.Frame = k.Ordered
		r.On(at, "the unordered flag of a later fragment of a DDP chunk is not set", "U=0", "U=1")
	}
}

// leastSegment is the size of user data that must always be taken, in octets (RFC 5043
// section 9).
const leastSegment = 516

// unassigned reports whether a function code has no meaning, not even for experiments.
func unassigned(f sctpddp.Function) bool {
	return f == 0 || f > sctpddp.EnhancedReject && f != sctpddp.Experimental
}
