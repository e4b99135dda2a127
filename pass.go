package iwdissect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/trace"
)

// pass is one pass over a capture: the sink of a run that hands on what it is told.
// All of it happens in the goroutine of the range.
type pass struct {
	c     *Capture
	kinds Kinds
	yield func(Event, error) bool
	run   *pipeline.Run
	// engine judges; nil: no findings are wanted.
	engine   *conformance.Engine
	verdicts verdicts
	done     <-chan struct{} // of the context, may be nil
	left     bool            // the loop was left
	// incomplete: reading ended before the end of the capture, with an error or with the context.
	incomplete bool
	// stopped: it ended as the loop was left, or as many frames were read as may be.
	stopped bool
	// unopened counts files of several that could not be opened.
	unopened uint64
	// found are findings that the engine told of, bugs are rules that failed. They
	// are handed on when the engine has returned: it recovers from panics of its
	// rules, and must not catch those of the loop.
	found []conformance.Finding
	bugs  []error
	frame Frame
	// filter decides about PDUs, nil lets all pass.
	filter *pduFilter
}

func newPass(c *Capture, kinds Kinds, yield func(Event, error) bool) *pass {
	p := &pass{c: c, kinds: kinds, yield: yield}
	opt := c.set.opt
	opt.Sums = true // whatever is asked for, damaged packets are left out
	opt.ReadAhead = true
	opt.Brief = kinds&(PDUs|Frames) == 0
	opt.Lean = kinds&(PDUs|Findings) == 0
	opt.NoRecords = true // Ended tells of them
	if c.set.upper {
		opt.Upper = ulp.New().PDU
	}
	opt.Memory = budget.New(cmp.Or(opt.MemoryBytes, pipeline.DefaultMemory))
	opt.OnError = p.resumed
	if kinds&Findings != 0 {
		p.engine = conformance.New(conformance.Options{Enabled: c.set.enabled(), Account: opt.Memory, OnFinding: p.note, OnBug: p.bug}, &p.verdicts)
	}
	if c.set.ctx != nil {
		p.done = c.set.ctx.Done()
	}
	if kinds&PDUs != 0 {
		p.filter = c.set.newPDUFilter(&opt)
	}
	p.run = pipeline.New(opt, p)
	return p
}

// read reads the capture to its end, or to where the loop is left.
func (p *pass) read(src capture.Source) {
	c := p.c
	outer := c.pass
	c.pass = p
	defer func() {
		c.last, c.verdicts, c.pass = p.totals(), p.verdicts.Tally, outer
		src.Close() //nolint:errcheck // only read from
	}()
	if ctx := c.set.ctx; ctx != nil {
		defer context.AfterFunc(ctx, p.run.Stop)()
		if p.cancelled() {
			p.run.Stop() // at once
		}
	}
	p.filter.of(src)
	if err := p.run.Read(src); err != nil {
		var e *capture.Error
		p.incomplete = !errors.As(err, &e) || e.Code != capture.CodeLink // else it was read, though in vain
		p.emit(Event{}, errorOf(err))
	} else if !p.cancelled() {
		most := c.set.opt.Count
		p.stopped = p.left || most > 0 && p.run.Totals().Frames >= most
	}
	if !p.left {
		p.run.Finish()
	}
	if !p.left && p.cancelled() {
		p.left, p.incomplete = true, true
		p.yield(Event{}, c.set.ctx.Err())
	}
}

// resumed hands on an error behind which reading goes on.
func (p *pass) resumed(err error) {
	var e *capture.Error
	if errors.As(err, &e) && e.Frame == 0 {
		switch e.Code {
		case capture.CodeOpen, capture.CodeDirectory, pcapng.CodeEmpty, pcapng.CodeFormat, pcapng.CodeVersion:
			p.unopened++
			p.incomplete = true
		}
	}
	p.emit(Event{}, errorOf(err))
}

// stop ends the pass.
func (p *pass) stop() {
	p.left = true
	p.run.Stop()
}

func (p *pass) cancelled() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// emit hands on an event or an error, unless the loop was left.
func (p *pass) emit(e Event, err error) {
	switch {
	case p.left:
	case p.cancelled():
		p.run.Stop()
	case !p.yield(e, err):
		p.stop()
	}
}

// PDU implements [trace.Sink].
func (p *pass) PDU(u *trace.PDU) {
	if p.kinds&PDUs != 0 && p.filter.match(u) {
		p.emit(Event{PDU: u}, nil)
	}
	if p.engine != nil {
		p.engine.PDU(u)
		p.judged()
	}
}

// Gap implements [trace.Sink].
func (p *pass) Gap(g *trace.GapEvent) {
	if p.kinds&Gaps != 0 {
		p.emit(Event{Gap: g}, nil)
	}
	if p.engine != nil {
		p.engine.Gap(g)
		p.judged()
	}
}

// Transaction implements [trace.Sink].
func (p *pass) Transaction(t *trace.Transaction) {
	if p.kinds&Transactions != 0 {
		p.emit(Event{Transaction: t}, nil)
	}
}

// Frame implements [pipeline.Sink].
func (p *pass) Frame(f *pipeline.Frame) {
	if p.kinds&Frames == 0 {
		return
	}
	p.frame = Frame{
		Number: f.Number, Time: f.Time, Length: int(f.OrigLen), Data: f.Data,
		LinkType: uint16(f.Link), Interface: f.Interface, Conn: f.Conn, Dir: f.Dir,
	}
	if f.Status == packet.Malformed || f.Status == packet.Truncated {
		p.frame.Problem = f.Status.String() + ": " + f.Reason
	}
	p.emit(Event{Frame: &p.frame}, nil)
}

// Ended implements [pipeline.Judge].
func (p *pass) Ended(c *trace.Connection) {
	if p.engine != nil {
		p.engine.Ended(c)
		p.judged()
	}
	if p.kinds&Connections != 0 {
		p.emit(Event{Connection: c}, nil)
	}
}

// Finish implements [pipeline.Judge].
func (p *pass) Finish() {
	if p.engine != nil {
		p.engine.Finish()
		p.judged()
	}
}

// note keeps a finding until the engine returns.
func (p *pass) note(f *conformance.Finding) {
	own := *f
	own.Related = slices.Clone(f.Related)
	p.found = append(p.found, own)
}

// bug keeps the failure of a rule until the engine returns.
func (p *pass) bug(rule string, why any) {
	p.bugs = append(p.bugs, fmt.Errorf("iwdissect: the check of %s failed, which is a fault of this package: %v", rule, why))
}

// judged hands on what the engine told of.
func (p *pass) judged() {
	if len(p.found)+len(p.bugs) == 0 {
		return
	}
	found, bugs := p.found, p.bugs
	p.found, p.bugs = nil, nil // findings may be kept
	for i := range found {
		p.emit(Event{Finding: &found[i]}, nil)
	}
	for _, err := range bugs {
		p.emit(Event{}, err)
	}
}
