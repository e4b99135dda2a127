package cli

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/dataset"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/points"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/trace"
)

// parquetFormat is the word of --format for tables of Parquet, which go to a folder.
const parquetFormat = "parquet"

// aboutParquet explains it, in the help of each command that has it.
const aboutParquet = `
--format parquet writes tables for programs below the folder DIR of -o: one Parquet file
for each table and point, DIR/TABLE/point=NAME/part-….parquet, and at the end a manifest
that names them. A point is one capture; --point names it. 'iwdissect merge DIR' puts
points together.`

// datasetFlags are those of --format parquet.
type datasetFlags struct {
	dir, point string
	// set are the flags that were set, for the manifest.
	set map[string]string
}

func (d *datasetFlags) addFlags(f *pflag.FlagSet, short string) {
	f.StringVarP(&d.dir, "output-dir", short, "", "with --format parquet, write the tables below the folder `DIR`")
	f.StringVar(&d.point, "point", "", "with --format parquet, `NAME` of the capture point (default the name of the first file)")
}

// noted notes which flags were set, and refuses those that go with another format.
func (d *datasetFlags) noted(set *pflag.FlagSet, format string) error {
	switch {
	case format == parquetFormat && d.dir == "":
		return usagef("--format parquet writes files: -o DIR says below which folder")
	case d.dir == "-":
		return usagef("--format parquet writes many files, which standard output cannot take: -o DIR names a folder")
	case format != parquetFormat && d.dir != "":
		return d.noTables(set, format)
	case format != parquetFormat && d.point != "":
		return usagef("--point goes with --format parquet")
	case format != parquetFormat:
		return nil
	}
	d.set = map[string]string{}
	set.Visit(func(f *pflag.Flag) {
		if f.Name != "output-dir" && f.Name != "point" && f.Name != "preference" {
			d.set[f.Name] = f.Value.String()
		}
	})
	if d.point != "" {
		if err := points.CheckName(d.point); err != nil {
			return usagef("--point %s: %w", d.point, err)
		}
	}
	return nil
}

// noTables refuses a folder for tables where none are written. Most who give -o mean a file for the
// report.
func (d *datasetFlags) noTables(set *pflag.FlagSet, format string) error {
	name := "--output-dir"
	if f := set.Lookup("output-dir"); f.Shorthand != "" {
		name = "-" + f.Shorthand + " (" + name + ")"
	}
	if set.Lookup("output") == nil {
		return usagef("%s goes with --format parquet", name)
	}
	return usagef("%s goes with --format parquet; --output %s=%s writes that report to a file", name, format, d.dir)
}

// datasets are the tables that a command writes, for each capture those of a point.
type datasets struct {
	*datasetFlags
	command string
	tables  []dataset.Table
	s       *IOStreams
	quiet   bool
	shard   dataset.Shard
	// names are those of the points, by what the captures are called.
	names map[string]string
}

