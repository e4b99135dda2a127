package conformance

import (
	"iter"

	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/trace"
)

// compare judges connections that are over beside the others of the capture.
func (e *Engine) compare(over []*model.EndedConnection) {
	if len(over) == 0 || len(e.lists[trace.TCP].capture)+len(e.lists[trace.SCTP].capture) == 0 {
		return
	}
	c := &judged{engine: e}
	packed, stop := iter.Pull(e.records.All())
	defer stop()
	for _, p := range over {
		record := p.Trace
		if record == nil {
			record, _ = packed()
		}
		c.begin(record)
		c.Recall(p)
		if before := e.before[p]; len(before) > 0 {
			c.troubles()
			c.before = before
		}
		c.ask(c.lists().capture, p.Have, func(r *indexedRule, k *rules.Report) { r.AskAtCaptureEnd(k, r.entry, p) })
		c.settleAll()
		vs := c.verdicts()
		if e.sink != nil && len(c.findings)+len(vs) > 0 {
			e.sink.Connection(record, e.public(c.findings, record), vs)
		}
		c.untroubled()
	}
	e.records = ended.Sequence{}
}

// compareSome compares the connections whose time has come, and forgets the older half when
// there are too many. What is forgotten was compared before.
func (e *Engine) compareSome(now int64) {
	all := e.capture.Ended
	n := e.compared
	for n < len(all) && (now-all[n].LastTime >= e.opt.CompareAfter || len(all) >= e.opt.Window && n < len(all)/2) {
		n++
	}
	e.compare(all[e.compared:n])
	e.compared = n
	if len(all) < e.opt.Window {
		return
	}
	gone := len(all) / 2
	for _, p := range all[:gone] {
		e.keeps(-p.Weight() - len(e.before[p])*findingWeight)
		delete(e.before, p)
	}
	e.capture.Forget(gone)
	e.compared -= gone
}

// Compare judges the connections that ended long enough before a time, in nanoseconds since
// 1970, beside the others, if the engine has a window.
func (e *Engine) Compare(now int64) {
	if e.opt.Window > 0 {
		e.compareSome(now)
	}
}
