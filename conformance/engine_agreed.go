package conformance

import "github.com/iwdissect/iwdissect/trace"

// agree asks about the startup once it is over, if nothing that belongs to it is
// missing. If something is, it waits for the end: it may still come.
func (c *judged) agree() {
	if c.agreed || c.request == nil || c.reply == nil {
		return
	}
	h := &c.half[trace.I2R]
	if h.count == 0 || h.gap || h.peer.gap || c.t.Flow[trace.I2R].Waiting || c.t.Flow[trace.R2I].Waiting {
		return
	}
	c.askAgreed(c.endHave())
}

func (c *judged) askAgreed(have Gate) {
	if !c.agreed {
		c.agreed = true
		c.ask(c.lists().agreed, have, func(r *indexedRule, k *Report) { r.AskAtEnd(k, r.entry) })
	}
}
