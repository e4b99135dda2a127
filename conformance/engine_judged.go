package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// judged is a connection and the outcome of the rules on it so far. It observes the model,
// and has the rules judge each event.
type judged struct {
	model.Conn
	engine *Engine
	rules  ruleSet // those that apply
	*trouble
	// wait are the events of each direction that wait for the other one; nil: none do.
	wait   *[2]waiting
	weight uint32 // the memory that was taken for it, in octets
	long   uint16 // PDUs that were judged, modulo 65536
	agreed bool   // the rules about the startup were asked
	// unsummed: the packets of the current startup frame have wrong checksums, like all that came before them.
	unsummed bool
}

// begin resets it for a new connection.
func (c *judged) begin(t *trace.Connection) {
	*c = judged{engine: c.engine, trouble: &c.engine.calm}
	c.Conn.Begin(t, &c.engine.capture, c)
}

// lists are those of the rules for its transport.
func (c *judged) lists() *lists { return &c.engine.lists[c.Trace.Transport] }

// ask asks the rules of a list about an event in a direction. A rule that
// panics is left out; the others go on.
func (c *judged) ask(list []*indexedRule, have catalogue.Gate, f func(*indexedRule, *rules.Report)) {
	for i := 0; i < len(list); {
		i = c.askFrom(list, i, have, f)
	}
}

func (c *judged) askFrom(list []*indexedRule, i int, have catalogue.Gate, f func(*indexedRule, *rules.Report)) (next int) {
	defer func() {
		if why := recover(); why != nil {
			c.bug(list[i], why)
			next = i + 1
		}
	}()
	k := &c.engine.report
	k.Begin(&c.Conn, c.before, have, c)
	for ; i < len(list); i++ {
		c.engine.running = list[i]
		f(list[i], k)
	}
	return i
}

// askShaped asks about an event of a shape in a direction; every are those that are asked in any case.
func (c *judged) askShaped(s *byShape, every []*indexedRule, h *model.Direction, known model.Known, k model.Shape, have catalogue.Gate, f func(*indexedRule, *rules.Report)) {
	c.ask(every, have, f)
	long := c.engine.capture.Long
	if known.Has(k) && !long {
		return
	}
	of := valid{list: s, shape: k}
	if k != 0 && !long && c.calm() {
		of.sort = c.Sort(h)
	}
	if of.sort != 0 {
		if judged, ok := c.engine.valid[of]; ok {
			c.rules.merge(&judged)
			known.Add(k)
			return
		}
	}
	before, own := c.violations, c.rules
	c.rules = ruleSet{}
	c.ask(s.shape, have, f)
	if of.sort != 0 && c.calm() {
		c.engine.keepValid(of, &c.rules)
	}
	c.rules.merge(&own)
	if k != 0 && c.violations == before {
		known.Add(k)
	}
}

func (c *judged) bug(r *indexedRule, why any) {
	c.engine.Bugs++
	c.lack(r.index, catalogue.Sync)
	if c.engine.opt.OnBug != nil {
		c.engine.opt.OnBug(r.ID, fmt.Sprint(why))
	}
}

// Startup implements observer, as do the following.
func (c *judged) Startup(f *model.Frame, have catalogue.Gate) {
	c.unsummed = c.Trace.Flow[f.Dir].Rare().SumsWrong > 0
	c.ask(c.lists().startup, have, func(r *indexedRule, k *rules.Report) { r.Startup.Ask(k, r.Rule, r.entry, f) })
	c.unsummed = false
}

// FPDU has the rules judge an FPDU.
func (c *judged) FPDU(e *model.FPDU, k model.Shape, have catalogue.Gate) {
	l := &c.lists().fpdu
	c.askShaped(l, l.every, e.Direction, c.Capture.FPDUs(e.Direction), k, have, func(r *indexedRule, k *rules.Report) { r.FPDU.Ask(k, r.Rule, r.entry, e) })
}

// Segment has the rules judge a segment, selected by its T bit and its opcode.
func (c *judged) Segment(s *model.Segment, k model.Shape, have catalogue.Gate) {
	l := &c.lists().segment[model.Bit(s.DDP.Tagged)][s.Op]
	every := l.every
	if !s.Noise && !s.Touch.Matters() && !c.engine.capture.Long {
		every = l.calm
	}
	c.askShaped(l, every, s.Direction, c.Capture.Segments(s.Direction), k, have, func(r *indexedRule, k *rules.Report) {
		if !s.Noise || r.Noise {
			r.Segment.Ask(k, r.Rule, r.entry, s)
		}
	})
}

// Message has the rules judge a message.
func (c *judged) Message(m *model.Message, k model.Shape, have catalogue.Gate) {
	l := &c.lists().message
	c.askShaped(l, l.every, m.Direction, c.Capture.Messages(m.Direction), k, have, func(r *indexedRule, k *rules.Report) { r.Message.Ask(k, r.Rule, r.entry, m) })
}

// Malformed has the rules judge a ULPDU without a whole DDP header.
func (c *judged) Malformed(s *model.Segment, have catalogue.Gate) {
	c.ask(c.lists().malformed, have, func(r *indexedRule, k *rules.Report) { r.Segment.Ask(k, r.Rule, r.entry, s) })
}

