package view

import (
	"context"
	"io"
	"sync"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/details"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// options are those of another reading. It repeats what the first one did.
func (c *Capture) options() pipeline.Options {
	opt := c.Run
	opt.NoRecords = true
	opt.OnError = func(error) {} // the first reading told of it
	if c.Upper != nil {
		opt.Upper = c.Upper()
	}
	return opt
}

// again reads the capture once more into a run. begin is told the source, middle is called when
// all was read and connections are to be ended; both may be nil.
func (c *Capture) again(ctx context.Context, grows bool, run *pipeline.Run, begin func(capture.Source), middle func()) error {
	defer context.AfterFunc(ctx, run.Stop)()
	src, err := c.Store.Open(ctx, grows)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read from
	if begin != nil {
		begin(src)
	}
	if ctx.Err() == nil {
		_ = run.Read(src) // the first reading told of it
	}
	if ctx.Err() == nil {
		if middle != nil {
			middle()
		}
		run.Finish()
	}
	return ctx.Err()
}

// judging puts the rules behind a sink, which gets the findings too.
type judging struct {
	pipeline.Sink
	engine *conformance.Engine
}

func (c *Capture) judging(next pipeline.Sink) *judging {
	rules := c.Rules
	rules.OnBug = func(string, any) {}
	if s, ok := next.(interface{ Finding(*conformance.Finding) }); ok {
		rules.OnFinding = s.Finding
	}
	return &judging{next, conformance.New(rules, nil)}
}

// PDU implements [trace.Sink].
func (j *judging) PDU(p *trace.PDU) {
	j.Sink.PDU(p)
	j.engine.PDU(p)
}

// Gap implements [trace.Sink].
func (j *judging) Gap(g *trace.GapEvent) {
	j.Sink.Gap(g)
	j.engine.Gap(g)
}

// Ended implements [pipeline.Judge].
func (j *judging) Ended(c *trace.Connection) {
	j.engine.Ended(c)
	if s, ok := j.Sink.(interface{ ended(*trace.Connection) }); ok {
		s.ended(c)
	}
}

// Finish implements [pipeline.Judge].
func (j *judging) Finish() { j.engine.Finish() }

// Matching reads the capture for the PDUs that match a filter, and adds them to a list.
func (c *Capture) Matching(ctx context.Context, text string, to *List) error {
	f, err := c.Filter(ctx, text)
	if err != nil {
		return err
	}
	opt := c.options()
	opt.Brief = true
	f.Watch(&opt)
	sink := f.Before(&listing{to: to, numbers: c.numbered()})
	if f.Judged() {
		sink = c.judging(sink)
	}
	err = c.again(ctx, true, pipeline.New(opt, sink), f.Of, f.End)
	f.End()
	return err
}

// listing adds PDUs to a list. Their IDs are told by their numbers: PDUs that do not match are
// counted as well.
type listing struct {
	to      *List
	rows    rows
	numbers *numbered
}

// PDU implements [trace.Sink].
func (l *listing) PDU(p *trace.PDU) {
	row := l.rows.of(p)
	row.Conn = l.numbers.of(p.Conn)
	l.to.Add(row)
}

// Skipped takes note of a PDU that does not match.
func (l *listing) Skipped(p *trace.PDU) { l.rows.ids.of(p) }

// Gap implements [trace.Sink].
func (*listing) Gap(*trace.GapEvent) {}

// Transaction implements [trace.Sink].
func (*listing) Transaction(*trace.Transaction) {}

// Frame implements [pipeline.Sink].
func (*listing) Frame(*pipeline.Frame) {}

// Finding takes a finding: filters may ask for them.
func (*listing) Finding(*conformance.Finding) {}

// Details reads the capture for the details of PDUs and puts them into a cache, until all are
// there.
func (c *Capture) Details(ctx context.Context, want []ID, to *Cache) error {
	l := &loader{want: map[ID]bool{}, frames: map[uint64]bool{}, to: to, foreign: c.Store.Gone() > 0}
	for _, id := range want {
		l.want[id], l.frames[id.Frame] = true, true
	}
	l.sink = details.NewSink(io.Discard, details.Options{Form: &form{l}, Parts: true}, render.AppendInfo)
	opt := c.options()
	opt.Opened = l.opened
	l.run = pipeline.New(opt, l)
	return c.again(ctx, false, l.run, func(src capture.Source) {
		var ifaces func() []pcapng.Interface
		if s, ok := src.(interface{ Interfaces() []pcapng.Interface }); ok {
			ifaces = s.Interfaces
		}
		l.sink.Capture(src.Name(), ifaces)
	}, nil)
}

// loader is the sink of a reading for details.
type loader struct {
	want   map[ID]bool
	frames map[uint64]bool
	to     *Cache
	// foreign: PDUs and connections have other numbers than in the first reading.
	foreign bool
	sink    *details.Sink
	run     *pipeline.Run
	ids     identifier
	frame   uint64 // that was opened
	here    []ID   // the PDUs of it, or of none
}

func (l *loader) opened(f *pipeline.Frame) {
	l.frame = f.Number
	l.here = l.here[:0]
	l.sink.Opened(f)
}

// PDU implements [trace.Sink].
func (l *loader) PDU(p *trace.PDU) {
	id := l.ids.of(p)
	switch {
	case !l.frames[p.Frame]:
	case p.Frame == l.frame:
		l.here = append(l.here, id)
		l.sink.PDU(p)
	case l.want[id]:
		l.here = append(l.here[:0], id)
		l.sink.Alone(p)
		l.here = l.here[:0]
	}
}

// Frame implements [pipeline.Sink].
func (l *loader) Frame(f *pipeline.Frame) {
	if l.frames[f.Number] && len(l.here) > 0 {
		l.sink.Frame(f)
	}
}

// Gap implements [trace.Sink].
func (*loader) Gap(*trace.GapEvent) {}

// Transaction implements [trace.Sink].
func (*loader) Transaction(*trace.Transaction) {}

// Cache has details of PDUs by their IDs.
type Cache struct {
	mu     sync.Mutex
	all    map[ID]*Detail
	octets int
	most   int
}

// NewCache makes one that takes about so many octets.
func NewCache(most int) *Cache { return &Cache{all: map[ID]*Detail{}, most: most} }

// Get returns the details of a PDU, nil if they are not there.
func (c *Cache) Get(id ID) *Detail {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[id]
}

// put adds details. A cache that is full is emptied but for those.
func (c *Cache) put(id ID, d *Detail) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.octets > c.most {
		clear(c.all)
		c.octets = 0
	}
	c.octets += d.weight()
	c.all[id] = d
}
