package startup

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// enhancedRules judge the enhanced startup: the revision, the S bit, and the flags of
// the establishment word (RFC 6581 section 9), over MPA and over SCTP.
var enhancedRules = []rules.Rule{
	{
		ID: "MPA2-REV-01", Transport: rules.OnTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		EndFrame: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				if wordOfRevision1(c.Conn, f) && !c.NoThird() {
					return rules.Lacking(catalogue.Contig) // it may be the S bit of the proposal of 2007
				}
				return rules.InScope
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if wordOfRevision1(r.Conn, f) {
					r.On(f, "the S bit is set in a revision that does not define it", fmt.Sprintf("S=1, revision %d", f.Rev), "revision 2")
				}
			},
		},
	},
	{
		ID: "MPA2-S-01", Transport: rules.OnTCP, Field: "iwarp_mpa.pdlength",
		Test: rules.Test{Needs: rules.SameMarkers | rules.SameCRC},
		Startup: &rules.On[*model.Frame]{
			Applies: func(_ *rules.Case, f *model.Frame) rules.Scope {
				return rules.InScopeIf(f.Kind != trace.KindRTR && f.Rev >= 2 && f.S)
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if f.PDLength < mpa.EnhancedLen {
					r.On(f, "S is set, but there is no room for the establishment word", fmt.Sprintf("PD_Length %d", f.PDLength), "at least 4")
				}
			},
		},
	},
	{
		ID: "MPA2-REV-04", Transport: rules.OnTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Request != nil && c.Reply != nil && c.Request.Rev != 0 && !c.Request.S && !c.Reply.S)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if c.Reply.Rev > c.Request.Rev {
					r.On(c.Reply, "the Reply has a higher revision than the Request", fmt.Sprint(c.Reply.Rev), fmt.Sprintf("at most %d", c.Request.Rev))
				}
			},
		},
	},
	{
		ID: "MPA2-ENH-REPLY-01", Transport: rules.OnTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		Test: rules.Test{Needs: rules.SameMarkers | rules.SameCRC}, // its Reply is spelled out, with the flags
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Request != nil && c.Reply != nil && c.Request.S && c.Request.Rev >= 2)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				draft := c.Trace.Layout == mpa.LayoutDraft01 && c.Reply.Rev >= 2
				if (!c.Reply.S || c.Reply.Rev < 2) && !draft {
					r.On(c.Reply, "an unenhanced Reply answers an enhanced Request", fmt.Sprintf("S=%d, revision %d", model.Bit(c.Reply.S), c.Reply.Rev), "S=1, revision 2")
				}
			},
		},
	},
	{
		ID: "MPA2-ENH-REPLY-02", Transport: rules.OnTCP, Field: "iwarp_mpa.enhanced_flag", AtStartup: true,
		Test: rules.Test{Needs: rules.SameMarkers | rules.SameCRC},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Request != nil && c.Reply != nil && !c.Request.S)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if c.Reply.S && c.Reply.Rev >= 2 {
					r.On(c.Reply, "an enhanced Reply answers an unenhanced Request", "S=1", "S=0")
				}
			},
		},
	},
	{
		ID: "MPA2-ENH-NOUSE-01", If: model.Worded, Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Request != nil && c.Request.HasWord && c.Trace.Transport != trace.SCTP)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if w := c.Request.EnhancedWord; !w.A && w.IRD == model.UnknownDepth && w.ORD == model.UnknownDepth {
					r.On(c.Request, "the enhanced Request negotiates nothing", "A=0, IRD and ORD 0x3fff", "an unenhanced one")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-02", If: model.Worded, Needs: catalogue.Layout, Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(c.RFC6581() && c.Enhanced()) },
			Judge: func(r *rules.Report, c *model.Conn) {
				q, a := c.Request.EnhancedWord.A, c.Reply.EnhancedWord.A
				if q == a {
					return
				}
				severity := catalogue.None
				if c.Trace.Outcome == trace.Rejected {
					severity = catalogue.Warning
				}
				r.OnAs(severity, c.Reply, "the Reply does not repeat the A flag of the Request", fmt.Sprintf("A=%d", model.Bit(a)), fmt.Sprintf("A=%d", model.Bit(q)))
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-03", If: model.Worded, Needs: catalogue.Layout, Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		YieldsTo: []string{"MPA2-WORD-ORDER-01"},
		EndFrame: &rules.On[*model.Frame]{
			Applies: rfc6581Word,
			Judge: func(r *rules.Report, f *model.Frame) {
				if w := f.EnhancedWord; !w.A && (w.B || w.C || w.D) {
					r.On(f, "RTR flags are set although A=0", fmt.Sprintf("B=%d C=%d D=%d", model.Bit(w.B), model.Bit(w.C), model.Bit(w.D)), "all 0")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-04", If: model.Worded, AtStartup: true,
		Test: rules.Test{
			NotDetected: "the first message is by chance the indication that draft -01 would have: the flags are right in its layout",
		},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.RFC6581() && c.Enhanced() && !c.Request.EnhancedWord.A)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				q, a := c.Request.EnhancedWord, c.Reply.EnhancedWord
				if !a.A && (q.B || q.C || q.D) && q.B == a.B && q.C == a.C && q.D == a.D {
					r.On(c.Reply, "the responder copies RTR flags that have no meaning with A=0", fmt.Sprintf("B=%d C=%d D=%d", model.Bit(a.B), model.Bit(a.C), model.Bit(a.D)), "flags ignored")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-BCD-01", If: model.Worded, Needs: catalogue.Layout, Transport: rules.OnTCP, AtStartup: true, First: true,
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				f := c.Request
				return rules.InScopeIf(f != nil && f.HasWord && c.RFC6581() && f.EnhancedWord.A)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if w := c.Request.EnhancedWord; !w.B && !w.C && !w.D {
					r.On(c.Request, "the Request asks for peer-to-peer mode but offers no RTR type", "B=C=D=0", "at least one")
					return
				}
				kind, ok := c.Indication()
				_, adjacent := c.FirstEnd(c.Request)
				switch {
				case !ok || !c.Enhanced() || !c.Offers(c.Reply).Has(kind) || c.Offers(c.Request).Has(kind):
				case !adjacent:
					r.Unproven(catalogue.Contig) // what is missing behind the Request may be the RTR
				default:
					r.OnAs(catalogue.Warning, c.Directions[trace.I2R].AtFirst(), "the RTR has a type that the Request did not offer", kind.String(), "a type that the Request offers")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-BCD-02", If: model.Worded, Needs: catalogue.Neg | catalogue.Layout, Transport: rules.OnTCP, Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		End: agreedWords(func(r *rules.Report, q, a mpa.Enhanced) {
			if !r.RFC6581() || !a.A || a.B || a.C || a.D {
				return
			}
			severity := catalogue.None
			if model.Bit(q.B)+model.Bit(q.C)+model.Bit(q.D) == 1 {
				severity = catalogue.Warning
			}
			r.OnAs(severity, r.Reply, "the Reply names no RTR type", "B=C=D=0", "at least one")
		}),
	},
	{
		ID: "MPA2-WORD-ORDER-01", If: model.Worded, AtStartup: true,
		EndFrame: &rules.On[*model.Frame]{
			Applies: rfc6581Word,
			Judge: func(r *rules.Report, f *model.Frame) {
				if w := f.EnhancedWord; f.Misread() {
					severity := catalogue.None
					if model.LegalFlags(w) {
						severity = catalogue.Note
					}
					r.OnAs(severity, f, "the octets of the establishment word may be swapped", model.DepthsOf(w), model.DepthsOf(model.Swapped(w)))
				}
			},
		},
	},
	{
		ID: "MPA2-D01-FLAG-01", If: model.Worded, Field: "iwarp_mpa.enhanced.D", AtStartup: true,
		Test: rules.Test{Draft01: true},
		EndFrame: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				return rules.InScopeIf(f.HasWord && c.Trace.Layout == mpa.LayoutDraft01)
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				if f.EnhancedWord.D {
					r.On(f, "flag D is set, which is reserved in draft -01", "D=1", "D=0")
				}
			},
		},
	},
	{
		ID: "MPA2-D01-FLAG-02", If: model.Worded, AtStartup: true,
		Test: rules.Test{Draft01: true},
		End: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Request != nil && c.Request.HasWord && c.Trace.Layout == mpa.LayoutDraft01)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if w := c.Request.EnhancedWord; !w.A && !w.B && !w.C {
					r.On(c.Request, "the Request of draft -01 offers no RTR type", "A=B=C=0", "each type that the initiator can send")
				}
			},
		},
	},
}

// agreedWords judges the words of the Request and of the Reply of an accepting startup.
func agreedWords(judge func(r *rules.Report, request, reply mpa.Enhanced)) *rules.On[*model.Conn] {
	return &rules.On[*model.Conn]{
		Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
			if c.HasAgreed() && c.RFC6581() && (c.Request.Misread() || c.Reply.Misread()) {
				return rules.Lacking(catalogue.Layout)
			}
			return rules.InScopeIf(c.HasAgreed())
		},
		Judge: func(r *rules.Report, c *model.Conn) { judge(r, c.Request.EnhancedWord, c.Reply.EnhancedWord) },
	}
}

// rfc6581Word is the scope of rules on an establishment word with the layout of RFC 6581.
func rfc6581Word(c *rules.Case, f *model.Frame) rules.Scope {
	return rules.InScopeIf(f.HasWord && c.RFC6581())
}

// wordOfRevision1 reports whether a frame has the S bit and room for the establishment
// word, but a revision that does not define them.
func wordOfRevision1(c *model.Conn, f *model.Frame) bool {
	return f.S && f.Rev < 2 && c.Rtr == nil && len(f.PrivateData) >= mpa.EnhancedLen
}
