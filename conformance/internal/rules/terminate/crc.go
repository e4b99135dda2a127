package terminate

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// crcErrorRules judge what a receiver makes of a CRC error (RFC 5044 sections 4.4
// and 8).
var crcErrorRules = []rules.Rule{
	{
		ID: "MPA-CRC-REACT-01", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full | catalogue.Sum, Transport: rules.OnTCP, On: model.OpcodeSet(model.OpReadResponse, model.OpAtomicResponse), ByShape: true,
		Segment: &rules.On[*model.Segment]{Applies: answersBehindCRCError, Judge: judgeAnswerBehindCRCError},
	},
	{
		ID: "MPA-CRC-REACT-02", Needs: catalogue.Neg | catalogue.Sync | catalogue.Full, Transport: rules.OnTCP,
		End: &rules.On[*model.Conn]{
			Applies: func(c *rules.Case, _ *model.Conn) rules.Scope {
				k, ok := c.Closed()
				if !ok || c.Trace.CRC != mpa.Yes {
					return rules.OutOfScope
				}
				h := &c.Directions[model.Other(k.Dir)]
				bad := c.FirstWrongCRC(h)
				switch {
				case bad == nil:
					return rules.OutOfScope
				case !c.Streamed(h) || !c.Streamed(h.Peer):
					return rules.Lacking(catalogue.End)
				case k.Acked < 0:
					return rules.Lacking(catalogue.Causal)
				}
				return rules.InScopeIf(k.Acked >= bad.End)
			},
			Judge: func(r *rules.Report, c *model.Conn) {
				k, _ := c.Closed()
				if c.Directions[k.Dir].Terminates > 0 {
					return
				}
				r.On(k.Where(), "the receiver of an FPDU with a wrong CRC closes without a Terminate", k.String(),
					fmt.Sprintf("a Terminate 2/0/02 for the FPDU in frame %d", c.FirstWrongCRC(&c.Directions[model.Other(k.Dir)]).At.Frame))
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-01", Needs: catalogue.Full,
		Terminate: &rules.On[*model.Terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *rules.Report, t *model.Terminate) {
				if r.Trace.Transport != trace.TCP || t.Code.EType != 0 || t.Code.Code != 1 || !r.Has(catalogue.Bidir) {
					return
				}
				f := &r.Trace.Flow[t.Peer.Dir]
				if f.FIN == nil && f.RST == nil && t.PDU.LastAcked <= f.Sent {
					r.On(t, "a Terminate reports the loss of the connection that it is sent on", model.CodeText(t.Code), "a connection that the other side closed")
				}
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-02", Needs: catalogue.Neg | catalogue.Full, Transport: rules.OnTCP,
		YieldsTo: []string{"MPA-C-OFF-01"},
		Terminate: &rules.On[*model.Terminate]{
			Applies: func(c *rules.Case, t *model.Terminate) rules.Scope {
				k := t.Code
				if t.OnlyReserved && !t.Swapped || k.Layer != rdmap.LayerLLP || k.EType != 0 || k.Code != 2 || c.Trace.CRC != mpa.Yes {
					return rules.OutOfScope
				}
				f := &c.Trace.Flow[t.Peer.Dir]
				switch {
				case c.Trace.Negotiated && f.MarkersSeen != mpa.Unknown:
					return rules.OutOfScope // with markers where they were agreed, no CRC is right
				case f.CRCBad > 0:
					return rules.InScope
				}
				have := c.Evidence() & (c.Gates(t.Peer) | catalogue.Full) // of both directions
				switch {
				case model.Hides(f) || f.Rare().Partial > 0 || f.Rare().CRCUnverifiable > 0:
					return rules.Lacking(catalogue.Full).GivenOnly(have)
				case f.Waiting || t.PDU.LastAcked < 0 || t.PDU.LastAcked > f.SeqEnd() || f.Faults().Conflicts > 0:
					return rules.Lacking(catalogue.Contig).GivenOnly(have)
				case t.Peer.NextOffset < min(t.PDU.LastAcked, f.Sent): // what was acknowledged last, other than a FIN, is still to be framed
					return rules.Lacking(catalogue.Sync).GivenOnly(have)
				}
				return rules.InScope.Needing(catalogue.Sync | catalogue.Contig).GivenOnly(have)
			},
			Judge: func(r *rules.Report, t *model.Terminate) {
				if f := &r.Trace.Flow[t.Peer.Dir]; f.CRCBad == 0 {
					r.On(t, "a CRC error is reported although every CRC is correct", model.CodeText(t.Code), fmt.Sprintf("%d FPDUs with a correct CRC", f.CRCGood))
				}
			},
		},
	},
}

// answersBehindCRCError is the scope of rules on answers that are sent after an FPDU with
// a wrong CRC had arrived.
func answersBehindCRCError(c *rules.Case, s *model.Segment) rules.Scope {
	bad := c.FirstWrongCRC(s.Peer)
	if bad == nil || s.DDP.Tagged != s.Op.Tagged() || c.Trace.CRC != mpa.Yes {
		return rules.OutOfScope
	}
	answer := model.SpanOf(s.PDU)
	order := answer.Knew(bad.End)
	switch {
	case order == model.Unproven:
		return rules.Lacking(catalogue.Causal)
	// The requests are known all but those with a wrong CRC.
	case s.Hole || s.Peer.Hole || s.Peer.RequestsUnsure() || s.Peer.Unsure || !c.Streamed(s.Direction) || !c.Streamed(s.Peer):
		return rules.Lacking(catalogue.ReadSync)
	}
	return rules.InScopeIf(order == model.Having)
}

func judgeAnswerBehindCRCError(r *rules.Report, s *model.Segment) {
	bad := r.FirstWrongCRC(s.Peer)
	if good := s.Answer.Request; good != nil && s.Answer.Fits {
		if later := good.At.PDU > bad.At.PDU; later && s.Direction.Terminates == 0 && !r.Reported(s.Direction) {
			r.On(s, "the side answers a request that follows an FPDU with a wrong CRC", fmt.Sprintf("an answer to the request in frame %d", good.At.Frame), fmt.Sprintf("nothing after the FPDU in frame %d is delivered", bad.At.Frame))
		}
		return
	}
	if q := r.WrongRequest(s); q != nil && !r.Reported(s.Direction) {
		r.On(s, "the side answers a request whose CRC is wrong", fmt.Sprintf("an answer to the request in frame %d", q.At.Frame), "the request is not delivered")
	}
}
