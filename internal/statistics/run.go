package statistics

import (
	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Run gathers the statistics of one capture. It is a sink of the pipeline, and implements
// [pipeline.Judge] as well.
type Run struct {
	clock clock
	room  room
	taps  []tap
	// belated are those of taps for which it matters with which frame a PDU became known.
	belated []bool
	// Those that learn of something, each with what decides for it.
	frames   []gated[frameTap]
	values   []gated[valueTap]
	events   []gated[eventTap]
	rows     []gated[eventTap] // those that are rowTaps
	conns    []connTap
	findings []gated[findingTap]

	// within and the matcher at only decide about all statistics; counts is what they say of
	// the current frame, which is at.
	within   func(uint64) bool
	only     int
	known    *fields.Hindsight
	describe func([]byte, *trace.PDU) []byte
	counts   bool
	at       uint64
	matchers []*matcher
	late     pipeline.Belated // PDUs that count with another frame than theirs
	places   bool             // it matters for a tap with which frame they count
	again    bool             // a second reading would tell
	matched  []bool           // by matcher, for the current frame
	needs    Needs
	// waiting: some taps of events wait for a filter, pending are the events until then, ofRows
	// those for rows alone.
	waiting         bool
	pending, ofRows []event
	one             event
	// verdicts are what was decided about PDUs that become known behind their frame; verdict is
	// that about the PDU at hand, nil if it is decided with the frame at hand.
	verdicts map[uint64]*verdict
	verdict  *verdict
}

// Needs returns what the statistics have to see.
func (r *Run) Needs() Needs { return r.needs }

// gated is a tap with the place of its matcher, -1 if it has none.
type gated[T any] struct {
	tap  T
	gate int
}

// Gather makes a run for a capture. The filter must be one that was compiled before.
func (s *Set) Gather(only Only) *Run {
	r := &Run{within: only.Within, only: -1, known: only.Known, describe: only.Describe, counts: true, again: only.Again, room: room{only.Memory}}
	if m, err := newMatcher(only.Filter, nil); err == nil {
		r.only = r.gate(m)
	}
	for _, one := range s.specs {
		r.add(one)
	}
	return r
}

func (r *Run) add(s *spec) {
	gate, belated := r.gate(s.matcher), r.ofPDUs(r.only)
	for _, t := range s.taps(s) {
		g := gate
		if own, ok := t.(interface{ matcher() *matcher }); ok {
			g = r.gate(own.matcher())
		}
		r.register(t, g)
		belated = belated || r.ofPDUs(g)
		if _, ok := t.(eventTap); ok {
			_, rows := t.(rowTap)
			belated = belated || rows || g >= 0 || r.only >= 0
		}
	}
	r.places = r.places || belated
	for len(r.belated) < len(r.taps) {
		r.belated = append(r.belated, belated)
	}
	r.needs.Times = len(r.matchers) == 0 && r.within == nil
	for _, t := range r.taps {
		if _, only := t.(timeTap); !only {
			r.needs.Times = false
		}
	}
	r.matched = make([]bool, len(r.matchers))
}

// gate adds a matcher and returns its place.
func (r *Run) gate(m *matcher) int {
	if m == nil {
		return -1
	}
	own := m.fresh()
	own.c.Use(r.known)
	own.c.Describe(r.describe)
	r.needs.Frames, r.needs.PDUs = true, r.needs.PDUs || own.c.NeedsPDUs()
	if own.judges() {
		r.needs.Findings, r.needs.PDUs = true, true
	}
	r.needs.Related = r.needs.Related || !fields.Alone(own.list)
	r.matchers = append(r.matchers, own)
	return len(r.matchers) - 1
}

// register lists a tap where it has to learn of something.
func (r *Run) register(t tap, gate int) {
	r.taps = append(r.taps, t)
	if x, ok := t.(clockTap); ok {
		x.keeps(&r.clock)
	}
	if x, ok := t.(roomTap); ok {
		x.keepsIn(&r.room)
	}
	if _, ok := t.(*upperTimes); ok {
		r.needs.Upper = true
	}
	if x, ok := t.(frameTap); ok {
		r.needs.Frames = true
		r.frames = append(r.frames, gated[frameTap]{x, gate})
	}
	if x, ok := t.(valueTap); ok && gate >= 0 {
		r.values = append(r.values, gated[valueTap]{x, gate})
	}
	if x, ok := t.(eventTap); ok {
		r.needs.PDUs, r.needs.Related = true, true
		if _, row := t.(rowTap); row {
			r.rows = append(r.rows, gated[eventTap]{x, gate})
		} else {
			r.events = append(r.events, gated[eventTap]{x, gate})
		}
		r.waiting = r.waiting || gate >= 0 || r.decides()
	}
	if x, ok := t.(connTap); ok {
		r.needs.Related = true
		r.conns = append(r.conns, x)
	}
	if x, ok := t.(findingTap); ok {
		r.needs.Findings, r.needs.PDUs, r.needs.Related = true, true, true
		r.findings = append(r.findings, gated[findingTap]{x, gate})
		if l, ok := t.(interface{ limited() }); ok && (gate >= 0 || r.decides()) {
			r.needs.Frames = true
			l.limited()
		}
	}
}

// Saw takes note of the time of each frame of the capture, 0 for none, before the run
// learns anything of it.
func (r *Run) Saw(_ uint64, ns int64) { r.clock.saw(ns) }

// PDU implements [trace.Sink].
func (r *Run) PDU(p *trace.PDU) {
	r.at = p.Frame
	if r.verdict = r.verdicts[p.Number]; r.verdict == nil {
		r.gathers(p)
	}
	if len(r.events)+len(r.rows) == 0 {
		return
	}
	r.one.set(p)
	r.happened()
}

// Transaction implements [trace.Sink].
func (r *Run) Transaction(t *trace.Transaction) {
	for _, m := range r.matchers {
		m.c.Transaction(t)
	}
	if len(r.events)+len(r.rows) == 0 {
		return
	}
	// It comes behind the PDU that completed it, which has its direction and time.
	dir, time, waits := r.one.dir, r.one.time, r.one.waits
	waits.Answers(t)
	r.one = event{
		is: aTransaction, conn: t.Conn, dir: dir, time: time, frame: t.Frame, number: t.Request,
		kind: t.Kind, first: t.First, last: t.Last, bytes: t.Bytes,
		waits: waits,
	}
	r.happened()
}

// Gap implements [trace.Sink].
func (r *Run) Gap(*trace.GapEvent) {}

// happened tells the taps of an event, and keeps it for those that wait for a filter.
func (r *Run) happened() {
	for _, e := range r.events {
		if e.gate < 0 && !r.decides() || r.verdict != nil && r.verdict.passes(e.gate) {
			e.tap.event(&r.one)
		}
	}
	if r.verdict != nil {
		return
	}
	r.inRows(&r.one)
	if r.waiting {
		r.pending = append(r.pending, r.one)
	}
}

// Frame implements [pipeline.Sink].
func (r *Run) Frame(f *pipeline.Frame) {
	moved := r.known.MovedTo(f)
	r.tellMoved(moved)
	if r.places {
		r.late.Frame(f)
	}
	for i, m := range r.matchers {
		m.c.Frame(f)
		r.matched[i] = m.match()
	}
	r.at, r.verdict = f.Number, nil
	r.decide()
	r.decided(moved)
	for _, t := range r.frames {
		if r.passes(t.gate) {
			t.tap.frame(f)
		}
	}
	for _, t := range r.values {
		if r.passes(t.gate) {
			t.tap.values(f, r.matchers[t.gate])
		}
	}
	for _, t := range r.findings {
		if x, ok := t.tap.(interface{ matched(frame uint64) }); ok && r.passes(t.gate) {
			x.matched(f.Number)
		}
	}
	for _, m := range r.matchers {
		m.c.Reset()
	}
}

// decides reports whether something decides about all statistics.
func (r *Run) decides() bool { return r.only >= 0 || r.within != nil }

// passes reports whether the current frame counts for what has a matcher, or none.
func (r *Run) passes(gate int) bool { return r.counts && (gate < 0 || r.matched[gate]) }

// decide decides about the current frame, and tells the taps of the events that waited.
func (r *Run) decide() {
	r.counts = (r.only < 0 || r.matched[r.only]) && (r.within == nil || r.within(r.at))
	r.tell(r.rows, r.ofRows)
	r.tell(r.events, r.pending)
	clear(r.pending) // of connections
	clear(r.ofRows)
	r.pending, r.ofRows = r.pending[:0], r.ofRows[:0]
}

// tell tells taps of the events that waited.
func (r *Run) tell(taps []gated[eventTap], events []event) {
	if len(events) == 0 {
		return
	}
	for _, t := range taps {
		if t.gate < 0 && !r.decides() || !r.passes(t.gate) {
			continue
		}
		for i := range events {
			t.tap.event(&events[i])
		}
	}
}

// Connection implements [conformance.Sink]: it takes the findings of a connection.
func (r *Run) Connection(_ *trace.Connection, fs []conformance.Finding, _ []conformance.Judgement) {
	for _, t := range r.findings {
		for i := range fs {
			t.tap.finding(&fs[i])
		}
	}
}

// Ended implements [pipeline.Judge].
func (r *Run) Ended(c *trace.Connection) {
	for _, t := range r.conns {
		t.conn(c)
	}
}

// Finish implements [pipeline.Judge]. What became known behind the last frame is decided
// without one.
func (r *Run) Finish() {
	r.late.Finish()
	for i, m := range r.matchers {
		r.matched[i] = m.match()
	}
	r.decide()
}

// Reports returns what was gathered, in the order in which it was asked for.
func (r *Run) Reports() []*Report {
	all := make([]*Report, 0, len(r.taps))
	for i, t := range r.taps {
		if rep := t.report(); rep != nil {
			if r.belated[i] {
				r.noteLate(rep)
			}
			all = append(all, rep)
		}
	}
	return all
}
