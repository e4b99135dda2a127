package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// Part judges some of the connections of a capture for an engine that has all of them. Several may do so at the
// same time, each in a goroutine of its own; it implements [trace.Sink].
type Part struct {
	*Engine
	whole  *Engine
	latest []Judgement // the verdicts on the last connection
}

// PartOptions are those of a part.
type PartOptions struct {
	// Account is told of the memory that the part takes.
	Account Account
	// Crossed is called when a verdict depends on other connections, or on their order: what the parts find
	// is not to be used then. So it is when a rule panics.
	Crossed func()
	// Frame tells the frame at hand.
	Frame func() uint64
	// Parts is how many parts there are.
	Parts int
}

// Part returns a part that judges by the same rules.
func (e *Engine) Part(opt PartOptions) *Part {
	own := Options{Enabled: e.opt.Enabled, Account: opt.Account, OnBug: func(string, any) { opt.Crossed() }}
	p := &Part{Engine: New(own, nil), whole: e}
	p.parts, p.capture.Crossed = opt.Parts, opt.Crossed
	p.capture.Mentions = &model.Mentions{Now: opt.Frame, Most: model.MaxSides / opt.Parts}
	return p
}

// Log is what a part has for all the others to know.
type Log struct{ mentions []model.Mention }

// Cut makes it the log since the last cut. What was in it is free.
func (p *Part) Cut(log *Log) { log.mentions = p.capture.Mentions.Cut(log.mentions) }

// Replay takes in the logs that the parts cut at the same place. It reports whether a verdict depends on them: what
// the parts find is not to be used then.
func (e *Engine) Replay(logs []*Log) (crossed bool) {
	e.mentions = e.mentions[:0]
	for _, l := range logs {
		e.mentions = append(e.mentions, l.mentions...)
	}
	return e.capture.Replay(e.mentions)
}

// Outcome is what a part says of a connection that is over.
type Outcome struct {
	record   *trace.Connection
	ended    *model.EndedConnection
	findings []rules.Finding
	verdicts []Judgement
}

// Conclude judges a connection that is over. The record may be kept. nil: there was nothing to judge.
func (p *Part) Conclude(t *trace.Connection) *Outcome {
	c := p.over(t)
	if c == nil {
		return nil
	}
	o := &Outcome{record: t, ended: c.Outlast(t), findings: slices.Clone(c.findings)}
	if vs := c.verdicts(); !slices.Equal(vs, p.latest) { // of thousands of connections most are alike
		p.latest = slices.Clone(vs)
	}
	o.verdicts = p.latest
	c.gives()
	p.release(c)
	return o
}

// Tell tells the engine that has all connections of an outcome, as [Engine.Ended] does: connections are told
// of one at a time, in the order in which they ended. number tells the number in the capture of the nth PDU of
// the part, from 0.
func (p *Part) Tell(o *Outcome, number func(n uint64) uint64) {
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
	e := p.whole
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
