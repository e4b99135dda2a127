package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/merge"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/points"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/report"
)

// mergeOptions are the flags of merge. Of those of check it has what concerns findings and
// reports.
type mergeOptions struct {
	check checkOptions
	list  string // --points
	level conformance.Severity
	// newest is --newest.
	newest bool
}

func newMerge(s *IOStreams) *cobra.Command {
	o := &mergeOptions{check: checkOptions{s: s}}
	cmd := &cobra.Command{
		Use:   "merge DIR...",
		Short: "Put the results of capture points together, and judge them",
		Long: strings.TrimSpace(`
Put together what analyze and check wrote with --format parquet below DIR: totals, a table
of the points, what went wrong at how many of them, and the findings by rule. Findings at
or above --fail-on make the exit code 1, as with check. For a fleet, use merge as the gate:
batch systems take a task that exits with 1 for one that failed.

The results of a task count once its manifest is there. If a point has several results,
the newest counts; the shards of a point are put together. --points FILE names the points
that must have a result (others are counted too, and merge says so). The exit code is 3 if
a point has no result or lacks a shard, if its capture could not be read to its end, if
no shard has a connection that --conn of analyze or check named, or if two captures have
the name of one point, unless --newest says that the newer one replaces the other.

--format json writes one document, html a page that can be mailed. ndjson, sarif, junit
and github are those of check, with a point in the place of a file; ndjson has no verdicts
of single connections, junit has one suite for each point. A finding that stands for
several counts once in them.

Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 wrong usage; 3 a point without
a result or with a capture that could not be read, or an output that could not be written.`),
		Example: strings.Trim(`
  iwdissect merge results
  iwdissect merge --points points.txt --fail-on warning results
  iwdissect merge --format junit --output json=fleet.json --output html=fleet.html results
`, "\n"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	o.flags(cmd.Flags())
	s.completeFlags(cmd, mergeFormats...)
	return cmd
}

// pageFormat is a page as report writes it.
const pageFormat = "html"

// mergeFormats are those of --format and --output.
var mergeFormats = append(slices.Clone(checkFormats), pageFormat)

func mergeWords() string { return alternatives(mergeFormats) }

func (o *mergeOptions) flags(f *pflag.FlagSet) {
	c := &o.check
	formatFlag(f, &c.format, mergeWords())
	f.StringVar(&o.list, "points", "", "these points must have results: `FILE` has one a line")
	f.BoolVar(&o.newest, "newest", false, "the newest capture of a point replaces others that have results under its name")
	f.StringArrayVar(&c.outputs, "output", nil, "write another report, `FORMAT=FILE`")
	f.StringVar(&c.failOn, "fail-on", "error", "exit with 1 on findings at or above `LEVEL`: error, warning or note")
	f.StringArrayVar(&c.enable, "enable", nil, "count only findings of the rules that match `RULE`")
	f.StringArrayVar(&c.disable, "disable", nil, "do not count findings of the rules that match `RULE`")
	f.BoolVar(&c.all, "all", false, "list all points and diagnoses in text, not the worst")
	f.StringVar(&c.color, colourFlag, "auto", "colours: `WHEN` is auto, always or never")
	f.Lookup(colourFlag).NoOptDefVal = "always"
	c.columns = unsetWidth
	c.sandbox.flag(f)
}

// mergeOutput is a report of merge: of points as they come, or of all.
type mergeOutput struct {
	format string
	w      io.Writer
	// of points, nil for a summary.
	report *checkReport
	file   *outfile.File
	failed error
}

func (o *mergeOptions) run(args []string) error {
	if len(args) == 0 {
		return usagef("merge takes the folders that --format parquet -o wrote to")
	}
	var ok bool
	if o.level, ok = conformance.ParseSeverity(o.check.failOn); !ok {
		return usagef("--fail-on takes error, warning or note, not %q", o.check.failOn)
	}
	enabled, err := o.check.enabled()
	if err != nil {
		return err
	}
	var wanted []points.Point
	if o.list != "" {
		if wanted, err = o.check.s.readPoints(o.list); err != nil {
			return usagef("--points: %w", err)
		}
	}
	if len(o.check.outputs) > 0 {
		o.check.s.reads(dataset.Stored(args)...)
	}
	outs, err := o.outputs()
	if err != nil {
		return err
	}
	results, errs := dataset.Results(args)
	o.confine(results)
	sum := merge.New(o.check.failOn)
	for _, err := range errs {
		// A task that did not come to its end is no failure if another one of its point did: see pointsWithout.
		sum.Remarks = append(sum.Remarks, err.Error())
	}
	failed := len(results) == 0
	opt := merge.Options{Newest: o.newest}
	if len(o.check.enable)+len(o.check.disable) > 0 {
		opt.Enabled = enabled
	}
	if slices.ContainsFunc(outs, func(m *mergeOutput) bool { return m.report != nil }) {
		opt.Keep = func(c *render.Checked) error { return o.point(outs, c) }
	}
	for i := range results {
		if err := sum.Add(&results[i], opt); err != nil {
			failed = true
			o.check.s.warn(err)
		}
	}
	sum.Missing = append(sum.Missing, pointsWithout(wanted, results, errs)...)
	sum.Missing = append(sum.Missing, nowhere(results)...)
	if says := unlisted(wanted, results); o.list != "" && says != "" {
		sum.Remarks = append(sum.Remarks, says)
	}
	sum.End(o.level, failed)
	for _, r := range sum.Remarks {
		o.check.s.say("%s", r)
	}
	return o.close(outs, sum)
}

// confine leaves the process nothing but to read the tables and to write the reports.
func (o *mergeOptions) confine(results []dataset.Result) {
	var files []string
	for i := range results {
		files = append(files, results[i].Files()...)
	}
	c := &o.check
	// A task that runs twice gives a file its name a second time, with the same content: another
	// file, as the kernel sees it. So all files of the folders may be read.
	c.sandbox.folders = foldersOf(files)
	c.sandbox.writes = outputNames(c.outputs)
	c.sandbox.confine(c.s, files)
}

// foldersOf are the folders of files, each once.
func foldersOf(files []string) (folders []string) {
	for _, name := range files {
		folders = append(folders, filepath.Dir(name))
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// pointsWithout are the points that have no result: those of a list, and those with manifests of which
// none counts, for what is wrong with them.
func pointsWithout(wanted []points.Point, results []dataset.Result, wrong []error) (names []string) {
	without := func(name string) {
		_, ok := slices.BinarySearchFunc(results, name, func(r dataset.Result, name string) int { return strings.Compare(r.Point, name) })
		if !ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, p := range wanted {
		without(p.Name)
	}
	for _, err := range wrong {
		if e := (*dataset.Error)(nil); errors.As(err, &e) && e.Point != "" {
			without(e.Point)
		}
	}
	return names
}

// mostUnlisted is how many points are named that are not in the list.
const mostUnlisted = 8

// unlisted says which points have a result and are not in the list, "" if all are.
func unlisted(wanted []points.Point, results []dataset.Result) string {
	listed := map[string]bool{}
	for i := range wanted {
		listed[wanted[i].Name] = true
	}
	var names []string
	for i := range results {
		if n := results[i].Point; !listed[n] {
			listed[n] = true
			names = append(names, n)
		}
	}
	n := uint64(len(names))
	more := ""
	if len(names) > mostUnlisted {
		names, more = names[:mostUnlisted], fmt.Sprintf(" and %d more", len(names)-mostUnlisted)
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "point " + names[0] + " is not in the list of --points; it is counted too"
	}
	return diagnose.Counted(n, "point", "points") + " are not in the list of --points; they are counted too: " + strings.Join(names, ", ") + more
}

// outputs opens all reports.
func (o *mergeOptions) outputs() (outs []*mergeOutput, err error) {
	first, err := o.output(o.check.format, o.check.s.Out)
	if err != nil {
		return nil, err
	}
	outs = append(outs, first)
	files := make([]outputFile, 0, len(o.check.outputs))
	for _, v := range o.check.outputs {
		format, name, err := reportFile(v)
		if err != nil {
			return nil, err
		}
		if _, err := o.output(format, io.Discard); err != nil {
			return nil, err
		}
		files = append(files, outputFile{asked: "--output " + v, name: name})
	}
	if err := o.check.s.checkOutputs(files); err != nil {
		return nil, err
	}
	for _, v := range o.check.outputs {
		format, name, _ := strings.Cut(v, "=")
		f, err := o.check.s.create(name)
		if err != nil {
			return nil, errors.Join(err, discard(outs))
		}
		out, err := o.output(format, f)
		if err != nil {
			return nil, errors.Join(err, f.Discard(), discard(outs))
		}
		out.file = f
		outs = append(outs, out)
	}
	return outs, nil
}

// discard removes what was written of files.
func discard(outs []*mergeOutput) (err error) {
	for _, m := range outs {
		if m.file != nil {
			err = errors.Join(err, m.file.Discard())
		}
	}
	return err
}

func (o *mergeOptions) output(format string, w io.Writer) (*mergeOutput, error) {
	m := &mergeOutput{format: format, w: w}
	if format == "text" || format == "json" || format == pageFormat {
		return m, nil
	}
	if !slices.Contains(checkFormats, format) {
		return nil, usagef("--format and --output take %s, not %q", mergeWords(), format)
	}
	var err error
	m.report, err = o.check.report(format, w, appearance{}, o.level)
	return m, err
}

// point hands a point to the reports.
func (o *mergeOptions) point(outs []*mergeOutput, c *render.Checked) error {
	for _, m := range outs {
		if m.report != nil && m.failed == nil {
			m.failed = m.report.Capture(c)
		}
	}
	return nil
}

// close ends the reports, and says what the exit code is.
func (o *mergeOptions) close(outs []*mergeOutput, sum *merge.Summary) error {
	failed := false
	for _, m := range outs {
		if err := brokenPipe(o.closeOne(m, sum)); err != nil {
			failed = true
			o.check.s.warn(err)
		}
	}
	switch {
	case failed || sum.Gate.ExitCode == exitInput:
		return errReported
	case sum.Gate.ExitCode == exitFindings:
		return errFindings
	}
	return nil
}

func (o *mergeOptions) closeOne(m *mergeOutput, sum *merge.Summary) error {
	err := m.failed
	switch {
	case err != nil:
	case m.report != nil:
		err = m.report.Report.Close()
	case m.format == "json":
		err = sum.JSON(m.w)
	case m.format == pageFormat:
		err = report.Fleet(m.w, sum, "iwdissect "+Version)
	default:
		paint, wrong := o.check.s.colour(o.check.color)
		if err = wrong; err == nil {
			err = sum.Text(m.w, merge.TextOptions{All: o.check.all, Paint: painter(paint && m.file == nil)})
		}
	}
	if m.file == nil {
		return err
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s report: %w", m.format, err), m.file.Discard())
	}
	return m.file.Commit()
}
