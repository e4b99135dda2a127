package conformance

import "github.com/iwdissect/iwdissect/trace"

// revisions reports whether the Request and the Reply have these revisions of MPA.
func (c *conn) revisions(request, reply uint8) bool {
	return c.request != nil && c.reply != nil && c.request.Rev == request && c.reply.Rev == reply
}

// version reports whether a DDP version is the one that the startup leads to. Where
// only one side has revision 0 that is disputed.
func (c *conn) version(dv uint8) bool {
	q, r := c.request, c.reply
	if c.t.Transport == trace.SCTP || q == nil || r == nil {
		return dv == 1
	}
	return (q.Rev == 0) == (r.Rev == 0) && (dv == 0) == (r.Rev == 0) && dv <= 1
}

// firstPlace is the place of the first FPDU of a half, or of its first chunk.
func (h *half) firstPlace() Place {
	return Place{Dir: h.dir, HasDir: true, Frame: h.first.frame, PDU: h.first.pdu, HasPDU: true}
}
