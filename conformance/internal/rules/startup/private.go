package startup

import (
	"fmt"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// privateDataRules judge PD_Length and what follows a startup frame (RFC 5044 section
// 7.1.1).
var privateDataRules = []rules.Rule{
	{
		ID: "MPA-PDLEN-01", Needs: catalogue.Start, Transport: rules.OnTCP, Tells: true,
		YieldsTo: []string{"MPA2-PDLEN-01", "MPA-START-02A"},
		EndPair: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				if f.Partial && c.Swallows(f) == 0 {
					return rules.OutOfScope
				}
				return privateDataScope(c.Conn, f).GivenOnly(c.StartupGates(&c.Directions[f.Dir]))
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if at := r.Swallows(f); at > 0 {
					v := rules.Violation{
						Place: f.Header(), Message: "an FPDU begins inside the private data that the frame announces",
						Observed: fmt.Sprintf("PD_Length %d", f.PDLength), Expected: fmt.Sprint(at - mpa.StartupLen),
					}
					if n := at - mpa.StartupLen; int(f.PDLength) == int(bits.ReverseBytes16(uint16(n))) {
						v.Message += "; the two octets of PD_Length are swapped"
						v.Variant = catalogue.SwappedOctets
					}
					r.Report(v)
					return
				}
				if s, _ := r.Surplus(f); s != nil {
					at := f.Where()
					at.Frame = s.Start
					r.On(at, "the private data is longer than the frame announces", moreOctets(int(s.Length)), fmt.Sprintf("PD_Length %d", f.PDLength))
				}
			},
		},
	},
	{
		ID: "MPA2-PDLEN-01", Needs: catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		EndFrame: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				return rules.InScopeIf(f.S && f.Rev >= 2 && f.PDLength <= mpa.MaxPrivateData).GivenOnly(f.StartupEvidence(c.Evidence()))
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				switch n, o := r.Overrun(f); {
				case n > 0 && r.Trace.Flow[f.Dir].Cut:
					r.Unproven(catalogue.Full)
				case n != mpa.EnhancedLen || r.IsCRC(f):
				case o == model.Unproven:
					r.Unproven(catalogue.Causal)
				case o == model.Without:
					r.On(f, "the private data is four octets longer than the "+model.KindName(f.Kind)+" announces; the establishment word was not counted",
						fmt.Sprintf("PD_Length %d", f.PDLength), fmt.Sprint(f.PDLength+mpa.EnhancedLen))
				}
			},
		},
	},
}

// moreOctets is a number of octets beyond those that were announced.
func moreOctets(n int) string {
	if n == 1 {
		return "1 octet more"
	}
	return fmt.Sprintf("%d octets more", n)
}

// privateDataScope is the scope of the rule on the private data of a whole frame.
func privateDataScope(c *model.Conn, f *model.Frame) rules.Scope {
	h := &c.Directions[f.Dir]
	if c.Swallows(f) > 0 {
		return rules.InScope
	}
	switch s, how := c.Surplus(f); {
	case s == nil && h.Hole && !(h.Opening.Seen() && h.Opening.First.From == f.End):
		return rules.Lacking(catalogue.Contig)
	case s == nil:
		return rules.InScope
	case how == model.Unproven:
		return rules.Lacking(catalogue.Causal)
	case how == model.Without:
		return rules.InScope
	}
	return rules.OutOfScope
}
