package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// view makes what live shows: lines or records as they come, or a summary.
func (o *liveOptions) view(c *session) (liveView, error) {
	look, err := o.s.appearance(o.color, o.columns)
	if err != nil {
		return nil, err
	}
	most := keptLive
	if o.all {
		most = keptLiveAll
	}
	t := liveTables{c: c, watch: render.NewWatch(most), width: look.width, paint: painter(look.colour)}
	switch {
	case o.shaped():
		sink, err := o.sinkOf(c.out, true, o.hex)
		return &liveShaped{c: c, out: sink}, err
	case o.summary && o.format == "text":
		return &t, nil
	case o.board:
		return &liveBoard{liveTables: t}, nil
	case o.format == "text":
		// The sink hands on each line, the buffer holds them until there is time to write.
		l := render.NewLines(c.out, render.LineOptions{Tree: o.tree, Hex: o.hex, Colour: look.colour, Live: true, Times: o.times.format})
		return &liveLines{liveTables: t, lines: l}, nil
	}
	sel, err := selection(o.records)
	if o.summary {
		sel = render.Select{Connections: true}
	}
	return &liveRecords{c: c, records: render.NewRecords(c.out, sel, false, true), sel: sel}, err
}

// liveTables shows the tables of analyze at the end.
type liveTables struct {
	c     *session
	watch *render.Watch
	paint func(string) string
	width int
}

func (v *liveTables) sink() pipeline.Sink    { return nil }
func (v *liveTables) keep() conformance.Sink { return v.watch }
func (v *liveTables) refresh(time.Time)      {}
func (v *liveTables) erase()                 {}

func (v *liveTables) ended(cs []*trace.Connection) {
	for _, t := range cs {
		v.watch.Ended(t)
	}
}

func (v *liveTables) reply(p *trace.PDU) { v.watch.Reply(p) }
func (v *liveTables) settle(now int64)   { v.watch.Settled(now) }

func (v *liveTables) finish(dropped string) {
	c := v.c
	sum := &render.Summary{
		File: c.o.iface, Format: "live capture (" + dropped + ")", Totals: c.run.Totals(), Width: v.width, Bad: v.paint,
	}
	v.watch.Capture(&sum.Totals, c.run.Others())
	v.watch.Fill(sum, !c.o.unjudged)
	if !c.o.all {
		sum.Most = mostShown
	}
	if c.o.worst > 0 {
		sum.Most = c.o.worst
	}
	if err := render.Tables(c.out, sum); err != nil && !c.gone {
		c.fail(err)
		c.gone = true
	}
}

// liveLines shows a line for each PDU, and the verdict on each connection.
type liveLines struct {
	liveTables
	lines *render.Lines
}

func (v *liveLines) sink() pipeline.Sink { return v.lines }

func (v *liveLines) ended(cs []*trace.Connection) {
	v.liveTables.ended(cs)
	for _, t := range cs {
		v.lines.Verdict(t, v.watch)
	}
}

func (v *liveLines) settle(now int64) {
	ds := v.watch.Settled(now)
	for i := range ds {
		v.lines.Belated(&ds[i])
	}
}

func (v *liveLines) finish(dropped string) {
	_ = v.lines.Close() // an error of the buffer, which returns it again
	fmt.Fprintln(v.c.out)
	v.liveTables.finish(dropped)
}

// liveShaped writes frames as tshark does.
type liveShaped struct {
	c   *session
	out dissectSink
}

func (v *liveShaped) sink() pipeline.Sink       { return v.out }
func (v *liveShaped) keep() conformance.Sink    { return nil }
func (v *liveShaped) refresh(time.Time)         {}
func (v *liveShaped) erase()                    {}
func (v *liveShaped) ended([]*trace.Connection) {}

func (v *liveShaped) finish(string) {
	_ = v.out.Close() // an error of the buffer, which returns it again
}

// begin tells the form of the interfaces.
func (v *liveShaped) begin() {
	if s, ok := v.out.(shaped); ok {
		s.shapedSink.Capture(v.c.o.iface, func() []pcapng.Interface { return v.c.ifaces })
	}
}

// liveRecords writes JSON records.
type liveRecords struct {
	c       *session
	records *render.Records
	sel     render.Select
}

func (v *liveRecords) sink() pipeline.Sink {
	if v.sel.Findings {
		return v.records
	}
	// Records that were not asked for need no judging: the sink has no findings.
	return struct{ pipeline.Sink }{v.records}
}

func (v *liveRecords) keep() conformance.Sink       { return nil }
func (v *liveRecords) refresh(time.Time)            {}
func (v *liveRecords) erase()                       {}
func (v *liveRecords) ended(cs []*trace.Connection) { v.records.Connections(slices.Values(cs)) }

func (v *liveRecords) finish(string) {
	if err := v.c.stats.show(v.records, v.c.out); err != nil {
		v.c.fail(err)
	}
	_ = v.records.Close() // an error of the buffer, which returns it again
}

// liveBoard shows the worst connections, again and again in the same place.
type liveBoard struct {
	liveTables
	shown int // lines of it on the terminal
	drawn time.Time
}

// drawEvery is the time between two boards, off a terminal drawSeldom.
const (
	drawEvery  = time.Second
	drawSeldom = 10 * time.Second
)

func (v *liveBoard) sink() pipeline.Sink { return v.watch }

// erase removes the board from the terminal.
func (v *liveBoard) erase() {
	if v.shown > 0 {
		fmt.Fprintf(v.c.out, "\x1b[%dA\r\x1b[J", v.shown)
		v.shown = 0
	}
}

func (v *liveBoard) refresh(now time.Time) {
	c, every := v.c, drawEvery
	if !c.o.s.OutTTY {
		every = drawSeldom
	}
	if !v.drawn.IsZero() && now.Sub(v.drawn) < every {
		return
	}
	v.drawn = now
	width, height := c.o.s.size()
	if !c.o.s.OutTTY {
		width, height = 0, 24
	}
	dropped := ""
	if s, err := c.h.Stats(); err == nil {
		dropped = fmt.Sprintf(", %d dropped by the kernel", s.Dropped)
	}
	lines := v.watch.Lines(&render.Board{
		Head:   fmt.Sprintf("%s for %v%s; Ctrl-C ends", c.o.iface, now.Sub(c.started).Round(time.Second), dropped),
		Totals: c.run.Totals(), Open: c.run.Open, Width: width, Height: height - 1, Bad: v.paint,
	})
	v.erase()
	fmt.Fprintln(c.out, strings.Join(lines, "\n"))
	if c.o.s.OutTTY {
		v.shown = len(lines)
	} else {
		fmt.Fprintln(c.out)
	}
}

func (v *liveBoard) finish(dropped string) {
	v.erase()
	v.liveTables.finish(dropped)
}
