package rdmap

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapRequestRules judge Reads and atomics and their answers (RFC 5040 section 5,
// RFC 7306 section 5).
var rdmapRequestRules = []rules.Rule{
	{
		ID: "RDMAP-READRESP-UNSOL-01", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse), ByShape: true,
		Field:    "iwarp_rdma.opcode",
		YieldsTo: []string{"DDP-RSVDULP-TAG-01", "RDMAP-READRESP-MSG-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: taggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.Answer.Begins && s.Answer.Request == nil {
					reportUnasked(r, s, "no Read Request asks for this Read Response")
				}
			},
		},
	},
	{
		ID: "RDMAP-READRESP-ORDER-01", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse), ByShape: true,
		Test: rules.Test{Needs: rules.KeepsSteps},
		Segment: &rules.On[*model.Segment]{
			Applies: taggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				rel, _ := s.Relate()
				switch {
				case s.Answer.Begins && s.Answer.Later:
					reportTurn(r, s, "a Read Response overtakes that of an earlier request", "the response to %s first")
				case rel == model.Within:
					reportTurn(r, s, "a Read Response begins within another one", "the rest of the response to %s first")
				}
			},
		},
	},
	{
		ID: "RDMAP-READRESP-STAG-01", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse), ByShape: true,
		Field:    "iwarp_ddp.stag",
		YieldsTo: []string{"RDMAP-READRESP-MSG-01", "RDMAP-READRESP-ORDER-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: taggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				a := &s.Answer
				if !a.Begins || a.Request == nil || a.Fits || a.Request.STag == s.DDP.STag || a.Request.Size == 0 && s.Octets > 0 {
					return
				}
				reportAnswer(r, noteIfEmpty(s), s, "the STag of the Read Response does not match its request",
					fmt.Sprintf("%#08x", s.DDP.STag), fmt.Sprintf("%#08x", a.Request.STag))
			},
		},
	},
	{
		ID: "RDMAP-READRESP-TO-01", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse), ByShape: true,
		Field:    "iwarp_ddp.tagged_offset",
		YieldsTo: []string{"RDMAP-READRESP-MSG-01", "RDMAP-READRESP-ORDER-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: taggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				a := &s.Answer
				if !a.Begins || a.Request == nil || a.Fits || a.Request.STag != s.DDP.STag || a.Request.TO == s.DDP.TO {
					return
				}
				reportAnswer(r, noteIfEmpty(s), s, "the Read Response does not begin at the offset of its request",
					fmt.Sprintf("TO %#x", s.DDP.TO), fmt.Sprintf("TO %#x", a.Request.TO))
			},
		},
	},
	{
		ID: "RDMAP-READRESP-MSG-01", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse), ByShape: true,
		Test: rules.Test{Related: []string{"RDMAP-READRESP-LEN-01"}}, // it was the last but one segment, and the last is empty
		Segment: &rules.On[*model.Segment]{
			Applies: taggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.Answer.Joins && !s.Answer.Request.Split { // one finding for one answer
					reportAnswer(r, catalogue.None, s, "a second Read Response message continues the answer to one request", "several messages", "one message")
				}
			},
		},
	},
	{
		ID: "RDMAP-READRESP-LEN-01", If: model.Asked, Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse), ByShape: true,
		Field:    "iwd.payload.length",
		YieldsTo: []string{"RDMAP-READRESP-MSG-01", "RDMAP-READ-ZERO-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: taggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				a := &s.Answer
				if a.Begins && !a.Joins {
					reportShortAnswers(r, s.Peer, a)
				}
				if q := a.Request; q != nil && q.Size > 0 && !a.Again && q.Got+uint64(s.Octets) > q.Size && q.Got <= q.Size && s.Exceeds(q) {
					reportAnswer(r, catalogue.None, s, "the Read Response is longer than its request", fmt.Sprintf("%d octets or more", q.Got+uint64(s.Octets)), fmt.Sprint(q.Size))
				}
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if h.AnswerLacks() {
					return rules.Lacking(catalogue.MsgSync)
				}
				whole := !c.OutOfStep && h.Began && h.Peer.Began && !h.Gap && !h.Peer.Gap && !h.Unsure && !h.Peer.Unsure
				return rules.InScopeIf(whole && h.Shorts > 0).Given(catalogue.ReadSync)
			},
			Judge: func(r *rules.Report, h *model.Direction) { reportShortAnswers(r, h, &model.Answer{}) },
		},
	},
	{
		ID: "RDMAP-READ-ZERO-01", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse), ByShape: true,
		Field: "iwd.payload.length",
		Segment: &rules.On[*model.Segment]{
			Applies: taggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				a := &s.Answer
				if a.Begins && a.Request != nil && a.Request == a.Oldest && a.Request.Size == 0 && (s.Octets != 0 || !s.DDP.Last) {
					reportAnswer(r, catalogue.None, s, "a zero-length Read is answered with data", fmt.Sprintf("%d octets, L=%d", s.Octets, model.Bit(s.DDP.Last)), "0 octets, L=1")
				}
			},
		},
	},
	{
		ID: "RDMAX-ARESP-UNSOL-01", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpAtomicResponse),
		Field: "iwarp_rdma.opcode",
		Segment: &rules.On[*model.Segment]{
			Applies: untaggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.Answer.Begins && s.Answer.Oldest == nil {
					reportUnasked(r, s, "no Atomic Request asks for this Atomic Response")
				}
			},
		},
	},
	{
		ID: "RDMAX-ARESP-ID-01", Late: true, Needs: catalogue.ReadSync | catalogue.Full, On: model.OpcodeSet(model.OpAtomicResponse),
		Field:    "iwarp_rdma.atomic.original_request_identifier",
		YieldsTo: []string{"RDMAX-ORDER-01", "RDMAX-ARESP-UNSOL-01"},
		Segment: &rules.On[*model.Segment]{
			Applies: untaggedSegment,
			Judge: func(r *rules.Report, s *model.Segment) {
				const message = "the identifier of the Atomic Response does not match its request"
				x, err := rdmap.DecodeAtomicResponse(s.Header)
				switch a, o := &s.Answer, s.Peer.Overtaking; {
				case err != nil || a.Request == nil:
				case a.Corrects:
					at := o.At
					at.Related = o.Related
					r.On(at, message, fmt.Sprintf("%#x", o.Request.ID), fmt.Sprintf("%#x", o.Oldest.ID))
				case !a.Fits:
					reportAnswer(r, catalogue.None, s, message, fmt.Sprintf("%#x", x.RequestID), fmt.Sprintf("%#x", a.Request.ID))
				}
			},
		},
	},
	{
		ID: "RDMAX-ARESP-MSN-01", Needs: catalogue.Sync, On: model.OpcodeSet(model.OpAtomicResponse),
		Field: "iwarp_ddp.msn",
		Segment: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				scope := untaggedSegment(c, s)
				switch {
				case beginsNext(s):
				case s.Began && !s.Gap && s.DDP.QN == 3 && !s.Queues[3].Seen:
					scope = scope.Needing(catalogue.MsgSync) // it is the first one, whatever was asked for
				default:
					scope = scope.Needing(catalogue.ReadSync)
				}
				return scope
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				rel, m := s.Relate()
				if rel != model.Begins || s.DDP.QN != 3 || beginsNext(s) && !s.Misnumbered() {
					return
				}
				want := uint32(s.Direction.Responses + 1)
				if beginsNext(s) && !r.Has(catalogue.ReadSync) {
					want = m.MSN + 1 // only what came before in the queue is known
				}
				if s.DDP.MSN == want {
					return
				}
				message := "the MSN of the Atomic Response is not the next one in its queue"
				if q := s.Answer.Request; q != nil && q.MSN == s.DDP.MSN {
					message += "; it is the MSN of the request"
				}
				reportAnswer(r, catalogue.None, s, message, fmt.Sprintf("MSN %d", s.DDP.MSN), fmt.Sprintf("MSN %d", want))
			},
		},
	},
	{
		ID: "RDMAX-ORDER-01", If: model.Asked, Late: true, Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpAtomicResponse),
		Test: rules.Test{Related: []string{"RDMAX-ARESP-ID-01"}}, // one at a time
		Segment: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				scope := untaggedSegment(c, s)
				if s.Overtook() != nil {
					scope = scope.Given(catalogue.ReadSync) // it was there
				}
				return scope
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if o := s.Overtook(); o != nil {
					reportOvertaking(r, o)
				}
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope {
				return rules.InScopeIf(h.Overtaking != nil).Given(catalogue.ReadSync)
			},
			Judge: func(r *rules.Report, h *model.Direction) { reportOvertaking(r, h.Overtaking) },
		},
	},
	{
		ID: "RDMAX-ORDER-02", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpReadResponse, model.OpAtomicResponse), ByShape: true,
		YieldsTo: []string{"RDMAX-ARESP-UNSOL-01", "RDMAP-READRESP-UNSOL-01"},
		Test:     rules.Test{Needs: rules.KeepsSteps},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.Answer.Begins && s.Answer.Request != nil && s.Answer.OldestOfAll != nil)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if a := &s.Answer; !a.Joins && a.OvertakesOther() {
					r.On(s, "a response overtakes that of an earlier request of the other kind", s.Op.String(), "the response to "+numbered(a.OldestOfAll)+" first")
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-ID-01", Needs: catalogue.ReadSync, Tagged: mpa.No, On: model.OpcodeSet(model.OpAtomicRequest),
		Field: "iwarp_rdma.atomic.request_identifier",
		Test:  rules.Test{Needs: rules.KeepsSteps},
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				_, err := rdmap.DecodeAtomicRequest(s.Header)
				return rules.InScopeIf(err == nil)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				x, _ := rdmap.DecodeAtomicRequest(s.Header)
				if s.HasAtomic(x.RequestID) {
					r.On(s, "another outstanding Atomic Request has the same identifier", fmt.Sprintf("%#x", x.RequestID), "a different identifier")
				}
			},
		},
	},
}

