package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapDepthRules judge how many requests are outstanding (RFC 6581 section 9.1, RFC
// 7306 section 5.2.2).
var rdmapDepthRules = []Rule{
	{
		ID: "MPA2-IRDORD-06", Needs: Neg | Layout | ReadSync,
		Exchange: &On[*segment]{
			Applies: requestWithin(func(c *Case, s *segment) bool { return s.op == opReadRequest && !s.isRTR(c.conn) }),
			Judge: func(r *Report, s *segment) {
				n := s.depth.reads
				if n <= s.deepest.reads {
					return
				}
				limit, _ := r.t.Depth(s.dir)
				switch own := r.request.word.ORD; {
				case n > limit:
					r.On(s, "more Reads are outstanding than the other side holds", fmt.Sprint(n), fmt.Sprintf("at most %d", limit))
				case s.dir == trace.I2R && n > int(own) && !r.Reported(s.half):
					r.OnAs(Note, s, "more Reads are outstanding than the Request asks for, and no more than the Reply allows", fmt.Sprint(n), fmt.Sprint(own))
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-DEPTH-01", Needs: Neg | Layout | ReadSync,
		Exchange: &On[*segment]{
			Applies: requestWithin(func(_ *Case, s *segment) bool { return s.depth.atomics > 0 }),
			Judge: func(r *Report, s *segment) {
				limit, _ := r.t.Depth(s.dir)
				d := s.depth
				if all := d.reads + d.atomics; all <= limit || all <= s.deepest.all {
					return
				}
				if d.reads <= limit || d.atomics > limit {
					r.On(s, "more Reads and atomics are outstanding than the other side holds Reads", fmt.Sprintf("%d and %d", d.reads, d.atomics), fmt.Sprintf("at most %d in all", limit))
				}
			},
		},
	},
	{
		ID: "RDMAP-READ-QUEUE-01", Needs: Full,
		Terminate: &On[*terminate]{
			Applies: func(c *Case, t *terminate) Scope {
				if ofDDP(t) && withinDepth(c, t) {
					return InScope.Needing(Neg | ReadSync).Given(c.settledGate())
				}
				return InScopeIf(ofDDP(t))
			},
			Judge: func(r *Report, t *terminate) {
				if !withinDepth(&r.Case, t) {
					return
				}
				if !t.asked.depth.known {
					r.Unproven(Causal)
					return
				}
				limit, _ := r.t.Depth(t.peer.dir)
				if n := t.asked.depth.reads + t.asked.depth.atomics; n <= limit && !r.flagged(t.asked.pdu, "DDP-UNTAG-MSN-") {
					r.On(t, "there is no buffer for a Read within the depth that was agreed", fmt.Sprintf("%d outstanding", n), fmt.Sprintf("room for %d", limit))
				}
			},
		},
	},
	{
		ID: "RDMAX-BUF-01", Needs: Full,
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope { return InScopeIf(ofDDP(t)) },
			Judge: func(r *Report, t *terminate) {
				if t.code.EType != 2 || t.code.Code != 2 || t.header == nil || t.header.Tagged {
					return
				}
				switch q := t.asked; {
				case t.header.QN == 3:
					r.On(t, "there is no buffer for an Atomic Response", "error 1/2/02", "a buffer for each outstanding request")
				case t.header.QN == 1 && t.op == opAtomicRequest:
					limit, ok := r.t.Depth(t.peer.dir)
					if ok && (q == nil || !q.depth.known || q.depth.reads+q.depth.atomics > limit) {
						return
					}
					r.On(t, "there is no buffer for an Atomic Request", "error 1/2/02", "buffers for as many as the upper layers agree on")
				}
			},
		},
	},
}

// requestWithin is the scope of rules on requests where the depth was negotiated.
// Octets that wait elsewhere do not matter: acknowledgements tell.
func requestWithin(some func(*Case, *segment) bool) func(*Case, *segment) Scope {
	return func(c *Case, s *segment) Scope {
		if s.op != opReadRequest && s.op != opAtomicRequest || s.seg.MO != 0 {
			return OutOfScope
		}
		switch _, ok := c.t.Depth(s.dir); {
		case !ok || !c.enhanced():
			return OutOfScope
		case !s.depth.known:
			return Lacking(Causal).Given(c.settledGate())
		}
		return InScopeIf(some(c, s)).Given(c.settledGate())
	}
}

// ofDDP reports whether a Terminate tells an error of DDP, in the reading that was
// chosen.
func ofDDP(t *terminate) bool { return !t.onlyReserved && t.code.Layer == rdmap.LayerDDP }

// withinDepth reports whether a Terminate says that there is no buffer for a Read, or
// none with its MSN, and the depth was negotiated.
func withinDepth(c *Case, t *terminate) bool {
	_, ok := c.t.Depth(t.peer.dir)
	return ok && t.code.EType == 2 && (t.code.Code == 2 || t.code.Code == 3) && t.asked != nil && t.op == opReadRequest
}
