package conformance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// Sink is told what was found about a connection once it is over, and once more
// at the end of the capture where rules compare connections.
type Sink interface {
	// Connection gets the findings in the order of their frames, and a judgement
	// for each rule that applies, in the order of the catalogue.
	Connection(c *trace.Connection, findings []Finding, verdicts []Judgement)
}

// Options of an engine.
type Options struct {
	// Enabled tells which rules are asked; nil: all.
	Enabled func(*Entry) bool
	// OnBug is told of a rule that panicked. That is a fault of this program; the
	// rule is left out on that connection.
	OnBug func(rule string, reason any)
}

// Engine judges the connections of one capture. It implements [trace.Sink].
type Engine struct {
	opt   Options
	sink  Sink
	rules []rule
	lists lists
	conns map[*trace.Connection]*conn
	seg   segment
	fpdu  fpdu
	book  book
	now   int64 // the latest time of a DDP segment
	// Bugs counts rules that panicked.
	Bugs int
}

// Rules is how many rules are asked.
func (e *Engine) Rules() int { return len(e.rules) }

// rule is a check with its entry.
type rule struct {
	check
	entry *Entry
	index int
}

// lists are the rules by the event that they are asked about.
type lists struct {
	startup, fpdu, segment, exchange, message, terminate, control, chunk, loose, end, capture []*rule
}

// New returns an engine.
func New(opt Options, sink Sink) *Engine {
	e := &Engine{opt: opt, sink: sink, conns: map[*trace.Connection]*conn{}}
	book := Catalogue()
	all := checks()
	e.rules = make([]rule, 0, len(all))
	for _, k := range all {
		entry, ok := book.Find(k.id)
		if !ok || opt.Enabled != nil && !opt.Enabled(entry) {
			continue
		}
		e.rules = append(e.rules, rule{k, entry, len(e.rules)})
	}
	for i := range e.rules {
		r := &e.rules[i]
		add := func(list *[]*rule, has bool) {
			if has {
				*list = append(*list, r)
			}
		}
		add(&e.lists.startup, r.startup != nil)
		add(&e.lists.fpdu, r.fpdu != nil)
		add(&e.lists.segment, r.segment != nil)
		add(&e.lists.exchange, r.exchange != nil)
		add(&e.lists.message, r.message != nil)
		add(&e.lists.terminate, r.terminate != nil)
		add(&e.lists.control, r.control != nil)
		add(&e.lists.chunk, r.chunk != nil)
		add(&e.lists.loose, r.loose != nil)
		add(&e.lists.end, r.end != nil)
		add(&e.lists.capture, r.capture != nil)
	}
	return e
}

// Checked lists the ids for which there is a check, sorted.
func Checked() []string {
	all := checks()
	ids := make([]string, 0, len(all))
	for _, k := range all {
		ids = append(ids, k.id)
	}
	slices.Sort(ids)
	return ids
}

// Unchecked is how many entries of the catalogue that can be checked have no
// check yet.
func Unchecked() int {
	n := -len(checks())
	for _, e := range Catalogue().Entries {
		if e.Kind == KindCheck {
			n++
		}
	}
	return n
}

// of returns what is kept of a connection.
func (e *Engine) of(t *trace.Connection) *conn {
	c := e.conns[t]
	if c == nil {
		c = e.fresh(t)
		e.conns[t] = c
	}
	return c
}

// fresh returns the model of a connection of which nothing is known.
func (e *Engine) fresh(t *trace.Connection) *conn {
	c := &conn{engine: e, t: t, judged: make([]bool, len(e.rules)), missing: make([]Gate, len(e.rules)), fired: make([]int, len(e.rules))}
	c.half[0].dir, c.half[1].dir = trace.I2R, trace.R2I
	for i := range c.half {
		c.half[i].peer = &c.half[1-i]
	}
	return c
}

// PDU implements [trace.Sink].
func (e *Engine) PDU(p *trace.PDU) {
	c := e.of(p.Conn)
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		c.startup(p)
	case trace.KindFPDU:
		c.fpdu(p)
	case trace.KindSCTPControl:
		c.control(p)
	case trace.KindSCTPSegment:
		c.chunk(p)
	case trace.KindStreaming:
		c.loose(p)
	}
}

// Gap implements [trace.Sink].
func (e *Engine) Gap(g *trace.GapEvent) {
	h := &e.of(g.Conn).half[g.Dir]
	h.gap, h.contig, h.neverSent = true, false, g.NeverSent
	h.lost()
}

// Transaction implements [trace.Sink].
func (e *Engine) Transaction(*trace.Transaction) {}

// Ended says that nothing more will become known of a connection. What is kept
// of it is the record.
func (e *Engine) Ended(live, record *trace.Connection) {
	c := e.conns[live]
	if c == nil {
		return
	}
	delete(e.conns, live)
	c.finish()
	for i := range c.findings {
		c.findings[i].Conn = record
	}
	e.book.remember(c, record)
	if e.sink != nil {
		e.sink.Connection(record, c.findings, c.verdicts())
	}
}

