package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// checkOptions are the flags of check.
type checkOptions struct {
	input
	s               *IOStreams
	format          string
	outputs         []string
	failOn          string
	enable, disable []string
}

const checkFormats = "text, json, ndjson, sarif, junit or github"

func newCheck(s *IOStreams) *cobra.Command {
	o := &checkOptions{s: s}
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Judge connections by the rules of the RFCs",
		Long: strings.TrimSpace(`
Judge each iWARP connection of a capture by the rules of RFC 5040, 5041, 5043,
5044, 6581 and 7306, and of the drafts that came before and after them: which
rule was broken, by whom, in which frame, what was observed and what was to be
expected. A rule whose evidence is not in the capture is not judged; the last
line counts those. A TCP packet whose checksum is wrong while others of its
sender are right is left out: its receiver drops it. Not all rules of the catalogue have a check yet.

A rule is named by its id (case does not count), a glob of ids such as
'DDP-UNTAG-*', or spec=, level=, layer= or severity= and a value, such as
layer=mpa or level=SHOULD.`),
		Example: strings.Trim(`
  iwdissect check trace.pcap
  iwdissect check --fail-on warning --disable 'RNIC-*' --disable level=SHOULD *.pcap
  iwdissect check --format github --output json=findings.json trace.pcap
`, "\n"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	f := cmd.Flags()
	o.flags(f)
	formatFlag(f, &o.format, checkFormats)
	f.StringArrayVar(&o.outputs, "output", nil, "write another report: `FORMAT=FILE`")
	f.StringVar(&o.failOn, "fail-on", "error", "exit with 1 on findings from `LEVEL` on: error, warning or note")
	f.StringArrayVar(&o.enable, "enable", nil, "ask only the rules named by `RULE`")
	f.StringArrayVar(&o.disable, "disable", nil, "do not ask the rules named by `RULE`")
	return cmd
}

// errFindings is returned when there are findings at or above the level.
var errFindings = errors.New("findings")

// checkReport is one that is written; json streams, and is a sink itself.
type checkReport struct {
	render.Report
	json *render.Analysis
	file *os.File
}

func (r *checkReport) Close() error {
	var err error
	if r.json != nil {
		err = r.json.Close()
	} else {
		err = r.Report.Close()
	}
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	return err
}

func (o *checkOptions) report(format string, w io.Writer, colour bool, level conformance.Severity) (*checkReport, error) {
	switch format {
	case "text":
		return &checkReport{Report: render.NewTextReport(w, painter(colour))}, nil
	case "json":
		return &checkReport{json: render.NewAnalysis(w)}, nil
	case "ndjson":
		return &checkReport{Report: render.NewLinesReport(w)}, nil
	case "sarif":
		return &checkReport{Report: render.NewSARIFReport(w, Version)}, nil
	case "junit":
		return &checkReport{Report: render.NewJUnitReport(w, level)}, nil
	case "github":
		return &checkReport{Report: render.NewGitHubReport(w)}, nil
	}
	return nil, usagef("--format and --output take %s, not %q", checkFormats, format)
}

// reports opens all that are to be written.
func (o *checkOptions) reports(level conformance.Severity) (rs []*checkReport, err error) {
	colour, err := o.s.colour(o.color)
	if err != nil {
		return nil, err
	}
	first, err := o.report(o.format, o.s.Out, colour, level)
	if err != nil {
		return nil, err
	}
	rs = append(rs, first)
	for _, v := range o.outputs {
		format, name, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, usagef("--output takes FORMAT=FILE, not %q", v)
		}
		if _, err := o.report(format, io.Discard, false, level); err != nil {
			return nil, err
		}
	}
	for _, v := range o.outputs {
		format, name, _ := strings.Cut(v, "=")
		f, err := os.Create(name)
		if err != nil {
			return nil, err
		}
		r, err := o.report(format, f, false, level)
		if err != nil {
			return nil, err
		}
		r.file = f
		rs = append(rs, r)
	}
	return rs, nil
}

// enabled reads --enable and --disable.
func (o *checkOptions) enabled() (func(*conformance.Entry) bool, error) {
	for _, p := range slices.Concat(o.enable, o.disable) {
		if !conformance.Catalogue().Some(p) {
			return nil, usagef("no rule is named by %q", p)
		}
	}
	names := func(e *conformance.Entry) func(string) bool { return e.Matches }
	return func(e *conformance.Entry) bool {
		return (len(o.enable) == 0 || slices.ContainsFunc(o.enable, names(e))) && !slices.ContainsFunc(o.disable, names(e))
	}, nil
}

