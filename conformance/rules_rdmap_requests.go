package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapRequestRules judge Reads and atomics and their answers (RFC 5040 section 5,
// RFC 7306 section 5).
var rdmapRequestRules = []Rule{
	{
		ID: "RDMAP-READRESP-UNSOL-01", Needs: ReadSync, On: on(opReadResponse), ByShape: true,
		Field:    "iwarp_rdma.opcode",
		YieldsTo: []string{"DDP-RSVDULP-TAG-01", "RDMAP-READRESP-MSG-01"},
		Segment: &On[*segment]{
			Applies: taggedSegment,
			Judge: func(r *Report, s *segment) {
				if s.ans.begins && s.ans.r == nil {
					reportUnasked(r, s, "a Read Response that no Read Request asks for")
				}
			},
		},
	},
	{
		ID: "RDMAP-READRESP-ORDER-01", Needs: ReadSync, On: on(opReadResponse), ByShape: true,
		Segment: &On[*segment]{
			Applies: taggedSegment,
			Judge: func(r *Report, s *segment) {
				if s.ans.begins && s.ans.later {
					reportAnswer(r, None, s, "a Read Response passes that of an earlier request",
						fmt.Sprintf("for the request in frame %d", s.ans.r.at.frame), fmt.Sprintf("for that in frame %d", s.ans.head.at.frame))
				}
			},
		},
	},
	{
		ID: "RDMAP-READRESP-STAG-01", Needs: ReadSync, On: on(opReadResponse), ByShape: true,
		Field:    "iwarp_ddp.stag",
		YieldsTo: []string{"RDMAP-READRESP-MSG-01", "RDMAP-READRESP-ORDER-01"},
		Segment: &On[*segment]{
			Applies: taggedSegment,
			Judge: func(r *Report, s *segment) {
				a := &s.ans
				if !a.begins || a.r == nil || a.fits || a.r.stag == s.seg.STag || a.r.size == 0 && s.octets > 0 {
					return
				}
				reportAnswer(r, noteIfEmpty(s), s, "the Read Response has another STag than its request asks for",
					fmt.Sprintf("%#08x", s.seg.STag), fmt.Sprintf("%#08x", a.r.stag))
			},
		},
	},
	{
		ID: "RDMAP-READRESP-TO-01", Needs: ReadSync, On: on(opReadResponse), ByShape: true,
		Field:    "iwarp_ddp.tagged_offset",
		YieldsTo: []string{"RDMAP-READRESP-MSG-01", "RDMAP-READRESP-ORDER-01"},
		Segment: &On[*segment]{
			Applies: taggedSegment,
			Judge: func(r *Report, s *segment) {
				a := &s.ans
				if !a.begins || a.r == nil || a.fits || a.r.stag != s.seg.STag || a.r.to == s.seg.TO {
					return
				}
				reportAnswer(r, noteIfEmpty(s), s, "the Read Response begins at another offset than its request asks for",
					fmt.Sprintf("TO %#x", s.seg.TO), fmt.Sprintf("TO %#x", a.r.to))
			},
		},
	},
	{
		ID: "RDMAP-READRESP-MSG-01", Needs: ReadSync, On: on(opReadResponse), ByShape: true,
		Segment: &On[*segment]{
			Applies: taggedSegment,
			Judge: func(r *Report, s *segment) {
				if s.ans.joins {
					reportAnswer(r, None, s, "a second Read Response goes on with the answer to one request", "several messages", "one message")
				}
			},
		},
	},
	{
		ID: "RDMAP-READRESP-LEN-01", Needs: ReadSync, On: on(opReadResponse), ByShape: true,
		Field:    "iwd.payload.length",
		YieldsTo: []string{"RDMAP-READRESP-MSG-01", "RDMAP-READ-ZERO-01"},
		Segment: &On[*segment]{
			Applies: taggedSegment,
			Judge: func(r *Report, s *segment) {
				a := &s.ans
				if a.begins && !a.joins {
					reportShortAnswers(r, s.peer, a)
				}
				if q := a.r; q != nil && q.size > 0 && q.got+uint64(s.octets) > q.size && q.got <= q.size {
					reportAnswer(r, None, s, "the Read Response is longer than asked for", fmt.Sprintf("%d octets or more", q.got+uint64(s.octets)), fmt.Sprint(q.size))
				}
			},
		},
		EndDirection: &On[*half]{
			Applies: func(_ *Case, h *half) Scope {
				whole := h.began && h.peer.began && !h.gap && !h.peer.gap && !h.unsure && !h.peer.unsure
				return InScopeIf(whole && h.shorts > 0).Given(ReadSync)
			},
			Judge: func(r *Report, h *half) { reportShortAnswers(r, h, &answer{}) },
		},
	},
	{
		ID: "RDMAP-READ-ZERO-01", Needs: ReadSync, On: on(opReadResponse), ByShape: true,
		Field: "iwd.payload.length",
		Segment: &On[*segment]{
			Applies: taggedSegment,
			Judge: func(r *Report, s *segment) {
				a := &s.ans
				if a.begins && a.r != nil && a.r == a.head && a.r.size == 0 && (s.octets != 0 || !s.seg.Last) {
					reportAnswer(r, None, s, "a Read of nothing is answered with octets", fmt.Sprintf("%d octets, L=%d", s.octets, bit(s.seg.Last)), "0 octets, L=1")
				}
			},
		},
	},
	{
		ID: "RDMAX-ARESP-UNSOL-01", Needs: ReadSync, On: on(opAtomicResponse),
		Field: "iwarp_rdma.opcode",
		Segment: &On[*segment]{
			Applies: untaggedSegment,
			Judge: func(r *Report, s *segment) {
				if s.ans.head == nil {
					reportUnasked(r, s, "an Atomic Response that no Atomic Request asks for")
				}
			},
		},
	},
	{
		ID: "RDMAX-ARESP-ID-01", Needs: ReadSync | Full, On: on(opAtomicResponse),
		Field:    "iwarp_rdma.atomic.original_request_identifier",
		YieldsTo: []string{"RDMAX-ORDER-01", "RDMAX-ARESP-UNSOL-01"},
		Segment: &On[*segment]{
			Applies: untaggedSegment,
			Judge: func(r *Report, s *segment) {
				x, err := rdmap.DecodeAtomicResponse(s.body)
				if a := &s.ans; err == nil && a.r != nil && !a.fits {
					reportAnswer(r, None, s, "the Atomic Response has another identifier than its request", fmt.Sprintf("%#x", x.RequestID), fmt.Sprintf("%#x", a.r.id))
				}
			},
		},
	},
	{
		ID: "RDMAX-ARESP-MSN-01", Needs: ReadSync, On: on(opAtomicResponse),
		Field: "iwarp_ddp.msn",
		Segment: &On[*segment]{
			Applies: untaggedSegment,
			Judge: func(r *Report, s *segment) {
				want := uint32(s.half.responses + 1)
				if s.seg.QN != 3 || s.seg.MSN == want {
					return
				}
				message := "the MSN of the Atomic Response does not count the responses"
				if q := s.ans.r; q != nil && q.msn == s.seg.MSN {
					message += ": it is that of the request"
				}
				reportAnswer(r, None, s, message, fmt.Sprintf("MSN %d", s.seg.MSN), fmt.Sprintf("MSN %d", want))
			},
		},
	},
	{
		ID: "RDMAX-ORDER-01", Needs: ReadSync, On: on(opAtomicResponse),
		Segment: &On[*segment]{
			Applies: untaggedSegment,
			Judge: func(r *Report, s *segment) {
				if s.ans.later {
					reportAnswer(r, None, s, "an Atomic Response passes that of an earlier request",
						fmt.Sprintf("for the request in frame %d", s.ans.r.at.frame), fmt.Sprintf("for that in frame %d", s.ans.head.at.frame))
				}
			},
		},
	},
	{
		ID: "RDMAX-ORDER-02", Needs: ReadSync, On: on(opReadResponse, opAtomicResponse), ByShape: true,
		YieldsTo: []string{"RDMAX-ARESP-UNSOL-01", "RDMAP-READRESP-UNSOL-01"},
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.ans.begins && s.ans.r != nil && s.ans.any != nil) },
			Judge: func(r *Report, s *segment) {
				if a := &s.ans; a.any.atomic != a.r.atomic && !a.any.started && !a.joins {
					r.On(s, "an answer passes that of an earlier request of the other kind", s.op.String(), fmt.Sprintf("the answer to the request in frame %d", a.any.at.frame))
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-ID-01", Needs: ReadSync, On: on(opAtomicRequest),
		Field: "iwarp_rdma.atomic.request_identifier",
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				_, err := rdmap.DecodeAtomicRequest(s.body)
				return InScopeIf(err == nil)
			},
			Judge: func(r *Report, s *segment) {
				x, _ := rdmap.DecodeAtomicRequest(s.body)
				for i := range s.requests {
					if q := &s.requests[i]; q.atomic && q.id == x.RequestID {
						r.On(s, "another outstanding Atomic Request has the same identifier", fmt.Sprintf("%#x", x.RequestID), "another one")
						return
					}
				}
			},
		},
	},
}

