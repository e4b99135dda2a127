package conformance

import (
	"cmp"
	"slices"
	"sync"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/spare"
	"github.com/iwdissect/iwdissect/trace"
)

// Sink receives the findings on a connection when it is over, and again at the end of the
// capture where rules compare connections.
type Sink interface {
	// Connection gets the findings in the order of their frames, and a judgement
	// for each rule that applies, in the order of the catalogue. Both are borrowed
	// until it returns. The second time c may be a copy: connections are told apart by
	// their numbers.
	Connection(c *trace.Connection, findings []Finding, verdicts []Judgement)
}

// Options of an engine.
type Options struct {
	// Enabled selects the rules; nil selects all.
	Enabled func(*catalogue.Entry) bool
	// OnBug is called for a rule that panicked. That is a bug of this program; the rule is
	// left out on that connection.
	OnBug func(rule string, reason any)
	// Window is for a capture that has no end: at most so many connections that ended are
	// remembered, for the rules that compare connections, and each is compared with the others
	// after CompareAfter nanoseconds instead of at the end. 0: all of a capture are compared at
	// its end.
	Window       int
	CompareAfter int64
	// Account is told how much memory the engine takes, and asked whether there is enough to
	// keep more of connections that are over; nil: there is.
	Account Account
	// OnFinding is called for each finding as soon as it is certain: with the PDU that shows
	// it, or, while another finding may still explain it, at the end of the connection.
	OnFinding func(*Finding)
}

// Account counts octets that are in use.
type Account interface {
	// Take counts more octets, or less if they are negative.
	Take(octets int)
	// Keep is Take for what stays when its connection is over.
	Keep(octets int)
	// Scarce reports whether nothing more is to be kept.
	Scarce() bool
}

// Engine judges the connections of one capture. It implements [trace.Sink].
type Engine struct {
	opt  Options
	sink Sink
	*selection
	// capture is the model's state of the capture, before the findings on the connections
	// that are over.
	capture model.CaptureState
	before  map[*model.EndedConnection][]rules.Finding
	// records are those of the connections that are over, as far as they are packed, in order.
	records ended.Sequence
	// compared is how many of those that ended have been compared with the others.
	compared int
	running  *indexedRule // the rule that is being asked
	report   rules.Report // of it
	spare    spare.List[judged]
	// spareTroubles and spareLacks are those of connections that are over.
	spareTroubles spare.List[trouble]
	spareLacks    spare.List[lacks]
	calm          trouble           // of all connections that have none; it is never written to
	valid         map[valid]ruleSet // see there
	// verdicts holds the verdicts on a connection for the sink, told what they follow from.
	verdicts []Judgement
	told     told
	shown    []Finding       // those that are passed to the sink
	mentions []model.Mention // of all parts, see part.Join
	// waiting counts the events that wait for the other direction. parts share the most there may be; 0: it is
	// one engine.
	waiting, parts int
	// Bugs counts rules that panicked.
	Bugs int
}

// Rules is the number of selected rules.
func (e *Engine) Rules() int { return len(e.rules) }

// indexedRule is a rule with its entry and its index among the selected ones.
type indexedRule struct {
	*rules.Rule
	entry *catalogue.Entry
	index int
	looks model.Looks
	waits bool // for rules that may explain its findings later
}

// New returns an engine.
func New(opt Options, sink Sink) *Engine {
	e := &Engine{opt: opt, sink: sink}
	if opt.Enabled == nil {
		e.selection = everyRule()
	} else {
		e.selection = selectRules(opt.Enabled)
	}
	return e
}

// selection is the rules that an engine asks. Nothing is written to it once it is made: all engines that
// ask all rules have the same one.
type selection struct {
	rules []indexedRule
	lists [2]lists // by transport
}

// everyRule is the selection of all rules.
var everyRule = sync.OnceValue(func() *selection { return selectRules(nil) })

// selectRules selects rules; nil: all.
func selectRules(enabled func(*catalogue.Entry) bool) *selection {
	s := &selection{}
	book := catalogue.Load()
	all := registry()
	s.rules = make([]indexedRule, 0, len(all))
	for i := range all {
		entry, ok := book.Find(all[i].ID)
		if !ok || enabled != nil && !enabled(entry) {
			continue
		}
		s.rules = append(s.rules, indexedRule{Rule: &all[i], entry: entry})
	}
	// Verdicts are in the order of the catalogue, independent of the order of the rules.
	slices.SortFunc(s.rules, func(a, b indexedRule) int { return cmp.Compare(a.entry.Place(), b.entry.Place()) })
	for i := range s.rules {
		s.rules[i].index = i
	}
	s.rank()
	for i := range s.rules {
		s.rules[i].looks = looksOf(s.rules[i].Rule)
	}
	for _, weighs := range [...]bool{false, true} {
		s.list(weighs)
	}
	return s
}

