package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// enhancedRules judge the enhanced startup: the revision, the S bit, and the flags of
// the establishment word (RFC 6581 section 9), over MPA and over SCTP.
var enhancedRules = []Rule{
	{
		ID: "MPA2-REV-01", Transport: onTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		EndFrame: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				if wordOfRevision1(c.conn, f) && !c.noThird() {
					return Lacking(Contig) // it may be the S bit of the proposal of 2007
				}
				return InScope
			},
			Judge: func(r *Report, f *frame) {
				if wordOfRevision1(r.conn, f) {
					r.On(f, "the S bit with a revision that has none", fmt.Sprintf("S=1, revision %d", f.Rev), "revision 2")
				}
			},
		},
	},
	{
		ID: "MPA2-S-01", Transport: onTCP, Field: "iwarp_mpa.pdlength",
		Startup: &On[*frame]{
			Applies: func(_ *Case, f *frame) Scope { return InScopeIf(f.kind != trace.KindRTR && f.Rev >= 2 && f.S) },
			Judge: func(r *Report, f *frame) {
				if f.PDLength < mpa.EnhancedLen {
					r.On(f, "S=1, and no room for the establishment word", fmt.Sprintf("PD_Length %d", f.PDLength), "at least 4")
				}
			},
		},
	},
	{
		ID: "MPA2-REV-04", Transport: onTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.request != nil && c.reply != nil && c.request.Rev != 0 && !c.request.S && !c.reply.S)
			},
			Judge: func(r *Report, c *conn) {
				if c.reply.Rev > c.request.Rev {
					r.On(c.reply, "the Reply has a higher revision than the Request", fmt.Sprint(c.reply.Rev), fmt.Sprintf("at most %d", c.request.Rev))
				}
			},
		},
	},
	{
		ID: "MPA2-ENH-REPLY-01", Transport: onTCP, Field: "iwarp_mpa.rev", AtStartup: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.request != nil && c.reply != nil && c.request.S && c.request.Rev >= 2)
			},
			Judge: func(r *Report, c *conn) {
				draft := c.t.Layout == mpa.LayoutDraft01 && c.reply.Rev >= 2
				if (!c.reply.S || c.reply.Rev < 2) && !draft {
					r.On(c.reply, "an unenhanced Reply to an enhanced Request", fmt.Sprintf("S=%d, revision %d", bit(c.reply.S), c.reply.Rev), "S=1, revision 2")
				}
			},
		},
	},
	{
		ID: "MPA2-ENH-REPLY-02", Transport: onTCP, Field: "iwarp_mpa.enhanced_flag", AtStartup: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.request != nil && c.reply != nil && !c.request.S)
			},
			Judge: func(r *Report, c *conn) {
				if c.reply.S && c.reply.Rev >= 2 {
					r.On(c.reply, "an enhanced Reply to an unenhanced Request", "S=1", "S=0")
				}
			},
		},
	},
	{
		ID: "MPA2-ENH-NOUSE-01", Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.request != nil && c.request.hasWord && c.t.Transport != trace.SCTP)
			},
			Judge: func(r *Report, c *conn) {
				if w := c.request.word; !w.A && w.IRD == unknownDepth && w.ORD == unknownDepth {
					r.On(c.request, "an enhanced Request that negotiates nothing", "A=0, IRD and ORD 0x3fff", "an unenhanced one")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-02", Needs: Layout, Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(c.rfc6581() && c.enhanced()) },
			Judge: func(r *Report, c *conn) {
				q, a := c.request.word.A, c.reply.word.A
				if q == a {
					return
				}
				severity := None
				if c.t.Outcome == trace.Rejected {
					severity = Warning
				}
				r.OnAs(severity, c.reply, "the Reply does not repeat the A flag of the Request", fmt.Sprintf("A=%d", bit(a)), fmt.Sprintf("A=%d", bit(q)))
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-03", Needs: Layout, Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		YieldsTo: []string{"MPA2-WORD-ORDER-01"},
		EndFrame: &On[*frame]{
			Applies: rfc6581Word,
			Judge: func(r *Report, f *frame) {
				if w := f.word; !w.A && (w.B || w.C || w.D) {
					r.On(f, "flags of indications with A=0", fmt.Sprintf("B=%d C=%d D=%d", bit(w.B), bit(w.C), bit(w.D)), "all 0")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-04", AtStartup: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.rfc6581() && c.enhanced() && !c.request.word.A)
			},
			Judge: func(r *Report, c *conn) {
				q, a := c.request.word, c.reply.word
				if !a.A && (q.B || q.C || q.D) && q.B == a.B && q.C == a.C && q.D == a.D {
					r.On(c.reply, "the responder repeats flags that mean nothing with A=0", fmt.Sprintf("B=%d C=%d D=%d", bit(a.B), bit(a.C), bit(a.D)), "ignored")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-BCD-01", Needs: Layout, Transport: onTCP, AtStartup: true, First: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				f := c.request
				return InScopeIf(f != nil && f.hasWord && c.rfc6581() && f.word.A)
			},
			Judge: func(r *Report, c *conn) {
				if w := c.request.word; !w.B && !w.C && !w.D {
					r.On(c.request, "peer-to-peer, and no type of indication is offered", "B=C=D=0", "at least one")
					return
				}
				if kind, ok := c.indication(); ok && c.enhanced() && c.offers(c.reply).Has(kind) && !c.offers(c.request).Has(kind) {
					r.OnAs(Warning, c.half[trace.I2R].atFirst(), "an indication of a type that the Request did not offer", kind.String(), "offered in the Request")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-BCD-02", Needs: Neg | Layout, Transport: onTCP, Field: "iwarp_mpa.enhanced.a", AtStartup: true,
		End: agreedWords(func(r *Report, q, a mpa.Enhanced) {
			if !r.rfc6581() || !a.A || a.B || a.C || a.D {
				return
			}
			severity := None
			if bit(q.B)+bit(q.C)+bit(q.D) == 1 {
				severity = Warning
			}
			r.OnAs(severity, r.reply, "the Reply names no type of indication", "B=C=D=0", "at least one")
		}),
	},
	{
		ID: "MPA2-WORD-ORDER-01", AtStartup: true,
		EndFrame: &On[*frame]{
			Applies: rfc6581Word,
			Judge: func(r *Report, f *frame) {
				w, o := f.word, swapped(f.word)
				legal := func(e mpa.Enhanced) bool { return e.A || !e.B && !e.C && !e.D }
				message := "the octets of the word may be swapped"
				switch {
				case !legal(w) && legal(o) && o.IRD <= 1024 && o.ORD <= 1024:
					r.On(f, message, depthsOf(w), depthsOf(o))
				case legal(w) && w.IRD > 1024 && w.ORD > 1024 && w.IRD != unknownDepth && w.ORD != unknownDepth && legal(o) && o.IRD <= 255 && o.ORD <= 255:
					r.OnAs(Note, f, message, depthsOf(w), depthsOf(o))
				}
			},
		},
	},
	{
		ID: "MPA2-D01-FLAG-01", Field: "iwarp_mpa.enhanced.D", AtStartup: true,
		EndFrame: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope { return InScopeIf(f.hasWord && c.t.Layout == mpa.LayoutDraft01) },
			Judge: func(r *Report, f *frame) {
				if f.word.D {
					r.On(f, "flag D, which draft -01 keeps reserved, is set", "D=1", "D=0")
				}
			},
		},
	},
	{
		ID: "MPA2-D01-FLAG-02", AtStartup: true,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.request != nil && c.request.hasWord && c.t.Layout == mpa.LayoutDraft01)
			},
			Judge: func(r *Report, c *conn) {
				if w := c.request.word; !w.A && !w.B && !w.C {
					r.On(c.request, "a Request of draft -01 that offers no indication", "A=B=C=0", "each that it is able to send")
				}
			},
		},
	},
}

// agreedWords judges the words of the Request and of the Reply of an accepting startup.
func agreedWords(judge func(r *Report, request, reply mpa.Enhanced)) *On[*conn] {
	return &On[*conn]{
		Applies: func(_ *Case, c *conn) Scope { return InScopeIf(c.hasAgreed()) },
		Judge:   func(r *Report, c *conn) { judge(r, c.request.word, c.reply.word) },
	}
}

// rfc6581Word is the scope of rules on a word that is laid out as in RFC 6581.
func rfc6581Word(c *Case, f *frame) Scope { return InScopeIf(f.hasWord && c.rfc6581()) }

// wordOfRevision1 reports whether a frame has the S bit and room for the word, but a
// revision that does not have them.
func wordOfRevision1(c *conn, f *frame) bool {
	return f.S && f.Rev < 2 && c.rtr == nil && len(f.PrivateData) >= mpa.EnhancedLen
}

// swapped is a word with the octets of both halves swapped.
func swapped(e mpa.Enhanced) mpa.Enhanced {
	b := e.Append(nil)
	b[0], b[1], b[2], b[3] = b[1], b[0], b[3], b[2]
	o, _ := mpa.DecodeEnhanced(b)
	return o
}
