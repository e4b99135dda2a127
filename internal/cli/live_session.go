package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

const (
	// handOnEvery is how long results and kept frames may wait while frames
	// come without a pause, and how often the kernel's counters are read.
	handOnEvery = time.Second
	// frameViewEvery is the same for what shows frames to another program.
	frameViewEvery = 100 * time.Millisecond
	// clockEvery is the number of frames after which the clock is looked at:
	// doing so for each would cost more than some frames do.
	clockEvery = 128
	// dropsEvery is the least time between two warnings of dropped frames.
	dropsEvery = 10 * time.Second
)

// session is one live capture. All of it belongs to one goroutine, but for
// stop.
type session struct {
	o    *liveOptions
	h    tap
	run  *pipeline.Run
	sink *liveSink
	view liveView
	out  *bufio.Writer
	keep frameStore // nil without -w
	// framed is the view, if it is shown frames.
	framed frameView
	// stats are the statistics of -z, nil without any.
	stats *stats
	// sel is what is shown.
	sel *pipeline.Selection
	// match and gate have the filter, if there is one: of frames, and of what is shown.
	match *frameFilter
	gate  *gate
	// memory is the account of the run.
	memory *budget.Account
	// metrics are those of --listen, nil without.
	metrics *liveMetrics

	frame   capture.Frame
	ifaces  []pcapng.Interface
	links   []pcapng.LinkType // of the interfaces
	full    bool              // the plan of the store ends the capture
	latest  int64             // the latest time of a frame
	started time.Time
	handed  time.Time     // when results were last handed on
	counted time.Time     // when the kernel's counters were last read
	warned  time.Time     // time of the last warning of dropped frames
	drops   uint64        // dropped frames that were reported
	every   time.Duration // how often results are handed on while frames come
	failed  bool          // an error was reported
	gone    bool          // the reader of the results has gone
}

// liveView shows what a session finds.
type liveView interface {
	// sink gets what is found; nil if nothing of it is shown.
	sink() pipeline.Sink
	// keep gets the findings of each connection that has ended; nil if they are not needed.
	keep() conformance.Sink
	// ended shows connections that were settled, behind their findings.
	ended([]*trace.Connection)
	// refresh shows the state of the capture.
	refresh(now time.Time)
	// erase makes room for a message on standard error.
	erase()
	// finish shows what is known at the end, behind ended.
	finish(dropped string)
}

// settlingView is a view whose diagnoses may wait for another connection.
type settlingView interface {
	// reply is told of each MPA Reply.
	reply(*trace.PDU)
	// settle shows what is known, or was waited for long enough, at the time now.
	settle(now int64)
}

// frameView is a view that is shown the frames themselves, before the run is. Nothing is told but
// errors.
type frameView interface {
	liveView
	// begin is called when the interfaces are known.
	begin() error
	frame(f *capture.Frame) error
	// wait is how long it may wait until it is refreshed.
	wait() time.Duration
	// dropped is told of frames that the kernel dropped since it was told last.
	dropped(frames uint64)
}

const (
	// lingerLive is how long a connection that has closed waits for stragglers.
	lingerLive = time.Second
	// compareLive is how long after its end a connection is compared with others, and
	// windowLive how many it is compared with.
	compareLive = time.Minute
	windowLive  = 4096
	// keptLive bounds the connections that are kept for the tables at the end.
	keptLive, keptLiveAll = 1000, 100_000
)