// Exchange has the rules judge a segment of a request or of its answer.
func (c *judged) Exchange(s *model.Segment, have catalogue.Gate) {
	c.ask(c.lists().exchange[s.Op], have, func(r *indexedRule, k *rules.Report) { r.Exchange.Ask(k, r.Rule, r.entry, s) })
}

// Terminate has the rules judge a Terminate.
func (c *judged) Terminate(t *model.Terminate, have catalogue.Gate) {
	c.ask(c.lists().terminate, have, func(r *indexedRule, k *rules.Report) { r.Terminate.Ask(k, r.Rule, r.entry, t) })
}

// Control has the rules judge a session control chunk.
func (c *judged) Control(e *model.Control, have catalogue.Gate) {
	c.ask(c.lists().control, have, func(r *indexedRule, k *rules.Report) { r.Control.Ask(k, r.Rule, r.entry, e) })
}

// Chunk has the rules judge a chunk with a segment.
func (c *judged) Chunk(s *model.Segment, have catalogue.Gate) {
	c.ask(c.lists().chunk, have, func(r *indexedRule, k *rules.Report) { r.Chunk.Ask(k, r.Rule, r.entry, s) })
}

// Loose has the rules judge octets in no startup frame and in no FPDU.
func (c *judged) Loose(s *model.Loose, have catalogue.Gate) {
	c.ask(c.lists().loose, have, func(r *indexedRule, k *rules.Report) { r.Loose.Ask(k, r.Rule, r.entry, s) })
}

// Settled reports whether no finding waits to be looked at, and the startup was judged.
func (c *judged) Settled() bool {
	return c.looked >= len(c.findings) && (c.agreed || c.Request == nil || c.Reply == nil)
}

// Judged implements [rules.Recorder], as do the following: the current rule applies.
func (c *judged) Judged() { c.rules.add(c.engine.running.index) }

// Unproven records that the current rule lacks evidence. Where octets were never sent, there is nothing to judge.
func (c *judged) Unproven(g catalogue.Gate) {
	if c.CutOff {
		g &^= catalogue.Full
	}
	if g != 0 {
		c.lack(c.engine.running.index, c.Reason(g.First()))
	}
}

// Count is how often the current rule was violated.
func (c *judged) Count() int { return int(c.fired(c.engine.running.index)) }

// Found are the findings so far.
func (c *judged) Found() []rules.Finding { return c.findings }

// maxFindings is how many findings of a rule are kept for a connection.
const maxFindings = 100

// Violated records a violation of the current rule.
func (c *judged) Violated(v rules.Violation) {
	if c.unsummed {
		c.hold(v, catalogue.Sum)
		return
	}
	c.violated(c.engine.running, v)
}

func (c *judged) violated(r *indexedRule, v rules.Violation) {
	c.rules.add(r.index)
	n := c.fire(r.index)
	if n > maxFindings {
		return
	}
	f := rules.Finding{Violation: v, Rule: r.entry, By: r.Rule}
	if f.Severity == catalogue.None {
		f.Severity = r.entry.Severity
	}
	if f.Field == "" {
		f.Field = r.Field
	}
	// The last one that is listed waits as well: it says how many more there are.
	f.Waits, f.Counts = r.waits && !v.Stands, n == maxFindings
	if f.Soon = f.Soon && f.Waits; f.Soon {
		c.Directions[f.Dir].Awaited = true
	}
	c.findings = append(c.findings, f)
}

// traits are those of the connection. On the long way rules are asked about the others, too.
func (c *judged) traits() model.Traits {
	if c.engine.capture.Long {
		return 1<<model.AllTraits - 1
	}
	return c.Traits()
}

// finish asks about the end, and settles what is open.
func (c *judged) finish() {
	c.Over()
	have := c.EndHave()
	c.release()
	if c.Foreign == nil {
		c.askAgreed(have)
		c.ask(c.lists().end[c.traits()], have, func(r *indexedRule, k *rules.Report) { r.AskAtEnd(k, r.entry) })
	}
	c.decide(0, func(f *rules.Finding) bool { return !f.Settled })
	c.withdraw()
	for i := range c.findings {
		f := &c.findings[i]
		f.WentOn = c.Trace.Transport == trace.SCTP && f.HasPDU && f.HasDir && c.Directions[model.Other(f.Dir)].SpokeAfter(f.PDU)
	}
	c.ask(c.lists().advice[c.traits()], have, func(r *indexedRule, k *rules.Report) { r.AskAdvice(k, r.entry) })
	c.settleAll()
}

// verdicts are the judgements of all rules that apply.
func (c *judged) verdicts() []Judgement {
	if !c.Capture.Long && c.engine.told.holdFor(c) {
		return c.engine.verdicts
	}
	out := c.engine.verdicts[:0]
	var lost missing
	for i := range c.rules.each {
		r := &c.engine.rules[i]
		j := Judgement{Rule: r.entry}
		switch {
		case c.fired(i) > 0 && rules.AnyFinding(c.findings, func(f *rules.Finding) bool { return f.Rule == r.entry }):
			j.Verdict = Fail
		case c.lacking(i) != 0:
			j.Verdict, j.Gate = NotJudged, c.lacking(i)
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
