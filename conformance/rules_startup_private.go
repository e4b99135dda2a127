package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// privateDataRules judge PD_Length and what follows a startup frame (RFC 5044 section
// 7.1.1).
var privateDataRules = []Rule{
	{
		ID: "MPA-PDLEN-01", Needs: Start, Transport: onTCP, Tells: true,
		YieldsTo: []string{"MPA2-PDLEN-01", "MPA-START-02A"},
		EndPair: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				if f.partial {
					return OutOfScope
				}
				return privateDataScope(c.conn, f).GivenOnly(c.startupGates(&c.half[f.dir]))
			},
			Judge: func(r *Report, f *frame) {
				if at := f.swallows(r.half[f.dir].looseAt(f.end)); at > 0 {
					r.On(f, "an FPDU begins inside the private data that the frame announces", fmt.Sprintf("PD_Length %d", f.PDLength), fmt.Sprint(at-mpa.StartupLen))
					return
				}
				if s, _ := r.surplus(f); s != nil {
					at := f.where()
					at.Frame = s.start
					r.On(at, "more private data follows than the frame announces", fmt.Sprintf("%d octets more", s.length), fmt.Sprintf("PD_Length %d", f.PDLength))
				}
			},
		},
	},
	{
		ID: "MPA2-PDLEN-01", Needs: Start | Contig, Transport: onTCP,
		EndFrame: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				return InScopeIf(f.S && f.Rev >= 2 && f.PDLength <= mpa.MaxPrivateData).GivenOnly(f.startupEvidence(c.Evidence()))
			},
			Judge: func(r *Report, f *frame) {
				switch n, o := r.overrun(f); {
				case n > 0 && r.t.Flow[f.dir].Cut:
					r.Unproven(Full)
				case n != mpa.EnhancedLen || r.isCRC(f):
				case o == unproven:
					r.Unproven(Causal)
				case o == without:
					r.On(f, "four octets more than the "+kindName(f.kind)+" announces: the word was not counted",
						fmt.Sprintf("PD_Length %d", f.PDLength), fmt.Sprint(f.PDLength+mpa.EnhancedLen))
				}
			},
		},
	},
}

// privateDataScope is the scope of the rule on the private data of a whole frame.
func privateDataScope(c *conn, f *frame) Scope {
	h := &c.half[f.dir]
	if f.swallows(h.looseAt(f.end)) > 0 {
		return InScope
	}
	switch s, how := c.surplus(f); {
	case s == nil && h.hole && !(h.opening.seen() && h.opening.first.from == f.end):
		return Lacking(Contig)
	case s == nil:
		return InScope
	case how == unproven:
		return Lacking(Causal)
	case how == without:
		return InScope
	}
	return OutOfScope
}