// session starts to capture. The view is made for it by a function.
func (o *liveOptions) session(view func(*session) (liveView, error)) (*session, error) {
	opt, err := o.options()
	if err != nil {
		return nil, err
	}
	if err := o.judgeable(o.unjudged); err != nil {
		return nil, err
	}
	opt.Sums = !o.unjudged
	opt.Linger, opt.NoRecords = int64(lingerLive), true
	o.upper(&opt)
	c := &session{o: o, out: bufio.NewWriterSize(o.s.Out, 64<<10), every: handOnEvery}
	if c.view, err = view(c); err != nil {
		return nil, err
	}
	if l, ok := c.view.(*liveLines); ok && !o.times.plain() {
		opt.Saw = func(_ uint64, ns int64) { l.lines.Saw(ns) }
	}
	if v, ok := c.view.(*liveShaped); ok {
		o.watch(v.out, &opt)
	}
	if v, ok := c.view.(frameView); ok {
		c.framed, c.every = v, frameViewEvery
		opt.Brief, opt.Marks = true, true
	}
	shown := o.selection(&opt) // what a filter leaves the gate decides
	c.sel = o.selection(&opt)
	c.match = o.matching(&opt, c.sel, foresight{})
	if next := picked(shown, c.view.sink()); next != nil {
		c.gate = o.gate(next, foresight{}, o.shaped())
		c.gate.watch(&opt)
	}
	lean := opt
	c.memory = account(&lean)
	c.metrics = newLiveMetrics(o.listen)
	c.stats = o.stats(&o.input, &lean, shown, foresight{})
	c.sink = c.judged(shown)
	if v, ok := c.view.(settlingView); ok {
		c.sink.reply = v.reply
	}
	lean.Lean = c.view.sink() == nil && c.sink.engine == nil && (c.stats == nil || !c.stats.needs.PDUs) && c.metrics == nil
	c.run = pipeline.New(lean, c.metrics.beside(c.stats.beside(c.sink)))
	if c.h, err = o.tap(o.taps()); err != nil {
		return nil, err
	}
	if err := errors.Join(c.metrics.open(), c.store()); err != nil {
		c.metrics.close()
		_ = c.h.Release() // the first error is the one to report
		return nil, err
	}
	o.sandbox.accepts = c.metrics != nil
	o.sandbox.writes = append(o.sandbox.writes, o.keep)
	o.sandbox.confine(o.s, nil)
	return c, nil
}

// store makes the file that the frames are kept in; not before the capture is known to
// work, for the file may hold something.
func (c *session) store() (err error) {
	o, types := c.o, c.h.LinkTypes()
	if err := o.checkLinks(types); err != nil {
		return err
	}
	c.ifaces = make([]pcapng.Interface, len(types))
	for i, l := range types {
		c.ifaces[i] = pcapng.Interface{Link: pcapng.LinkType(l), SnapLen: uint32(o.snapLen), Name: o.ifaces[i]} //nolint:gosec // checked
		c.links = append(c.links, pcapng.LinkType(l))
	}
	if v, ok := c.view.(*liveShaped); ok {
		v.begin()
	}
	if c.framed != nil {
		if err := c.framed.begin(); err != nil {
			return err
		}
	}
	if o.keep == "" {
		return nil
	}
	c.keep, err = o.frameStore(c.ifaces, o.clock, func(err error) {
		c.clear()
		o.s.warn(err)
	})
	return err
}

// judged makes the sink of the run: with the rules, if the view shows their findings.
func (c *session) judged(shown *pipeline.Selection) *liveSink {
	l := &liveSink{next: c.match.before(c.gate.or(picked(shown, c.view.sink())))}
	if c.o.unjudged {
		return l
	}
	opt := conformance.Options{
		Enabled: c.o.enabled, OnBug: onBug(c.o.iface, c.o.s.warn),
		Window: windowLive, CompareAfter: int64(compareLive),
	}
	if s, ok := l.next.(interface{ Finding(*conformance.Finding) }); ok && c.wantsFindings() {
		opt.OnFinding = s.Finding
	}
	for _, more := range []func(*conformance.Finding){c.stats.finding(), c.metrics.finding()} {
		opt.OnFinding = each(opt.OnFinding, more)
	}
	keep := ofSelected(c.sel, c.view.keep())
	switch count := c.stats.findings(); {
	case keep == nil:
		keep = count
	case count != nil:
		keep = sinks{keep, count}
	}
	if keep != nil || opt.OnFinding != nil {
		opt.Account = c.memory
		l.engine = conformance.New(opt, keep)
	}
	return l
}

// each calls two functions with each finding; either may be nil.
func each(a, b func(*conformance.Finding)) func(*conformance.Finding) {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return func(f *conformance.Finding) { a(f); b(f) }
}

// wantsFindings reports whether what is shown, or a filter, asks for findings.
func (c *session) wantsFindings() bool {
	return !c.o.shaped() || c.o.judges() || c.o.needsFindings()
}

// liveSink passes everything to what is shown, then to the rules, and remembers the
// connections that have ended with the current frame.
type liveSink struct {
	next   pipeline.Sink
	engine *conformance.Engine
	over   []*trace.Connection
	ending *trace.Connection // that is being judged
	// reply, if not nil, is told of each MPA Reply.
	reply func(*trace.PDU)
}

