package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/render"
)

// checkOptions are the flags of check.
type checkOptions struct {
	input
	datasetFlags
	s       *IOStreams
	format  string
	outputs []string
	failOn  string
	// least is how many connections each capture needs.
	least           int
	tree, all       bool
	times           timeFormat
	enable, disable []string
	// config, baseline and writeBaseline are names of files.
	config, baseline, writeBaseline string
	// baselineGiven: --baseline names it, and not the configuration.
	baselineGiven bool
	pager         pager
	// tables are those of --format parquet, nil for other formats.
	tables *datasets
	captureFlags
	// live is what a capture on interfaces is called, "" for files.
	live string
	// What tests replace.
	tap   func([]live.Options) (tap, error)
	clock func() time.Time
}

var checkFormats = []string{"text", "json", "ndjson", "sarif", "junit", "github"}

// formatWords lists the formats in a sentence.
func formatWords() string { return alternatives(checkFormats) }

// alternatives lists words of which one is to be chosen.
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// aboutCheckExit explains the exit codes, in the help.
const aboutCheckExit = `

A capture in which there is nothing to judge has no findings, and check exits with
0. --min-connections 1 makes it fail.

Exit codes: 0 nothing new at or above --fail-on; 1 findings; 2 wrong usage, or a
configuration or baseline that cannot be read; 3 an input could not be read to
its end or has fewer connections than --min-connections, or an output could not be
written; 129, 130 or 143 a signal ended it.
`

func newCheck(s *IOStreams) *cobra.Command {
	o := &checkOptions{s: s, pager: pager{s: s}}
	o.pager.confined = &o.sandbox
	cmd := &cobra.Command{
		Use:   "check {FILE... | --live IFACE [FILTER]}",
		Short: "Judge connections by the rules of the RFCs",
		Long: strings.TrimSpace(`
Judge each iWARP connection of a capture by the rules of RFC 5040, 5041, 5043,
5044, 6581 and 7306, and of the drafts before and after them. A finding says
which rule was broken, by which side, in which frame, and what was observed and
expected. A rule is not judged if the capture lacks the evidence for it; the last
line counts these rules ('iwdissect explain G-CONTIG' says what is lacking). A TCP
packet with a wrong checksum is ignored if others of its sender are right.

Text has the errors first, then warnings, then advice. Findings of the same kind
stand together, and the first frames of each kind are named; --all lists them all.
-V shows the PDUs of the first finding of a kind (with --all of each) with all
fields, and marks the field at fault. It reads the capture twice, so it needs a
file. Other formats have every finding.

RULE is an id (in upper or lower case), a glob of ids such as 'DDP-UNTAG-*', or
spec=, level=, layer= or severity= with a value, such as layer=mpa or
level=SHOULD. The id of an alias stands for the rules that report it.

FILE may be a folder: check reads all captures below it and judges each alone.

--live IFACE checks what comes from a network interface, as live captures it, until
Ctrl-C, -c, -a or --duration. It takes the flags of live that say what is captured
and where it is kept, and a capture filter behind the interface. A finding is shown
once it is certain, for some a second after its connection closed.

Known findings need not fail a run. --write-baseline writes the findings to a
file; --baseline marks the findings of that file as known, and only others fail.
.iwdissect.yaml in the working directory can set fail-on, enable, disable,
baseline, format, output, min-connections, and suppress, which takes a rule and a
reason. Flags override it. Unless --config names the file, its outputs have to lie below its folder.

No output may be one of the files that are read. An older file is replaced only once
the new one is complete.

` + aboutParquet[1:] + aboutCheckExit + aboutSelection + aboutFilters + aboutTwice + aboutPoints),
		Example: strings.Trim(`
  iwdissect check trace.pcap
  iwdissect check -V trace.pcap
  iwdissect check --fail-on warning --disable 'RNIC-*' --disable level=SHOULD *.pcap
  iwdissect check --format github --output json=findings.json trace.pcap
  iwdissect check --write-baseline known.json captures/
  iwdissect check --baseline known.json captures/
  iwdissect check --live eth0 --duration 10m --fail-on warning
  iwdissect check --live eth0 -w evidence.pcapng -b filesize:100000 -b files:5 port 20049
`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd.Flags(), args) },
	}
	o.checkFlags(cmd.Flags())
	s.completeFlags(cmd, append(slices.Clone(checkFormats), parquetFormat)...)
	return cmd
}