// ask asks the rules of a list about an event in a direction. A rule that
// panics is left out; the others go on.
func (c *conn) ask(list []*rule, have Gate, f func(*rule)) {
	for i := 0; i < len(list); {
		i = c.askFrom(list, i, have, f)
	}
}

func (c *conn) askFrom(list []*rule, i int, have Gate, f func(*rule)) (next int) {
	defer func() {
		if why := recover(); why != nil {
			c.bug(list[i], why)
			next = i + 1
		}
	}()
	for ; i < len(list); i++ {
		r := list[i]
		if r.transport != 0 && (r.transport == onSCTP) != (c.t.Transport == trace.SCTP) {
			continue
		}
		c.running, c.have = r, have
		f(r)
	}
	return i
}

func (c *conn) bug(r *rule, why any) {
	c.engine.Bugs++
	c.missing[r.index] |= Sync
	if c.engine.opt.OnBug != nil {
		c.engine.opt.OnBug(r.id, fmt.Sprint(why))
	}
}

// applies says that the rule at hand applies to the event at hand, and reports
// whether the evidence that it needs is there, more besides what its entry
// names.
func (c *conn) applies(more ...Gate) bool {
	need := c.running.needs
	for _, g := range more {
		need |= g
	}
	i := c.running.index
	if lack := need &^ c.have; lack != 0 {
		if c.missing[i] == 0 {
			c.missing[i] = lack.first()
		}
		return false
	}
	c.judged[i] = true
	return true
}

// lacks says that the rule at hand applies, and that evidence for it is missing.
func (c *conn) lacks(g Gate) {
	c.have &^= g
	c.applies(g)
}

// maxFindings is how many findings of a rule are kept for a connection.
const maxFindings = 100

// fire reports a finding of the rule at hand. The severity None stands for that
// of its entry.
func (c *conn) fire(f Finding) {
	i := c.running.index
	c.judged[i] = true
	if c.fired[i]++; c.fired[i] > maxFindings {
		return
	}
	f.Rule, f.Conn = c.running.entry, c.t
	if f.Severity == None {
		f.Severity = f.Rule.Severity
	}
	c.findings = append(c.findings, f)
}

// finish asks about the end, and lets findings give way.
func (c *conn) finish() {
	for i := range c.half {
		c.half[i].over(c)
	}
	have := c.gates(&c.half[0])&c.gates(&c.half[1]) | c.endGates()
	// The layout shows in what the initiator sends first.
	if h := &c.half[trace.I2R]; c.accepted() && (h.gap || h.count == 0 || c.t.Flow[trace.I2R].Waiting) {
		have &^= Layout
	}
	c.ask(c.engine.lists.end, have, func(r *rule) { r.end(c) })
	c.giveWay()
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.PDU, b.PDU))
	})
	last := map[*Entry]int{}
	for i := range c.findings {
		last[c.findings[i].Rule] = i
	}
	for i := range c.engine.rules {
		r := &c.engine.rules[i]
		if at, ok := last[r.entry]; ok && c.fired[i] > maxFindings {
			c.findings[at].further = c.fired[i] - maxFindings
		}
	}
}

// giveWay drops findings that another one explains, of those at hand or of those
// before: of the same PDU, message or frame, and of rules on connections of the
// same connection.
func (c *conn) giveWay(before ...Finding) {
	kept := make([]Finding, 0, len(c.findings))
	for i := range c.findings {
		f := &c.findings[i]
		explains := func(g Finding) bool { return f.yieldsTo(&g) }
		if !slices.ContainsFunc(c.findings, explains) && !slices.ContainsFunc(before, explains) {
			kept = append(kept, *f)
		}
	}
	c.findings = kept
}

// yieldsTo reports whether another finding explains this one.
func (f *Finding) yieldsTo(g *Finding) bool {
	return slices.Contains(f.Rule.YieldsTo, g.Rule.ID) && f.near(g)
}

// near reports whether two findings speak of the same thing.
func (f *Finding) near(g *Finding) bool {
	switch {
	case !f.HasDir || !g.HasDir:
		return true // one is about the connection
	case f.HasPDU && g.HasPDU && f.PDU == g.PDU:
		return true
	case f.Dir == g.Dir && f.hasMSN && g.hasMSN && f.msn == g.msn:
		return true
	case !f.HasPDU || !g.HasPDU:
		return f.Dir == g.Dir || f.Frame == g.Frame
	}
	return false
}

// verdicts are the judgements of all rules that apply.
func (c *conn) verdicts() (out []Judgement) {
	failed := map[*Entry]bool{}
	for i := range c.findings {
		failed[c.findings[i].Rule] = true
	}
	for i := range c.engine.rules {
		r := &c.engine.rules[i]
		j := Judgement{Rule: r.entry}
		switch {
		case failed[r.entry]:
			j.Verdict = Fail
		case c.missing[i] != 0:
			j.Verdict, j.Gate = NotJudged, c.missing[i]
		case c.judged[i]:
			j.Verdict = Pass
		default:
			continue
		}
		out = append(out, j)
	}
	return out
}
