package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// checkRun is a run of check over its captures.
type checkRun struct {
	*checkOptions
	opts    pipeline.Options
	enabled func(*conformance.Entry) bool
	decided *decisions
	files   []string
	reports []*checkReport
	level   conformance.Severity
	ctx     context.Context
}

// all checks the captures, several at the same time, and writes the reports in order.
// failed: an error was reported; found: there are findings at or above the level.
func (o *checkRun) all() (failed, found bool) {
	o.sandbox.writes = append(outputNames(o.outputs), o.writeBaseline)
	o.sandbox.confine(o.s, o.files, o.dir)
	jobs := jobsOf(o.units(o.files), o.reports)
	o.opts = divide(o.opts, len(jobs))
	one := func(j *checkJob) *checkedCapture { return o.one(j, len(jobs) == 1) }
	for c := range inOrder(o.share(len(jobs)), jobs, one) {
		c.job.done()
		for _, err := range c.errs {
			failed = true
			o.s.warn(err)
		}
		o.s.remarked(c.remark)
		if len(jobs) == 1 && len(c.errs) == 0 && o.lacks(c.Totals.Connections) {
			break // which is told
		}
		o.decided.saw(c.names, &c.Checked)
		for s := o.level; s <= conformance.Error; s++ {
			found = found || c.Count(s) > 0
		}
		if o.tables != nil {
			if err := o.tables.checked(c, o.level); err != nil {
				failed = true
				o.s.warn(err)
			}
		}
		for _, r := range o.reports {
			if r.json != nil {
				continue
			}
			r.failed = cmp.Or(r.failed, r.Capture(&c.Checked)) // closing it tells
		}
	}
	return failed, found
}

// checkedCapture is a capture that was checked, with what went wrong.
type checkedCapture struct {
	render.Checked
	kept keptFindings
	job  *checkJob
	sel  *pipeline.Selection
	// names are those of its files.
	names  []string
	errs   []error
	remark error // no failure
}

// Connection implements [conformance.Sink].
func (c *checkedCapture) Connection(t *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	has := c.sel.Has(t)
	for i := range fs {
		c.kept.add(&fs[i], has)
	}
	if !has {
		return
	}
	if kept := c.Tally.Add(diagnose.Judged(t, vs)); len(kept) > 0 {
		c.Verdicts = append(c.Verdicts, render.ConnVerdicts{Conn: t.Number, Rules: kept})
	}
}

// judging is the sink of a run: the rules, and the documents that stream.
type judging struct {
	*conformance.Engine
	to func(*trace.Transaction) // nil: nobody wants them
}

func (j *judging) Frame(*pipeline.Frame) {}

func (j *judging) Transaction(t *trace.Transaction) {
	if j.to != nil {
		j.to(t)
	}
}

func (o *checkRun) one(j *checkJob, sole bool) *checkedCapture {
	c := o.read(j, sole)
	// What names a finding for good counts those that are alike, selected or not.
	o.decided.mark(c.names, &c.Checked)
	if o.any() {
		c.Findings, c.Connections = selectedFindings(c.sel, c.Findings), selected(c.sel, c.Connections)
		c.Selected, c.Parts, c.Keep = true, c.sel.Parts(), keeps(c.sel)
	}
	if o.tree {
		o.exhibit(j.options(o.opts), j.unit, c)
	}
	if o.placed(j.unit) {
		c.Places = o.places(j.files[0], c.Findings)
	}
	if len(c.errs) > 0 {
		o.there.unread.Store(true)
	}
	judged := c.Totals.IWARP - c.Totals.LoneDamaged
	if c.Selected {
		judged = countable(c.Connections)
	}
	if !sole || !o.lacks(c.Totals.Connections) || len(c.errs) > 0 { // else it is told that --conn is wrong
		if err := o.tooFew(&c.Checked, judged); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	for _, p := range j.parts {
		if c.Selected {
			p.Selected(c.Connections.Len())
		}
		p.EndChecked(&c.Checked)
	}
	return c
}

// read checks a capture.
func (o *checkRun) read(j *checkJob, sole bool) (c *checkedCapture) {
	for _, p := range j.parts {
		p.BeginPoint(j.point, j.file())
	}
	opt := j.options(o.opts)
	o.attempts(j.unit, &opt, sole, func(a *attempt) bool {
		c = o.attempt(j, opt, sole, a)
		return c != nil
	})
	return c
}

// attempt checks it; nil: it has to be read in order.
func (o *checkRun) attempt(j *checkJob, opt pipeline.Options, sole bool, a *attempt) *checkedCapture {
	c := &checkedCapture{job: j}
	c.Point, c.File = j.point, o.s.called(j.file())
	c.names = j.files // in order
	opt.OnError = func(err error) { c.errs = append(c.errs, err) }
	opt.Brief, opt.ReadAhead, opt.Pipes = true, o.ahead(), true
	if o.filters() { // which may ask for fields of upper layers
		o.upper(&opt)
	}
	c.sel = o.selection(&opt)
	k := o.foresee(o.s, j.unit, opt, true, o.enabled)
	o.rank(o.s, j.unit, opt, c.sel, k, true, o.enabled)
	m := o.matching(&opt, c.sel, k)
	bug := onBug(j.name, func(err error) { c.errs = append(c.errs, err) })
	c.kept.memory = account(&opt)
	engine := partly(conformance.New(conformance.Options{Enabled: o.enabled, Account: c.kept.memory, OnBug: bug, OnFinding: m.findings()}, c), &opt)
	var to func(*trace.Transaction)
	if len(j.parts) > 0 {
		to = a.transactions(j.transactions(c.sel))
	}
	run := a.newRun(&opt, m.before(&judging{engine, to}), engine, false, to)
	src, err := o.open(j.unit, o.s)
	if err == nil {
		stop := func() {}
		if sole {
			stop = o.progress(o.s, src)
		}
		m.source(src.Source)
		err = reads(run, src.Source)
		stop()
		c.Format = src.format()
		src.Close() //nolint:errcheck // only read from
	}
	if inTurn(err) {
		return nil
	}
	if err != nil {
		c.errs = append(c.errs, err)
		c.Failure = err.Error()
	}
	m.end()
	c.Connections = run.Finish()
	t := run.Totals()
	t.FindingsUnlisted = c.kept.left()
	c.remark = cmp.Or(m.remark(j.name, &t), o.untimed(j.name, &t), noneSelected(c.sel, j.name, &t), givenUp(j.name, &t))
	o.counted(&t)
	c.Findings, c.Unlisted = c.kept.list(), c.kept.unlisted
	c.Totals, c.Rules = t, engine.Rules()
	if unsharded(&opt) && !o.s.session() {
		c.Others = run.Others()
	}
	locate(src, c.Findings)
	sortVerdicts(c)
	return c
}

// transactions returns what writes those that are selected into the documents.
func (j *checkJob) transactions(sel *pipeline.Selection) func(*trace.Transaction) {
	parts := make([]pipeline.Sink, len(j.parts))
	for i, p := range j.parts {
		parts[i] = picked(sel, p)
	}
	return func(t *trace.Transaction) {
		for _, p := range parts {
			p.Transaction(t)
		}
	}
}

// sortVerdicts sorts the verdicts on connections by their numbers.
func sortVerdicts(c *checkedCapture) {
	slices.SortStableFunc(c.Verdicts, func(a, b render.ConnVerdicts) int { return cmp.Compare(a.Conn, b.Conn) })
}
