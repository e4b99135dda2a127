package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// checkLiveUsage refuses what needs a file.
func (o *checkOptions) checkLiveUsage(args []string) error {
	o.live = strings.Join(o.ifaces, ",")
	switch given := o.firstGiven(); {
	case o.live == "" && given != "":
		return usagef("%s goes with --live", given)
	case o.live == "":
		return nil
	case len(args) == 1 && there(args[0]), len(o.read) > 0, o.single():
		return usagef("--live takes an interface and no FILE, -r or --join")
	case o.points.listed() || o.points.task != "" || o.points.shard.N > 0:
		return usagef("--live goes without --points, --task and --shard: they divide what was captured")
	case o.tree:
		return usagef("--live goes without -V, which reads a capture twice")
	case o.baseline != "" || o.writeBaseline != "":
		return usagef("a baseline cannot be used with --live: it belongs to the files that it was made of")
	case o.twice || o.reading != "":
		return usagef("--live goes without -2 and -R, which read a capture twice")
	case o.worst > 0:
		return usagef("--live goes without --worst: which are the worst is known at the end")
	}
	return o.refuse(args, &o.count)
}

// there reports whether a file has this name.
func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// captures are the files to check, none with --live.
func (o *checkOptions) captures(args []string) ([]string, error) {
	if err := o.checkLiveUsage(args); err != nil || o.live != "" {
		return nil, err
	}
	return o.files(o.s, args)
}

