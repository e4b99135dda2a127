package model

import "github.com/iwdissect/iwdissect/trace"

// Revisions reports whether the Request and the Reply have these revisions of MPA.
func (c *Conn) Revisions(request, reply uint8) bool {
	return c.Request != nil && c.Reply != nil && c.Request.Rev == request && c.Reply.Rev == reply
}

// Version reports whether a DDP version is the one that the startup leads to. Where
// only one side has revision 0 that is disputed.
func (c *Conn) Version(dv uint8) bool {
	q, r := c.Request, c.Reply
	if c.Trace.Transport == trace.SCTP || q == nil || r == nil {
		return dv == 1
	}
	return (q.Rev == 0) == (r.Rev == 0) && (dv == 0) == (r.Rev == 0) && dv <= 1
}
