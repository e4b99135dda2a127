package conformance

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// startupKeyRules judge what stands where a startup frame has to be: its key, and its
// end (RFC 5044 section 7.1.1).
var startupKeyRules = []Rule{
	{
		ID: "MPA-REQ-KEY-01", Needs: Start | Full, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				evidence := c.startupGates(&c.half[trace.I2R])
				s, ok := c.badRequest()
				switch {
				case c.backwards() != nil:
					return InScope.GivenOnly(evidence)
				case s != nil && !ok:
					return Lacking(Full).GivenOnly(evidence)
				}
				return InScopeIf(s != nil || c.request != nil).GivenOnly(evidence)
			},
			Judge: func(r *Report, c *conn) {
				if f := c.backwards(); f != nil {
					r.On(f, "the side that opens the exchange sends a Reply", "MPA ID Rep Frame", "MPA ID Req Frame")
				} else if s, _ := c.badRequest(); s != nil {
					r.On(s.begin(), "the key of the Request is wrong", inQuotes(s.octets), "MPA ID Req Frame")
				}
			},
		},
	},
	{
		ID: "MPA-REP-KEY-01", Needs: Start | Contig | Full, Transport: onTCP,
		End: &On[*conn]{
			Applies: replyKeyScope,
			Judge: func(r *Report, c *conn) {
				q, _ := c.pair()
				h := &c.half[trace.R2I]
				if len(h.frames) > 0 {
					return
				}
				severity, message := Note, "the peer does not speak MPA here"
				s := h.answers(q)
				if mpa.NearKey(s.octets) {
					severity, message = None, "the key of the Reply is wrong"
				}
				r.OnAs(severity, s.begin(), message, inQuotes(s.octets), "MPA ID Rep Frame")
			},
		},
	},
	{
		ID: "MPA-START-08A", Needs: Start | Bidir, Transport: onTCP,
		YieldsTo: []string{"MPA-RTR07-KEY-01"},
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.request != nil).GivenOnly(c.startupGates(&c.half[0], &c.half[1]))
			},
			Judge: func(r *Report, c *conn) {
				if f := c.secondRequest(); f != nil {
					r.On(f, "both sides send a Request", "MPA ID Req Frame", "MPA ID Rep Frame")
				}
			},
		},
	},
	{
		ID: "MPA-START-08C", Needs: Start | Sync, Transport: onTCP,
		Startup: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				another := f.kind == trace.KindRequest && len(c.half[f.dir].ofKind(f.kind)) > 1
				return InScopeIf(another && c.reply != nil && c.reply.R).Given(Sync)
			},
			Judge: func(r *Report, f *frame) {
				r.OnAs(Note, f, "another Request after a reject", "a second Request", "legal, and worth knowing")
			},
		},
		Loose: &On[*loose]{
			Applies: func(c *Case, s *loose) Scope { return InScopeIf(keyed(s.octets) && s.placed && c.accepted()) },
			Judge: func(r *Report, s *loose) {
				if !r.Reported(s.half) {
					r.On(s.begin(), "another startup frame in full operation", inQuotes(s.octets), "an FPDU")
				}
			},
		},
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(c.accepted()) },
		},
	},
	{
		ID: "MPA-PHASE-PLAIN-01", Needs: Start | Full, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				judged := func(f *frame) bool { return !f.partial && h.looseAt(f.end) == nil || c.crcBehind(f) != nil }
				return InScopeIf(h.leadingMarker() != nil || slices.ContainsFunc(h.frames, judged)).GivenOnly(c.startupGates(h))
			},
			Judge: func(r *Report, h *half) {
				report := func(s *loose, message string) {
					r.On(s.begin(), message, fmt.Sprintf("% x", s.octets), "the frame alone")
				}
				for _, f := range h.frames {
					if s := r.crcBehind(f); s != nil {
						report(s, "the startup frame has a CRC behind it, as if it were an FPDU")
					}
				}
				if s := h.leadingMarker(); s != nil {
					report(s, "the startup frame has a marker in front")
				}
			},
		},
	},
	{
		ID: "TCP-FIN-STARTUP-01", Needs: Start | Contig | Full, Transport: onTCP,
		EndDirection: &On[*half]{
			Applies: func(c *Case, h *half) Scope {
				evidence := c.startupGates(h)
				if c.t.Flow[h.dir].Cut {
					evidence &^= Full
				}
				if h.unfinished() == nil {
					return InScopeIf(len(h.frames) > 0).GivenOnly(evidence)
				}
				return InScopeIf(cutByFIN(c.conn, h)).GivenOnly(evidence)
			},
			Judge: func(r *Report, h *half) {
				p := h.unfinished()
				if p == nil {
					return
				}
				at := p.Place
				at.Frame = r.t.Flow[h.dir].FIN.Frame
				r.On(at, "a FIN in the middle of a startup frame: the stream was cut, or PD_Length is too large", fmt.Sprintf("%d octets", p.have), fmt.Sprint(p.need))
			},
		},
	},
}

// replyKeyScope is the scope of the rule on what stands where the Reply should.
func replyKeyScope(_ *Case, c *conn) Scope {
	h := &c.half[trace.R2I]
	q, _ := c.pair()
	if q == nil {
		return OutOfScope
	}
	evidence := c.startupGates(h)
	if len(h.frames) > 0 {
		return InScope.GivenOnly(evidence)
	}
	s := h.answers(q)
	if s == nil {
		return OutOfScope
	}
	evidence |= Contig // whatever is missing is behind it
	if s.gap {
		evidence &^= Contig
	}
	switch {
	case len(s.octets) < mpa.KeyLen:
		return Lacking(Full).GivenOnly(evidence)
	case mpa.NearKey(s.octets):
		return InScope.GivenOnly(evidence)
	case c.t.Flow[trace.R2I].Cut || h.hole:
		return Lacking(Full).GivenOnly(evidence)
	case headed(s.octets): // an FPDU: it speaks MPA, but has sent no Reply
		return OutOfScope
	}
	return InScope.GivenOnly(evidence)
}

// cutByFIN reports whether a half ended its stream with a FIN while the other side was
// still waiting for the rest of a startup frame.
func cutByFIN(c *conn, h *half) bool {
	mine, its := &c.t.Flow[h.dir], &c.t.Flow[h.peer.dir]
	if mine.FIN == nil || mine.RST != nil || its.RST != nil {
		return false
	}
	return its.FIN == nil || mine.FIN.Acked <= its.FIN.At
}

// inQuotes is a key for people.
func inQuotes(b []byte) string { return fmt.Sprintf("%q", b[:min(len(b), mpa.KeyLen)]) }
