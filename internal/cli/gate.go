package cli

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/display"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// gate passes on what matches a display filter: PDUs, each with the headers of its frame;
// frames that have one of these, or that have no PDU and match alone; transactions of PDUs
// that were passed on, and findings about them. A gap, and a finding that is about no PDU,
// is judged by what is known of it: its connection and direction, rule and severity.
//
// If a value may become known later than the PDU, with the frame or by a finding, all of a
// frame is held back until the frame is complete. It is also if the unit is the frame with
// all of its PDUs: then all of them are passed on, or none.
type gate struct {
	filter *display.Filter
	early  *early // the parts that are decided before, nil if there are none
	rest   *display.Filter
	next   pipeline.Sink
	c      *fields.Collector // of PDUs and their frames
	alone  *fields.Collector // of what stands alone
	late   bool
	whole  bool // the unit is the frame
	held   []heldEvent
	copies heldPDUs
	about  []*conformance.Finding // those of held that are about a PDU, by its number
	// within are the frames that -R left, nil for all.
	within *frameFilter

	pdus, conns bits // that were passed on
	passed      bool
	// earlier is what an earlier run found out, nil without one; moved are the PDUs that match with
	// their frame and become known behind it.
	earlier *fields.Hindsight
	moved   bits

	// lonely counts frames without a PDU that match: not all outputs show them.
	lonely uint64
	// watched: frames without a PDU are looked at too.
	watched bool

	frame   uint64 // that was opened
	carries bool   // a PDU came with the frame
	shown   bool   // a PDU of the frame was passed on
	pending bool   // something was for which no frame came yet
	last    bool   // the PDU that came last was passed on
}

// gate makes the gate of a run in front of a sink, nil without a filter. whole: the unit is
// the frame.
func (o *filterFlags) gate(next pipeline.Sink, k foresight, whole bool) *gate {
	if !o.filters() {
		return nil
	}
	f := compiled(o.display)
	g := &gate{filter: f, rest: f, next: next, within: k.within, earlier: k.known, alone: fields.NewPDUCollector(f.Fields()), whole: whole}
	if rest, first := f.Split(fields.OfFrame); first != nil {
		g.rest, g.early = rest, newEarly(first)
	}
	if whole {
		g.c = fields.NewCollector(g.rest.Fields())
	} else {
		g.c = fields.NewPDUCollector(g.rest.Fields())
	}
	g.c.Use(k.known)
	g.c.Describe(render.AppendInfo)
	g.late = whole || g.c.NeedsFrame()
	return g
}

// or is the gate if there is one, else the sink behind it.
func (g *gate) or(next pipeline.Sink) pipeline.Sink {
	if g == nil {
		return next
	}
	if _, ok := next.(interface{ Finding(*conformance.Finding) }); !ok && !fields.OfFindings(g.filter.Fields()) {
		return struct{ pipeline.Sink }{g} // nobody need judge for it
	}
	return g
}

// watch has the gate follow a run.
func (g *gate) watch(opt *pipeline.Options) {
	if g == nil {
		return
	}
	opened := g.c.NeedsOpened()
	if g.early != nil {
		opened, opt.Look = true, newEarly(g.early.parts.Clone()).look
	}
	g.watched = opened || !opt.Brief
	if opened {
		opt.Opened = openedToo(opt.Opened, g.Opened)
	}
	if g.late {
		g.copies.brief = opt.Brief && !octetsWanted(g.filter.Fields())
		opt.Brief = false
	}
	if g.c.NeedsInterfaces() {
		opt.ReadAhead = false
	}
	if g.places() {
		opt.Brief, g.watched = false, true
	}
}

// places reports whether PDUs match with a frame that they become known behind. If the unit is the
// frame, they come with it.
func (g *gate) places() bool { return !g.whole && g.earlier.Moves() }

// of has the gate know the source of the run.
func (g *gate) of(src capture.Source) {
	if g != nil {
		interfacesOf(g.c, src)
	}
}

// interfacesOf has a collector know the interfaces of a capture.
func interfacesOf(c *fields.Collector, src capture.Source) {
	if s, ok := src.(interface{ Interfaces() []pcapng.Interface }); ok {
		c.Interfaces(s.Interfaces)
	}
}

// Opened begins a frame. In a brief run nothing else tells that the frame before has ended.
func (g *gate) Opened(f *pipeline.Frame) {
	g.endFrame()
	g.frame = f.Number
	g.c.Opened(f)
	if g.early != nil {
		g.rest.Give(g.early.of(f))
	}
}

