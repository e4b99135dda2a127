package view

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Source says what is shown, and how it is read.
type Source struct {
	// Name is the file, or the interface.
	Name  string
	Store Store
	// Live says that frames come while they are shown, and that nobody knows how many.
	Live bool
	// Run are the options of each reading. Upper makes what recognises upper layers; nil: nobody
	// does.
	Run   pipeline.Options
	Upper func() func(*trace.PDU)
	// Rules are those of the engine, but for what it is to tell.
	Rules conformance.Options
	// Memory is about how many octets may be taken besides those of Run.
	Memory int
	// Compile checks a display filter; nil: there are no filters.
	Compile func(text string) error
	// Filter makes a filter for a reading, from a text that Compile let pass. It may read the
	// capture itself, for what becomes known later than the PDU.
	Filter func(ctx context.Context, text string) (Filter, error)
	// Complete is what may stand instead of the text of a filter that is not finished.
	Complete func(text string) []string
	// Explain says what the error of a Terminate means.
	Explain func(rdmap.TermCode) string
	// Dropped is how many frames the kernel dropped; nil: nobody knows.
	Dropped func() uint64
	// Clock is the time in nanoseconds up to which frames have come, if Live.
	Clock func() int64
}

// Filter lets the PDUs of a reading pass that match.
type Filter interface {
	// Watch has it follow a run, before there is one. Of has it know the source.
	Watch(*pipeline.Options)
	Of(capture.Source)
	// Before puts it before a sink.
	Before(next pipeline.Sink) pipeline.Sink
	// Judged reports whether it asks for findings.
	Judged() bool
	// End says that there are no more frames, and again that there is nothing more.
	End()
}

// The parts of Source.Memory that lists and details may take. The rest is for what is said of
// connections.
const (
	partOfAll      = 2
	partOfFiltered = 4
	partOfDetails  = 8
	mostDetails    = 48 << 20
)

// Capture is what is known of a capture so far. One goroutine reads, see [Capture.Read]; others
// may ask.
type Capture struct {
	Source
	// All are all PDUs.
	All *List

	mu       sync.Mutex
	state    State
	conns    map[uint64]*Conn
	problems diagnose.Summary
	found    findings
	errs     []error
	progress func() (done, total int64)
	changed  bool
}

// State are counts of a capture.
type State struct {
	Totals pipeline.Totals
	// Errors, Warnings and Notes are findings.
	Errors, Warnings, Notes int
	// Done says that all was read.
	Done bool
	// Failed is how many errors there were.
	Failed int
}

// NewCapture makes a capture that was not read yet.
func NewCapture(src Source) *Capture {
	return &Capture{
		Source: src, All: NewList(src.Memory/partOfAll, src.Live), conns: map[uint64]*Conn{},
		found: findings{levels: map[uint64]conformance.Severity{}},
	}
}

// Errors are those of reading.
func (c *Capture) Errors() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.errs)
}

// State returns the counts so far.
func (c *Capture) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Progress is how much was read of how much, in octets; 0 of 0 if nobody knows.
func (c *Capture) Progress() (done, total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.progress == nil {
		return 0, 0
	}
	return c.progress()
}

// Read reads the capture to its end, or until the context ends.
func (c *Capture) Read(ctx context.Context) {
	s := &scan{c: c}
	opt := c.Run
	opt.Brief, opt.OnError, opt.Pipes = true, c.fail, true
	opt.Memory = budget.New(cmp.Or(opt.MemoryBytes, pipeline.DefaultMemory))
	if c.Upper != nil {
		opt.Upper = c.Upper()
	}
	rules := c.Rules
	rules.Account, rules.OnFinding, rules.OnBug = opt.Memory, c.finding, func(string, any) {}
	s.engine = conformance.New(rules, s)
	s.run = pipeline.New(opt, s)
	defer context.AfterFunc(ctx, s.run.Stop)()
	src, err := c.Store.Open(ctx, true)
	if err == nil {
		c.opened(src)
		if r, ok := src.(*reading); ok {
			err = s.follow(r)
		} else {
			err = s.run.Read(src)
		}
		src.Close() //nolint:errcheck // only read from
	}
	if err != nil {
		c.fail(err)
	}
	s.finish(ctx)
}

func (c *Capture) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, err)
	c.state.Failed++
	c.changed = true
}

// opened takes note of the source, which may know how far it is.
func (c *Capture) opened(src capture.Source) {
	if p, ok := src.(interface{ Progress() (done, total int64) }); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.progress = p.Progress
	}
}