// judge checks the files, or what comes from the interface.
func (o *checkRun) judge(ctx context.Context) (failed, found bool) {
	if o.live == "" {
		return o.all()
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	return o.captureLive(ctx)
}

// captureLive checks what comes from an interface, and writes its findings as they come.
func (o *checkRun) captureLive(ctx context.Context) (failed, found bool) {
	l := newLiveOptions(o.s)
	l.count, l.decodeAs, l.layout, l.connections, l.reorder = o.count, o.decodeAs, o.layout, o.connections, o.reorder
	l.selectFlags = o.selectFlags
	l.sandbox = confined{off: o.sandbox.off, writes: outputNames(o.outputs)}
	l.quiet, l.captureFlags, l.enabled = o.quiet, o.captureFlags, o.enabled
	l.noUpper = !o.filters()
	if o.tap != nil {
		l.tap, l.clock = o.tap, o.clock
	}
	job := jobsOf([]*unit{fileUnit(o.live)}, o.reports)[0]
	v := &checkView{run: o, job: job, checked: checkedCapture{job: job, names: []string{o.live}}}
	v.checked.File, v.checked.Format, v.checked.Live = o.live, "live", true
	v.checked.Connections = new(ended.List)
	for _, p := range job.parts {
		p.Begin(o.live)
	}
	err := l.record(ctx, func(c *session) (liveView, error) {
		v.c = c
		return v, nil
	})
	if err != nil && err != errReported { //nolint:errorlint // it is returned as it is
		o.s.warn(err)
	}
	if err != nil {
		v.checked.Failure = "the capture failed"
		o.there.unread.Store(true)
	}
	return !v.close() || err != nil, v.found
}

// checkView is what check shows of a live capture.
type checkView struct {
	c       *session
	run     *checkRun
	job     *checkJob
	checked checkedCapture
	found   bool   // an open finding at or above the level
	dropped int    // findings that are not kept
	judged  uint64 // connections that are selected
	pending diagnose.Pending
	once    diagnose.Once
}

// What is kept for the reports that are written at the end.
const (
	mostLiveFindings = 100_000
	mostLiveVerdicts = 10_000
)

func (v *checkView) sink() pipeline.Sink    { return v }
func (v *checkView) keep() conformance.Sink { return v }
func (v *checkView) refresh(time.Time)      {}
func (v *checkView) erase()                 {}
func (v *checkView) finish(string)          {}

// PDU implements [trace.Sink], as do the following.
func (v *checkView) PDU(*trace.PDU) {}

// Gap does nothing.
func (v *checkView) Gap(*trace.GapEvent) {}

// Transaction writes it to the documents that have transactions.
func (v *checkView) Transaction(t *trace.Transaction) {
	for _, p := range v.job.parts {
		p.Transaction(t)
	}
}

// Frame implements [pipeline.Sink].
func (v *checkView) Frame(*pipeline.Frame) {}

// whole reports whether a report is written at the end, from everything.
func (v *checkView) whole() bool {
	for _, r := range v.run.reports {
		if _, ok := r.Report.(render.LiveReport); !ok {
			return true
		}
	}
	return false
}

// stream writes to the reports that are written while the capture goes on.
func (v *checkView) stream(write func(render.LiveReport) error) {
	for _, r := range v.run.reports {
		s, ok := r.Report.(render.LiveReport)
		if !ok || v.c.gone {
			continue
		}
		if err := write(s); err != nil {
			v.c.gone = true
			if err = brokenPipe(err); err != nil {
				v.c.fail(err)
			} else {
				v.c.stop() // who read it has seen enough
			}
		}
	}
}

// Finding writes a finding as soon as it is certain.
func (v *checkView) Finding(f *conformance.Finding) {
	one := render.Checked{Findings: []render.Finding{{Finding: *f}}}
	v.run.decided.mark(v.checked.names, &one)
	x := &one.Findings[0]
	v.found = v.found || x.Open() && x.Severity >= v.run.level
	v.stream(func(r render.LiveReport) error { return r.Finding(v.checked.File, x) })
}

// Connection implements [conformance.Sink]: all findings on it were written.
func (v *checkView) Connection(t *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	c := &v.checked
	kept := c.Tally.Add(diagnose.Judged(t, vs))
	var ds []diagnose.Diagnosis
	if t == v.c.sink.ending { // else it was diagnosed before
		ds = v.pending.Hold(diagnose.ConnectionDecided(t, fs, vs, v.decided(fs)))
		ds = slices.DeleteFunc(ds, func(d diagnose.Diagnosis) bool { return v.once.Again(&d) })
	}
	v.stream(func(r render.LiveReport) error { return r.Judged(c.File, t, ds, vs) })
	if !v.whole() {
		return
	}
	for _, f := range fs {
		if len(c.Findings) >= mostLiveFindings {
			v.dropped++
			continue
		}
		c.Findings = append(c.Findings, render.Finding{Finding: f})
	}
	if len(kept) > 0 && len(c.Verdicts) < mostLiveVerdicts {
		c.Verdicts = append(c.Verdicts, render.ConnVerdicts{Conn: t.Number, Rules: kept})
	}
}

func (v *checkView) reply(p *trace.PDU) { v.pending.Reply(p) }

// settle writes the diagnoses that waited for another connection.
func (v *checkView) settle(now int64) {
	for _, d := range v.pending.Settled(now) {
		v.stream(func(r render.LiveReport) error { return r.Judged(v.checked.File, d.Conn, []diagnose.Diagnosis{d}, nil) })
	}
}

// decided says of each finding whether somebody decided about it.
func (v *checkView) decided(fs []conformance.Finding) (decided []bool) {
	all := render.Checked{}
	for _, f := range fs {
		all.Findings = append(all.Findings, render.Finding{Finding: f})
	}
	v.run.decided.mark(v.checked.names, &all)
	for i := range all.Findings {
		decided = append(decided, !all.Findings[i].Open())
	}
	return decided
}

func (v *checkView) ended(cs []*trace.Connection) {
	for _, t := range cs {
		if _, lone := t.LoneDamaged(); !lone {
			v.judged++
		}
	}
	if c := &v.checked; v.whole() {
		for _, t := range cs[:min(len(cs), max(mostLiveVerdicts-c.Connections.Len(), 0))] {
			c.Connections.Add(t, 0)
		}
	}
}

// close writes what the reports have at the end, and tells whether that worked.
func (v *checkView) close() bool {
	ok, c := true, &v.checked
	if s := v.c; s != nil && s.run != nil {
		c.Totals, c.Others = s.run.Totals(), s.run.Others()
		if s.sink.engine != nil {
			c.Rules = s.sink.engine.Rules()
		}
	}
	if err := v.run.tooFew(&c.Checked, v.judged); err != nil {
		ok = false
		v.run.s.warn(err)
	}
	slices.SortStableFunc(c.Findings, func(a, b render.Finding) int { return byFrame(&a, &b) })
	sortVerdicts(c)
	v.run.decided.mark(c.names, &c.Checked)
	if v.dropped > 0 {
		v.run.s.warn(fmt.Errorf("%s: %s not in the reports that are written at the end: too many of them", c.File,
			diagnose.Counted(uint64(v.dropped), "finding is", "findings are")))
	}
	for _, p := range v.job.parts {
		p.EndChecked(&c.Checked)
	}
	v.job.done()
	for _, r := range v.run.reports {
		var err error
		switch s := r.Report.(type) {
		case nil: // the document wrote its entry itself
		case render.LiveReport:
			err = s.End(&c.Checked)
		default:
			err = s.Capture(&c.Checked)
		}
		if r.file != nil {
			r.failed = cmp.Or(r.failed, err) // closing it tells
			continue
		}
		if err = brokenPipe(err); err != nil {
			ok = false
			v.run.s.warn(err)
		}
	}
	return ok
}