// gather gathers what a PDU says, and what its frame does if it has one.
func (g *gate) gather(p *trace.PDU) {
	g.c.PDU(p)
	if g.early != nil && !g.c.HasFrame() {
		g.rest.Give(g.early.none)
	}
}

// reset forgets the frame.
func (g *gate) reset() {
	g.c.Reset()
	if g.early != nil {
		g.rest.Give(g.early.none)
	}
}

// endFrame counts a frame without a PDU that matches.
func (g *gate) endFrame() {
	if g.frame != 0 && !g.carries && g.matches() {
		g.lonely++
	}
	g.frame, g.carries, g.shown = 0, false, false
}

// PDU implements [trace.Sink].
func (g *gate) PDU(p *trace.PDU) {
	g.carries = g.carries || !g.elsewhere(p)
	if g.late {
		g.held = append(g.held, heldEvent{pdu: g.copies.copy(p)})
		return
	}
	g.decide(p, g.matching(p))
}

// matching reports whether a PDU matches: with the frame at hand, or with its own.
func (g *gate) matching(p *trace.PDU) bool {
	if g.elsewhere(p) {
		return g.moved.has(p.Number)
	}
	g.gather(p)
	return g.matches()
}

// elsewhere reports whether a PDU was decided about with an earlier frame.
func (g *gate) elsewhere(p *trace.PDU) bool { return g.places() && g.earlier.ElsewhereOwn(p.Number) }

// matches reports whether what is known matches.
func (g *gate) matches() bool { return g.rest.Match(g.c.Row()) }

// decide passes on a PDU if it matches.
func (g *gate) decide(p *trace.PDU, matches bool) {
	elsewhere := g.elsewhere(p)
	if g.last = matches && (elsewhere || g.within.Frame(p.Frame)); !g.last {
		skip(g.next, p)
		return
	}
	g.pass(p.Conn)
	g.pdus.add(p.Number)
	if !elsewhere {
		g.shown = true
		g.c.Shown()
	}
	g.next.PDU(p)
}

// pass notes that something of a connection is passed on.
func (g *gate) pass(c *trace.Connection) {
	g.passed, g.pending = true, true
	g.conns.add(c.Number)
}

// Gap implements [trace.Sink].
func (g *gate) Gap(e *trace.GapEvent) {
	if g.late && len(g.held) > 0 {
		own := *e
		g.held = append(g.held, heldEvent{gap: &own})
		return
	}
	g.gap(e)
}

func (g *gate) gap(e *trace.GapEvent) {
	g.alone.Reset()
	g.alone.Alone(e.Conn, e.Dir, true)
	if g.within.Frame(e.Frame) && g.filter.Match(g.alone.Row()) {
		g.pass(e.Conn)
		g.next.Gap(e)
	}
}

// Transaction implements [trace.Sink].
func (g *gate) Transaction(t *trace.Transaction) {
	if g.late && len(g.held) > 0 {
		g.held = append(g.held, heldEvent{transaction: t.Clone()})
		return
	}
	g.transaction(t)
}

func (g *gate) transaction(t *trace.Transaction) {
	if g.last || g.pdus.has(t.Request) {
		g.pass(t.Conn)
		g.next.Transaction(t)
	}
}

// Finding takes a finding.
func (g *gate) Finding(f *conformance.Finding) {
	if g.late && len(g.held) > 0 {
		own := *f
		g.held = append(g.held, heldEvent{finding: &own})
		return
	}
	g.finding(f)
}

func (g *gate) finding(f *conformance.Finding) {
	s, ok := g.next.(interface{ Finding(*conformance.Finding) })
	if !ok {
		return
	}
	pass := f.HasPDU && g.pdus.has(f.PDU)
	if !pass && (g.late || !f.HasPDU) && g.within.Frame(f.Frame) {
		g.alone.Reset()
		g.alone.Alone(f.Conn, f.Dir, f.HasDir)
		g.alone.Finding(ofFields(f))
		pass = g.filter.Match(g.alone.Row())
	}
	if pass {
		g.pass(f.Conn)
		s.Finding(f)
	}
}

// take tells the collector of what was held back, before it learns that the frame ends: what
// the row says of the frame may depend on what the frame carries.
func (g *gate) take() {
	for i := range g.held {
		switch e := &g.held[i]; {
		case g.whole:
			g.add(e)
		case e.pdu != nil && !g.elsewhere(e.pdu):
			g.c.Carries(e.pdu)
		}
	}
}

