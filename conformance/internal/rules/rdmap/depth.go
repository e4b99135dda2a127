package rdmap

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapDepthRules judge how many requests are outstanding (RFC 6581 section 9.1, RFC
// 7306 section 5.2.2).
var rdmapDepthRules = []rules.Rule{
	{
		ID: "MPA2-IRDORD-06", Needs: catalogue.Neg | catalogue.Layout | catalogue.ReadSync, On: model.OpcodeSet(model.OpReadRequest, model.OpAtomicRequest, model.OpReadResponse),
		Late: true,
		Exchange: &rules.On[*model.Segment]{
			Applies: func(c *rules.Case, s *model.Segment) rules.Scope {
				if s.Op == model.OpReadResponse {
					return rules.InScopeIf(tooDeep(c, s) != nil)
				}
				return readWithin(c, s)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if q := tooDeep(&r.Case, s); q != nil {
					reportTooDeep(r, s, q)
					return
				}
				n := s.Depth.Reads
				if n <= s.Deepest.Reads {
					return
				}
				limit, _ := r.Depth(s.Dir)
				own := int(r.Request.EnhancedWord.ORD)
				raised := s.Dir == trace.I2R && n > own && !(r.RFC6581() && r.Request.Misread())
				switch {
				case (n > limit || raised) && s.Unframed():
					r.Unproven(catalogue.ReadSync)
				case n > limit:
					r.On(s, tooManyReads, fmt.Sprint(n), fmt.Sprintf("at most %d", limit))
				case raised && !r.Reported(s.Direction):
					r.OnAs(catalogue.Note, s, "more Reads are outstanding than the Request announces, but no more than the Reply allows", fmt.Sprint(n), fmt.Sprint(own))
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-DEPTH-01", Needs: catalogue.Neg | catalogue.Layout | catalogue.ReadSync, On: model.OpcodeSet(model.OpReadRequest, model.OpAtomicRequest),
		Test: rules.Test{Related: []string{"MPA2-IRDORD-06"}}, // Reads alone were too many before
		Exchange: &rules.On[*model.Segment]{
			Applies: requestWithin(func(_ *rules.Case, s *model.Segment) bool { return s.Depth.Atomics > 0 }),
			Judge: func(r *rules.Report, s *model.Segment) {
				limit, _ := r.Depth(s.Dir)
				d := s.Depth
				switch {
				case d.Mixed(limit) <= s.Deepest.Mixed:
				case s.Unframed():
					r.Unproven(catalogue.ReadSync)
				default:
					r.On(s, "more Reads and atomics are outstanding than the IRD of the other side allows", fmt.Sprintf("%d and %d", d.Reads, d.Atomics), fmt.Sprintf("at most %d in all", limit))
				}
			},
		},
	},
	{
		ID: "RDMAP-READ-QUEUE-01", Weighs: true, Needs: catalogue.Full,
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(c *rules.Case, t *model.Terminate) rules.Scope {
				if ofDDP(t) && withinDepth(c, t) {
					return rules.InScope.Needing(catalogue.Neg | catalogue.ReadSync).Given(c.SettledGate(t.Peer))
				}
				return rules.InScopeIf(ofDDP(t))
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if !withinDepth(&r.Case, t) {
					return
				}
				if !t.Asked.Depth.Known {
					r.Unproven(catalogue.Causal)
					return
				}
				limit, _ := r.Depth(t.Peer.Dir)
				if n := t.Asked.Depth.Reads + t.Asked.Depth.Atomics; n <= limit && !r.Flagged(t.Asked.PDU, "DDP-UNTAG-MSN-") {
					r.On(t, "the Terminate reports that there is no buffer for a Read within the agreed depth", fmt.Sprintf("%d outstanding", n), fmt.Sprintf("room for %d", limit))
				}
			},
		},
	},
	{
		ID: "RDMAX-BUF-01", Needs: catalogue.Full,
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope { return rules.InScopeIf(ofDDP(t)) },
			Judge: func(r *rules.Report, t *model.Terminate) {
				if t.Code.EType != 2 || t.Code.Code != 2 || t.Header == nil || t.Header.Tagged {
					return
				}
				switch q := t.Asked; {
				case t.Header.QN == 3:
					r.On(t, "the Terminate reports that there is no buffer for an Atomic Response", "error 1/2/02", "a buffer for each outstanding request")
				case t.Header.QN == 1 && t.Op == model.OpAtomicRequest:
					limit, ok := r.Depth(t.Peer.Dir)
					if ok && (q == nil || !q.Depth.Known || q.Depth.Reads+q.Depth.Atomics > limit) {
						return
					}
					r.On(t, "the Terminate reports that there is no buffer for an Atomic Request", "error 1/2/02", "a buffer for each request that the upper layers agreed on")
				}
			},
		},
	},
}

// readWithin is [requestWithin] for Reads other than the indication of readiness.
var readWithin = requestWithin(func(c *rules.Case, s *model.Segment) bool { return s.Op == model.OpReadRequest && !s.IsRTR(c.Conn) })

// requestWithin is the scope of rules on requests where the depth was negotiated. Other
// octets that are missing do not matter: acknowledgements decide.
func requestWithin(some func(*rules.Case, *model.Segment) bool) func(*rules.Case, *model.Segment) rules.Scope {
	return func(c *rules.Case, s *model.Segment) rules.Scope {
		if s.Op != model.OpReadRequest && s.Op != model.OpAtomicRequest || s.DDP.MO != 0 {
			return rules.OutOfScope
		}
		switch _, ok := c.Depth(s.Dir); {
		case !ok || !c.Enhanced():
			return rules.OutOfScope
		case !s.Depth.Known:
			return rules.Lacking(catalogue.Causal).Given(c.SettledGate(s.Direction))
		}
		return rules.InScopeIf(some(c, s)).Given(c.SettledGate(s.Direction))
	}
}

// ofDDP reports whether a Terminate reports an error of DDP, in the chosen reading.
func ofDDP(t *model.Terminate) bool { return !t.OnlyReserved && t.Code.Layer == rdmap.LayerDDP }

// withinDepth reports whether a Terminate says that there is no buffer for a Read, or none
// for its MSN, although the depth was negotiated.
func withinDepth(c *rules.Case, t *model.Terminate) bool {
	_, ok := c.Depth(t.Peer.Dir)
	return ok && t.Code.EType == 2 && (t.Code.Code == 2 || t.Code.Code == 3) && t.Asked != nil && t.Op == model.OpReadRequest
}

// tooManyReads is what is wrong with a Read beyond the depth.
const tooManyReads = "more Reads are outstanding than the IRD of the other side allows"

// tooDeep returns the first Read beyond the depth over SCTP, where an answer proves
// that it was sent before that answer had come; nil if there is none.
func tooDeep(c *rules.Case, s *model.Segment) (first *model.Request) {
	limit, ok := c.Depth(s.Peer.Dir)
	if c.Trace.Transport != trace.SCTP || s.Op != model.OpReadResponse || !ok || !c.Enhanced() || !s.Answer.Fits {
		return nil
	}
	n := 0
	for q := range s.ReadsHeard {
		if n++; n == limit+1 {
			return q
		}
	}
	return nil
}

// reportTooDeep reports a Read over SCTP beyond the depth, the first of its sender.
func reportTooDeep(r *rules.Report, s *model.Segment, q *model.Request) {
	if r.Reported(s.Peer) {
		return
	}
	n := 0
	for range s.ReadsHeard {
		n++
	}
	limit, _ := r.Depth(s.Peer.Dir)
	r.On(q.Where(s.Peer.Dir), tooManyReads, fmt.Sprint(n), fmt.Sprintf("at most %d", limit))
}