// taggedSegment is the scope of rules on tagged segments, untaggedSegment on others.
func taggedSegment(_ *rules.Case, s *model.Segment) rules.Scope { return rules.InScopeIf(s.DDP.Tagged) }

func untaggedSegment(_ *rules.Case, s *model.Segment) rules.Scope {
	return rules.InScopeIf(!s.DDP.Tagged)
}

// noteIfEmpty is the severity of a wrong place for the data of an answer: a note if there
// is no data, else that of the entry.
func noteIfEmpty(s *model.Segment) catalogue.Severity {
	if s.Octets == 0 {
		return catalogue.Note
	}
	return catalogue.None
}

// reportAnswer reports a segment of an answer, together with its request and with
// the oldest one of its kind.
func reportAnswer(r *rules.Report, sev catalogue.Severity, s *model.Segment, message, observed, expected string) {
	at := s.Where()
	at.Related = s.Answer.Related(at.PDU)
	r.Report(rules.Violation{Place: at, Severity: sev, Message: message, Observed: observed, Expected: expected})
}

// reportOvertaking reports an Atomic Response that came before one to an earlier request.
func reportOvertaking(r *rules.Report, o *model.Overtaking) {
	at := o.At
	at.Related = o.Related
	r.On(at, "an Atomic Response overtakes that of an earlier request",
		"the response to "+numbered(&o.Request), "the response to "+numbered(&o.Oldest)+" first")
}