func (o *checkOptions) checkFlags(f *pflag.FlagSet) {
	o.flags(f)
	o.points.flags(f, o.s)
	f.Lookup("quiet").Usage = "show no progress"
	o.datasetFlags.addFlags(f, "o")
	formatFlag(f, &o.format, formatWords()+"; parquet with -o")
	o.times.flag(f)
	f.BoolVarP(&o.tree, "verbose", "V", false, "show the PDUs of findings in text, with the field at fault")
	f.BoolVar(&o.all, "all", false, "list each finding in text, instead of the first ones of a kind, and those that are known")
	widthFlag(f, &o.columns)
	f.StringArrayVar(&o.outputs, "output", nil, "write another report, `FORMAT=FILE`")
	f.StringVar(&o.failOn, "fail-on", "error", "exit with 1 on findings at or above `LEVEL`: error, warning or note")
	f.IntVar(&o.least, "min-connections", 0, "exit with 3 if a capture has fewer than `N` iWARP connections, those that are selected")
	f.StringArrayVar(&o.enable, "enable", nil, "judge only by the rules that match `RULE`")
	f.StringArrayVar(&o.disable, "disable", nil, "do not judge by the rules that match `RULE`")
	f.StringArrayVar(&o.ifaces, "live", nil, "capture on `IFACE` and show findings as they come (Linux only); arguments are a capture filter then")
	o.captureFlags.addFlags(f, o.s, "with --live, ")
	o.decisionFlags(f)
	o.pager.flag(f)
}

// errFindings is returned when there are findings at or above the level.
var errFindings = errors.New("findings")

// checkReport is one that is written; json is a document that captures write to
// themselves, to out.
type checkReport struct {
	render.Report
	json *render.Analysis
	out  *sticky
	// file is where it goes, nil for standard output. failed tells that it lacks something.
	file   *outfile.File
	failed error
}

// Close ends the report. A file gets its name if all of it could be written.
func (r *checkReport) Close() error {
	var err error
	if r.json != nil {
		err = r.json.Close()
	} else {
		err = r.Report.Close()
	}
	err = cmp.Or(r.failed, err)
	if r.file == nil {
		return err
	}
	if err != nil {
		return errors.Join(err, r.file.Discard())
	}
	return r.file.Commit()
}

func (o *checkOptions) report(format string, w io.Writer, look appearance, level conformance.Severity) (*checkReport, error) {
	switch format {
	case parquetFormat:
		if w == o.s.Out { // not of --output, which writes files
			return &checkReport{Report: render.NewNoReport()}, nil
		}
	case "text":
		return &checkReport{Report: render.NewTextReport(w, render.TextOptions{Paint: painter(look.colour), Width: look.width, All: o.all})}, nil
	case "json":
		out := &sticky{w: w}
		return &checkReport{json: render.NewAnalysis(out), out: out}, nil
	case "ndjson":
		return &checkReport{Report: render.NewLinesReport(w)}, nil
	case "sarif":
		return &checkReport{Report: render.NewSARIFReport(w, Version)}, nil
	case "junit":
		return &checkReport{Report: render.NewJUnitReport(w, level)}, nil
	case "github":
		return &checkReport{Report: render.NewGitHubReport(w)}, nil
	}
	return nil, usagef("--format and --output take %s, not %q", formatWords(), format)
}

