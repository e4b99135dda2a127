package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Checked is what became of a capture that was checked.
type Checked struct {
	File, Format string
	Totals       pipeline.Totals
	// Others is what the capture holds besides iWARP; may be nil.
	Others      *pipeline.Others
	Connections []*trace.Connection
	// Findings in the order of their frames.
	Findings []Finding
	Verdicts []ConnVerdicts
	Tally    conformance.Tally
	// Rules is how many rules were asked.
	Rules int
	// Exhibits are the PDUs of findings as [Exhibits] shows them, nil if they were
	// not asked for.
	Exhibits map[*conformance.Finding][]byte
	// Failure says why it could not be read to its end.
	Failure string
	// diagnoses are made when they are first asked for.
	diagnoses *diagnose.Summary
	// Compared says that there is a baseline; Config names the configuration that
	// may suppress findings, if there is one.
	Compared bool
	Config   string
}

// ConnVerdicts are the verdicts on a connection. Thousands of connections may share
// one list of them.
type ConnVerdicts struct {
	Conn  uint64
	Rules []conformance.Judgement
}

// eachVerdict calls f with each verdict.
func (c *Checked) eachVerdict(f func(conn uint64, v *conformance.Judgement)) {
	for _, vs := range c.Verdicts {
		for i := range vs.Rules {
			f(vs.Conn, &vs.Rules[i])
		}
	}
}

// Count is how many open findings there are of a severity, those that are not
// listed included.
func (c *Checked) Count(s conformance.Severity) (n int) {
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Open() && f.Severity == s {
			n += f.times()
		}
	}
	return n
}

// Diagnoses says in sentences what went wrong. Findings about which somebody decided have no
// part in it.
func (c *Checked) Diagnoses() *diagnose.Summary {
	if c.diagnoses != nil {
		return c.diagnoses
	}
	open := map[uint64][]conformance.Finding{}
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Open() {
			open[f.Conn.Number] = append(open[f.Conn.Number], f.Finding)
		}
	}
	c.diagnoses = new(diagnose.Summary)
	for _, t := range c.Connections {
		c.diagnoses.Connection(t, open[t.Number], nil)
	}
	if c.Others != nil && (c.Failure == "" || c.Totals.Frames > 0) {
		c.diagnoses.Capture(&c.Totals, c.Others)
	}
	return c.diagnoses
}

// Decided is how many findings are known, and how many suppressed.
func (c *Checked) Decided() (known, suppressed int) {
	for i := range c.Findings {
		switch f := &c.Findings[i]; {
		case f.Suppressed:
			suppressed += f.times()
		case f.Known:
			known += f.times()
		}
	}
	return known, suppressed
}

// Report writes what became of captures, one after the other.
type Report interface {
	Capture(*Checked) error
	Close() error
}

// textReport is for people.
type textReport struct {
	w     io.Writer
	paint func(string) string
	total conformance.Tally
	count [conformance.Error + 1]int
	files int
	conns uint64
	bad   int
	// known, suppressed by config: those that were decided about.
	known, suppressed int
	config            string
	rules             int // that were asked
}

// NewTextReport writes findings by connection, and a verdict line at the end.
// paint marks errors; it may be nil.
func NewTextReport(w io.Writer, paint func(string) string) Report {
	if paint == nil {
		paint = func(s string) string { return s }
	}
	return &textReport{w: w, paint: paint}
}

