package analysis

import "github.com/iwdissect/iwdissect/dissect/mpa"

// What connections need until they end is handed on to those that begin: where thousands come and
// go, a garbage collector would have as much to do as the analysis.

// maxSpare bounds the freed memory that is kept for later connections.
const maxSpare = 64

// work returns that of a connection that begins.
func (e *Env) work() *work {
	n := len(e.works)
	if n == 0 {
		return new(work)
	}
	w := e.works[n-1]
	e.works = e.works[:n-1]
	return w
}

// rework keeps the memory of a connection that has ended for another one.
func (e *Env) rework(w *work) {
	if len(e.works) < maxSpare {
		*w = work{}
		e.works = append(e.works, w)
	}
}

// outgoing returns that of a side that begins to send.
func (e *Env) outgoing() *outgoing {
	o := new(outgoing)
	if n := len(e.outs); n > 0 {
		o, e.outs = e.outs[n-1], e.outs[:n-1]
	}
	o.sent.newer = o.few[:0]
	return o
}

// sendNoMore keeps the memory of a side for another one.
func (e *Env) sendNoMore(o *outgoing) {
	if len(e.outs) < maxSpare {
		*o = outgoing{}
		e.outs = append(e.outs, o)
	}
}

// decoder returns one that is to be reset.
func (e *Env) decoder() *mpa.Decoder {
	n := len(e.decs)
	if n == 0 {
		return new(mpa.Decoder)
	}
	d := e.decs[n-1]
	e.decs = e.decs[:n-1]
	return d
}

// undecode ends the decoder of a side, and keeps its memory for another one.
func (c *Conn) undecode(side int) {
	h := &c.dirs[side]
	if h.dec == nil {
		return
	}
	h.dec.Free()
	if len(c.env.decs) < maxSpare {
		c.env.decs = append(c.env.decs, h.dec)
	}
	h.dec = nil
}