func (o *checkOptions) run(args []string) error {
	level, ok := conformance.ParseSeverity(o.failOn)
	if !ok {
		return usagef("--fail-on takes error, warning or note, not %q", o.failOn)
	}
	opt, err := o.options()
	if err != nil {
		return err
	}
	enabled, err := o.enabled()
	if err != nil {
		return err
	}
	files, err := o.files(args)
	if err != nil {
		return err
	}
	reports, err := o.reports(level)
	if err != nil {
		return err
	}
	defer patient(files)()
	told, failed := o.all(opt, enabled, files, reports, level)
	for _, r := range reports {
		if err := r.Close(); err != nil {
			if err = brokenPipe(err); err != nil {
				told = true
				o.s.warn(err)
			}
		}
	}
	switch {
	case told:
		return errTold
	case failed:
		return errFindings
	}
	return nil
}

// all checks the captures, several beside each other unless a document streams.
// Reports get them in order.
func (o *checkOptions) all(
	opt pipeline.Options, enabled func(*conformance.Entry) bool, files []string, reports []*checkReport, level conformance.Severity,
) (told, failed bool) {
	var docs []*render.Analysis
	for _, r := range reports {
		if r.json != nil {
			docs = append(docs, r.json)
		}
	}
	names := o.sources(files)
	jobs := o.jobs
	if len(docs) > 0 {
		jobs = 1
	}
	one := func(name string) *checkedCapture { return o.one(opt, enabled, name, files, docs, len(names) == 1) }
	for c := range inOrder(jobs, names, one) {
		for _, err := range c.errs {
			told = true
			o.s.warn(err)
		}
		for s := level; s <= conformance.Error; s++ {
			failed = failed || c.Count(s) > 0
		}
		for _, r := range reports {
			if r.json != nil {
				continue
			}
			if err := r.Capture(&c.Checked); brokenPipe(err) != nil {
				told = true
				o.s.warn(err)
			}
		}
	}
	return told, failed
}

// checkedCapture is a capture that was checked, with what went wrong.
type checkedCapture struct {
	render.Checked
	errs []error
}

// Connection implements [conformance.Sink].
func (c *checkedCapture) Connection(t *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	c.Findings = append(c.Findings, fs...)
	c.Tally.Add(vs)
	for _, v := range vs {
		c.Verdicts = append(c.Verdicts, render.ConnVerdict{Conn: t.Number, Judgement: v})
	}
}

// judging is the sink of a run: the rules, and the documents that stream.
type judging struct {
	*conformance.Engine
	docs []*render.Analysis
}

func (j *judging) Frame(*pipeline.Frame) {}

func (j *judging) Transaction(t *trace.Transaction) {
	for _, d := range j.docs {
		d.Transaction(t)
	}
}

func (o *checkOptions) one(
	opt pipeline.Options, enabled func(*conformance.Entry) bool, name string, files []string, docs []*render.Analysis, alone bool,
) *checkedCapture {
	c := &checkedCapture{}
	c.File = name
	for _, d := range docs {
		d.Begin(name)
	}
	opt.Sums = true
	opt.OnError = func(err error) { c.errs = append(c.errs, err) }
	bug := func(rule string, why any) {
		c.errs = append(c.errs, fmt.Errorf("%s: the check of %s failed, which is a fault of this program: %v", name, rule, why))
	}
	engine := conformance.New(conformance.Options{Enabled: enabled, OnBug: bug}, c)
	run := pipeline.New(opt, &judging{engine, docs})
	src, err := o.open(name, files, o.s.In)
	if err == nil {
		stop := func() {}
		if alone {
			stop = o.progress(o.s, src)
		}
		err = run.Read(src.Source)
		stop()
		c.Format = src.format()
		src.Close() //nolint:errcheck // only read from
	}
	if err != nil {
		c.errs = append(c.errs, err)
		c.Failure = err.Error()
	}
	c.Connections = run.Finish()
	engine.Finish()
	c.Totals, c.Rules = run.Totals(), engine.Rules()
	slices.SortStableFunc(c.Findings, func(a, b conformance.Finding) int {
		return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Conn.Number, b.Conn.Number), cmp.Compare(a.PDU, b.PDU), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	slices.SortStableFunc(c.Verdicts, func(a, b render.ConnVerdict) int { return cmp.Compare(a.Conn, b.Conn) })
	for _, d := range docs {
		d.EndChecked(&c.Checked)
	}
	return c
}
