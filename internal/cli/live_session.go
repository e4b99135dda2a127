package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

const (
	// handOnEvery is how long results and kept frames may wait while frames
	// come without a pause, and how often the kernel's counters are read.
	handOnEvery = time.Second
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
	h    *live.Handle
	run  *pipeline.Run
	sink dissectSink // nil if only tables are asked for
	out  *bufio.Writer
	keep *keeper // nil without -w
	tint bool
	// width is how wide the tables may be.
	width int
	// found are the findings for the tables; nil without.
	found *render.Found

	frame   capture.Frame
	started time.Time
	handed  time.Time // when results were last handed on
	counted time.Time // when the kernel's counters were last read
	warned  time.Time // time of the last warning of dropped frames
	drops   uint64    // dropped frames that were reported
	failed  bool      // an error was reported
	gone    bool      // the reader of the results has gone
}

// session starts to capture.
func (o *liveOptions) session() (*session, error) {
	opt, err := o.options()
	if err != nil {
		return nil, err
	}
	opt.Sums = !o.unjudged
	c := &session{o: o, out: bufio.NewWriterSize(o.s.Out, 64<<10)}
	if c.width, err = o.s.width(o.columns); err != nil {
		return nil, err
	}
	if c.tint, err = o.s.colour(o.color); err != nil {
		return nil, err
	}
	switch {
	case !o.summary:
		// The sink hands on each line, the buffer holds them until there is
		// time to write.
		c.sink, err = o.sink(c.out, true)
	case o.format == "ndjson":
		c.sink = render.NewRecords(c.out, render.Select{Connections: true}, false, true)
		opt.Lean = true
	}
	if err != nil {
		return nil, err
	}
	c.run = pipeline.New(opt, c.judged())
	c.h, err = live.Open(live.Options{
		Interface: o.iface, Promiscuous: !o.modest, SnapLen: o.snapLen, RingBytes: o.ring,
	})
	if err != nil {
		return nil, err
	}
	c.frame.Link = pcapng.LinkType(c.h.LinkType())
	if o.keep != "" {
		// Not before the capture is known to work: the file may hold
		// something.
		if c.keep, err = newKeeper(o.keep, o.iface, c.frame.Link, uint32(o.snapLen)); err != nil { //nolint:gosec // checked
			_ = c.h.Release() // the first error is the one to report
			return nil, err
		}
	}
	return c, nil
}

// judged is the sink of the run: with the rules, if their findings are shown, by
// a sink or in the tables.
func (c *session) judged() pipeline.Sink {
	var next pipeline.Sink
	if c.sink != nil { // else it would be a nil sink that is not equal to nil
		next = c.sink
	}
	sel, _ := selection(c.o.records)
	text := c.o.format == "text"
	if c.o.unjudged || !text && (c.o.summary || !sel.Findings) {
		return next
	}
	var keep conformance.Sink
	if text {
		c.found = new(render.Found)
		keep = c.found
	}
	return judge(c.o.iface, next, keep, c.o.s.warn)
}

// stop ends the reception; what was captured until then is still handled. It
// may be called from any goroutine.
func (c *session) stop() {
	if err := c.h.Close(); err != nil {
		c.o.s.warn(err)
	}
}

// fail reports an error and ends the capture.
func (c *session) fail(err error) {
	c.failed = true
	c.o.s.warn(err)
	c.stop()
}

func (c *session) tell(format string, args ...any) {
	fmt.Fprintf(c.o.s.Err, "iwdissect: "+format+"\n", args...)
}

// capture handles frames until the capture ends, then writes the summary.
func (c *session) capture() error {
	if !c.o.quiet {
		c.tell("capturing on %s, Ctrl-C ends", c.o.iface)
	}
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
	for c.o.count == 0 || c.frame.Number < c.o.count {
		ok, err := c.h.Next(&p, 0)
		if !ok && err == nil {
			// Nothing more to do: the time to show what was done.
			c.handOn()
			since = 0
			ok, err = c.h.Next(&p, handOnEvery)
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
			if time.Since(c.handed) >= handOnEvery {
				c.handOn()
			}
		}
	}
	return nil
}

