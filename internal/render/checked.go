package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// Checked is what became of a capture that was checked.
type Checked struct {
	File, Format string
	Totals       pipeline.Totals
	Connections  []*trace.Connection
	// Findings in the order of their frames.
	Findings []conformance.Finding
	Verdicts []ConnVerdict
	Tally    conformance.Tally
	// Rules is how many rules were asked.
	Rules int
	// Failure says why it could not be read to its end.
	Failure string
}

// ConnVerdict is the verdict on a rule for a connection.
type ConnVerdict struct {
	Conn uint64
	conformance.Judgement
}

// Count is how many findings there are of a severity, those that are not listed
// included.
func (c *Checked) Count(s conformance.Severity) (n int) {
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Severity == s {
			n += 1 + f.Further()
		}
	}
	return n
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
	if c.Failure != "" {
		r.bad++
	}
	for s := range r.count {
		r.count[s] += c.Count(conformance.Severity(s))
	}
	if len(c.Findings) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(r.w, "%s\n", printable(c.File)); err != nil {
		return err
	}
	byConn := map[uint64][]*conformance.Finding{}
	for i := range c.Findings {
		f := &c.Findings[i]
		byConn[f.Conn.Number] = append(byConn[f.Conn.Number], f)
	}
	for _, n := range slices.Sorted(maps.Keys(byConn)) {
		t := byConn[n][0].Conn
		fmt.Fprintf(r.w, "\nconnection %d, %s, initiator %s, responder %s\n", n, t.Transport, t.Side[trace.I2R].Addr, t.Side[trace.R2I].Addr)
		for _, f := range byConn[n] {
			if err := r.finding(f); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(r.w)
	return err
}

func (r *textReport) finding(f *conformance.Finding) error {
	level := fmt.Sprintf("%-7s", f.Severity)
	if f.Severity == conformance.Error {
		level = r.paint(level)
	}
	fmt.Fprintf(r.w, "  %s  %s  %s\n", level, f.Rule.ID, place(f))
	fmt.Fprintf(r.w, "           %s\n", f.Message)
	if f.Observed != "" || f.Expected != "" {
		fmt.Fprintf(r.w, "           %s\n", values(f, "; "))
	}
	_, err := fmt.Fprintf(r.w, "           %s\n", why(f.Rule))
	if n := f.Further(); n > 0 && err == nil {
		_, err = fmt.Fprintf(r.w, "           and %d more of this rule\n", n)
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
	_, err := fmt.Fprintf(r.w, "%s, %s, %s in %s of %s; rules: %d passed, %d failed, %d not judged%s, %d of the catalogue have no check yet\n",
		verdict(r.count[conformance.Error], "error", "errors"), verdict(r.count[conformance.Warning], "warning", "warnings"),
		verdict(r.count[conformance.Note], "note", "notes"), verdict(int(r.conns), "iWARP connection", "iWARP connections"), //nolint:gosec // a count
		verdict(r.files, "capture", "captures"),
		r.total.Count(conformance.Pass), r.total.Count(conformance.Fail), r.total.Count(conformance.NotJudged), lacks, conformance.Unchecked())
	return err
}
