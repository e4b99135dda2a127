package cli

import (
	"cmp"

	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// datasets writes the tables of the captures. Several are read at the same time.
func (o *analyzeOptions) datasets(opt pipeline.Options, files []string) error {
	if o.wanted() {
		return usagef("-z goes with --format text or json, not with parquet")
	}
	if o.worst > 0 {
		if err := readableTwice(files, "--worst with --format parquet"); err != nil {
			return err
		}
	}
	tables := []dataset.Table{dataset.Connections, dataset.Findings, dataset.Transactions, dataset.Diagnoses}
	if o.unjudged {
		tables = []dataset.Table{dataset.Connections, dataset.Transactions, dataset.Diagnoses}
	}
	d, err := o.datasetFlags.datasets(o.s, &o.input, files, "analyze", tables...)
	if err != nil {
		return err
	}
	o.sandbox.confine(o.s, files, o.dir)
	units := o.units(files)
	opt = divide(opt, len(units))
	failed := false
	for r := range inOrder(o.share(len(units)), units, func(u *unit) *result { return o.dataset(u.options(opt), u, d, len(units) == 1) }) {
		for _, err := range r.errs {
			failed = true
			o.s.warn(err)
		}
		o.s.remarked(r.remark)
	}
	return o.ended(o.s, units, failed)
}

// dataset writes the tables of a capture.
func (o *analyzeOptions) dataset(opt pipeline.Options, u *unit, d *datasets, sole bool) *result {
	r := new(result)
	opt.OnError = func(err error) { r.errs = append(r.errs, err) }
	w, err := d.create(u)
	if err != nil {
		opt.OnError(err)
		return r
	}
	defer w.Discard()
	opt.Brief, opt.ReadAhead, opt.Pipes = true, o.ahead(), true
	o.upper(&opt)
	sel := o.selection(&opt)
	k := o.foresee(o.s, u, opt, true, nil)
	o.rank(o.s, u, opt, sel, k, !o.unjudged, nil)
	m := o.matching(&opt, sel, k)
	ds := newDiagnosing(sel, false)
	kept := allFindings{keptFindings{memory: account(&opt)}, sel}
	tally := &tallying{sel: sel}
	sink, asked := m.before(picked(sel, w)), 0
	if !o.unjudged {
		j := judgeFor(u.name, sink, sinks{ds, &kept, tally}, kept.memory, opt.OnError, nil).of(&opt)
		sink, asked = j, j.Rules()
	}
	run := pipeline.New(opt, sink)
	src, err := o.open(u, o.s)
	if err == nil {
		m.source(src.Source)
		err = o.readOne(run, src, sole)
	}
	if err != nil {
		opt.OnError(err)
	}
	m.end()
	cs := selected(sel, run.Finish())
	out := &outcome{totals: run.Totals(), findings: selectedFindings(sel, kept.list()), unlisted: kept.unlisted, asked: asked}
	if o.unjudged {
		ds.all(cs)
	} else {
		out.tally = &tally.Tally
	}
	if o.nothing(&out.totals, sole && len(r.errs) == 0) {
		return r
	}
	locate(src, out.findings)
	r.remark = cmp.Or(m.remark(u.name, &out.totals), o.untimed(u.name, &out.totals), givenUp(u.name, &out.totals))
	ds.whole(&opt, err == nil, &out.totals, run.Others())
	out.errs, out.code = r.errs, exitOf(len(r.errs) > 0, false)
	out.add(w, cs, &ds.Summary)
	if err := d.commit(w, out); err != nil {
		opt.OnError(err)
	}
	return r
}

// readOne runs over a capture, with its progress if it is the only one.
func (o *analyzeOptions) readOne(run *pipeline.Run, src *source, sole bool) error {
	defer src.Close() //nolint:errcheck // only read from
	if sole {
		defer o.progress(o.s, src)()
	}
	return run.Read(src.Source)
}
