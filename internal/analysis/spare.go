package analysis

// maxSpare bounds what is kept of connections that have ended, of each kind.
const maxSpare = 64

// outgoing returns that of a side that begins to send.
func (e *Env) outgoing() *outgoing {
	o := e.outs.Take()
	o.sent.newer = o.few[:0]
	return o
}

// rework keeps the memory of a connection that has ended for another one.
func (e *Env) rework(w *work) {
	*w = work{}
	e.works.Give(w, maxSpare)
}

// sendNoMore keeps the memory of a side for another one.
func (e *Env) sendNoMore(o *outgoing) {
	*o = outgoing{}
	e.outs.Give(o, maxSpare)
}

// undecode ends the decoder of a side, and keeps its memory for another one.
func (c *Conn) undecode(side int) {
	if h := &c.dirs[side]; h.dec != nil {
		h.dec.Free()
		c.env.decs.Give(h.dec, maxSpare)
		h.dec = nil
	}
}
