package ulp

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// transfer says for which operation a Write, a Read Request or a Read Response is.
func (r *Room) transfer(c *conn, p *trace.PDU) {
	var o *Operation
	frame, _ := captured(p)
	switch seg := p.Segment; p.Control.Opcode {
	case rdmap.OpWrite:
		_, o = c.granted(1-p.Dir, seg.STag, seg.TO, frame)
	case rdmap.OpReadRequest:
		o = c.asked(p, frame)
	case rdmap.OpReadResponse:
		o = c.answered(p)
	default:
	}
	if o == nil {
		return
	}
	n := r.noteOf(c, p)
	n.up.Linked = true
	n.tell(o, false, false)
	n.up.Info = c.dec.AppendOperation(n.up.Info, o)
	r.finish(c, p)
}

// asked takes in a Read Request, and returns the operation that it is for.
func (c *conn) asked(p *trace.PDU, frame uint64) *Operation {
	head, _, _ := p.ULPDU()
	body := head[min(p.Segment.HeaderLen, len(head)):]
	if p.Message != nil && p.Message.Header != nil {
		body = p.Message.Header
	}
	req, err := rdmap.DecodeReadRequest(body)
	if err != nil {
		return nil
	}
	ref, o := c.granted(1-p.Dir, req.SrcSTag, req.SrcTO, frame)
	if o == nil {
		return nil
	}
	q := &c.ops[p.Dir]
	if len(q.reads) >= maxReads {
		q.reads = q.reads[:copy(q.reads, q.reads[1:])]
	}
	q.reads = append(q.reads, read{stag: req.SinkSTag, to: req.SinkTO, size: uint64(req.Size), op: ref})
	return o
}

// answered returns the operation for which the octets of a Read Response are. The oldest
// Read with the place is meant: they are answered in their order. A Read for an operation
// that has ended is not: it was answered before that, and its answer, or the end of it, was
// not captured, or came before the Read became known.
func (c *conn) answered(p *trace.PDU) *Operation {
	q, seg := &c.ops[1-p.Dir], p.Segment
	q.reads = slices.DeleteFunc(q.reads, func(r read) bool { return c.of(r.op) == nil })
	for i := range q.reads {
		r := &q.reads[i]
		if r.stag != seg.STag || seg.TO < r.to || seg.TO-r.to > r.size {
			continue
		}
		ref := r.op
		if seg.Last {
			q.reads = append(q.reads[:i], q.reads[i+1:]...)
		}
		return c.of(ref)
	}
	return nil
}

// control reads the session control that begins a session over SCTP.
func control(p *trace.PDU, s *Startup) bool {
	k := p.Chunk
	switch k.Control.Function {
	case sctpddp.Initiate, sctpddp.EnhancedInitiate:
	case sctpddp.Accept, sctpddp.EnhancedAccept:
		s.Reply = true
	case sctpddp.Reject, sctpddp.EnhancedReject:
		s.Reply, s.Rejected = true, true
	default:
		return false
	}
	_, s.Private, _ = k.Control.Word()
	s.Cut = !k.Whole
	return true
}
