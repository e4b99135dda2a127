package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/internal/judges"
	"github.com/iwdissect/iwdissect/trace"
)

func init() { judges.New = newPart }

// part implements [judges.Part]: an engine that judges some of the connections of the whole.
type part struct {
	*Engine
	whole  *Engine
	latest []Judgement // the verdicts on the last connection
}

// newPart is [judges.New].
func newPart(whole trace.Sink, opt judges.Options) judges.Part {
	e := whole.(*Engine)
	own := Options{Enabled: e.opt.Enabled, Account: opt.Account, OnBug: func(string, any) { opt.Crossed() }}
	p := &part{Engine: New(own, nil), whole: e}
	p.parts, p.capture.Crossed = opt.Parts, opt.Crossed
	p.capture.Mentions = &model.Mentions{Now: opt.Frame, Most: model.MaxSides / opt.Parts}
	return p
}

// mentions is what a part has for all the others to know.
type mentions struct{ of []model.Mention }

func (p *part) Cut(old any) any {
	m, ok := old.(*mentions)
	if !ok {
		m = new(mentions)
	}
	m.of = p.capture.Mentions.Cut(m.of)
	return m
}

func (p *part) Join(cuts []any) bool {
	e := p.whole
	e.mentions = e.mentions[:0]
	for _, c := range cuts {
		e.mentions = append(e.mentions, c.(*mentions).of...)
	}
	return !e.capture.Replay(e.mentions)
}

func (p *part) Concluded(t *trace.Connection) func(number func(n uint64) uint64) {
	c := p.over(t)
	if c == nil {
		return nil
	}
	o := &outcome{record: t, ended: c.Outlast(t), findings: slices.Clone(c.findings)}
	if vs := c.verdicts(); !slices.Equal(vs, p.latest) { // of thousands of connections most are alike
		p.latest = slices.Clone(vs)
	}
	o.verdicts = p.latest
	c.gives()
	p.release(c)
	return func(number func(n uint64) uint64) { p.whole.take(o, number) }
}

func (p *part) Finish() { p.whole.Finish() }

// outcome is what a part says of a connection that is over.
type outcome struct {
	record   *trace.Connection
	ended    *model.EndedConnection
	findings []rules.Finding
	verdicts []Judgement
}

// take does for a connection that a part has judged what [Engine.Ended] does.
func (e *Engine) take(o *outcome, number func(n uint64) uint64) {
	for i := range o.findings {
		f := &o.findings[i]
		if f.HasPDU {
			f.PDU = number(f.PDU)
		}
		if len(f.Related) > 0 {
			f.Related = slices.Clone(f.Related) // others may have the same
			for j := range f.Related {
				f.Related[j] = number(f.Related[j])
			}
		}
	}
	o.ended.Renumber(number)
	switch {
	case e.scarce():
		e.capture.Omit()
	case !e.capture.Full():
		e.outlasts(o.ended, o.findings[:min(len(o.findings), maxBefore)])
	}
	if e.sink != nil {
		e.sink.Connection(o.record, e.public(o.findings, o.record), o.verdicts)
	}
}

// crowds tells that more events wait than a part may have for itself.
func (e *Engine) crowds() {
	if e.parts > 0 && e.waiting >= maxAllWaiting/e.parts {
		e.capture.Crosses()
	}
}