// release decides about what was held back, now that all that became known with the frame
// is.
func (g *gate) release() {
	matches := false
	if g.whole {
		matches = g.matches() // once, for all PDUs of the frame
	} else {
		g.index()
	}
	for i := range g.held {
		e := &g.held[i]
		switch {
		case e.pdu != nil:
			switch {
			case g.whole:
			case g.elsewhere(e.pdu):
				matches = g.moved.has(e.pdu.Number)
			default:
				g.gather(e.pdu)
				g.known(i)
				matches = g.matches()
			}
			g.decide(e.pdu, matches)
		case e.gap != nil:
			g.gap(e.gap)
		case e.transaction != nil:
			g.transaction(e.transaction)
		default:
			g.finding(e.finding)
		}
	}
	clear(g.held)
	clear(g.about)
	g.held, g.about = g.held[:0], g.about[:0]
	g.copies.free()
}

// add adds what became known with the frame.
func (g *gate) add(e *heldEvent) {
	switch {
	case e.pdu != nil:
		g.gather(e.pdu)
	case e.gap != nil: // it is judged by itself
	case e.transaction != nil:
		g.c.Transaction(e.transaction)
	default:
		g.c.Finding(ofFields(e.finding))
	}
}

// index finds the findings that are about a PDU. At the end of a capture there may be
// millions of PDUs at once, so that they are not looked through for each.
func (g *gate) index() {
	for i := range g.held {
		if f := g.held[i].finding; f != nil && f.HasPDU {
			g.about = append(g.about, f)
		}
	}
	if len(g.about) < 2 {
		return
	}
	slices.SortStableFunc(g.about, func(a, b *conformance.Finding) int { return cmp.Compare(a.PDU, b.PDU) })
}

// known adds what became known of the PDU in a place of those that are held: what came
// before the next PDU, and the findings about it.
func (g *gate) known(place int) {
	p := g.held[place].pdu
	for i := place + 1; i < len(g.held) && g.held[i].pdu == nil; i++ {
		e := &g.held[i]
		if e.transaction != nil {
			g.c.Transaction(e.transaction)
		} else if f := e.finding; f != nil && !f.HasPDU && f.Conn.Number == p.Conn.Number && f.Frame == p.Frame {
			g.c.Finding(ofFields(f))
		}
	}
	at, _ := slices.BinarySearchFunc(g.about, p.Number, func(f *conformance.Finding, n uint64) int { return cmp.Compare(f.PDU, n) })
	for ; at < len(g.about) && g.about[at].PDU == p.Number; at++ {
		g.c.Finding(ofFields(g.about[at]))
	}
}

// Frame implements [pipeline.Sink].
func (g *gate) Frame(f *pipeline.Frame) {
	g.take()
	later := g.later(f)
	for _, x := range later {
		g.c.Carries(x.PDU)
	}
	g.c.Frame(f)
	g.release()
	g.place(later)
	show := g.shown
	if !g.carries && g.within.Frame(f.Number) && g.matches() {
		g.lonely++
		show = true
		g.c.Shown()
		if f.Conn != nil {
			g.conns.add(f.Conn.Number)
		}
	}
	switch {
	case show:
		g.next.Frame(f)
	case g.pending:
		leaveOut(g.next)
	}
	g.pending, g.carries, g.shown, g.frame = false, false, false, 0
	g.reset()
}

// later are the PDUs of a frame that become known behind it, and say that it is theirs.
func (g *gate) later(f *pipeline.Frame) (own []fields.Moved) {
	if !g.places() {
		return nil
	}
	for _, x := range g.earlier.MovedTo(f) {
		if x.Own {
			own = append(own, x)
		}
	}
	return own
}

// place decides about PDUs of the frame at hand that become known later.
func (g *gate) place(later []fields.Moved) {
	for _, x := range later {
		g.carries = true
		g.gather(x.PDU)
		if g.matches() && g.within.Frame(x.PDU.Frame) {
			g.moved.add(x.PDU.Number)
			g.shown = true
			g.c.Shown()
		}
	}
}

// Frames, PDUs and connections that were passed on, as [pipeline.Matches]: the gate is asked
// about connections alone.
type passedOn struct{ *gate }

func (passedOn) Frame(uint64) bool    { return true }
func (passedOn) PDU(uint64) bool      { return true }
func (p passedOn) Conn(n uint64) bool { return p.conns.has(n) }

// end decides about what is held when there are no more frames, or no more of anything.
func (g *gate) end() {
	if g == nil {
		return
	}
	g.take()
	g.release()
	g.endFrame()
	g.reset()
}
