package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// crcErrorRules judge what a receiver makes of a CRC error (RFC 5044 sections 4.4
// and 8).
var crcErrorRules = []Rule{
	{
		ID: "MPA-CRC-REACT-01", Needs: Neg | Sync | Full | Sum, Transport: onTCP, On: on(opReadResponse, opAtomicResponse), ByShape: true,
		Segment: &On[*segment]{Applies: answersBehindCRCError, Judge: judgeAnswerBehindCRCError},
	},
	{
		ID: "MPA-CRC-REACT-02", Needs: Neg | Sync | Full, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(c *Case, _ *conn) Scope {
				k, ok := c.closed()
				if !ok || c.t.CRC != mpa.Yes {
					return OutOfScope
				}
				h := &c.half[other(k.dir)]
				switch {
				case h.spoilt == nil:
					return OutOfScope
				case !c.streamed(h) || !c.streamed(h.peer):
					return Lacking(End)
				case k.Acked < 0:
					return Lacking(Causal)
				}
				return InScopeIf(k.Acked >= h.spoilt.end)
			},
			Judge: func(r *Report, c *conn) {
				k, _ := c.closed()
				if c.half[k.dir].terminates > 0 {
					return
				}
				r.On(k.where(), "the receiver of a wrong CRC closes without a Terminate", k.String(),
					fmt.Sprintf("a Terminate 2/0/02 for the FPDU in frame %d", c.half[other(k.dir)].spoilt.at.frame))
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-01", Needs: Full,
		Terminate: &On[*terminate]{
			Applies: codeOf(rdmap.LayerLLP),
			Judge: func(r *Report, t *terminate) {
				if r.t.Transport != trace.TCP || t.code.EType != 0 || t.code.Code != 1 || !r.Has(Bidir) {
					return
				}
				f := &r.t.Flow[t.peer.dir]
				if f.FIN == nil && f.RST == nil && t.p.LastAcked <= f.Sent {
					r.On(t, "a Terminate tells of a lost connection on that connection", codeText(t.code), "the other side has closed")
				}
			},
		},
	},
	{
		ID: "MPA-TERM-LLP-02", Needs: Neg | Full, Transport: onTCP,
		YieldsTo: []string{"MPA-C-OFF-01"},
		Terminate: &On[*terminate]{
			Applies: func(c *Case, t *terminate) Scope {
				k := t.code
				if t.onlyReserved && !t.swapped || k.Layer != rdmap.LayerLLP || k.EType != 0 || k.Code != 2 || c.t.CRC != mpa.Yes {
					return OutOfScope
				}
				f := &c.t.Flow[t.peer.dir]
				switch {
				case c.t.Negotiated && f.MarkersSeen != mpa.Unknown:
					return OutOfScope // with markers where they were agreed, no CRC is right
				case f.CRCBad > 0:
					return InScope
				}
				have := c.Evidence() & (c.gates(t.peer) | Full) // of both directions
				switch {
				case hides(f) || f.Partial > 0 || f.CRCUnverifiable > 0:
					return Lacking(Full).GivenOnly(have)
				case f.Waiting || t.p.LastAcked < 0 || t.p.LastAcked > f.Sent+1 || f.Faults().Conflicts > 0:
					return Lacking(Contig).GivenOnly(have)
				}
				return InScope.Needing(Sync | Contig).GivenOnly(have)
			},
			Judge: func(r *Report, t *terminate) {
				if f := &r.t.Flow[t.peer.dir]; f.CRCBad == 0 {
					r.On(t, "a CRC error is reported where every CRC was right", codeText(t.code), fmt.Sprintf("%d FPDUs with a right CRC", f.CRCGood))
				}
			},
		},
	},
}

// answersBehindCRCError is the scope of rules on answers that are sent once an FPDU
// with a wrong CRC had arrived.
func answersBehindCRCError(c *Case, s *segment) Scope {
	bad := s.peer.spoilt
	if bad == nil || s.seg.Tagged != s.op.Tagged() || c.t.CRC != mpa.Yes {
		return OutOfScope
	}
	answer := spanOf(s.p)
	order := answer.knew(bad.end)
	switch {
	case order == unproven:
		return Lacking(Causal)
	// The requests are known all but those with a wrong CRC.
	case s.hole || s.peer.hole || s.unread || s.peer.unread || s.peer.unsure || !c.streamed(s.half) || !c.streamed(s.peer):
		return Lacking(ReadSync)
	}
	return InScopeIf(order == having)
}

func judgeAnswerBehindCRCError(r *Report, s *segment) {
	bad := s.peer.spoilt
	if good := s.ans.r; good != nil && s.ans.fits {
		if later := good.at.pdu > bad.at.pdu; later && s.half.terminates == 0 && !r.Reported(s.half) {
			r.On(s, "an answer to a request behind an FPDU with a wrong CRC", fmt.Sprintf("an answer to the request in frame %d", good.at.frame), fmt.Sprintf("nothing of what follows the FPDU in frame %d", bad.at.frame))
		}
		return
	}
	if q := bad.answeredBy(s); q != nil && !r.Reported(s.half) {
		r.On(s, "an answer to a request whose CRC is wrong", fmt.Sprintf("an answer to the request in frame %d", q.at.frame), "the request is not delivered")
	}
}