// reportTurn reports a Read Response that comes before what belongs in front of it.
func reportTurn(r *rules.Report, s *model.Segment, message, expected string) {
	reportAnswer(r, catalogue.None, s, message, "the response to "+numbered(s.Answer.Request), fmt.Sprintf(expected, numbered(s.Answer.Oldest)))
}

// numbered names a request by what tells it from others, which may be in the same frame.
func numbered(q *model.Request) string {
	return fmt.Sprintf("the request with MSN %d in frame %d", q.MSN, q.At.Frame)
}

// reportUnasked reports an answer that nothing asks for. Over SCTP an acknowledgement
// may come long after the answer, and over TCP an answer may be sent too early, so
// that only later it shows whether there was a request that was not captured.
func reportUnasked(r *rules.Report, s *model.Segment, message string) {
	if s.Unframed() {
		r.Unproven(catalogue.ReadSync)
		return
	}
	v := rules.Violation{Place: s.Where(), Message: message, Observed: "no request is outstanding", Expected: "an outstanding request"}
	if r.Trace.Transport == trace.TCP && (s.PDU.LastAcked < 0 || s.PDU.LastAcked >= s.Peer.NextOffset) {
		r.Report(v)
		return
	}
	r.ReportUnlessLost(v)
}

// reportShortAnswers reports the answers to requests of a direction that ended early and
// that nothing continues, such as the next answer.
func reportShortAnswers(r *rules.Report, h *model.Direction, next *model.Answer) {
	if h.Shorts == 0 {
		return // nearly always
	}
	for i := range h.Requests {
		q := &h.Requests[i]
		if !q.HasShort {
			continue
		}
		at := h.ShortOf(q)
		at.Related = next.Related(at.PDU)
		r.Report(rules.Violation{Place: at, Message: "the Read Response is shorter than its request", Observed: fmt.Sprint(q.Got), Expected: fmt.Sprint(q.Size)})
	}
}

// beginsNext reports whether a segment begins the next message of its queue behind one that was seen.
func beginsNext(s *model.Segment) bool {
	rel, m := s.Relate()
	return rel == model.Begins && m.There
}
