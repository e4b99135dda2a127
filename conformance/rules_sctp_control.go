package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// sctpControlRules judge single chunks of DDP over SCTP (RFC 5043 section 5, RFC 6581
// section 7).
var sctpControlRules = []Rule{
	{
		ID: "SCTP-DDP-CTL-01", Needs: Full | Sum, Transport: onSCTP,
		Control: &On[*control]{
			Judge: func(r *Report, e *control) {
				if !e.ok {
					r.On(e, "a session control chunk without a whole function code", fmt.Sprintf("%d octets", e.k.Length), "at least 4")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-CTL-02", Needs: Sum, Transport: onSCTP,
		Field: "iwd.sctp.function",
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope { return InScopeIf(e.ok) },
			Judge: func(r *Report, e *control) {
				switch f := e.function; {
				case f == sctpddp.Experimental:
					r.OnAs(Note, e, "a function code that is kept for experiments", "0xffff", "1 to 7")
				case f == 0 || f > sctpddp.EnhancedReject:
					r.On(e, "the function code does not exist", fmt.Sprintf("%#04x", uint16(f)), "1 to 7")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-CTL-PD-01", Needs: Sum, Transport: onSCTP,
		Field: "iwd.sctp.private_data",
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope {
				return InScopeIf(e.ok && e.function != sctpddp.Terminate && e.function <= sctpddp.EnhancedReject && e.function != 0)
			},
			Judge: func(r *Report, e *control) {
				if n := e.k.Length - sctpddp.ControlLen; n > sctpddp.MaxPrivateData {
					r.On(e, "more private data than there may be", fmt.Sprintf("%d octets", n), "at most 512")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-CTL-PD-02", Needs: Sum, Transport: onSCTP,
		Field: "iwd.sctp.private_data",
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope { return InScopeIf(e.ok && e.function == sctpddp.Terminate) },
			Judge: func(r *Report, e *control) {
				if n := e.k.Length - sctpddp.ControlLen; n != 0 {
					r.On(e, "a Terminate of a session with private data", fmt.Sprintf("%d octets", n), "none")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-U-01", Needs: Sum, Transport: onSCTP,
		Field: "sctp.data_u_bit",
		Control: &On[*control]{
			Judge: func(r *Report, e *control) {
				if !e.k.Unordered {
					r.On(e, "a chunk of DDP without the unordered flag", "U=0", "U=1")
				}
			},
		},
		Chunk: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if !s.p.Chunk.Unordered {
					r.On(s, "a chunk of DDP without the unordered flag", "U=0", "U=1")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SEG-01", Needs: Full | Sum, Transport: onSCTP,
		Chunk: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if s.seg == nil {
					r.On(s, "a DDP segment chunk without a whole DDP header", fmt.Sprintf("%d octets", s.p.Chunk.Length), "2 + 14 or 2 + 18 at least")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-FRAG-01", Needs: Full, Transport: onSCTP,
		Field: "sctp.data_tsn",
		Control: &On[*control]{
			Judge: func(r *Report, e *control) {
				if n := len(e.k.TSNs); n > 1 {
					r.On(e, "SCTP has fragmented the message", fmt.Sprintf("%d chunks", n), "one")
				}
			},
		},
		Chunk: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if n := len(s.p.Chunk.TSNs); n > 1 {
					r.On(s, "SCTP has fragmented the DDP segment", fmt.Sprintf("%d chunks of %d octets", n, s.p.Chunk.Length), "one")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SIZE-01", Transport: onSCTP,
		Chunk: &On[*segment]{
			Judge: func(r *Report, s *segment) {
				if k := s.p.Chunk; k.InFragments && k.Length > leastSegment && !r.Reported(s.half) {
					r.On(s, "a DDP segment larger than there has to be room for went out in fragments of IP", fmt.Sprintf("%d octets", k.Length), "segments that need no fragmentation")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-01", Transport: onSCTP,
		Field: "iwd.sctp.function",
		Control: &On[*control]{
			Applies: func(c *Case, e *control) Scope {
				return InScopeIf(c.request != nil && c.reply != nil && e.p.Number == c.reply.pdu)
			},
			Judge: func(r *Report, e *control) {
				asked := r.request.function == sctpddp.EnhancedInitiate
				switch f := e.function; {
				case asked && f == sctpddp.Accept:
					r.On(e, "the answer is not of the kind of the Initiate", f.String(), "an enhanced one")
				case !asked && (f == sctpddp.EnhancedAccept || f == sctpddp.EnhancedReject):
					r.On(e, "the answer is not of the kind of the Initiate", f.String(), "a plain one")
				case asked && f == sctpddp.Reject:
					r.OnAs(Warning, e, "a plain Reject answers an Enhanced Initiate", "Reject", "Enhanced Reject, if the plain session would have been accepted")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-02", Needs: Full | Sum, Transport: onSCTP,
		Field: "iwd.sctp.function",
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope {
				return InScopeIf(e.function == sctpddp.EnhancedInitiate || e.function == sctpddp.EnhancedAccept)
			},
			Judge: func(r *Report, e *control) {
				if _, _, ok := e.k.Control.Word(); !ok {
					r.On(e, "an enhanced session control without its word", fmt.Sprintf("%d octets of private data", len(e.k.Control.PrivateData)), "at least 4")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-ENH-05", Needs: Full | Sum, Transport: onSCTP,
		Field: "iwd.sctp.function",
		Control: &On[*control]{
			Applies: func(_ *Case, e *control) Scope {
				_, _, ok := e.k.Control.Word()
				return InScopeIf(ok && e.function == sctpddp.EnhancedInitiate)
			},
			Judge: func(r *Report, e *control) {
				if w, _, _ := e.k.Control.Word(); !w.A && w.IRD == unknownDepth && w.ORD == unknownDepth {
					r.On(e, "an Enhanced Initiate that negotiates nothing", "A=0, IRD and ORD 0x3fff", "an Initiate")
				}
			},
		},
	},
	{
		ID: "SCTP-DDP-SSN-01", Transport: onSCTP,
		Field: "iwd.sctp.ssn",
		Control: &On[*control]{
			Applies: func(c *Case, e *control) Scope {
				switch {
				case !e.ok || e.chunks > 0 || !e.k.HasSSN:
					return OutOfScope
				case e.k.Order == trace.AfterMissing && !e.neverSent || c.waits(e.half):
					return Lacking(Contig)
				}
				asks := initiates(e.function)
				return InScopeIf(asks || e.p.Dir == trace.R2I && c.t.SYN)
			},
			Judge: func(r *Report, e *control) {
				if e.k.SSN != 0 {
					r.On(e, "the numbers of the session do not begin with 0", fmt.Sprintf("DDP-SSN %d", e.k.SSN), "DDP-SSN 0")
				}
			},
		},
	},
}

// leastSegment is the size of user data that must always be taken, in octets (RFC 5043
// section 9).
const leastSegment = 516
