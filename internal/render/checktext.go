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
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// TextOptions choose what the report for people looks like.
type TextOptions struct {
	// Paint marks errors; it may be nil.
	Paint func(string) string
	// Width is how wide it may be, 0 for any width.
	Width int
	// All lists each finding, also those that are known.
	All bool
}

// textReport is for people.
type textReport struct {
	TextOptions
	w     io.Writer
	err   error
	total conformance.Tally
	count [conformance.Error + 1]int
	// files were read, short of them not to their end; unread could not be read at all.
	files, short, unread int
	// few have too few connections.
	few   int
	conns uint64
	// evicted counts connections that were ended early to bound memory.
	evicted uint64
	// parts says that findings are those of parts of connections.
	parts bool
	// folded says that findings were not listed.
	folded bool
	// known, suppressed by config: those that were decided about.
	known, suppressed int
	config            string
	rules             int // that were asked
	// current is the connection of the last finding, live.
	current *trace.Connection
}

// NewTextReport writes findings by severity and rule, and a verdict line at the end.
func NewTextReport(w io.Writer, opt TextOptions) Report {
	if opt.Paint == nil {
		opt.Paint = func(s string) string { return s }
	}
	return &textReport{TextOptions: opt, w: w}
}

func (r *textReport) Capture(c *Checked) error {
	switch {
	case c.Failure == "":
		r.files++
	case c.Totals.Frames == 0:
		r.unread++
	default:
		r.files++
		r.short++
	}
	r.evicted += c.Totals.Evicted
	r.parts = r.parts || c.Parts
	if c.Selected {
		r.conns += c.Connections.Count()
	} else {
		r.conns += c.Totals.IWARP
	}
	r.total.Merge(&c.Tally)
	r.rules = max(r.rules, c.Rules)
	for s := range r.count {
		r.count[s] += c.Count(conformance.Severity(s))
	}
	known, suppressed := c.Decided()
	r.known += known
	r.suppressed += suppressed
	r.config = c.Config
	blocks := blocksOf(c.Findings, r.All)
	v := Verdict{File: c.title(), Selected: c.Selected, Conns: c.Connections.Count(), Totals: &c.Totals, Diagnoses: c.Diagnoses(), Brief: true, All: r.All, Width: r.Width, Bad: r.Paint}
	says := v.says()
	if len(blocks) == 0 && known == 0 && !says && c.TooFew == "" {
		return r.err
	}
	r.line(0, visible.Text(c.title()))
	r.tooFew(c)
	if says && r.err == nil {
		r.err = v.Write(r.w)
	}
	r.line(0, "")
	introduced := r.headings(blocks)
	for _, b := range blocks {
		r.block(b, introduced, c.Exhibits)
	}
	if known > 0 && !r.All {
		r.knownLine(c)
	}
	r.line(0, "")
	return r.err
}

// tooFew says that the capture fails for what it lacks.
func (r *textReport) tooFew(c *Checked) {
	if c.TooFew == "" {
		return
	}
	r.few++
	r.line(0, "")
	r.hanging(0, underLevel, r.Paint("FAILED")+"   "+visible.Text(c.TooFew))
}

// line writes a line that is indented; the lines that it is broken into are too.
func (r *textReport) line(indent int, text string) { r.hanging(indent, indent, text) }

// hanging writes a line with an indent of its own.
func (r *textReport) hanging(first, rest int, text string) {
	if err := wrap(r.w, r.Width, rest, strings.Repeat(" ", first)+text); err != nil && r.err == nil {
		r.err = err
	}
}

// mostHeadings is how many connections are introduced.
const mostHeadings = 5

