package conformance

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
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
	rules []rule
	lists [2]lists // by transport
	seg   segment
	fpdu  fpdu
	book  book
	idle  idle
	// verdicts is where those on a connection are put together for the sink, told what
	// they follow from.
	verdicts []Judgement
	told     told
	// long: each FPDU goes the long way. Tests compare the two.
	long bool
	// latest is the time of the latest PDU.
	latest int64
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
	looks looks
	waits bool // for rules that may explain its findings later
}

// lists are the rules by the event that they are asked about.
type lists struct {
	fpdu, message shaped
	// segment are those about segments, by T and opcode; malformed those about
	// ULPDUs that are none.
	segment                                                                           [2][rdmap.Opcodes]shaped
	malformed                                                                         []*rule
	startup, exchange, terminate, control, chunk, loose, agreed, end, advice, capture []*rule
}

// shaped are rules about an event: those that look at more than its shape, and
// those that do not.
type shaped struct{ every, shape []*rule }

func (s *shaped) add(r *rule, shape bool) {
	if shape {
		s.shape = append(s.shape, r)
	} else {
		s.every = append(s.every, r)
	}
}

// New returns an engine.
func New(opt Options, sink Sink) *Engine {
	e := &Engine{opt: opt, sink: sink}
	book := Catalogue()
	all := checks()
	e.rules = make([]rule, 0, len(all))
	for _, k := range all {
		entry, ok := book.Find(k.id)
		if !ok || opt.Enabled != nil && !opt.Enabled(entry) {
			continue
		}
		e.rules = append(e.rules, rule{check: k, entry: entry, index: len(e.rules)})
	}
	e.rank()
	for i := range e.rules {
		r := &e.rules[i]
		r.looks = r.looksAt()
		if r.transport != onSCTP {
			e.lists[trace.TCP].add(r)
		}
		if r.transport != onTCP {
			e.lists[trace.SCTP].add(r)
		}
	}
	return e
}

// add adds a rule to the lists of the events that it is asked about.
func (l *lists) add(r *rule) {
	add := func(list *[]*rule, has bool) {
		if has {
			*list = append(*list, r)
		}
	}
	add(&l.startup, r.startup != nil)
	if r.fpdu != nil {
		l.fpdu.add(r, r.check.shape)
	}
	if r.message != nil {
		l.message.add(r, r.check.shape)
	}
	if r.segment != nil {
		l.addSegment(r)
	}
	add(&l.exchange, r.exchange != nil)
	add(&l.terminate, r.terminate != nil)
	add(&l.control, r.control != nil)
	add(&l.chunk, r.chunk != nil)
	add(&l.loose, r.loose != nil)
	add(&l.agreed, r.end != nil && aboutStartup[r.id])
	add(&l.end, r.end != nil && !aboutStartup[r.id])
	add(&l.advice, r.advice != nil)
	add(&l.capture, r.capture != nil)
}

// lists are those of the rules for its transport.
func (c *conn) lists() *lists { return &c.engine.lists[c.t.Transport] }

// addSegment adds a rule about segments to the lists of those that it is asked
// about.
func (l *lists) addSegment(r *rule) {
	if r.on == 0 && r.tagged == mpa.Unknown {
		l.malformed = append(l.malformed, r)
	}
	for t := range l.segment {
		if r.tagged != mpa.Unknown && r.tagged != mpa.TriOf(t == 1) {
			continue
		}
		for op := range l.segment[t] {
			if r.on == 0 || r.on>>op&1 != 0 {
				l.segment[t][op].add(r, r.check.shape)
			}
		}
	}
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
	c, ok := t.SinkData.(*conn)
	if !ok {
		c = e.fresh(t)
		t.SinkData = c
	}
	return c
}

// fresh returns the model of a connection of which nothing is known.
func (e *Engine) fresh(t *trace.Connection) *conn {
	c := &conn{rules: newVerdicts(len(e.rules))}
	e.begin(c, t)
	return c
}

// begin makes a model that of a connection of which nothing is known.
func (e *Engine) begin(c *conn, t *trace.Connection) {
	c.rules.reset()
	*c = conn{engine: e, t: t, rules: c.rules, active: t.Side[trace.I2R].Addr}
	c.sides()
}