// packet keeps and analyses one frame.
func (c *session) packet(p *live.Packet) {
	f := &c.frame
	f.Number++
	f.Time, f.Data, f.OrigLen = p.Time, p.Data, p.OrigLen
	if c.keep != nil {
		if err := c.keep.frame(f); err != nil {
			c.unkept(err)
		}
	}
	c.run.Frame(f)
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
	if c.keep != nil {
		if err := c.keep.flush(); err != nil {
			c.unkept(err)
		}
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
	c.drops, c.warned = s.Dropped, now
	c.tell("%d frames were dropped by the kernel so far: they come faster than they are handled (a larger --ring-size gets over bursts)", s.Dropped)
}

// finish writes what is known at the end.
func (c *session) finish() {
	if c.keep != nil {
		if err := c.keep.close(); err != nil {
			c.keep = nil
			c.fail(err)
		}
	}
	cs := c.run.Finish()
	if c.sink != nil {
		c.sink.Connections(cs)
		_ = c.sink.Close() // an error of the buffer, which returns it again
	}
	dropped := "drops unknown"
	stats, err := c.h.Stats()
	if err == nil {
		dropped = fmt.Sprintf("%d dropped by the kernel", stats.Dropped)
	}
	if c.o.format == "text" {
		c.tables(cs, dropped)
	}
	c.show()
	if c.o.quiet && stats.Dropped == 0 {
		return
	}
	t := c.run.Totals()
	kept := ""
	if c.keep != nil {
		kept = ", kept in " + c.o.keep
	}
	c.tell("%d frames captured on %s in %v%s, %s; %d TCP connections, %d with iWARP, %d PDUs",
		t.Frames, c.o.iface, time.Since(c.started).Round(time.Millisecond), kept, dropped, t.Connections, t.IWARP, t.PDUs)
}

func (c *session) tables(cs []*trace.Connection, dropped string) {
	if !c.o.summary {
		fmt.Fprintln(c.out)
	}
	sum := &render.Summary{
		File: c.o.iface, Format: "live capture (" + dropped + ")",
		Totals: c.run.Totals(), Connections: cs, Found: c.found, Width: c.width, Bad: painter(c.tint),
	}
	if !c.o.all {
		sum.Most = mostShown
	}
	if err := render.Tables(c.out, sum); err != nil && !c.gone {
		c.fail(err)
		c.gone = true
	}
}

// keeper writes the frames to a file.
type keeper struct {
	f   *os.File
	w   *pcapng.Writer
	rec pcapng.Record
}

// newKeeper makes the file and writes its header at once, so that programs
// that follow the file can start to read.
func newKeeper(path, iface string, link pcapng.LinkType, snapLen uint32) (*keeper, error) {
	// For writing only: a named pipe opened for both would never report that its
	// reader has gone.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	k := &keeper{f: f}
	if err := k.start(iface, link, snapLen); err != nil {
		_ = f.Close() // the first error is the one to report
		return nil, err
	}
	return k, nil
}

func (k *keeper) start(iface string, link pcapng.LinkType, snapLen uint32) error {
	opt := pcapng.WriterOptions{Link: link, SnapLen: snapLen, Nano: true}
	if strings.HasSuffix(strings.ToLower(k.f.Name()), ".pcapng") {
		opt.Format = pcapng.PCAPNG
		opt.Application = "iwdissect " + Version
	}
	var err error
	if k.w, err = pcapng.NewWriter(k.f, opt); err != nil {
		return err
	}
	if opt.Format == pcapng.PCAPNG {
		if _, err = k.w.AddInterface(pcapng.Interface{Link: link, SnapLen: snapLen, Name: iface}); err != nil {
			return err
		}
	}
	return k.w.Flush()
}

func (k *keeper) frame(f *capture.Frame) error {
	k.rec.Data, k.rec.Time, k.rec.OrigLen, k.rec.Link = f.Data, f.Time, f.OrigLen, f.Link
	return k.w.WritePacket(&k.rec)
}

func (k *keeper) flush() error { return k.w.Flush() }

func (k *keeper) close() error {
	err := k.w.Flush()
	if cerr := k.f.Close(); err == nil {
		err = cerr
	}
	return err
}
