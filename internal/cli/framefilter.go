package cli

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// frameFilter finds the frames of a capture that match a filter, each with all PDUs that it
// completed and all that became known with it. It is told what a sink is told, and of
// each frame when it is opened; in a brief run a frame is decided with the next one. A nil
// one does nothing.
type frameFilter struct {
	filter *display.Filter
	c      *fields.Collector
	alone  *fields.Collector // of findings that stand alone
	within *frameFilter      // nil: anything
	known  *fields.Hindsight // of an earlier run, nil without one

	frames, pdus, conns bits // that match
	any                 bool // one of them does

	number uint64 // of the frame at hand, 0 for none
	// carried are the numbers of its PDUs, of those of its connections.
	carried, of []uint64
	// decided is called when the frame at hand is.
	decided func()
}

func newFrameFilter(f *display.Filter, k foresight) *frameFilter {
	m := &frameFilter{filter: f, within: k.within, known: k.known, c: fields.NewCollector(f.Fields()), alone: fields.NewCollector(f.Fields())}
	m.c.Use(k.known)
	m.c.Describe(render.AppendInfo)
	return m
}

// matching makes the filter of a run that looks at frames, and has a selection ask it; nil
// without one.
func (o *filterFlags) matching(opt *pipeline.Options, sel *pipeline.Selection, k foresight) *frameFilter {
	if !o.filters() {
		return nil
	}
	m := newFrameFilter(compiled(o.display), k)
	m.watch(opt)
	sel.Matching(m)
	return m
}

// watch has the filter follow a run.
func (m *frameFilter) watch(opt *pipeline.Options) {
	if m == nil {
		return
	}
	opt.Opened = openedToo(opt.Opened, m.Opened)
	if m.c.NeedsFrame() {
		opt.Brief = false
	}
	if m.c.NeedsInterfaces() {
		opt.ReadAhead = false
	}
}

// source has the filter know the source of the run.
func (m *frameFilter) source(src capture.Source) {
	if m != nil {
		interfacesOf(m.c, src)
	}
}

// openedToo calls two functions; the first may be nil.
func openedToo(f, g func(*pipeline.Frame)) func(*pipeline.Frame) {
	if f == nil {
		return g
	}
	return func(p *pipeline.Frame) { f(p); g(p) }
}

// Frame implements [pipeline.Matches], as do PDU and Conn.
func (m *frameFilter) Frame(number uint64) bool { return m == nil || m.frames.has(number) }

// PDU reports whether the frame of a PDU matches.
func (m *frameFilter) PDU(number uint64) bool { return m == nil || m.pdus.has(number) }

// Conn reports whether a frame of a connection matches.
func (m *frameFilter) Conn(number uint64) bool { return m == nil || m.conns.has(number) }

// Opened begins a frame.
func (m *frameFilter) Opened(f *pipeline.Frame) {
	m.end()
	m.number = f.Number
	m.conn(f.Conn)
	m.c.Opened(f)
	for _, x := range m.known.MovedTo(f) {
		m.pdu(x.PDU)
	}
}

func (m *frameFilter) conn(c *trace.Connection) {
	if c == nil {
		return
	}
	if n := len(m.of); n == 0 || m.of[n-1] != c.Number {
		m.of = append(m.of, c.Number)
	}
}

// pdu takes a PDU. What becomes known between frames is a unit of its own.
func (m *frameFilter) pdu(p *trace.PDU) {
	alone := m.number == 0
	if alone {
		m.number = p.Frame
	}
	m.carried = append(m.carried, p.Number)
	m.conn(p.Conn)
	m.c.PDU(p)
	if alone {
		m.end()
	}
}

// Finding takes in what the rules found. What became known with an earlier frame, or with
// none, stands alone: of its frame nothing is known any more.
func (m *frameFilter) Finding(f *conformance.Finding) {
	switch {
	case m == nil:
	case m.number == f.Frame:
		m.conn(f.Conn)
		m.c.Finding(ofFields(f))
		if f.HasPDU {
			m.carried = append(m.carried, f.PDU)
		}
	default:
		m.alone.Reset()
		m.alone.Alone(f.Conn, f.Dir, f.HasDir)
		m.alone.Finding(ofFields(f))
		if !m.within.Frame(f.Frame) || !m.filter.Match(m.alone.Row()) {
			return
		}
		m.any = true
		m.frames.add(f.Frame)
		m.conns.add(f.Conn.Number)
		if f.HasPDU {
			m.pdus.add(f.PDU)
		}
	}
}

