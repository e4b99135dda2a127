package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/statistics"
	"github.com/iwdissect/iwdissect/trace"
)

// analyzeOptions are the flags of analyze.
type analyzeOptions struct {
	input
	statFlags
	datasetFlags
	s      *IOStreams
	format string
	all    bool
	brief  bool
	// unjudged is --no-findings.
	unjudged bool
	pager    pager
}

// mostShown is the number of connections in the tables without --all.
const mostShown = 50

func newAnalyze(s *IOStreams) *cobra.Command {
	o := &analyzeOptions{s: s, pager: pager{s: s}}
	o.pager.confined = &o.sandbox
	cmd := &cobra.Command{
		Use:   "analyze FILE...",
		Short: "Summarize what happened on each connection",
		Long: strings.TrimSpace(`
Summarize each iWARP connection of a capture: its endpoints, what was negotiated,
operations by kind with their sizes and latencies, those of upper layers such as
NVMe/RDMA and NFS with their errors, which side closed it and how,
what stands out, and which rules of the RFCs were broken.

Exit codes: 0 done, whatever was found; 2 wrong usage; 3 an input could not be
read to its end, or an output could not be written; 129, 130 or 143 a signal
ended it.
` + aboutParquet + "\n" + aboutSelection + aboutFilters + aboutTwice + aboutStatistics + aboutPoints),
		Example: strings.Trim(`
  iwdissect analyze trace.pcap
  iwdissect analyze --format json trace.pcap | jq '.captures[0].connections[0].mpa'
  iwdissect analyze -q -z rdma,rate --format csv trace.pcap
  iwdissect analyze --format parquet -o results --point tap1 trace.pcap
  iwdissect analyze --join ring_00001.pcap ring_00002.pcap
`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.noted(cmd.Flags(), o.format); err != nil {
				return err
			}
			return o.run(args)
		},
	}
	f := cmd.Flags()
	o.input.flags(f)
	o.points.flags(f, s)
	o.statFlags.flag(f)
	o.datasetFlags.addFlags(f, "o")
	formatFlag(f, &o.format, "text, json or parquet; of statistics alone also ndjson and csv")
	f.BoolVar(&o.brief, "brief", false, "say only what went wrong, without the tables")
	f.BoolVar(&o.all, "all", false, "show all connections in the tables, not the worst 50")
	widthFlag(f, &o.columns)
	findingsFlag(f, &o.unjudged)
	o.upperFlag(f)
	o.pager.flag(f)
	s.completeFlags(cmd, "text", "json", parquetFormat, csvFormat)
	return cmd
}

// result is what became of one capture.
type result struct {
	out    bytes.Buffer
	errs   []error
	remark error // no failure
}

func (o *analyzeOptions) run(args []string) error {
	if helped, err := o.parsed(o.s.Out, o.unjudged, o.noUpper); helped || err != nil {
		return err
	}
	opt, files, undo, err := o.begin(o.s, args)
	if err != nil {
		return err
	}
	defer undo()
	if err := o.judgeable(o.unjudged); err != nil {
		return err
	}
	opt.Sums, o.rows = !o.unjudged, o.wanted()
	defer ignoreFirstInterrupt(files)()
	if o.quiet && o.wanted() {
		return (&statsAlone{&o.input, &o.statFlags, o.s, o.format, o.unjudged, &o.pager}).run(opt, files)
	}
	if o.wanted() && o.worst > 0 && o.format == "text" {
		return usagef("-z with --worst goes with -q or --format json")
	}
	look, err := o.s.appearance(o.color, o.columns)
	if err != nil {
		return err
	}
	if err := o.twoPasses(files); err != nil {
		return err
	}
	switch o.format {
	case "text":
		return o.pager.through(true, func() error { return o.tables(opt, files, look) })
	case "json":
		if o.worst > 0 {
			if err := readableTwice(files, "--worst with --format json"); err != nil {
				return err
			}
		}
		o.sandbox.confine(o.s, files)
		return o.json(opt, files)
	case parquetFormat:
		return o.datasets(opt, files)
	case csvFormat:
		return noCSV()
	}
	if slices.Contains(forms, o.format) {
		return usagef("-T %s shows frames, which 'iwdissect dissect' does; here it takes text, json or parquet", o.format)
	}
	return usagef("--format takes text, json or parquet, not %q", o.format)
}

// tables writes tables. Several captures are read at the same time; what is
// written has their order.
func (o *analyzeOptions) tables(opt pipeline.Options, files []string, look appearance) error {
	o.sandbox.confine(o.s, files)
	units := o.units(files)
	failed, first := false, true
	opt = divide(opt, len(units))
	for r := range inOrder(o.share(len(units)), units, func(u *unit) *result { return o.one(u.options(opt), u, look, len(units) == 1) }) {
		for _, err := range r.errs {
			failed = true
			o.s.warn(err)
		}
		o.s.remarked(r.remark)
		if !first && r.out.Len() > 0 {
			r.out.WriteString("\n")
		}
		first = false
		if _, err := r.out.WriteTo(o.s.Out); err != nil {
			return brokenPipe(err)
		}
	}
	return o.ended(o.s, units, failed)
}

