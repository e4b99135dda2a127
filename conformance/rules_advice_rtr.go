package conformance

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// refusalTime is how soon a responder gives up on an indication, in nanoseconds.
const refusalTime = int64(time.Second)

// rtrAdvice is about the indication that the initiator is ready to receive.
var rtrAdvice = []Rule{
	{
		ID: "ADV-RTR-STAG-ZERO", Needs: Neg | Layout | Start | Contig | Full, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if c.peerToPeer() && c.halfRead() {
					return Lacking(Full)
				}
				kind, ok := c.indication()
				return InScopeIf(c.peerToPeer() && ok && kind != mpa.RTRSend)
			},
			Judge: func(r *Report, c *conn) {
				h := &c.half[trace.I2R]
				if h.first.stag != 0 {
					return
				}
				failure := c.refused(0)
				if res := c.half[trace.R2I].first; h.count > 1 && (!res.seen || res.knew(h.second.end) != without) {
					failure = "" // it may be the second FPDU that was refused
				}
				kind, _ := c.indication()
				reportAdvice(r, h.atFirst(), kind.String()+" with STag 0", failure)
			},
		},
	},
	{
		ID: "ADV-RTR-ONE-TYPE", Needs: Neg | Layout | Start, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if !c.peerToPeer() {
					return OutOfScope
				}
				request, reply := c.bothOffer()
				return InScopeIf(request&reply != 0 && types(reply) > 1)
			},
			Judge: func(r *Report, c *conn) {
				first := &c.half[trace.I2R].first
				refused := first.segment && first.op == opTerminate && startupError(first.code) == 7
				if failure := c.backsOut(); refused || failure != "" && !first.segment {
					request, reply := c.bothOffer()
					reportAdvice(r, c.reply, fmt.Sprintf("Request %v, Reply %v", request, reply), failure)
				}
			},
		},
	},
	{
		ID: "ADV-RTR-PREFERENCE", Needs: Neg | Layout, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: peerToPeer,
			Judge: func(r *Report, c *conn) {
				request, reply := c.bothOffer()
				if types(request&reply) < 2 {
					return
				}
				sent := "none sent"
				if kind, ok := c.indication(); ok {
					sent = kind.String() + " sent"
				}
				reportAdvice(r, c.reply, fmt.Sprintf("%v, %s", request&reply, sent), c.refused(refusalTime))
			},
		},
	},
	{
		ID: "ADV-A-NOT-MIRRORED", Needs: Neg | Layout, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope { return InScopeIf(c.hasAgreed()) },
			Judge: func(r *Report, c *conn) {
				if c.rfc6581() && c.request.word.A && !c.reply.word.A {
					reportAdvice(r, c.reply, "A=1 in the Request, A=0 in the Reply", c.backsOut())
				}
			},
		},
	},
	{
		ID: "ADV-RTR-OTHER-TYPE", Needs: Neg | Layout | Start | Contig | Bidir, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if c.peerToPeer() && c.halfRead() {
					return Lacking(Full)
				}
				_, ok := c.indication()
				return InScopeIf(c.peerToPeer() && ok)
			},
			Judge: func(r *Report, c *conn) {
				if r.FoundBy("MPA2-RTR-TYPE-01") == nil {
					return
				}
				if failure := c.refused(0); failure != "" {
					kind, _ := c.indication()
					reportAdvice(r, c.half[trace.I2R].atFirst(), fmt.Sprintf("%v sent, Reply %v", kind, c.offers(c.reply)), failure)
				}
			},
		},
	},
	{
		ID: "ADV-RTR-SUBSTITUTE", Needs: Neg | Layout, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: peerToPeer,
			Judge: func(r *Report, c *conn) {
				if request, reply := c.bothOffer(); request&reply == 0 && reply != 0 {
					reportAdvice(r, c.reply, fmt.Sprintf("Request %v, Reply %v", request, reply), violated(r, trace.I2R, r.Entry().Explains...))
				}
			},
		},
	},
	{
		ID: "ADV-RTR-SEND-OFFERED", Needs: Full, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(k *Case, c *conn) Scope {
				f := c.request
				offered := f != nil && f.hasWord && c.rfc6581() && f.word.A && f.word.B
				return InScopeIf(offered && (k.Has(Layout) || !c.enhanced()))
			},
			Judge: func(r *Report, c *conn) {
				failure := ""
				if c.peerToPeer() {
					if request, reply := c.bothOffer(); request&reply == 0 {
						failure = fmt.Sprintf("the Reply names %v", reply)
					}
				}
				reportAdvice(r, c.request, "Request "+c.offers(c.request).String(), failure)
			},
		},
	},
	{
		ID: "ADV-REV1-RTR", Needs: Neg | Start | Contig, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if c.plain() && c.halfRead() {
					return Lacking(Full)
				}
				return InScopeIf(c.plain())
			},
			Judge: func(r *Report, c *conn) {
				if kind, ok := c.indication(); ok && kind != mpa.RTRSend {
					reportAdvice(r, c.half[trace.I2R].atFirst(), kind.String()+" of length 0", c.refused(0))
				}
			},
		},
	},
}

// peerToPeer is the scope of advice on connections on which an indication was agreed.
func peerToPeer(_ *Case, c *conn) Scope { return InScopeIf(c.peerToPeer()) }

// types is how many types of indications are in a set.
func types(s mpa.RTRSet) int { return bits.OnesCount8(uint8(s)) }
