package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/statistics"
	"github.com/iwdissect/iwdissect/internal/visible"
)

// statsAlone shows statistics and nothing else: -z with -q.
type statsAlone struct {
	*input
	*statFlags
	s        *IOStreams
	format   string
	unjudged bool
	pager    *pager
}

// statFormats are the formats of statistics that are shown alone.
var statFormats = []string{"text", "json", "ndjson", "csv"}

// csvFormat is the one that is for statistics alone.
const csvFormat = "csv"

// noCSV is the error of CSV that something else would stand beside.
func noCSV() error { return usagef("--format csv is for statistics alone: add -q and -z STAT") }

// gathered is what became of a capture.
type gathered struct {
	*unit
	reports []*statistics.Report
	errs    []error
	none    bool // it has no connection that was asked for
	remark  error
}

// run gathers the statistics of all captures. Several are read at the same time; what is
// written has their order.
func (a *statsAlone) run(opt pipeline.Options, files []string) error {
	if !slices.Contains(statFormats, a.format) {
		return usagef("--format of statistics takes %s, not %q", strings.Join(statFormats, ", "), a.format)
	}
	if a.worst > 0 {
		if err := readableTwice(files, "--worst"); err != nil {
			return err
		}
	}
	if err := a.twoPasses(files); err != nil {
		return err
	}
	return a.pager.through(a.format == "text" && !slices.Contains(files, "-"), func() error { return a.all(opt, files) })
}

func (a *statsAlone) all(opt pipeline.Options, files []string) error {
	a.rows = true
	a.sandbox.confine(a.s, files)
	units := a.units(files)
	w := &statWriter{w: a.s.Out, format: a.format, named: len(units) > 1}
	failed := false
	opt = divide(opt, len(units))
	for g := range inOrder(a.share(len(units)), units, func(u *unit) *gathered { return a.one(u.options(opt), u, len(units) == 1) }) {
		for _, err := range g.errs {
			failed = true
			a.s.warn(err)
		}
		a.s.remarked(g.remark)
		if g.none {
			continue // which is told
		}
		w.write(g.unit, g.reports)
		if w.err != nil {
			break
		}
	}
	err := a.ended(a.s, units, failed)
	if len(units) == 1 && exitCode(err) == exitUsage {
		return err // and no document
	}
	if err := w.close(); err != nil {
		return err
	}
	return err
}

// one gathers the statistics of a capture.
func (a *statsAlone) one(opt pipeline.Options, u *unit, sole bool) *gathered {
	g := &gathered{unit: u}
	tell := func(err error) { g.errs = append(g.errs, err) }
	opt.OnError, opt.ReadAhead = tell, a.ahead()
	a.upper(&opt)
	sel := a.selection(&opt)
	k := a.foresee(a.s, u, opt, true, nil)
	a.rank(a.s, u, opt, sel, k, !a.unjudged, nil)
	memory := account(&opt)
	st := a.alone(a.input, &opt, sel, k)
	var judges pipeline.Sink
	if keep := st.findings(); keep != nil {
		judges = judgeFor(u.name, nil, keep, memory, tell, st.finding()).of(&opt)
	}
	opt.NoRecords = true
	run := pipeline.New(opt, st.beside(judges))
	if sole {
		a.pager.ends(run.Stop)
	}
	src, err := a.open(u, a.s)
	if err != nil {
		tell(err)
		g.reports = st.Reports()
		return g
	}
	defer src.Close() //nolint:errcheck // only read from
	if err := run.Read(src.Source); err != nil {
		tell(err)
	}
	run.Finish()
	t := run.Totals()
	g.none = a.nothing(&t, sole && len(g.errs) == 0)
	g.remark = a.untimed(u.name, &t)
	g.reports = st.Reports()
	return g
}

// statWriter writes the statistics of one capture after the other.
type statWriter struct {
	w      io.Writer
	format string
	named  bool // several captures: each has its name
	begun  bool
	csv    statistics.CSVWriter
	err    error
}

// write writes those of a capture.
func (s *statWriter) write(u *unit, reports []*statistics.Report) {
	name := ""
	if s.named && u.point == "" {
		name = u.name
	}
	switch s.format {
	case csvFormat:
		if s.err == nil {
			s.csv.W = s.w
			s.csv.Point = u.point != ""
			s.err = s.csv.Write(cmp.Or(u.point, name), reports)
		}
	case "json":
		s.head()
		if u.point != "" {
			s.text(`{"point":` + jsonText(u.point) + `,"file":`)
		} else {
			s.text(`{"file":`)
		}
		s.text(jsonText(u.file()) + `,"statistics":`)
		s.then(func(w io.Writer) error { return statistics.JSON(w, reports) })
		s.text("}")
	case "ndjson":
		for _, r := range reports {
			s.text(`{"record":"statistic","statistic":`)
			s.then(r.JSON)
			if name != "" {
				s.text(`,"file":` + jsonText(name))
			}
			if u.point != "" {
				s.text(`,"point":` + jsonText(u.point))
			}
			s.text("}\n")
		}
	default:
		if s.named {
			if s.begun {
				s.text("\n")
			}
			s.text("==> " + visible.Text(u.name) + " <==\n")
		}
		if s.err == nil {
			s.err = statistics.Text(s.w, reports)
		}
	}
	s.begun = true
}

// head begins the document, or the next capture in it.
func (s *statWriter) head() {
	if s.begun {
		s.text(",\n")
	} else {
		s.text(fmt.Sprintf("{\"schema\":%q,\"captures\":[\n", render.Schema))
	}
}

// then writes something more, unless something went wrong before.
func (s *statWriter) then(write func(io.Writer) error) {
	if s.err == nil {
		s.err = write(s.w)
	}
}

// jsonText is a text as JSON has it.
func jsonText(s string) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string always is JSON
	return string(b)
}

func (s *statWriter) text(t string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, t)
	}
}

// close ends what was written.
func (s *statWriter) close() error {
	if s.format == "json" && s.begun {
		s.text("\n]}\n")
	}
	return brokenPipe(s.err)
}
