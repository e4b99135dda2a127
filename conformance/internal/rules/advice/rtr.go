package advice

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// refusalTime is how soon a responder gives up on an indication, in nanoseconds.
const refusalTime = int64(time.Second)

// rtrAdvice is about the indication that the initiator is ready to receive.
var rtrAdvice = []rules.Rule{
	{
		ID: "ADV-RTR-STAG-ZERO", If: model.Worded, Weighs: true, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Contig | catalogue.Full, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				if c.PeerToPeer() && c.HalfRead() {
					return rules.Lacking(catalogue.Full)
				}
				kind, ok := c.Indication()
				return rules.InScopeIf(c.PeerToPeer() && ok && kind != mpa.RTRSend)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				h := &c.Directions[trace.I2R]
				if h.First.STag != 0 {
					return
				}
				failure := c.Refused(0)
				res := &c.Directions[trace.R2I]
				if first := res.FirstSpan(); h.Count > 1 && (!res.First.Seen || first.Knew(h.Second.End) != model.Without) {
					failure = "" // it may be the second FPDU that was refused
				}
				kind, _ := c.Indication()
				reportAdvice(r, h.AtFirst(), kind.String()+" with STag 0", failure)
			},
		},
	},
	{
		ID: "ADV-RTR-ONE-TYPE", If: model.Worded, EitherSide: true, Weighs: true, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				if !c.PeerToPeer() {
					return rules.OutOfScope
				}
				request, reply := c.BothOffer()
				return rules.InScopeIf(request&reply != 0 && types(reply) > 1)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				first := &c.Directions[trace.I2R].First
				refused := first.Segment && first.Op == model.OpTerminate && model.StartupError(first.Code) == 7
				if failure := c.BacksOut(); refused || failure != "" && !first.Segment {
					request, reply := c.BothOffer()
					reportAdvice(r, c.Reply, fmt.Sprintf("Request %v, Reply %v", request, reply), failure)
				}
			},
		},
	},
	{
		ID: "ADV-RTR-PREFERENCE", If: model.Worded, Weighs: true, Needs: catalogue.Neg | catalogue.Layout, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: peerToPeer,
			Judge: func(r *rules.Report, c *model.Conn) {
				request, reply := c.BothOffer()
				if types(request&reply) < 2 {
					return
				}
				sent := "none sent"
				if kind, ok := c.Indication(); ok {
					sent = kind.String() + " sent"
				}
				reportAdvice(r, c.Reply, fmt.Sprintf("%v, %s", request&reply, sent), c.Refused(refusalTime))
			},
		},
	},
	{
		ID: "ADV-A-NOT-MIRRORED", If: model.Worded, Weighs: true, Needs: catalogue.Neg | catalogue.Layout, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(c.HasAgreed()) },
			Judge: func(r *rules.Report, c *model.Conn) {
				if c.RFC6581() && c.Request.EnhancedWord.A && !c.Reply.EnhancedWord.A {
					reportAdvice(r, c.Reply, "A=1 in the Request, A=0 in the Reply", c.BacksOut())
				}
			},
		},
	},
	{
		ID: "ADV-RTR-OTHER-TYPE", If: model.Worded, Weighs: true, Needs: catalogue.Neg | catalogue.Layout | catalogue.Start | catalogue.Contig | catalogue.Bidir, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.ComesFirst | rules.ComesLast},
		Advice: &rules.On[*model.Conn]{
			Applies: rules.HasIndication,
			Judge: func(r *rules.Report, c *model.Conn) {
				if r.FoundBy("MPA2-RTR-TYPE-01") == nil {
					return
				}
				if failure := c.Refused(0); failure != "" {
					kind, _ := c.Indication()
					reportAdvice(r, c.Directions[trace.I2R].AtFirst(), fmt.Sprintf("%v sent, Reply %v", kind, c.Offers(c.Reply)), failure)
				}
			},
		},
	},
	{
		ID: "ADV-RTR-SUBSTITUTE", If: model.Worded, EitherSide: true, Weighs: true, Needs: catalogue.Neg | catalogue.Layout, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: peerToPeer,
			Judge: func(r *rules.Report, c *model.Conn) {
				if request, reply := c.BothOffer(); request&reply == 0 && reply != 0 {
					reportAdvice(r, c.Reply, fmt.Sprintf("Request %v, Reply %v", request, reply), violated(r, trace.I2R, r.Entry().Explains...))
				}
			},
		},
	},
	{
		ID: "ADV-RTR-SEND-OFFERED", If: model.Worded, Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(k *rules.Case, c *model.Conn) rules.Scope {
				f := c.Request
				offered := f != nil && f.HasWord && c.RFC6581() && f.EnhancedWord.A && f.EnhancedWord.B
				return rules.InScopeIf(offered && (k.Has(catalogue.Layout) || !c.Enhanced()))
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				failure := ""
				if c.PeerToPeer() {
					if request, reply := c.BothOffer(); request&reply == 0 {
						failure = fmt.Sprintf("the Reply names %v", reply)
					}
				}
				reportAdvice(r, c.Request, "Request "+c.Offers(c.Request).String(), failure)
			},
		},
	},
	{
		ID: "ADV-REV1-RTR", Weighs: true, Needs: catalogue.Neg | catalogue.Start | catalogue.Contig, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.ComesFirst},
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				if c.Plain() && c.HalfRead() {
					return rules.Lacking(catalogue.Full)
				}
				return rules.InScopeIf(c.Plain())
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if kind, ok := c.Indication(); ok && kind != mpa.RTRSend {
					reportAdvice(r, c.Directions[trace.I2R].AtFirst(), kind.String()+" of length 0", c.Refused(0))
				}
			},
		},
	},
}

// peerToPeer is the scope of advice on connections on which an indication was agreed.
func peerToPeer(_ *rules.Case, c *model.Conn) rules.Scope { return rules.InScopeIf(c.PeerToPeer()) }

// types is how many types of indications are in a set.
func types(s mpa.RTRSet) int { return bits.OnesCount8(uint8(s)) }