// datasets prepares the folders for the captures, before the process gives up making some.
func (d *datasetFlags) datasets(s *IOStreams, in *input, files []string, command string, tables ...dataset.Table) (*datasets, error) {
	shard := dataset.Shard{Index: int(in.points.shard.K), Of: int(in.points.shard.N)}
	all := &datasets{datasetFlags: d, command: command, tables: tables, s: s, quiet: in.quiet, shard: shard, names: map[string]string{}}
	units, seen := in.units(files), map[string]string{}
	switch {
	case d.point != "" && in.points.listed():
		return nil, usagef("--point names a capture, and the points of --points have names")
	case d.point != "" && len(units) > 1:
		return nil, usagef("--point names one capture, and there are %d: --join and --merge make one of several files", len(units))
	}
	for _, u := range units {
		name, point := u.name, cmp.Or(u.point, d.point)
		if point == "" {
			point = pointOf(u.files[0])
		}
		if other, twice := seen[strings.ToLower(point)]; twice {
			return nil, usagef("%s and %s would both be the point %s: write them one at a time with --point, or give --join if they are one capture", other, name, point)
		}
		seen[strings.ToLower(point)] = name
		all.names[name] = point
		if err := dataset.Prepare(d.dir, point, tables...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pointOf makes the name of a point of that of a file.
func pointOf(file string) string {
	if file == "-" {
		return "stdin"
	}
	name := strings.Map(func(c rune) rune {
		if points.CheckName("x"+string(c)) != nil {
			return '_'
		}
		return c
	}, filepath.Base(file))
	if points.CheckName(name) != nil {
		name = "_" + name
	}
	return name[:min(len(name), 200)]
}

// create begins the tables of a capture.
func (d *datasets) create(u *unit) (*dataset.Writer, error) {
	u.begin()
	return dataset.Create(dataset.Program{Version: Version, Build: buildOf()}, d.dir, d.names[u.name], d.shard, dataset.Inputs(u.files), d.tables...)
}

// outcome is what becomes of a capture besides its tables.
type outcome struct {
	totals   pipeline.Totals
	errs     []error
	code     int
	findings []render.Finding
	unlisted [conformance.Error + 1]int
	tally    *conformance.Tally // nil: no rules were asked
	asked    int
}

// commit ends the tables of a capture, with the manifest.
func (d *datasets) commit(w *dataset.Writer, o *outcome) error {
	m := &dataset.Manifest{
		Version: Version, Command: d.command, Options: d.set,
		ExitCode: o.code, Counters: dataset.Count(&o.totals),
	}
	for _, err := range o.errs {
		m.Errors = append(m.Errors, strings.ToValidUTF8(err.Error(), "\uFFFD"))
	}
	if o.tally != nil {
		m.Verdicts = dataset.NewVerdicts(o.tally, o.asked)
		counts := o.unlisted
		for i := range o.findings {
			if f := &o.findings[i]; f.Open() {
				counts[f.Severity] += 1 + f.Further()
			}
		}
		m.Findings, m.Unlisted = bySeverity(counts), bySeverity(o.unlisted)
	}
	if err := w.Commit(m); err != nil {
		return err
	}
	if d.quiet {
		return nil
	}
	rows, size := make([]string, 0, len(m.Files)), int64(0)
	for i := range m.Files {
		f := &m.Files[i]
		rows = append(rows, diagnose.Counted(uint64(f.Rows), singular(f.Table), string(f.Table))) //nolint:gosec // not negative
		size += f.Size
	}
	d.s.say("point %s: %s; %s written below %s", m.Point, strings.Join(rows, ", "), diagnose.Counted(uint64(size), "octet", "octets"), d.dir)
	return nil
}

// bySeverity names counts, without those that are 0.
func bySeverity(counts [conformance.Error + 1]int) map[string]int64 {
	named := map[string]int64{}
	for s, n := range counts {
		if n > 0 {
			named[conformance.Severity(s).String()] = int64(n)
		}
	}
	return named
}

// add writes connections, findings and diagnoses.
func (o *outcome) add(w *dataset.Writer, cs *ended.List, ds *diagnose.Summary) {
	var found map[uint64]*dataset.Counts
	if o.tally != nil {
		found = map[uint64]*dataset.Counts{}
	}
	for i := range o.findings {
		f := &o.findings[i]
		suppressed := ""
		if f.Suppressed {
			if suppressed = f.Reason; suppressed == "" {
				suppressed = "suppressed"
			}
		}
		w.Finding(&f.Finding, dataset.Decided{Known: f.Known, Suppressed: suppressed, SourceFile: f.In.File, SourceFrame: f.In.Frame})
		if !f.Open() {
			continue
		}
		c := found[f.Conn.Number]
		if c == nil {
			c = new(dataset.Counts)
			found[f.Conn.Number] = c
		}
		c[f.Severity] += int64(1 + f.Further())
	}
	w.Connections(cs.All(), found)
	if ds != nil {
		w.Diagnoses(ds.List())
	}
}

// tallying sums up the verdicts on the connections that are selected.
type tallying struct {
	conformance.Tally
	sel *pipeline.Selection
}

// Connection implements [conformance.Sink].
func (t *tallying) Connection(c *trace.Connection, _ []conformance.Finding, vs []conformance.Judgement) {
	if t.sel.Has(c) {
		t.Add(vs)
	}
}

// exitOf is the exit code of a capture.
func exitOf(failed, found bool) int {
	switch {
	case failed:
		return exitInput
	case found:
		return exitFindings
	}
	return exitOK
}

// checked writes the tables of a capture that was checked.
func (d *datasets) checked(c *checkedCapture, level conformance.Severity) error {
	w, err := d.create(c.job.unit)
	if err != nil {
		return err
	}
	defer w.Discard()
	o := &outcome{totals: c.Totals, errs: c.errs, findings: c.Findings, unlisted: c.Unlisted, tally: &c.Tally, asked: c.Rules}
	found := false
	for s := level; s <= conformance.Error; s++ {
		found = found || c.Count(s) > 0
	}
	o.code = exitOf(len(c.errs) > 0, found)
	o.add(w, c.Connections, c.Diagnoses())
	return d.commit(w, o)
}

// errPDUTables is a record that has no table in dissect.
var errPDUTables = errors.New("with --format parquet, dissect writes pdu and transaction, and connection if --records asks for it; 'iwdissect analyze' and 'iwdissect check' write findings and diagnoses")

// singular is what a row of a table is called.
func singular(table dataset.Table) string {
	if table == dataset.Diagnoses {
		return "diagnosis"
	}
	return strings.TrimSuffix(string(table), "s")
}