// headings introduces the connections before their findings, unless there are many:
// then each finding names its own.
func (r *textReport) headings(blocks []*block) (introduced bool) {
	conns := map[uint64]*trace.Connection{}
	for _, b := range blocks {
		for _, f := range b.findings {
			conns[f.Conn.Number] = f.Conn
		}
	}
	if len(conns) == 0 || len(conns) > mostHeadings && !r.All {
		return false
	}
	for _, n := range slices.Sorted(maps.Keys(conns)) {
		r.hanging(0, 4, heading(conns[n]))
	}
	r.line(0, "")
	return true
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

// block writes what was found of a rule. Its demand stands there once.
func (r *textReport) block(b *block, introduced bool, exhibits map[*conformance.Finding][]byte) {
	first := b.findings[0]
	level, known := fmt.Sprintf("%-7s", first.Severity), ""
	switch {
	case first.Known:
		known = "  known"
	case first.Severity == conformance.Error:
		level = r.Paint(level)
	}
	r.hanging(2, len(beneath), fmt.Sprintf("%s  %s  %s%s", level, first.Rule.ID, b.where(introduced), known))
	for i, g := range b.kinds(r.All) {
		r.kind(g, b.times > 1)
		if i == 0 {
			r.line(len(beneath), why(first.Rule))
		}
		r.exhibit(exhibits[&g[0].Finding])
	}
	switch n := b.unlisted(r.All); {
	case n == 0:
	case r.All:
		r.line(len(beneath), "and "+diagnose.Number(n)+" more of this rule")
	default:
		r.line(len(beneath), "and "+diagnose.Counted(n, "finding", "findings")+" in other words")
	}
	r.folded = r.folded || !r.All && len(b.findings) > 1
}

// kind writes findings that say the same, and where they are if that does not stand
// above.
func (r *textReport) kind(g []*Finding, placed bool) {
	first := g[0]
	if r.All && placed {
		r.hanging(len(beneath), len(beneath)+2, fmt.Sprintf("%s, conn %d: %s", first.place(), first.Conn.Number, said(&first.Finding)))
		return
	}
	r.line(len(beneath), first.Message)
	if first.Observed != "" || first.Expected != "" {
		text := values(&first.Finding, "; ")
		if slices.ContainsFunc(g, func(f *Finding) bool { return f.Observed != first.Observed || f.Expected != first.Expected }) {
			text += fmt.Sprintf(" (in frame %d)", first.Frame)
		}
		r.line(len(beneath), text)
	}
	switch {
	case !placed:
	case len(g) == 1 && first.Further() == 0:
		r.line(len(beneath), fmt.Sprintf("%s, conn %d", first.place(), first.Conn.Number))
	default:
		r.line(len(beneath), places(g))
	}
}

// exhibit writes PDUs, and paints what is marked.
func (r *textReport) exhibit(b []byte) {
	for line := range strings.Lines(string(b)) {
		if field, text, ok := strings.Cut(line, pointer); ok {
			line = field + r.Paint(pointer+strings.TrimSuffix(text, "\n")) + "\n"
		}
		if _, err := io.WriteString(r.w, line); err != nil && r.err == nil {
			r.err = err
		}
	}
}

// knownLine counts the findings of the baseline by rule.
func (r *textReport) knownLine(c *Checked) {
	counts, n := map[string]int{}, 0
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Known && !f.Suppressed {
			counts[f.Rule.ID] += f.times()
			n += f.times()
		}
	}
	rules := make([]string, 0, len(counts))
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		rules = append(rules, id+" "+diagnose.Number(uint64(counts[id]))) //nolint:gosec // a count
	}
	r.hanging(2, len(beneath), "known    "+diagnose.Counted(uint64(n), "finding", "findings")+" of the baseline: "+strings.Join(rules, ", "))
	r.folded = true
}

// lacking says what the verdicts do not cover: input that could not be read, and connections that
// were not followed to their end.
func (r *textReport) lacking() (s string) {
	if r.short > 0 {
		s += fmt.Sprintf(" (%d not read in full)", r.short)
	}
	if r.unread > 0 {
		s += fmt.Sprintf("; %d could not be read", r.unread)
	}
	if r.few > 0 {
		s += fmt.Sprintf("; %d with too few of them", r.few)
	}
	if r.evicted > 0 {
		s += "; " + diagnose.Counted(r.evicted, "connection", "connections") + " ended early to bound memory"
	}
	return s
}

// Close writes the verdict line. It names what could not be judged, so that no
// findings do not pass for no faults.
func (r *textReport) Close() error {
	count := func(n int, one, many string) string { return diagnose.Counted(uint64(n), one, many) } //nolint:gosec // a count
	missing := r.total.Missing()
	gates := make([]string, 0, len(missing))
	for _, g := range slices.Sorted(maps.Keys(missing)) {
		gates = append(gates, fmt.Sprintf("%s %d", g, missing[g]))
	}
	lacks := ""
	if len(gates) > 0 {
		lacks = " (for lack of " + strings.Join(gates, ", ") + ")"
	}
	decided := r.lacking()
	if r.known > 0 {
		decided += fmt.Sprintf("; %d known", r.known)
	}
	if r.suppressed > 0 {
		decided += fmt.Sprintf("; %d suppressed by %s", r.suppressed, visible.Text(r.config))
	}
	of := ""
	if r.parts {
		of = " on whole connections"
	}
	if r.folded {
		r.line(0, "--all lists each finding.")
	}
	r.hanging(0, 4, fmt.Sprintf("%s, %s, %s in %s of %s%s; rules%s: %d passed, %d failed, %d not judged%s, %d do not apply",
		count(r.count[conformance.Error], "error", "errors"), count(r.count[conformance.Warning], "warning", "warnings"),
		count(r.count[conformance.Note], "note", "notes"), diagnose.Counted(r.conns, "iWARP connection", "iWARP connections"),
		count(r.files, "capture", "captures"), decided, of,
		r.total.Count(conformance.Pass), r.total.Count(conformance.Fail), r.total.Count(conformance.NotJudged), lacks, r.rules-r.total.Rules()))
	return r.err
}