// one analyses one capture into tables.
func (o *analyzeOptions) one(opt pipeline.Options, u *unit, look appearance, sole bool) (r *result) {
	o.attempts(u, &opt, sole && !o.wanted(), func(a *attempt) bool {
		r = o.attempt(opt, u, look, sole, a)
		return r != nil
	})
	return r
}

// attempt analyses it; nil: it has to be read in order.
func (o *analyzeOptions) attempt(opt pipeline.Options, u *unit, look appearance, sole bool, a *attempt) *result {
	r := new(result)
	opt.OnError = func(err error) { r.errs = append(r.errs, err) }
	src, err := o.open(u, o.s)
	if err != nil {
		r.errs = append(r.errs, err)
		return r
	}
	defer src.Close() //nolint:errcheck // only read from
	opt.Brief, opt.ReadAhead, opt.Pipes = true, o.ahead(), true
	o.upper(&opt)
	sel := o.selection(&opt)
	k := o.foresee(o.s, u, opt, true, nil)
	m := o.matching(&opt, sel, k)
	ds := newDiagnosing(sel, o.worst > 0)
	memory := account(&opt)
	st := o.stats(&o.input, &opt, sel, k)
	found, sink := o.found(u.name, sel, m.before(nil), ds, st, memory, &opt)
	var engine *conformance.Engine
	if j, ok := sink.(*judged); ok {
		engine = j.Engine
	}
	run := a.newRun(&opt, st.beside(sink), engine, !o.noUpper, nil)
	stop := func() {}
	if sole {
		stop = o.progress(o.s, src)
	}
	m.source(src.Source)
	failure := reads(run, src.Source)
	m.end()
	stop()
	if inTurn(failure) {
		return nil
	}
	if failure != nil {
		r.errs = append(r.errs, failure)
	}
	sum := o.summary(run, src.name, src.format(), look)
	if o.nothing(&sum.Totals, sole && len(r.errs) == 0) {
		return r
	}
	sum.Found, sum.Diagnoses, sum.Cut = found, &ds.Summary, len(r.errs) > 0
	if o.unjudged {
		ds.all(sum.Connections)
	}
	if r.remark = cmp.Or(m.remark(u.name, &sum.Totals), o.untimed(u.name, &sum.Totals)); o.brief { // the tables say what was given up
		r.remark = cmp.Or(r.remark, givenUp(u.name, &sum.Totals))
	}
	o.narrow(sum, sel)
	ds.settle()
	ds.whole(&opt, failure == nil, &sum.Totals, run.Others())
	if err := render.Tables(&r.out, sum); err != nil {
		r.errs = append(r.errs, err)
	}
	if st != nil {
		if err := statistics.Text(&r.out, st.Reports()); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	return r
}

// found makes what sums up the findings, and the sink for it and for the diagnoses; without
// findings there is only the sink behind them, which may be nil.
func (o *analyzeOptions) found(
	capture string, sel *pipeline.Selection, next pipeline.Sink, ds conformance.Sink, st *stats, memory *budget.Account, opt *pipeline.Options,
) (*render.Found, pipeline.Sink) {
	if o.unjudged {
		return nil, next
	}
	found := newFound(sel, o.worst)
	return found, judgeFor(capture, next, sinks{ds, found}.and(st.findings()), memory, opt.OnError, st.finding()).of(opt)
}

// sinks pass on what is told about a connection, in their order.
type sinks []conformance.Sink

// and adds a sink, unless it is nil.
func (s sinks) and(more conformance.Sink) sinks {
	if more == nil {
		return s
	}
	return append(s, more)
}

// Connection implements [conformance.Sink].
func (s sinks) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	for _, each := range s {
		each.Connection(c, fs, vs)
	}
}

// newFound makes what sums up the findings that are selected.
func newFound(sel *pipeline.Selection, worst int) *render.Found {
	if sel.All() && worst == 0 {
		return new(render.Found)
	}
	return &render.Found{
		Selects: func(f *conformance.Finding) bool { return hasFinding(sel, f) },
		Has:     sel.Has, Each: worst > 0,
	}
}

