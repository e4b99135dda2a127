package conformance

import (
	"fmt"
	"math/bits"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapAtomicRules judge atomic operations (RFC 7306 section 5).
var rdmapAtomicRules = []Rule{
	{
		ID: "RDMAX-AREQ-ALIGN-01", Needs: Sync | Full,
		Exchange: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				return InScopeIf(s.op == opAtomicRequest && s.touch.octets > 0)
			},
			Judge: func(r *Report, s *segment) {
				if !s.roomFor(s.touch.stag) {
					r.Unproven(Sync)
				}
			},
		},
		EndDirection: &On[*half]{
			Applies: func(_ *Case, h *half) Scope { return InScopeIf(len(h.pastAreas)+len(h.areas) > 0).Given(Sync | Full) },
			Judge: func(r *Report, h *half) {
				for a, end := range r.eachArea(h) {
					reportMisaligned(r, a, end)
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-ALIGN-02", Needs: ReadSync,
		Exchange: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				return InScopeIf(s.op == opAtomicResponse && s.ans.r != nil && s.ans.fits)
			},
		},
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope {
				at, ok := t.atomicOf()
				a := t.peer.areas[at.stag]
				return InScopeIf(ok && t.header != nil && a != nil && a.answered()&^at.bit() != 0)
			},
			Judge: func(r *Report, t *terminate) {
				k := t.code
				if k.Layer == rdmap.LayerRDMAP && (k.EType == 1 || k.EType == 2 && (k.Code == 6 || k.Code == 7)) {
					return
				}
				r.On(t, "a misaligned atomic operation is answered with another error", codeText(k), "0/2/07")
			},
		},
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				if len(h.pastAreas)+len(h.areas) == 0 {
					return OutOfScope
				}
				for a := range c.eachArea(h) {
					if a.hasBoth {
						return InScope.Given(ReadSync)
					}
				}
				return OutOfScope
			},
			Judge: func(r *Report, h *half) {
				for a := range r.eachArea(h) {
					reportBothDone(r, a)
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-SWAP-01", Needs: Sync | Full,
		Exchange: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				if s.op != opAtomicRequest {
					return OutOfScope
				}
				a, err := rdmap.DecodeAtomicRequest(s.body)
				return InScopeIf(err == nil && a.AOpCode == rdmap.ReservedOp)
			},
			Judge: func(r *Report, s *segment) {
				a, _ := rdmap.DecodeAtomicRequest(s.body)
				if a.Mask != ^uint64(0) || a.CompareData != 0 || a.CompareMask != ^uint64(0) {
					r.On(s, "a Swap, as an early draft had it, with other masks than its",
						fmt.Sprintf("swap mask %#x, compare data %#x, compare mask %#x", a.Mask, a.CompareData, a.CompareMask), "all ones, 0, all ones")
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-AOP-02", Needs: ReadSync,
		Exchange: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope {
				return InScopeIf(s.op == opAtomicResponse && s.ans.r != nil && s.ans.fits)
			},
			Judge: func(r *Report, s *segment) {
				if op := s.ans.r.aop; op != rdmap.FetchAddOp && op != rdmap.CmpSwapOp {
					r.OnAs(Error, s, "an atomic operation that does not exist is answered as if it had been done", fmt.Sprint(uint8(op)), "a Terminate, 0/2/06")
				}
			},
		},
		Capture: &On[*endedConnection]{
			Applies: func(_ *Case, p *endedConnection) Scope {
				for _, o := range p.operations {
					if o != nil && o.refused&(1<<rdmap.FetchAddOp|1<<rdmap.CmpSwapOp) != 0 {
						return InScope
					}
				}
				return OutOfScope
			},
			Judge: func(r *Report, p *endedConnection) {
				for i, o := range p.operations {
					if o != nil {
						reportRefusedAlone(r, p, trace.Dir(i), o)
					}
				}
			},
		},
	},
	{
		ID: "RDMAX-MIX-01", Needs: ReadSync, On: touching,
		Segment: &On[*segment]{
			Applies: func(_ *Case, s *segment) Scope { return InScopeIf(s.touch.shares != apart) },
			Judge: func(r *Report, s *segment) {
				if s.touch.shares == sameOctets {
					r.On(s, "the octets of an atomic operation are reached by another one while it is outstanding",
						fmt.Sprintf("%v at STag %#08x TO %#x", s.op, s.touch.stag, s.touch.to), "other octets, or another time")
				}
			},
		},
	},
}

// reportMisaligned reports the requests of an area that are not aligned, or may not be.
func reportMisaligned(r *Report, a *area, end outcome) {
	used := 0
	for i := range a.place {
		if a.place[i].seen {
			used++
		}
	}
	for i := range a.place {
		p := &a.place[i]
		if !p.seen {
			continue
		}
		v := Violation{Place: p.at, Observed: fmt.Sprintf("TO modulo 8 is %d", i), Expected: "a multiple of 8, or the same offset as the base of the region"}
		switch {
		case a.misaligned(i) && (p.answered || end.complete && end.over):
			v.Severity, v.Message = Error, "the address of the atomic operation is not aligned: others on the same STag are"
			v.Observed += fmt.Sprintf(", of others that were answered %d", bits.TrailingZeros8(a.answered()&^(1<<i)))
		case i == 0:
			continue
		case p.refused:
			v.Severity, v.Message = Error, "the address of the atomic operation is not aligned: the other side says so"
		case p.answered && used == 1:
			v.Severity, v.Message = Note, "the offset of the atomic operation is no multiple of 8, and it is answered"
		default:
			v.Message = "TO is not a multiple of 8; misaligned unless the region's base is offset by the same amount"
			if !end.complete {
				v.Severity = Note // the answer may not have been captured
			}
		}
		r.Report(v)
	}
}

// reportBothDone reports answers to two requests of which one is misaligned.
func reportBothDone(r *Report, a *area) {
	if !a.hasBoth {
		return
	}
	v := Violation{
		Place: a.both, Message: "two atomic operations are done on an STag where only one can be aligned",
		Observed: fmt.Sprintf("TO modulo 8 is %d and %d", a.bothAt[0], a.bothAt[1]), Expected: "a Terminate, 0/2/07",
	}
	if a.together {
		v.Severity = Error
	}
	r.Report(v)
}

// reportRefusedAlone reports the atomic operations that a side has refused although it
// does the other one, on any of its connections.
func reportRefusedAlone(r *Report, p *endedConnection, side trace.Dir, o *operations) {
	done := r.Ended().operations[p.t.Side[side].Addr.Addr()]
	for _, op := range [...]rdmap.AOpCode{rdmap.FetchAddOp, rdmap.CmpSwapOp} {
		other := rdmap.FetchAddOp + rdmap.CmpSwapOp - op
		if o.refused&(1<<op) == 0 || done&(1<<op) != 0 || done&(1<<other) == 0 {
			continue
		}
		r.Report(Violation{
			Place: o.at.in(side), Message: "one of the atomic operations is refused where the other one is done",
			Observed: op.String(), Expected: "both or none",
		})
	}
}
