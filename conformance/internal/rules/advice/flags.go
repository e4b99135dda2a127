package advice

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// flagAdvice is about flags and revisions of startup frames.
var flagAdvice = []rules.Rule{
	{
		ID: "ADV-REJECT-FLAGS", If: model.Worded, Weighs: true, Needs: catalogue.Layout, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Trace.Outcome == trace.Rejected && c.Enhanced() && c.RFC6581() && c.Reply.R)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if q, a := c.Request.EnhancedWord, c.Reply.EnhancedWord; q.A != a.A || !a.A && (a.B || a.C || a.D) {
					reportAdvice(r, c.Reply, fmt.Sprintf("Request A=%d, Reply A=%d B=%d C=%d D=%d", model.Bit(q.A), model.Bit(a.A), model.Bit(a.B), model.Bit(a.C), model.Bit(a.D)), "")
				}
			},
		},
	},
	{
		ID: "ADV-REPLY-ECHO", Weighs: true, Needs: catalogue.Neg, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				return rules.InScopeIf(c.Request != nil && c.Reply != nil)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if same := echoed(c); len(same) > 0 {
					reportAdvice(r, c.Reply, strings.Join(same, ", ")+" in both frames", rBitIgnored(c))
				}
			},
		},
	},
	{
		ID: "ADV-RDMAC-PEER", EitherSide: true, Weighs: true, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(rdmacPlace(c) != nil) },
			Judge: func(r *rules.Report, c *model.Conn) {
				failure := c.Aborted()
				for d := range c.Directions {
					if failure == "" {
						failure = violated(r, trace.Dir(d), "RNIC-IOP-VER-01", "RNIC-IOP-VER-02", "RNIC-IOP-VER-03")
					}
				}
				reportAdvice(r, rdmacPlace(c), rnics(c), failure)
			},
		},
	},
	{
		ID: "ADV-ERDMA-REV", EitherSide: true, Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(c.Foreign != nil) },
			Judge: func(r *rules.Report, c *model.Conn) {
				reportAdvice(r, c.Foreign, fmt.Sprintf("revision %d", model.ErdmaRev), "")
			},
		},
	},
}

// echoed names what a Reply should not have, and has in common with the Request.
func echoed(c *model.Conn) (same []string) {
	q, r := c.Request, c.Reply
	if both := q.Res & r.Res; both != 0 {
		same = append(same, fmt.Sprintf("reserved bits %#02x", both))
	}
	if q.R && r.R {
		same = append(same, "R=1")
	}
	if q.Rev == 0 && r.Rev == 0 && !q.M && !r.M {
		same = append(same, "revision 0 with M=0")
	}
	if q.S && r.S && q.Rev == 1 && r.Rev == 1 && c.Rtr == nil {
		same = append(same, "S=1 with revision 1")
	}
	return same
}

// rBitIgnored says how a responder continues although its Reply repeats the R bit, "" if
// it does not.
func rBitIgnored(c *model.Conn) string {
	h, f := &c.Directions[trace.R2I], &c.Trace.Flow[trace.I2R]
	k, closed := c.Closed()
	switch ini := &c.Directions[trace.I2R]; {
	case !c.Request.R || !c.Reply.R:
	case h.Count > 0:
		return fmt.Sprintf("the responder continues with an FPDU in frame %d", h.AtFirst().Frame)
	case ini.First.Segment && f.Acked >= ini.FirstSpan().End && (!closed || k.Dir == trace.I2R):
		return "the responder accepts the FPDUs of the initiator and does not close"
	}
	return ""
}

// rdmacPlace is where it shows that an end speaks as the RDMA Consortium does: a startup
// frame of revision 0, or the first FPDU of a side with version 0; nil if neither does.
func rdmacPlace(c *model.Conn) model.Placed {
	f := c.Request
	if f == nil || f.Rev > 0 && c.Reply != nil && c.Reply.Rev == 0 {
		f = c.Reply
	}
	if f != nil && f.Rev == 0 {
		return f
	}
	for i := range c.Directions {
		if h := &c.Directions[i]; h.HasVersions && h.DDPVersion == 0 && h.RDMAPVersion == 0 {
			return h.AtFirst()
		}
	}
	return nil
}

// rnics names the kinds of both ends (RFC 5044 appendix C.1).
func rnics(c *model.Conn) string {
	q, r := c.Request, c.Reply
	zero := func(h *model.Direction) bool { return h.HasVersions && h.DDPVersion == 0 }
	ini, res := "IETF", "IETF"
	switch {
	case q == nil:
		ini = "unknown"
		if zero(&c.Directions[trace.I2R]) {
			ini = "RDMAC or permissive"
		}
	case q.Rev == 0:
		ini = "RDMAC"
	case r != nil && r.Rev == 0 && zero(&c.Directions[trace.I2R]):
		ini = "permissive IETF"
	case r != nil && r.Rev == 0:
		ini = "IETF, permissive or not"
	}
	switch {
	case r == nil:
		res = "unknown"
		if zero(&c.Directions[trace.R2I]) {
			res = "RDMAC or permissive"
		}
	case r.Rev == 0 && q != nil && q.Rev == 0:
		res = "RDMAC or permissive IETF"
	case r.Rev == 0:
		res = "RDMAC"
	case q != nil && q.Rev == 0:
		res = "non-permissive IETF"
	}
	return "initiator " + ini + ", responder " + res
}
