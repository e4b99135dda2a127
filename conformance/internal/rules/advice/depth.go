package advice

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// smbDirect is the port of SMB Direct, whose private data is known (MS-SMBD).
const smbDirect = 5445

// depthAdvice is about IRD and ORD.
var depthAdvice = []rules.Rule{
	{
		ID: "ADV-IRD-SILENT-CLOSE", If: model.Worded, EitherSide: true, Weighs: true, Needs: catalogue.Neg | catalogue.Layout | catalogue.Bidir, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				if c.HasAgreed() && depthExceeded(c) {
					return rules.InScope.Needing(catalogue.End)
				}
				return rules.InScopeIf(c.HasAgreed())
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if !depthExceeded(c) {
					return
				}
				if failure := c.GivenUp(); failure != "" {
					q, a := c.Request.EnhancedWord, c.Reply.EnhancedWord
					reportAdvice(r, c.Reply, fmt.Sprintf("Request IRD %d ORD %d, Reply IRD %d ORD %d", q.IRD, q.ORD, a.IRD, a.ORD), failure)
				}
			},
		},
	},
	{
		ID: "ADV-REV1-NO-DEPTH", Weighs: true, Needs: catalogue.Neg | catalogue.Start, Transport: rules.OnTCP,
		Test: rules.Test{Needs: rules.ComesFirst | rules.ComesLast}, // the responder never sends an FPDU
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				if c.Directions[trace.R2I].Count == 0 {
					return rules.InScopeIf(c.Plain()).Needing(catalogue.End)
				}
				return rules.InScopeIf(c.Plain())
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				if c.Directions[trace.R2I].Count > 0 || c.Trace.Flow[trace.I2R].Op(model.OpSend).Segments == 0 {
					return
				}
				if f, _ := lastFault(&r.Case); f != nil {
					return // which is why the responder left, or a better guess
				}
				if k, ok := c.Leaves(trace.R2I); ok {
					reportAdvice(r, k.Where(), fmt.Sprintf("the responder %s after a Send, without sending an FPDU", k.Verb()), "")
				}
			},
		},
	},
	{
		ID: "ADV-SMBD-LE-IRDORD", Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		AdviceFrame: &rules.On[*model.Frame]{
			Applies: func(c *rules.Case, f *model.Frame) rules.Scope {
				return rules.InScopeIf(isSMBDirect(c.Conn) && len(upperData(f)) == 8 && !f.Partial)
			},
			Judge: func(r *rules.Report, f *model.Frame) {
				b := upperData(f)
				ird, ord := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
				if binary.BigEndian.Uint32(b) > 0xffff && binary.BigEndian.Uint32(b[4:]) > 0xffff && ird <= model.UnknownDepth && ord <= model.UnknownDepth {
					reportAdvice(r, f, fmt.Sprintf("% x: IRD %d, ORD %d", b, ird, ord), leftAfter(r.Conn, f))
				}
			},
		},
	},
	{
		ID: "ADV-SMBD-LEGACY-HEADER", Weighs: true, Needs: catalogue.Full, Transport: rules.OnTCP,
		Advice: &rules.On[*model.Conn]{
			Applies: func(_ *rules.Case, c *model.Conn) rules.Scope {
				f := c.Request
				return rules.InScopeIf(f != nil && f.Rev == 1 && c.Trace.Side[trace.R2I].Addr.Port() == smbDirect && len(f.PrivateData) >= 8 && !f.Partial)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				b := c.Request.PrivateData
				if ird, ord := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]); ird <= model.UnknownDepth && ord <= model.UnknownDepth {
					reportAdvice(r, c.Request, fmt.Sprintf("IRD %d, ORD %d", ird, ord), "")
				}
			},
		},
	},
}

// depthExceeded reports whether one side wants more requests outstanding than the other
// one takes, and the initiator sent no FPDU.
func depthExceeded(c *model.Conn) bool {
	q, a := c.Request.EnhancedWord, c.Reply.EnhancedWord
	above := func(x, y uint16) bool { return x != model.UnknownDepth && y != model.UnknownDepth && x > y }
	return (above(a.ORD, q.IRD) || above(q.ORD, a.IRD)) && c.Directions[trace.I2R].Count == 0
}

// upperData is the private data of the upper layer in a startup frame.
func upperData(f *model.Frame) []byte {
	if f.HasWord {
		return f.PrivateData[mpa.EnhancedLen:]
	}
	return f.PrivateData
}

// isSMBDirect reports whether the upper layer is SMB Direct: by its port, or by the
// negotiate request that the initiator begins with (20 octets, versions 1.0).
func isSMBDirect(c *model.Conn) bool {
	first := &c.Directions[trace.I2R].First
	negotiates := first.Segment && first.Op == model.OpSend && first.Octets == 20 && first.Payload == [4]byte{0, 1, 0, 1}
	return negotiates || c.Trace.Side[trace.R2I].Addr.Port() == smbDirect
}