// Partial says that the engine is told of some of the connections of a capture: that one is not
// there proves nothing to the rules that compare connections. It is called before all else.
func (e *Engine) Partial() { e.capture.Omit() }

// list lists the rules that weigh findings of others, or those that do not.
func (s *selection) list(weighs bool) {
	for i := range s.rules {
		r := &s.rules[i]
		if r.Weighs != weighs {
			continue
		}
		if r.Transport != rules.OnSCTP {
			s.lists[trace.TCP].add(r)
		}
		if r.Transport != rules.OnTCP {
			s.lists[trace.SCTP].add(r)
		}
	}
}

// of returns what is kept of a connection.
func (e *Engine) of(t *trace.Connection) *judged {
	c, ok := t.SinkData.(*judged)
	if !ok {
		c = e.fresh(t)
		t.SinkData = c
	}
	if c.Named() {
		c.named()
	}
	return c
}

// fresh returns the state for a new connection.
func (e *Engine) fresh(t *trace.Connection) *judged {
	c := e.spare.Take()
	c.engine = e
	c.begin(t)
	c.weigh()
	return c
}

// PDU implements [trace.Sink].
func (e *Engine) PDU(p *trace.PDU) {
	c := e.of(p.Conn)
	switch {
	case !c.inStep(p):
		c.take(p.Dir, event{pdu: p})
	case c.Record(p):
		c.agree()
		c.settle()
		c.weighSome()
	}
}

// Gap implements [trace.Sink].
func (e *Engine) Gap(g *trace.GapEvent) {
	if c := e.of(g.Conn); c.wait != nil {
		c.take(g.Dir, event{gap: g})
	} else {
		c.Missing(g)
	}
}

// Transaction implements [trace.Sink].
func (e *Engine) Transaction(*trace.Transaction) {}

// Ended records that a connection is over. The engine may keep it, as the record of it.
func (e *Engine) Ended(t *trace.Connection) {
	c := e.over(t)
	if c == nil {
		return
	}
	e.remember(c, t)
	if e.sink != nil {
		e.sink.Connection(t, e.public(c.findings, t), c.verdicts())
	}
	if e.opt.Window > 0 {
		e.compareSome(t.LastTime)
	}
	e.release(c)
}

// over judges what a connection showed, now that it is over; nil: there was nothing to judge.
func (e *Engine) over(t *trace.Connection) *judged {
	c, ok := t.SinkData.(*judged)
	t.SinkData = nil
	switch {
	case !ok && !t.Configured && t.Transport != trace.SCTP:
		return nil
	case !ok:
		c = e.fresh(t)
	}
	c.passAll()
	c.finish()
	return c
}

// release makes what was kept of a connection free for others.
func (e *Engine) release(c *judged) {
	c.untroubled()
	c.Release()
	*c = judged{}
	e.spare.Give(c, model.MaxSpares)
}

// remember keeps what rules that compare connections ask for.
func (e *Engine) remember(c *judged, record *trace.Connection) {
	switch {
	case e.scarce():
		e.capture.Omit()
		c.gives()
	case e.capture.Full():
		c.gives()
	default:
		p, before := c.Outlast(record), slices.Clone(c.findings[:min(len(c.findings), maxBefore)])
		c.gives()
		e.outlasts(p, before)
	}
}

// outlasts keeps what rules that compare connections ask for, and findings from before.
func (e *Engine) outlasts(p *model.EndedConnection, before []rules.Finding) {
	e.capture.Remember(p)
	if len(before) > 0 {
		if e.before == nil {
			e.before = map[*model.EndedConnection][]rules.Finding{}
		}
		e.before[p] = before
	}
	e.keeps(p.Weight() + e.pack(p) + len(before)*findingWeight)
}

// plainRecords is how many records stay as they are: others have most of these too. Tests set it.
var plainRecords = 1024

// pack packs the record of a connection that is over, if there are many, and returns how many octets it takes. That of a
// connection that ends with the capture stays as it is, like that of a session: others have it too.
func (e *Engine) pack(p *model.EndedConnection) int {
	if e.opt.Window > 0 || len(e.capture.Ended) <= plainRecords || p.Transport != trace.TCP || p.Ending == trace.Open {
		return 0
	}
	n := e.records.Add(p.Trace)
	p.Trace = nil
	return n
}

// maxBefore bounds the findings of a connection that are remembered.
const maxBefore = 16

// Finish ends the capture: rules that compare connections are judged, and the sink gets
// their findings on each connection.
func (e *Engine) Finish() {
	e.compare(e.capture.Ended[e.compared:])
	e.compared = len(e.capture.Ended)
}

// public are findings as others see them. They are borrowed until the next call.
func (e *Engine) public(fs []rules.Finding, conn *trace.Connection) []Finding {
	e.shown = e.shown[:0]
	for i := range fs {
		e.shown = append(e.shown, publicFinding(&fs[i], conn))
	}
	return e.shown
}
