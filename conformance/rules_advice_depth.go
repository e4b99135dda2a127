package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// smbDirect is the port of SMB Direct, whose private data is known (MS-SMBD).
const smbDirect = 5445

// depthAdvice is about IRD and ORD.
var depthAdvice = []Rule{
	{
		ID: "ADV-IRD-SILENT-CLOSE", Needs: Neg | Layout | Bidir, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if c.hasAgreed() && depthExceeded(c) {
					return InScope.Needing(End)
				}
				return InScopeIf(c.hasAgreed())
			},
			Judge: func(r *Report, c *conn) {
				if failure := c.givenUp(); depthExceeded(c) && failure != "" {
					q, a := c.request.word, c.reply.word
					reportAdvice(r, c.reply, fmt.Sprintf("Request IRD %d ORD %d, Reply IRD %d ORD %d", q.IRD, q.ORD, a.IRD, a.ORD), failure)
				}
			},
		},
	},
	{
		ID: "ADV-REV1-NO-DEPTH", Needs: Neg | Start, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if c.half[trace.R2I].count == 0 {
					return InScopeIf(c.plain()).Needing(End)
				}
				return InScopeIf(c.plain())
			},
			Judge: func(r *Report, c *conn) {
				if c.half[trace.R2I].count > 0 || c.t.Flow[trace.I2R].Op(opSend).Segments == 0 {
					return
				}
				if k, ok := c.leaves(trace.R2I); ok {
					reportAdvice(r, k.where(), fmt.Sprintf("the responder %s behind a Send, without an FPDU", k.verb()), "")
				}
			},
		},
	},
	{
		ID: "ADV-SMBD-LE-IRDORD", Needs: Full, Transport: onTCP,
		AdviceFrame: &On[*frame]{
			Applies: func(c *Case, f *frame) Scope {
				return InScopeIf(isSMBDirect(c.conn) && len(upperData(f)) == 8 && !f.partial)
			},
			Judge: func(r *Report, f *frame) {
				b := upperData(f)
				ird, ord := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
				if binary.BigEndian.Uint32(b) > 0xffff && binary.BigEndian.Uint32(b[4:]) > 0xffff && ird <= unknownDepth && ord <= unknownDepth {
					reportAdvice(r, f, fmt.Sprintf("% x: IRD %d, ORD %d", b, ird, ord), r.leftAfter(f))
				}
			},
		},
	},
	{
		ID: "ADV-SMBD-LEGACY-HEADER", Needs: Full, Transport: onTCP,
		Advice: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				f := c.request
				return InScopeIf(f != nil && f.Rev == 1 && c.t.Side[trace.R2I].Addr.Port() == smbDirect && len(f.PrivateData) >= 8 && !f.partial)
			},
			Judge: func(r *Report, c *conn) {
				b := c.request.PrivateData
				if ird, ord := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]); ird <= unknownDepth && ord <= unknownDepth {
					reportAdvice(r, c.request, fmt.Sprintf("IRD %d, ORD %d", ird, ord), "")
				}
			},
		},
	},
}

// depthExceeded reports whether one side wants more requests outstanding than the other
// one takes, and the initiator sent no FPDU.
func depthExceeded(c *conn) bool {
	q, a := c.request.word, c.reply.word
	above := func(x, y uint16) bool { return x != unknownDepth && y != unknownDepth && x > y }
	return (above(a.ORD, q.IRD) || above(q.ORD, a.IRD)) && c.half[trace.I2R].count == 0
}

// upperData is the private data of the upper layer in a startup frame.
func upperData(f *frame) []byte {
	if f.hasWord {
		return f.PrivateData[mpa.EnhancedLen:]
	}
	return f.PrivateData
}

// isSMBDirect reports whether the upper layer is SMB Direct: by its port, or by the
// negotiate request that the initiator begins with (20 octets, versions 1.0).
func isSMBDirect(c *conn) bool {
	first := &c.half[trace.I2R].first
	negotiates := first.segment && first.op == opSend && first.octets == 20 && first.payload == [4]byte{0, 1, 0, 1}
	return negotiates || c.t.Side[trace.R2I].Addr.Port() == smbDirect
}