// findings is what is called with findings, nil without a filter.
func (m *frameFilter) findings() func(*conformance.Finding) {
	if m == nil {
		return nil
	}
	return m.Finding
}

// ofFields is a finding as fields have it.
func ofFields(f *conformance.Finding) *fields.Finding {
	return &fields.Finding{Rule: f.Rule.ID, Level: f.Severity.String(), PDU: f.PDU, HasPDU: f.HasPDU}
}

// close takes in what is known of a frame at its end.
func (m *frameFilter) close(f *pipeline.Frame) {
	if m.number != f.Number {
		m.Opened(f)
	}
	m.conn(f.Conn)
	m.c.Frame(f)
	m.end()
}

// end decides about the frame at hand.
func (m *frameFilter) end() {
	if m == nil || m.number == 0 {
		return
	}
	if m.within.Frame(m.number) && m.filter.Match(m.c.Row()) {
		m.any = true
		m.frames.add(m.number)
		for _, n := range m.carried {
			m.pdus.add(n)
		}
		for _, n := range m.of {
			m.conns.add(n)
		}
	}
	m.number, m.carried, m.of = 0, m.carried[:0], m.of[:0]
	m.c.Reset()
	if m.decided != nil {
		m.decided()
	}
}

// before puts the filter before a sink, which may be nil: it is told of everything. The
// sink gets transactions when their frame is decided.
func (m *frameFilter) before(next pipeline.Sink) pipeline.Sink {
	if m == nil {
		return next
	}
	w := &watching{m: m, judgeOf: judgeOf{next}}
	m.decided = w.release
	return w
}

// watching tells a filter of what a sink is told.
type watching struct {
	judgeOf
	m    *frameFilter
	held []*trace.Transaction
}

// PDU implements [trace.Sink].
func (w *watching) PDU(p *trace.PDU) {
	if !w.m.known.Elsewhere(p.Number) {
		w.m.pdu(p)
	}
	if w.next != nil {
		w.next.PDU(p)
	}
}

// Gap implements [trace.Sink].
func (w *watching) Gap(g *trace.GapEvent) {
	if w.next != nil {
		w.next.Gap(g)
	}
}

// Transaction implements [trace.Sink].
func (w *watching) Transaction(t *trace.Transaction) {
	if w.m.number == 0 {
		if w.next != nil {
			w.next.Transaction(t)
		}
		return
	}
	w.m.c.Transaction(t)
	if w.next != nil {
		w.held = append(w.held, t.Clone())
	}
}

func (w *watching) release() {
	for _, t := range w.held {
		w.next.Transaction(t)
	}
	clear(w.held)
	w.held = w.held[:0]
}

// Frame implements [pipeline.Sink].
func (w *watching) Frame(f *pipeline.Frame) {
	w.m.close(f)
	if w.next != nil {
		w.next.Frame(f)
	}
}

// Finding takes a finding on its way to the sink.
func (w *watching) Finding(f *conformance.Finding) {
	w.m.Finding(f)
	if s, ok := w.next.(interface{ Finding(*conformance.Finding) }); ok {
		s.Finding(f)
	}
}

// judgeOf passes on to a sink what a [pipeline.Judge] learns, if it is one.
type judgeOf struct{ next pipeline.Sink }

// Ended implements [pipeline.Judge].
func (j judgeOf) Ended(c *trace.Connection) {
	if to, ok := j.next.(pipeline.Judge); ok {
		to.Ended(c)
	}
}

// Finish implements [pipeline.Judge].
func (j judgeOf) Finish() {
	if to, ok := j.next.(pipeline.Judge); ok {
		to.Finish()
	}
}

// remark says that no frame of a capture matches; nil if one does.
func (m *frameFilter) remark(name string, t *pipeline.Totals) error {
	if m == nil || m.any || t.Frames == 0 {
		return nil
	}
	return fmt.Errorf("%s: nothing in %s matches the filter", name, diagnose.Counted(t.Frames, "frame", "frames"))
}

// remarked writes a remark, if there is one. It is no failure.
func (s *IOStreams) remarked(remark error) {
	if remark != nil {
		s.warn(remark)
	}
}