// reports opens all that are to be written, and does not touch the inputs. With an error it
// returns those that were opened before.
func (o *checkOptions) reports(level conformance.Severity) (rs []*checkReport, err error) {
	look, err := o.s.appearance(o.color, o.columns)
	if err != nil {
		return nil, err
	}
	first, err := o.report(o.format, o.s.Out, look, level)
	if err != nil {
		return nil, err
	}
	rs = append(rs, first)
	for _, v := range o.outputs {
		format, _, err := reportFile(v)
		if err != nil {
			return nil, err
		}
		if _, err := o.report(format, io.Discard, appearance{}, level); err != nil {
			return nil, err
		}
	}
	for _, v := range o.outputs {
		format, name, _ := strings.Cut(v, "=")
		f, err := o.s.create(name)
		if err != nil {
			return rs, err
		}
		r, err := o.report(format, f, appearance{}, level)
		if err != nil {
			return rs, errors.Join(err, f.Discard())
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
			return nil, usagef("%s", noRule(p))
		}
	}
	told := false
	for _, p := range o.enable {
		if why := idle(p); why != "" {
			o.s.say("--enable %s: %s", p, why)
			told = true
		}
	}
	enable, disable := naming(o.enable), naming(o.disable)
	enabled := func(e *conformance.Entry) bool { return (len(o.enable) == 0 || enable(e)) && !disable(e) }
	if !told && !anyChecked(enabled) {
		o.s.say("no rule is left: every rule that is enabled is disabled too, so nothing can fail")
	}
	return enabled, nil
}

func (o *checkOptions) run(ctx context.Context, f *pflag.FlagSet, args []string) error {
	undo, err := o.limit()
	if err != nil {
		return err
	}
	defer undo()
	conf, err := o.configure(f)
	if err != nil {
		return err
	}
	if err := o.noted(f, o.format); err != nil {
		return err
	}
	level, ok := conformance.ParseSeverity(o.failOn)
	if !ok {
		return usagef("--fail-on takes error, warning or note, not %q", o.failOn)
	}
	opt, err := o.options()
	if err != nil {
		return err
	}
	opt.Sums = true
	enabled, err := o.enabled()
	if err != nil {
		return err
	}
	files, err := o.captures(args)
	if err != nil {
		return err
	}
	if err := cmp.Or(o.fewUsage(), o.exhibitable(files)); err != nil {
		return err
	}
	if o.worst > 0 {
		if err := readableTwice(files, "--worst"); err != nil {
			return err
		}
	}
	if err := o.twoPasses(files); err != nil {
		return err
	}
	decided, err := o.decisions(conf)
	if err != nil {
		return err
	}
	if err := o.outputsApart(conf); err != nil {
		return err
	}
	if o.format == parquetFormat {
		if o.live != "" {
			return usagef("--format parquet is for files: --live captures with -w, and check reads that afterwards")
		}
		if o.tables, err = o.datasets(o.s, &o.input, files, "check", dataset.Connections, dataset.Findings, dataset.Diagnoses); err != nil {
			return err
		}
	}
	run := &checkRun{checkOptions: o, opts: opt, enabled: enabled, decided: decided, files: files, level: level, ctx: ctx}
	return o.pager.through(o.format == "text" && o.live == "", run.report)
}

// report checks the captures and writes all reports.
func (o *checkRun) report() error {
	reports, err := o.checkOptions.reports(o.level)
	if err != nil {
		for _, r := range reports {
			if r.file != nil {
				err = errors.Join(err, r.file.Discard())
			}
		}
		return err
	}
	defer ignoreFirstInterrupt(o.files)()
	o.reports = reports
	failed, found := o.judge(o.ctx)
	if err := o.absent(o.s, o.files, o.there.unread.Load()); err != nil {
		return errors.Join(err, o.withdrawn())
	}
	if err := o.decided.close(o.s, o.count == 0 && !o.any(), o.enabled); err != nil {
		failed = true
		o.s.warn(err)
	}
	if !o.closeAll(reports) {
		failed = true
	}
	switch {
	case failed:
		return errReported
	case found && o.decided.fresh == nil:
		return errFindings
	}
	return nil
}

// withdrawn ends reports that have nothing to say.
func (o *checkRun) withdrawn() (err error) {
	for _, r := range o.reports {
		switch {
		case r.file != nil:
			err = errors.Join(err, r.file.Discard())
		case r.json != nil: // which has begun
			err = errors.Join(err, brokenPipe(r.json.Close()))
		}
	}
	return err
}

// closeAll closes the reports, and reports whether all of them were written.
func (o *checkOptions) closeAll(reports []*checkReport) bool {
	written := true
	for _, r := range reports {
		if err := brokenPipe(r.Close()); err != nil {
			written = false
			o.s.warn(err)
		}
	}
	return written
}
