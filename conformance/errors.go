package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// spoilt is the first FPDU of a half whose CRC is wrong, and the requests among
// those with a wrong CRC.
type spoilt struct {
	span
	at       site
	requests []request
}

// maxSpoilt bounds the requests that are kept of it.
const maxSpoilt = 16

// spoils takes in an FPDU with a wrong CRC.
func (x *sending) spoils(e *fpdu) {
	if x.spoilt == nil {
		x.spoilt = &spoilt{span: spanOf(e.p), at: e.site()}
	}
	s := x.spoilt
	if len(s.requests) >= maxSpoilt || e.p.Segment == nil {
		return
	}
	body := e.f.Head[min(e.p.Segment.HeaderLen, len(e.f.Head)):]
	switch e.p.Control.Opcode {
	case opReadRequest:
		if r, err := rdmap.DecodeReadRequest(body); err == nil {
			s.requests = append(s.requests, request{stag: r.SinkSTag, to: r.SinkTO, at: e.site()})
		}
	case opAtomicRequest:
		if r, err := rdmap.DecodeAtomicRequest(body); err == nil {
			s.requests = append(s.requests, request{atomic: true, id: r.RequestID, at: e.site()})
		}
	default:
	}
}

// answeredBy finds the request that a response answers, by what it names.
func (s *spoilt) answeredBy(r *segment) *request {
	for i := range s.requests {
		q := &s.requests[i]
		if q.atomic != (r.op == opAtomicResponse) {
			continue
		}
		if !q.atomic && q.stag == r.seg.STag && q.to == r.seg.TO {
			return q
		}
		if a, err := rdmap.DecodeAtomicResponse(r.body); q.atomic && err == nil && a.RequestID == q.id {
			return q
		}
	}
	return nil
}

// errorChecks are about what a receiver makes of a CRC error (RFC 5044
// sections 4.4 and 8).
var errorChecks = []check{
	{id: "MPA-CRC-REACT-01", on: on(opReadResponse, opAtomicResponse), shape: true, needs: Neg | Sync | Full | Sum, transport: onTCP, segment: func(c *conn, s *segment) {
		bad := s.peer.spoilt
		if bad == nil || s.seg == nil || s.op != opReadResponse && s.op != opAtomicResponse || s.seg.Tagged != s.op.Tagged() || c.t.CRC != mpa.Yes {
			return
		}
		answer := spanOf(s.p)
		order := answer.knew(bad.end)
		if order == unproven {
			c.lacks(Causal)
			return
		}
		// The requests are known all but those with a wrong CRC.
		if s.hole || s.peer.hole || s.unread || s.peer.unread || s.peer.unsure || !c.streamed(s.half) || !c.streamed(s.peer) {
			c.lacks(ReadSync)
			return
		}
		if order == without || !c.applies() {
			return
		}
		good := s.ans.r
		if good != nil && s.ans.fits {
			if later := good.at.pdu > bad.at.pdu; later && s.half.terminates == 0 && c.once(s.half) {
				c.at(s, "an answer to a request behind an FPDU with a wrong CRC", fmt.Sprintf("an answer to the request in frame %d", good.at.frame), fmt.Sprintf("nothing of what follows the FPDU in frame %d", bad.at.frame))
			}
			return
		}
		if q := bad.answeredBy(s); q != nil && c.once(s.half) {
			c.at(s, "an answer to a request whose CRC is wrong", fmt.Sprintf("an answer to the request in frame %d", q.at.frame), "the request is not delivered")
		}
	}},
	{id: "MPA-CRC-REACT-02", needs: Neg | Sync | Full, transport: onTCP, end: func(c *conn) {
		k, ok := c.closed()
		if !ok || c.t.CRC != mpa.Yes {
			return
		}
		h := &c.half[other(k.dir)]
		bad := h.spoilt
		switch {
		case bad == nil:
		case !c.streamed(h) || !c.streamed(h.peer):
			c.lacks(End)
		case k.Acked < 0:
			c.lacks(Causal)
		case k.Acked >= bad.end && c.applies() && h.peer.terminates == 0:
			act := "FIN"
			if k.reset {
				act = "RST"
			}
			c.fire(Finding{
				Dir: k.dir, HasDir: true, Frame: k.Frame, Message: "the receiver of a wrong CRC closes without a Terminate",
				Observed: act, Expected: fmt.Sprintf("a Terminate 2/0/02 for the FPDU in frame %d", bad.at.frame),
			})
		}
	}},
	termTable("MPA-TERM-LLP-01", layer(rdmap.LayerLLP), func(c *conn, t *terminate) {
		if c.t.Transport != trace.TCP || t.code.EType != 0 || t.code.Code != 1 || c.have&Bidir == 0 {
			return
		}
		f := &c.t.Flow[t.peer.dir]
		if f.FIN == nil && f.RST == nil && t.p.LastAcked <= f.Sent {
			c.at(t.segment, "a Terminate tells of a lost connection on that connection", codeText(t.code), "the other side has closed")
		}
	}),
	{id: "MPA-TERM-LLP-02", needs: Neg | Full, transport: onTCP, terminate: func(c *conn, t *terminate) {
		k := t.code
		if t.onlyReserved && !t.swapped || k.Layer != rdmap.LayerLLP || k.EType != 0 || k.Code != 2 || c.t.CRC != mpa.Yes {
			return
		}
		h, f := t.peer, &c.t.Flow[t.peer.dir]
		if c.t.Negotiated && f.MarkersSeen != mpa.Unknown {
			return // with markers where they were agreed, no CRC is right
		}
		if f.CRCBad > 0 {
			c.applies()
			return
		}
		c.have &= c.gates(h) | Full
		switch {
		case hides(f) || f.Partial > 0 || f.CRCUnverifiable > 0:
			c.lacks(Full)
		case f.Waiting || t.p.LastAcked < 0 || t.p.LastAcked > f.Sent+1 || f.Faults().Conflicts > 0:
			c.lacks(Contig)
		case c.applies(Sync, Contig):
			c.at(t.segment, "a CRC error is reported where every CRC was right", codeText(k), fmt.Sprintf("%d FPDUs with a right CRC", f.CRCGood))
		}
	}},
}
