package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/trace"
)

// erdmaRev is the revision of a protocol that has only the key of MPA.
const erdmaRev = 129

// flagAdvice is about flags and revisions of startup frames.
var flagAdvice = []check{
	{id: "ADV-REJECT-FLAGS", needs: Layout, transport: onTCP, advice: func(c *conn) {
		if c.t.Outcome != trace.Rejected || !c.enhanced() || !c.rfc6581() || !c.reply.R || !c.applies() {
			return
		}
		if q, r := c.request.word, c.reply.word; q.A != r.A || !r.A && (r.B || r.C || r.D) {
			c.adviseOn(c.reply, fmt.Sprintf("Request A=%d, Reply A=%d B=%d C=%d D=%d", bit(q.A), bit(r.A), bit(r.B), bit(r.C), bit(r.D)), "")
		}
	}},
	{id: "ADV-REPLY-ECHO", needs: Neg, transport: onTCP, advice: func(c *conn) {
		if c.request == nil || c.reply == nil || !c.applies() {
			return
		}
		q, r := c.request, c.reply
		same := ""
		add := func(has bool, what string) {
			if has && same != "" {
				same += ", "
			}
			if has {
				same += what
			}
		}
		if both := q.Res & r.Res; both != 0 {
			add(true, fmt.Sprintf("reserved bits %#02x", both))
		}
		add(q.R && r.R, "R=1")
		add(q.Rev == 0 && r.Rev == 0 && !q.M && !r.M, "revision 0 with M=0")
		add(q.S && r.S && q.Rev == 1 && r.Rev == 1 && c.rtr == nil, "S=1 with revision 1")
		if same != "" {
			c.adviseOn(r, same+" in both frames", c.goesOn())
		}
	}},
	{id: "ADV-RDMAC-PEER", transport: onTCP, advice: func(c *conn) {
		f := c.request
		if f == nil || f.Rev > 0 && c.reply != nil && c.reply.Rev == 0 {
			f = c.reply
		}
		zero := func(h *half) bool { return h.hasVersions && h.dv == 0 && h.rv == 0 }
		a, b := &c.half[trace.I2R], &c.half[trace.R2I]
		failure := c.givenUp()
		for d := range c.half {
			if failure == "" {
				failure = c.breaks(trace.Dir(d), "RNIC-IOP-VER-01", "RNIC-IOP-VER-02", "RNIC-IOP-VER-03")
			}
		}
		switch {
		case f != nil && f.Rev == 0 && c.applies():
			c.adviseOn(f, c.rnics(), failure)
		case zero(a) && c.applies():
			c.advise(a.atFirst(), c.rnics(), failure)
		case zero(b) && c.applies():
			c.advise(b.atFirst(), c.rnics(), failure)
		}
	}},
	{id: "ADV-ERDMA-REV", needs: Full, transport: onTCP, advice: func(c *conn) {
		if f := c.foreign; f != nil && c.applies() {
			c.adviseOn(f, fmt.Sprintf("revision %d", erdmaRev), "")
		}
	}},
}

// goesOn tells how a responder whose Reply repeats the R bit takes no notice of it.
func (c *conn) goesOn() string {
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

// rnics names the kinds of both ends (RFC 5044 appendix C.1).
func (c *conn) rnics() string {
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
