package rdmap

import (
	"fmt"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rdmapAtomicRules judge atomic operations (RFC 7306 section 5).
var rdmapAtomicRules = []rules.Rule{
	{
		ID: "RDMAX-AREQ-ALIGN-01", If: model.Asked, Needs: catalogue.Sync | catalogue.Full, On: model.OpcodeSet(model.OpAtomicRequest),
		Exchange: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.Op == model.OpAtomicRequest && s.Touch.Octets > 0)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if !s.RoomFor(s.Touch.STag) {
					r.Unproven(catalogue.Sync)
				}
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(_ *rules.Case, h *model.Direction) rules.Scope {
				return rules.InScopeIf(len(h.PastAreas)+len(h.Areas) > 0).Given(catalogue.Sync | catalogue.Full)
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				for a, end := range r.EachArea(h) {
					reportMisaligned(r, a, end)
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-ALIGN-02", If: model.Asked, Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpAtomicResponse),
		Exchange: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.Op == model.OpAtomicResponse && s.Answer.Request != nil && s.Answer.Fits)
			},
		},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(_ *rules.Case, t *model.Terminate) rules.Scope {
				at, ok := t.AtomicOf()
				a := t.Peer.Areas[at.STag]
				return rules.InScopeIf(ok && t.Header != nil && a != nil && a.Answered()&^at.Bit() != 0)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				k := t.Code
				if k.Layer == rdmap.LayerRDMAP && (k.EType == 1 || k.EType == 2 && (k.Code == 6 || k.Code == 7)) {
					return
				}
				r.On(t, "a misaligned atomic operation is answered with the wrong error", model.CodeText(k), "0/2/07")
			},
		},
		EndDirection: &rules.On[*model.Direction]{
			Applies: func(c *rules.Case, h *model.Direction) rules.Scope {
				if len(h.PastAreas)+len(h.Areas) == 0 || c.OutOfStep {
					return rules.OutOfScope
				}
				for a := range c.EachArea(h) {
					if a.HasBoth {
						return rules.InScope.Given(catalogue.ReadSync)
					}
				}
				return rules.OutOfScope
			},
			Judge: func(r *rules.Report, h *model.Direction) {
				for a := range r.EachArea(h) {
					reportBothDone(r, a)
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-SWAP-01", Needs: catalogue.Sync | catalogue.Full, On: model.OpcodeSet(model.OpAtomicRequest),
		Exchange: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				if s.Op != model.OpAtomicRequest || s.DDP.Tagged {
					return rules.OutOfScope
				}
				a, err := rdmap.DecodeAtomicRequest(s.Header)
				return rules.InScopeIf(err == nil && a.AOpCode == rdmap.ReservedOp)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				a, _ := rdmap.DecodeAtomicRequest(s.Header)
				if a.Mask != ^uint64(0) || a.CompareData != 0 || a.CompareMask != ^uint64(0) {
					r.On(s, "a Swap as in an early draft has the wrong masks",
						fmt.Sprintf("swap mask %#x, compare data %#x, compare mask %#x", a.Mask, a.CompareData, a.CompareMask), "all ones, 0, all ones")
				}
			},
		},
	},
	{
		ID: "RDMAX-AREQ-AOP-02", Needs: catalogue.ReadSync, On: model.OpcodeSet(model.OpAtomicResponse),
		Exchange: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.Op == model.OpAtomicResponse && s.Answer.Request != nil && s.Answer.Fits)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if op := s.Answer.Request.AtomicOp; op != rdmap.FetchAddOp && op != rdmap.CmpSwapOp {
					r.OnAs(catalogue.Error, s, "an unassigned atomic operation is answered as if it had been executed", fmt.Sprint(uint8(op)), "a Terminate 0/2/06")
				}
			},
		},
		Capture: &rules.On[*model.EndedConnection]{
			Applies: func(_ *rules.Case, p *model.EndedConnection) rules.Scope {
				for _, o := range p.Operations {
					if o != nil && o.Refused&(1<<rdmap.FetchAddOp|1<<rdmap.CmpSwapOp) != 0 {
						return rules.InScope
					}
				}
				return rules.OutOfScope
			},
			Judge: func(r *rules.Report, p *model.EndedConnection) {
				for i, o := range p.Operations {
					if o != nil {
						reportRefusedAlone(r, p, trace.Dir(i), o)
					}
				}
			},
		},
	},
	{
		ID: "RDMAX-MIX-01", Needs: catalogue.ReadSync, On: model.Touching, ByTouch: true,
		Segment: &rules.On[*model.Segment]{
			Applies: func(_ *rules.Case, s *model.Segment) rules.Scope {
				return rules.InScopeIf(s.Touch.Shares != model.Apart)
			},
			Judge: func(r *rules.Report, s *model.Segment) {
				if s.Touch.Shares == model.SameOctets {
					r.On(s, "a message accesses the octets of an outstanding atomic operation",
						fmt.Sprintf("%v at STag %#08x TO %#x", s.Op, s.Touch.STag, s.Touch.TO), "other octets, or no outstanding atomic operation")
				}
			},
		},
	},
}