// narrow leaves in a summary what is selected.
func (in *input) narrow(s *render.Summary, sel *pipeline.Selection) {
	if !in.any() {
		return
	}
	of := s.Connections.Len()
	s.Connections = selected(sel, s.Connections)
	if in.worst > 0 {
		r := newRanking(sel)
		s.Found.Rank(func(conn uint64, level conformance.Severity, n int) {
			r.of(conn).byLevel[level] += n
		})
		sel.Only(r.worst(in.worst, s.Connections))
		s.Connections = selected(sel, s.Connections)
		s.Found.Only(sel.Conn)
	}
	s.Selected = fmt.Sprintf("%d of %d iWARP connections", s.Connections.Len(), of)
}

func (o *analyzeOptions) summary(run run, name, format string, look appearance) *render.Summary {
	s := &render.Summary{File: name, Format: format, Connections: run.Finish(), Width: look.width, Bad: painter(look.colour)}
	s.Totals = run.Totals()
	s.Brief = o.brief
	if !o.all {
		s.Most = mostShown
	}
	return s
}

// json writes one document. Transactions stream into it, so captures come one
// after the other.
func (o *analyzeOptions) json(opt pipeline.Options, files []string) error {
	doc := render.NewAnalysis(o.s.Out)
	failed := false
	opt.Lean, opt.Brief, opt.ReadAhead, opt.Pipes = o.unjudged, true, o.ahead(), true
	units := o.units(files)
	for _, u := range units {
		doc.BeginPoint(u.point, u.file())
		opt := u.options(opt)
		o.attempts(u, &opt, !o.wanted(), func(a *attempt) bool {
			e := &entry{analyzeOptions: o, doc: doc, attempt: a, sole: len(units) == 1}
			done := e.write(opt, u)
			failed = failed || e.failed
			return done
		})
	}
	err := o.ended(o.s, units, failed)
	if len(units) == 1 && exitCode(err) == exitUsage {
		return err // and no document
	}
	if err := brokenPipe(doc.Close()); err != nil {
		return err
	}
	return err
}

// entry is that of a capture in a document.
type entry struct {
	*analyzeOptions
	*attempt
	doc    *render.Analysis
	sole   bool // there is no other one
	failed bool // an error was reported
}

func (e *entry) warn(err error) {
	e.failed = true
	e.s.warn(err)
}

// write writes the entry. It reports false if the capture has to be read in order.
func (e *entry) write(opt pipeline.Options, u *unit) bool {
	opt.OnError = e.warn
	var errs []error
	if e.workers > 1 { // if the capture is read again, they are reported then
		opt.OnError = func(err error) { errs = append(errs, err) }
	}
	e.upper(&opt)
	sel := e.selection(&opt)
	k := e.foresee(e.s, u, opt, true, nil)
	e.rank(e.s, u, opt, sel, k, !e.unjudged, nil)
	m := e.matching(&opt, sel, k)
	ds := newDiagnosing(sel, false)
	found := allFindings{keptFindings{memory: account(&opt)}, sel}
	st := e.stats(&e.input, &opt, sel, k)
	next := picked(sel, e.doc)
	to := e.transactions(next.Transaction)
	sink := m.before(&entrySink{next, to})
	var engine *conformance.Engine
	if !e.unjudged {
		j := judgeFor(u.name, sink, sinks{ds, &found}.and(st.findings()), found.memory, opt.OnError, st.finding()).of(&opt)
		sink, engine = j, j.Engine
	}
	run := e.newRun(&opt, st.beside(sink), engine, !e.noUpper, to)
	format, failure := "", ""
	src, err := e.open(u, e.s)
	if err == nil {
		m.source(src.Source)
		format, err = e.into(run, src)
	}
	if inTurn(err) {
		return false
	}
	for _, err := range errs {
		e.warn(err)
	}
	if err != nil {
		failure = err.Error()
		e.warn(err)
	}
	m.end()
	cs := selected(sel, run.Finish())
	t := run.Totals()
	if e.nothing(&t, e.sole && !e.failed) {
		return true
	}
	e.s.remarked(cmp.Or(m.remark(u.name, &t), e.untimed(u.name, &t)))
	t.FindingsUnlisted = found.left()
	list := selectedFindings(sel, found.list())
	locate(src, list)
	if e.any() {
		e.doc.Selected(cs.Len())
	}
	if e.unjudged {
		ds.all(cs)
	}
	ds.whole(&opt, failure == "", &t, run.Others())
	e.doc.Statistics(st.json())
	e.doc.End(&t, format, cs, list, &ds.Summary, failure)
	return true
}

// entrySink writes the transactions of an entry.
type entrySink struct {
	pipeline.Sink
	to func(*trace.Transaction)
}

func (s *entrySink) Transaction(t *trace.Transaction) { s.to(t) }

func (o *analyzeOptions) into(r run, src *source) (format string, err error) {
	defer src.Close() //nolint:errcheck // only read from
	defer o.progress(o.s, src)()
	err = reads(r, src.Source)
	return src.format(), err
}