// PDU implements [trace.Sink].
func (l *liveSink) PDU(p *trace.PDU) {
	if l.next != nil {
		l.next.PDU(p)
	}
	if l.engine != nil {
		l.engine.PDU(p)
	}
	if l.reply != nil && p.Kind == trace.KindReply {
		l.reply(p)
	}
}

// Gap implements [trace.Sink].
func (l *liveSink) Gap(g *trace.GapEvent) {
	if l.next != nil {
		l.next.Gap(g)
	}
	if l.engine != nil {
		l.engine.Gap(g)
	}
}

// Transaction implements [trace.Sink].
func (l *liveSink) Transaction(t *trace.Transaction) {
	if l.next != nil {
		l.next.Transaction(t)
	}
}

// Frame implements [pipeline.Sink].
func (l *liveSink) Frame(f *pipeline.Frame) {
	if l.next != nil {
		l.next.Frame(f)
	}
}

// Ended implements [pipeline.Judge].
func (l *liveSink) Ended(c *trace.Connection) {
	if l.engine != nil {
		l.ending = c
		l.engine.Ended(c)
		l.ending = nil
	}
	l.over = append(l.over, c)
}

// Finish implements [pipeline.Judge].
func (l *liveSink) Finish() {
	if l.engine != nil {
		l.engine.Finish()
	}
}

// stop ends the reception; what was captured until then is still handled. It
// may be called from any goroutine.
func (c *session) stop() {
	if err := c.h.Close(); err != nil {
		c.o.s.warn(err)
	}
}

// clear makes room on the terminal for a message.
func (c *session) clear() {
	if !c.gone {
		c.view.erase()
		_ = c.out.Flush() // the writer keeps the error
	}
}

// fail reports an error and ends the capture.
func (c *session) fail(err error) {
	c.failed = true
	c.clear()
	c.o.s.warn(err)
	c.stop()
}

func (c *session) tell(format string, args ...any) {
	c.clear()
	c.o.s.say(format, args...)
}

// capture handles frames until the capture ends, then writes the summary.
func (c *session) capture() error {
	if !c.o.quiet {
		c.tell("capturing on %s, Ctrl-C ends", c.o.iface)
	}
	c.serve()
	c.started = time.Now()
	c.handed, c.counted = c.started, c.started
	if err := c.frames(); err != nil {
		c.fail(err)
	}
	c.stop()
	c.finish()
	if c.failed {
		return errReported
	}
	return nil
}

// frames handles frames until the capture ends.
func (c *session) frames() error {
	var p live.Packet
	since := 0
	for !c.full && (c.o.count == 0 || c.frame.Number < c.o.count) {
		ok, err := c.h.Next(&p, 0)
		if !ok && err == nil {
			// Nothing more to do: the time to show what was done.
			c.idle()
			c.handOn()
			since = 0
			if c.full {
				break
			}
			wait := handOnEvery
			if c.keep != nil {
				wait = c.keep.wait(wait)
			}
			if c.framed != nil {
				wait = min(wait, c.framed.wait())
			}
			ok, err = c.h.Next(&p, wait)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !ok:
			continue
		}
		c.packet(&p)
		if since++; since >= clockEvery {
			since = 0
			if time.Since(c.handed) >= c.every {
				c.handOn()
			}
		}
	}
	return nil
}

// retired is how much older than the clock a frame may be that the kernel has not handed out.
const retired = 250 * time.Millisecond

// idle settles connections when no frames come, whose times would tell that it is time to.
func (c *session) idle() {
	if c.latest == 0 {
		return
	}
	now := c.o.clock().Add(-retired).UnixNano()
	c.run.Settle(now)
	if c.sink.engine != nil {
		c.sink.engine.Compare(now)
	}
	c.view.ended(picks(c.sel, c.sink.over)) // also for findings that are on no connection that ends now
	c.forget()
	c.settle(now)
}

// settle shows the diagnoses that waited for another connection, and wait no more.
func (c *session) settle(now int64) {
	if v, ok := c.view.(settlingView); ok && !c.gone {
		v.settle(now)
	}
}

// over shows the connections that have ended.
func (c *session) over() {
	if len(c.sink.over) > 0 {
		c.view.ended(picks(c.sel, c.sink.over))
		c.forget()
	}
}

