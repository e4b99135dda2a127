package conformance

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// agree asks about the startup once it is over, if nothing that belongs to it is
// missing. If something is, it waits for the end: it may still come.
func (c *judged) agree() {
	if c.agreed || c.Request == nil || c.Reply == nil {
		return
	}
	h := &c.Directions[trace.I2R]
	if h.Count == 0 || h.Gap || h.Peer.Gap || c.Trace.Flow[trace.I2R].Waiting || c.Trace.Flow[trace.R2I].Waiting {
		return
	}
	c.askAgreed(c.EndHave())
}

func (c *judged) askAgreed(have catalogue.Gate) {
	if !c.agreed {
		c.agreed = true
		c.ask(c.lists().agreed[c.traits()], have, func(r *indexedRule, k *rules.Report) { r.AskAtEnd(k, r.entry) })
	}
}