// sides tells the halves apart.
func (c *conn) sides() {
	c.half[0].dir, c.half[1].dir = trace.I2R, trace.R2I
	for i := range c.half {
		c.half[i].peer = &c.half[1-i]
		c.half[i].share(&c.engine.idle)
	}
}

// PDU implements [trace.Sink].
func (e *Engine) PDU(p *trace.PDU) {
	c := e.of(p.Conn)
	e.latest = max(e.latest, p.Time)
	if c.foreign != nil {
		return
	}
	switch h := &c.half[p.Dir]; {
	case p.Kind == trace.KindFPDU && c.steadily(h, p), p.Kind == trace.KindSCTPSegment && c.steadyChunk(h, p):
		return
	}
	c.catchUp()
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
	c.half[p.Dir].to = p.From + p.Length
	c.agree()
	c.settle()
}

// Gap implements [trace.Sink].
func (e *Engine) Gap(g *trace.GapEvent) {
	c := e.of(g.Conn)
	c.catchUp()
	h := &c.half[g.Dir]
	h.gap, h.contig, h.neverSent = true, false, g.NeverSent
	h.hole = h.hole || !g.NeverSent
	h.lost()
}

// Transaction implements [trace.Sink].
func (e *Engine) Transaction(*trace.Transaction) {}

// Ended says that nothing more will become known of a connection. What is kept
// of it is the record.
func (e *Engine) Ended(live, record *trace.Connection) {
	c, ok := live.SinkData.(*conn)
	live.SinkData, record.SinkData = nil, nil
	switch {
	case !ok && !live.Configured:
		return
	case !ok:
		c = e.fresh(live)
	}
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
		c.running, c.have = r, have
		f(r)
	}
	return i
}

func (c *conn) bug(r *rule, why any) {
	c.engine.Bugs++
	c.rules.lack(r.index, Sync)
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
		c.rules.lack(i, lack.first())
		return false
	}
	c.rules.judge(i)
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
	c.fires++
	c.rules.judge(i)
	n := c.rules.fire(i)
	if n > maxFindings {
		return
	}
	f.Rule, f.Conn = c.running.entry, c.t
	f.settled, f.withdrawn, f.told, f.further = false, false, false, 0 // it may be made of another one
	if f.Severity == None {
		f.Severity = f.Rule.Severity
	}
	if f.Field == "" {
		f.Field = fields[c.running.id]
	}
	// The last one that is listed waits as well: it tells how many more there are.
	f.waits, f.counts = c.running.waits, n == maxFindings
	if f.shortly = f.shortly && f.waits; f.shortly {
		c.half[f.Dir].awaited = true
	}
	c.findings = append(c.findings, f)
}

// finish asks about the end, and settles what is open.
func (c *conn) finish() {
	c.catchUp()
	for i := range c.half {
		c.half[i].over(c)
	}
	have := c.endHave()
	c.release()
	if c.foreign == nil {
		c.askAgreed(have)
		c.ask(c.lists().end, have, func(r *rule) { r.end(c) })
	}
	c.decide(0, func(f *Finding) bool { return !f.settled })
	c.withdraw()
	c.ask(c.lists().advice, have, func(r *rule) { r.advice(c) })
	c.settleAll()
}

// verdicts are the judgements of all rules that apply.
func (c *conn) verdicts() []Judgement {
	if !c.engine.long && c.engine.told.holdFor(c) {
		return c.engine.verdicts
	}
	out := c.engine.verdicts[:0]
	var lost missing
	for i := range c.rules.each {
		r := &c.engine.rules[i]
		j := Judgement{Rule: r.entry}
		switch {
		case c.rules.fired(i) > 0 && slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Rule == r.entry }):
			j.Verdict = Fail
		case c.rules.lacking(i) != 0:
			j.Verdict, j.Gate = NotJudged, c.rules.lacking(i)
		default:
			j.Verdict = Pass
			if g := lost.of(c, r); g != 0 {
				j.Verdict, j.Gate = NotJudged, g
			}
		}
		out = append(out, j)
	}
	c.engine.verdicts = out
	c.engine.told.note(c, &lost)
	return out
}