func (r *textReport) Capture(c *Checked) error {
	r.files++
	r.conns += c.Totals.IWARP
	r.total.Merge(&c.Tally)
	r.rules = max(r.rules, c.Rules)
	if c.Failure != "" {
		r.bad++
	}
	for s := range r.count {
		r.count[s] += c.Count(conformance.Severity(s))
	}
	known, suppressed := c.Decided()
	r.known += known
	r.suppressed += suppressed
	r.config = c.Config
	byConn := map[uint64][]*Finding{}
	for i := range c.Findings {
		if f := &c.Findings[i]; !f.Suppressed {
			byConn[f.Conn.Number] = append(byConn[f.Conn.Number], f)
		}
	}
	v := Verdict{File: c.File, Totals: &c.Totals, Diagnoses: c.Diagnoses(), Brief: true, Bad: r.paint}
	if len(byConn) == 0 && !v.says() {
		return nil
	}
	if _, err := fmt.Fprintf(r.w, "%s\n", printable(c.File)); err != nil {
		return err
	}
	if err := v.Write(r.w); err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(byConn)) {
		t := byConn[n][0].Conn
		fmt.Fprintf(r.w, "\n%s\n", heading(t))
		for _, f := range byConn[n] {
			if err := r.finding(f); err != nil {
				return err
			}
			if err := r.exhibit(c.Exhibits[&f.Finding]); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(r.w)
	return err
}

// heading names a connection, its ends and what RNICs they are.
func heading(c *trace.Connection) string {
	r := conformance.Classify(c)
	end := func(d trace.Dir, r conformance.RNIC) string {
		s := d.Sender() + " " + c.Side[d].Addr.String()
		if r.Kind != conformance.UnknownRNIC {
			s += " (" + r.String() + ")"
		}
		return s
	}
	s := fmt.Sprintf("connection %d, %s, %s, %s", c.Number, c.Transport, end(trace.I2R, r.Initiator), end(trace.R2I, r.Responder))
	if r.Works == mpa.No {
		s += ", which cannot work together"
	}
	return s
}

// beneath is where what belongs to a finding begins.
const beneath = "           "

// exhibit writes PDUs, and paints what is marked.
func (r *textReport) exhibit(b []byte) error {
	for line := range strings.Lines(string(b)) {
		if field, text, ok := strings.Cut(line, pointer); ok {
			line = field + r.paint(pointer+strings.TrimSuffix(text, "\n")) + "\n"
		}
		if _, err := io.WriteString(r.w, line); err != nil {
			return err
		}
	}
	return nil
}

func (r *textReport) finding(f *Finding) error {
	level, known := fmt.Sprintf("%-7s", f.Severity), ""
	switch {
	case f.Known:
		known = "  known"
	case f.Severity == conformance.Error:
		level = r.paint(level)
	}
	fmt.Fprintf(r.w, "  %s  %s  %s%s\n", level, f.Rule.ID, place(&f.Finding), known)
	fmt.Fprintf(r.w, beneath+"%s\n", f.Message)
	if f.Observed != "" || f.Expected != "" {
		fmt.Fprintf(r.w, beneath+"%s\n", values(&f.Finding, "; "))
	}
	_, err := fmt.Fprintf(r.w, beneath+"%s\n", why(f.Rule))
	if n := f.Further(); n > 0 && err == nil {
		_, err = fmt.Fprintf(r.w, beneath+"and %d more of this rule\n", n)
	}
	return err
}

// said is what was found, with observed and expected if there are any.
func said(f *conformance.Finding) string {
	if f.Observed == "" && f.Expected == "" {
		return f.Message
	}
	return f.Message + ": " + values(f, ", ")
}

// values are what was observed, and what was expected if anything was.
func values(f *conformance.Finding, sep string) string {
	if f.Expected == "" {
		return "observed " + f.Observed
	}
	return fmt.Sprintf("observed %s%sexpected %s", f.Observed, sep, f.Expected)
}

// place says where a finding is.
func place(f *conformance.Finding) string {
	s := fmt.Sprintf("frame %d", f.Frame)
	if f.HasDir {
		s += " " + f.Dir.String()
	}
	if f.HasPDU {
		s += fmt.Sprintf(" pdu %d", f.PDU)
	}
	if f.HasOffset {
		s += fmt.Sprintf(" offset %d", f.Offset)
	}
	return s
}

// why is what the source demands, in one line.
func why(e *conformance.Entry) string {
	s := e.Spec
	if e.Section != "" {
		s += " " + e.Section
	}
	return s + ": " + e.Statement
}

// Close writes the verdict line. It names what could not be judged, so that no
// findings do not pass for no faults.
func (r *textReport) Close() error {
	verdict := func(n int, one, many string) string { return fmt.Sprintf("%d %s", n, plural(uint64(n), one, many)) } //nolint:gosec // a count
	missing := r.total.Missing()
	gates := make([]string, 0, len(missing))
	for _, g := range slices.Sorted(maps.Keys(missing)) {
		gates = append(gates, fmt.Sprintf("%s %d", g, missing[g]))
	}
	lacks := ""
	if len(gates) > 0 {
		lacks = " (for lack of " + strings.Join(gates, ", ") + ")"
	}
	decided := ""
	if r.known > 0 {
		decided += fmt.Sprintf("; %d known", r.known)
	}
	if r.suppressed > 0 {
		decided += fmt.Sprintf("; %d suppressed by %s", r.suppressed, printable(r.config))
	}
	_, err := fmt.Fprintf(r.w, "%s, %s, %s in %s of %s%s; rules: %d passed, %d failed, %d not judged%s, %d do not apply\n",
		verdict(r.count[conformance.Error], "error", "errors"), verdict(r.count[conformance.Warning], "warning", "warnings"),
		verdict(r.count[conformance.Note], "note", "notes"), verdict(int(r.conns), "iWARP connection", "iWARP connections"), //nolint:gosec // a count
		verdict(r.files, "capture", "captures"), decided,
		r.total.Count(conformance.Pass), r.total.Count(conformance.Fail), r.total.Count(conformance.NotJudged), lacks, r.rules-r.total.Rules())
	return err
}