// forget lets go of connections that were shown.
func (c *session) forget() {
	clear(c.sink.over)
	c.sink.over = c.sink.over[:0]
}

// packet keeps and analyses one frame.
func (c *session) packet(p *live.Packet) {
	f := &c.frame
	f.Number++
	f.Time, f.Data, f.OrigLen = p.Time, p.Data, p.OrigLen
	f.Link, f.Interface = c.links[p.Source], p.Source
	if c.keep != nil {
		full, err := c.keep.frame(f)
		c.kept(full, err)
	}
	if c.framed != nil {
		if err := c.framed.frame(f); err != nil {
			c.fail(err)
			return
		}
	}
	c.latest = max(c.latest, f.Time)
	c.run.Frame(f)
	c.over()
	if c.o.lineBuffered {
		c.show()
	}
}

// kept ends a capture whose store is full, or failed.
func (c *session) kept(full bool, err error) {
	c.full = c.full || full
	if err != nil {
		c.unkept(err)
	}
}

// unkept ends a capture whose file can no longer be written: otherwise the file would
// silently lack frames that are shown.
func (c *session) unkept(err error) {
	_ = c.keep.close() // the first error is the one to report
	c.keep = nil
	c.fail(err)
}

// handOn flushes the file and the results. The file comes first, so that it holds
// every frame that is shown.
func (c *session) handOn() {
	now := time.Now()
	c.handed = now
	c.publish(now)
	if c.keep != nil {
		c.kept(c.keep.tick())
	}
	if c.keep != nil {
		if err := c.keep.flush(); err != nil {
			c.unkept(err)
		}
	}
	c.settle(c.latest)
	if !c.gone {
		c.view.refresh(now)
	}
	c.show()
	if now.Sub(c.counted) >= handOnEvery {
		c.counted = now
		c.watchDrops(now)
	}
}

// show flushes the results. If they cannot be written the capture ends; a reader that
// has closed its end of a pipe is no failure.
func (c *session) show() {
	err := c.out.Flush()
	if err == nil || c.gone {
		return
	}
	c.gone = true
	if err = brokenPipe(err); err != nil {
		c.fail(err)
		return
	}
	c.stop()
}

// watchDrops warns when the kernel dropped frames, but not all the time.
func (c *session) watchDrops(now time.Time) {
	s, err := c.h.Stats()
	if err != nil || s.Dropped == c.drops || !c.warned.IsZero() && now.Sub(c.warned) < dropsEvery {
		return
	}
	if c.framed != nil {
		c.framed.dropped(s.Dropped - c.drops)
		c.drops = s.Dropped
		return
	}
	c.drops, c.warned = s.Dropped, now
	c.tell("%d frames were dropped by the kernel so far: they come faster than they are handled (a larger buffer, -B, gets over bursts)", s.Dropped)
}

// statistics shows those that were asked for; records have them already.
func (c *session) statistics() {
	switch c.view.(type) {
	case *liveRecords, *liveStats:
		return
	}
	if err := c.stats.show(nil, c.out); err != nil && !c.gone {
		c.fail(err)
		c.gone = true
	}
}

// finish writes what is known at the end.
func (c *session) finish() {
	if c.keep != nil {
		if err := c.keep.close(); err != nil {
			c.keep = nil
			c.fail(err)
		}
	}
	c.match.end()
	c.gate.end()
	c.run.Finish()
	c.metrics.close()
	c.gate.end()
	c.over()
	c.settle(math.MaxInt64)
	dropped := "drops unknown"
	stats, err := c.h.Stats()
	if err == nil {
		dropped = fmt.Sprintf("%d dropped by the kernel", stats.Dropped)
	}
	c.view.finish(dropped)
	c.statistics()
	c.show()
	if c.framed != nil || c.o.quiet && stats.Dropped == 0 {
		return
	}
	t := c.run.Totals()
	kept := ""
	if c.keep != nil {
		kept = ", kept in " + c.keep.where()
	}
	c.tell("%s captured on %s in %v%s, %s; %s, %d with iWARP, %s",
		countFrames(&t), c.o.iface, time.Since(c.started).Round(time.Millisecond), kept, dropped,
		diagnose.Counted(t.Connections, "connection", "connections"), t.IWARP, diagnose.Counted(t.PDUs, "PDU", "PDUs"))
}
