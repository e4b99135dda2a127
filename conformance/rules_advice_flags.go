package conformance

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/trace"
)

// flagAdvice is about flags and revisions of startup frames.
var flagAdvice = []Rule{
	{
		ID: "ADV-REJECT-FLAGS", Needs: Layout, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.t.Outcome == trace.Rejected && c.enhanced() && c.rfc6581() && c.reply.R)
			},
			Judge: func(r *Report, c *conn) {
				if q, a := c.request.word, c.reply.word; q.A != a.A || !a.A && (a.B || a.C || a.D) {
					reportAdvice(r, c.reply, fmt.Sprintf("Request A=%d, Reply A=%d B=%d C=%d D=%d", bit(q.A), bit(a.A), bit(a.B), bit(a.C), bit(a.D)), "")
				}
			},
		},
	},
	{
		ID: "ADV-REPLY-ECHO", Needs: Neg, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(c.request != nil && c.reply != nil) },
			Judge: func(r *Report, c *conn) {
				if same := echoed(c); len(same) > 0 {
					reportAdvice(r, c.reply, strings.Join(same, ", ")+" in both frames", rBitIgnored(c))
				}
			},
		},
	},
	{
		ID: "ADV-RDMAC-PEER", Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(rdmacPlace(c) != nil) },
			Judge: func(r *Report, c *conn) {
				failure := c.givenUp()
				for d := range c.half {
					if failure == "" {
						failure = violated(r, trace.Dir(d), "RNIC-IOP-VER-01", "RNIC-IOP-VER-02", "RNIC-IOP-VER-03")
					}
				}
				reportAdvice(r, rdmacPlace(c), rnics(c), failure)
			},
		},
	},
	{
		ID: "ADV-ERDMA-REV", Needs: Full, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(c.foreign != nil) },
			Judge: func(r *Report, c *conn) {
				reportAdvice(r, c.foreign, fmt.Sprintf("revision %d", erdmaRev), "")
			},
		},
	},
}

// echoed names what a Reply should not have, and has in common with the Request.
func echoed(c *conn) (same []string) {
	q, r := c.request, c.reply
	if both := q.Res & r.Res; both != 0 {
		same = append(same, fmt.Sprintf("reserved bits %#02x", both))
	}
	if q.R && r.R {
		same = append(same, "R=1")
	}
	if q.Rev == 0 && r.Rev == 0 && !q.M && !r.M {
		same = append(same, "revision 0 with M=0")
	}
	if q.S && r.S && q.Rev == 1 && r.Rev == 1 && c.rtr == nil {
		same = append(same, "S=1 with revision 1")
	}
	return same
}

// rBitIgnored tells how a responder whose Reply repeats the R bit takes no notice of it,
// "" if it does.
func rBitIgnored(c *conn) string {
	h, f := &c.half[trace.R2I], &c.t.Flow[trace.I2R]
	k, closed := c.closed()
	switch ini := &c.half[trace.I2R].first; {
	case !c.request.R || !c.reply.R:
	case h.count > 0:
		return fmt.Sprintf("the responder goes on with an FPDU in frame %d", h.first.frame)
	case ini.segment && f.Acked >= ini.end && (!closed || k.dir == trace.I2R):
		return "the responder takes the FPDUs of the initiator and does not close"
	}
	return ""
}

// rdmacPlace is where it shows that an end speaks as the RDMA Consortium does: a startup
// frame of revision 0, or the first FPDU of a side with version 0; nil if neither does.
func rdmacPlace(c *conn) Placed {
	f := c.request
	if f == nil || f.Rev > 0 && c.reply != nil && c.reply.Rev == 0 {
		f = c.reply
	}
	if f != nil && f.Rev == 0 {
		return f
	}
	for i := range c.half {
		if h := &c.half[i]; h.hasVersions && h.dv == 0 && h.rv == 0 {
			return h.atFirst()
		}
	}
	return nil
}

// rnics names the kinds of both ends (RFC 5044 appendix C.1).
func rnics(c *conn) string {
	q, r := c.request, c.reply
	zero := func(h *half) bool { return h.hasVersions && h.dv == 0 }
	ini, res := "IETF", "IETF"
	switch {
	case q == nil:
		ini = "unknown"
		if zero(&c.half[trace.I2R]) {
			ini = "RDMAC or permissive"
		}
	case q.Rev == 0:
		ini = "RDMAC"
	case r != nil && r.Rev == 0 && zero(&c.half[trace.I2R]):
		ini = "permissive IETF"
	case r != nil && r.Rev == 0:
		ini = "IETF, permissive or not"
	}
	switch {
	case r == nil:
		res = "unknown"
		if zero(&c.half[trace.R2I]) {
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
