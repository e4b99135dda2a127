package conformance

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// Sink is told what was found about a connection once it is over, and once more
// at the end of the capture where rules compare connections.
type Sink interface {
	// Connection gets the findings in the order of their frames, and a judgement
	// for each rule that applies, in the order of the catalogue. Both are borrowed
	// until it returns.
	Connection(c *trace.Connection, findings []Finding, verdicts []Judgement)
}

// Options of an engine.
type Options struct {
	// Enabled tells which rules are asked; nil: all.
	Enabled func(*Entry) bool
	// OnBug is told of a rule that panicked. That is a fault of this program; the
	// rule is left out on that connection.
	OnBug func(rule string, reason any)
	// OnFinding is told of each finding as soon as it is certain: with the PDU
	// that shows it, or, while another finding may still explain it, at the end of
	// the connection.
	OnFinding func(*Finding)
}

// Engine judges the connections of one capture. It implements [trace.Sink].
type Engine struct {
	opt   Options
	sink  Sink
	rules []indexedRule
	lists [2]lists // by transport
	// capture is what the model knows of the capture, before the findings on the
	// connections that are over.
	capture captureState
	before  map[*endedConnection][]ruleFinding
	report  Report // of the rule that is being asked
	// verdicts is where those on a connection are put together for the sink, told what
	// they follow from.
	verdicts []Judgement
	told     told
	shown    []Finding // those that the sink is told of
	// Bugs counts rules that panicked.
	Bugs int
}

// Rules is how many rules are asked.
func (e *Engine) Rules() int { return len(e.rules) }

// indexedRule is a rule with its entry and its index among those that are asked.
type indexedRule struct {
	*Rule
	entry *Entry
	index int
	looks looks
	waits bool // for rules that may explain its findings later
}

// New returns an engine.
func New(opt Options, sink Sink) *Engine {
	e := &Engine{opt: opt, sink: sink}
	catalogue := Catalogue()
	all := registry()
	e.rules = make([]indexedRule, 0, len(all))
	for i := range all {
		entry, ok := catalogue.Find(all[i].ID)
		if !ok || opt.Enabled != nil && !opt.Enabled(entry) {
			continue
		}
		e.rules = append(e.rules, indexedRule{Rule: &all[i], entry: entry})
	}
	// In the order of the catalogue, whatever file a rule stands in.
	slices.SortFunc(e.rules, func(a, b indexedRule) int { return cmp.Compare(a.entry.Place(), b.entry.Place()) })
	for i := range e.rules {
		e.rules[i].index = i
	}
	e.rank()
	for i := range e.rules {
		r := &e.rules[i]
		r.looks = looksOf(r.Rule)
		if r.Transport != onSCTP {
			e.lists[trace.TCP].add(r)
		}
		if r.Transport != onTCP {
			e.lists[trace.SCTP].add(r)
		}
	}
	return e
}

// of returns what is kept of a connection.
func (e *Engine) of(t *trace.Connection) *judged {
	c, ok := t.Kept.(*judged)
	if !ok {
		c = e.fresh(t)
		t.Kept = c
	}
	return c
}

// fresh returns what is kept of a connection of which nothing is known.
func (e *Engine) fresh(t *trace.Connection) *judged {
	c := &judged{engine: e, rules: newVerdicts(len(e.rules))}
	c.begin(t)
	return c
}

// PDU implements [trace.Sink].
func (e *Engine) PDU(p *trace.PDU) {
	c := e.of(p.Conn)
	if !c.conn.pdu(p) {
		return
	}
	c.agree()
	c.settle()
}

// Gap implements [trace.Sink].
func (e *Engine) Gap(g *trace.GapEvent) { e.of(g.Conn).missing(g) }

// Transaction implements [trace.Sink].
func (e *Engine) Transaction(*trace.Transaction) {}

// Ended says that nothing more will become known of a connection. What is kept
// of it is the record.
func (e *Engine) Ended(live, record *trace.Connection) {
	c, ok := live.Kept.(*judged)
	live.Kept, record.Kept = nil, nil
	switch {
	case !ok && !live.Configured:
		return
	case !ok:
		c = e.fresh(live)
	}
	c.finish()
	if p := e.capture.remember(&c.conn, record); p != nil && len(c.findings) > 0 {
		if e.before == nil {
			e.before = map[*endedConnection][]ruleFinding{}
		}
		e.before[p] = c.findings[:min(len(c.findings), maxBefore)]
	}
	if e.sink != nil {
		e.sink.Connection(record, e.public(c.findings, record), c.verdicts())
	}
}

// maxBefore bounds the findings of a connection that are remembered.
const maxBefore = 16

// Finish says that the capture is over: rules that compare connections are asked.
// The sink gets what they say of each connection.
func (e *Engine) Finish() {
	if len(e.lists[trace.TCP].capture)+len(e.lists[trace.SCTP].capture) == 0 {
		return
	}
	c := &judged{engine: e, rules: newVerdicts(len(e.rules))}
	for _, p := range e.capture.ended {
		c.begin(p.t)
		c.request, c.reply = p.request, p.reply
		c.before = e.before[p]
		c.ask(c.lists().capture, p.have, func(r *indexedRule, k *Report) { r.AskAtCaptureEnd(k, r.entry, p) })
		c.settleAll()
		vs := c.verdicts()
		if e.sink != nil && len(c.findings)+len(vs) > 0 {
			e.sink.Connection(p.t, e.public(c.findings, p.t), vs)
		}
	}
}

// public are findings as others see them. They are borrowed until the next call.
func (e *Engine) public(fs []ruleFinding, conn *trace.Connection) []Finding {
	e.shown = e.shown[:0]
	for i := range fs {
		e.shown = append(e.shown, publicFinding(&fs[i], conn))
	}
	return e.shown
}