// reportMisaligned reports the requests of an area that are not aligned, or may not be.
func reportMisaligned(r *rules.Report, a *model.Area, end model.Outcome) {
	used := 0
	for i := range a.Place {
		if a.Place[i].Seen {
			used++
		}
	}
	for i := range a.Place {
		p := &a.Place[i]
		if !p.Seen {
			continue
		}
		v := rules.Violation{Place: p.At, Observed: fmt.Sprintf("TO modulo 8 is %d", i), Expected: "a multiple of 8, or the same offset as the base of the region"}
		switch {
		case a.Misaligned(i) && (p.Answered || end.Complete && end.Over):
			v.Severity, v.Message = catalogue.Error, "the address of the atomic operation is not aligned; those of others on the same STag are"
			v.Observed += fmt.Sprintf(", of others that were answered: %d", bits.TrailingZeros8(a.Answered()&^(1<<i)))
		case i == 0:
			continue
		case p.Refused:
			v.Severity, v.Message = catalogue.Error, "the address of the atomic operation is not aligned, as the other side reports"
		case p.Answered && used == 1:
			v.Severity, v.Message = catalogue.Note, "TO of the atomic operation is not a multiple of 8, yet the operation is answered"
		default:
			v.Message = "TO is not a multiple of 8; misaligned unless the region's base is offset by the same amount"
			if !end.Complete {
				v.Severity = catalogue.Note // the answer may not have been captured
			}
		}
		r.Report(v)
	}
}

// reportBothDone reports answers to two requests one of which is misaligned.
func reportBothDone(r *rules.Report, a *model.Area) {
	if !a.HasBoth {
		return
	}
	v := rules.Violation{
		Place: a.Both, Message: "two atomic operations are executed on an STag where only one can be aligned",
		Observed: fmt.Sprintf("TO modulo 8 is %d and %d", a.BothAt[0], a.BothAt[1]), Expected: "a Terminate 0/2/07",
	}
	if a.Together {
		v.Severity = catalogue.Error
	}
	r.Report(v)
}

// reportRefusedAlone reports the atomic operations that a side has refused although it
// does the other one, on any of its connections.
func reportRefusedAlone(r *rules.Report, p *model.EndedConnection, side trace.Dir, o *model.Operations) {
	done := r.Ended().Operations[p.Addr[side].Addr()]
	for _, op := range [...]rdmap.AOpCode{rdmap.FetchAddOp, rdmap.CmpSwapOp} {
		other := rdmap.FetchAddOp + rdmap.CmpSwapOp - op
		if o.Refused&(1<<op) == 0 || done&(1<<op) != 0 || done&(1<<other) == 0 {
			continue
		}
		r.Report(rules.Violation{
			Place: o.At.In(side), Message: "one of the two atomic operations is refused, the other one executed",
			Observed: op.String(), Expected: "both or neither",
		})
	}
}