// taggedSegment is the scope of rules on tagged segments, untaggedSegment on others.
func taggedSegment(_ *Case, s *segment) Scope   { return InScopeIf(s.seg.Tagged) }
func untaggedSegment(_ *Case, s *segment) Scope { return InScopeIf(!s.seg.Tagged) }

// noteIfEmpty is the severity of a wrong place for the data of an answer: a note if
// there are none, else that of the entry.
func noteIfEmpty(s *segment) Severity {
	if s.octets == 0 {
		return Note
	}
	return None
}

// reportAnswer reports a segment of an answer, together with its request and with
// the oldest one of its kind.
func reportAnswer(r *Report, sev Severity, s *segment, message, observed, expected string) {
	at := s.where()
	at.Related = s.ans.related(at.PDU)
	r.Report(Violation{Place: at, Severity: sev, Message: message, Observed: observed, Expected: expected})
}

// reportUnasked reports an answer that nothing asks for. Over SCTP an acknowledgement
// may come long after the answer, and over TCP an answer may be sent too early, so
// that only later it shows whether there was a request that was not captured.
func reportUnasked(r *Report, s *segment, message string) {
	v := Violation{Place: s.where(), Message: message, Observed: "no request is outstanding", Expected: "a request"}
	if r.t.Transport == trace.TCP && (s.p.LastAcked < 0 || s.p.LastAcked >= s.peer.to) {
		r.Report(v)
		return
	}
	r.ReportUnlessLost(v)
}

// reportShortAnswers reports the answers to requests of a direction that ended early
// and that nothing goes on with, such as the answer next.
func reportShortAnswers(r *Report, h *half, next *answer) {
	for i := range h.requests {
		q := &h.requests[i]
		if !q.hasShort {
			continue
		}
		at := q.short.in(h.peer.dir)
		at.Related = next.related(at.PDU)
		r.Report(Violation{Place: at, Message: "the Read Response is shorter than asked for", Observed: fmt.Sprint(q.got), Expected: fmt.Sprint(q.size)})
	}
}
