package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/visible"
	"github.com/iwdissect/iwdissect/trace"
)

// Verdict is what went wrong in a capture, in sentences: the answer that stands before all
// tables.
type Verdict struct {
	File      string
	Totals    *pipeline.Totals
	Diagnoses *diagnose.Summary
	// Selected says that they are about Conns connections of the capture only.
	Selected bool
	Conns    uint64
	// Tally are the verdicts of the rules; nil if they were not asked.
	Tally *conformance.Tally
	// Cut says that the capture could not be read to its end.
	Cut bool
	// Brief leaves out the headline and the diagnoses that only say that a rule was broken, for
	// one who writes the findings behind it.
	Brief bool
	// All shows every diagnosis, else the worst few are shown.
	All bool
	// Width is that of the terminal in columns, 0 if there is none.
	Width int
	// Bad paints what is wrong; it may be nil.
	Bad func(string) string
}

const (
	// fewDiagnoses is how many are shown without All.
	fewDiagnoses = 5
	// readable is the width of sentences where there is no terminal.
	readable = 100
	// underLevel is where sentences begin.
	underLevel = 9
	// fewNumbers is how many connections are named.
	fewNumbers = 8
)

// Write writes it.
func (v *Verdict) Write(w io.Writer) error {
	if v.Bad == nil {
		v.Bad = func(s string) string { return s }
	}
	list := v.Diagnoses.List()
	if v.Brief {
		list = slices.DeleteFunc(slices.Clone(list), func(d *diagnose.Diagnosis) bool { return d.Kind == diagnose.Rule })
	} else if err := wrap(w, v.Width, 0, v.headline()); err != nil {
		return err
	}
	shown := list
	if !v.All && len(shown) > fewDiagnoses {
		shown = shown[:fewDiagnoses]
	}
	for _, d := range shown {
		if err := v.diagnosis(w, d); err != nil {
			return err
		}
	}
	if n := len(list) - len(shown) + v.Diagnoses.Dropped; n > 0 {
		more := "\n" + diagnose.Number(uint64(n)) + " more" + ofErrors(list[len(shown):], n)
		if len(shown) < len(list) {
			more += " (--all shows them)"
		}
		if err := v.say(w, 0, more+"."); err != nil {
			return err
		}
	}
	return v.unjudged(w)
}

// ofErrors says how many of n diagnoses that are not shown are errors; others than those that are
// handed over were not kept.
func ofErrors(hidden []*diagnose.Diagnosis, n int) string {
	errors := 0
	for _, d := range hidden {
		if d.Severity == conformance.Error && !d.AllDecided {
			errors++
		}
	}
	return ofThem(errors, n)
}

// ofThem says how many of n are errors.
func ofThem(errors, n int) string {
	switch {
	case errors == 0:
		return ""
	case errors == n && n == 1:
		return ", an error"
	case errors == n:
		return ", all of them errors"
	}
	return fmt.Sprintf(", %s of them %s", diagnose.Number(uint64(errors)), plural(uint64(errors), "an error", "errors")) //nolint:gosec // a count
}

// says reports whether there is anything to say but that rules were broken.
func (v *Verdict) says() bool {
	return slices.ContainsFunc(v.Diagnoses.List(), func(d *diagnose.Diagnosis) bool { return d.Kind != diagnose.Rule })
}

// headline says in a line how it is.
func (v *Verdict) headline() string {
	s := v.Diagnoses
	problems, notes := s.Count(conformance.Error)+s.Count(conformance.Warning), s.Count(conformance.Note)
	what := "no problem found"
	if v.Tally != nil && v.Tally.Rules() > 0 && v.Tally.Count(conformance.NotJudged) == v.Tally.Rules() {
		what = "no problem found, but no rule could be judged"
	}
	if problems > 0 {
		what = diagnose.Counted(uint64(problems), "problem", "problems")
	}
	if notes > 0 {
		if strings.Contains(what, ", but") {
			what += ","
		}
		what += " and " + diagnose.Counted(uint64(notes), "note", "notes")
	}
	if v.Cut {
		what = "not read in full; " + what
	}
	t := v.Totals
	if v.Selected && v.Conns == 0 {
		return fmt.Sprintf("%s: nothing is selected of %s", visible.Text(v.File), diagnose.Counted(t.IWARP, "iWARP connection", "iWARP connections"))
	}
	of, selected := "", ""
	if v.Selected {
		of, selected = diagnose.Number(v.Conns)+" of ", " (selected)"
	}
	return fmt.Sprintf("%s: %s in %s%s%s, %s, %s", visible.Text(v.File), what, of, diagnose.Counted(t.IWARP, "iWARP connection", "iWARP connections"), selected,
		diagnose.Counted(t.Frames, "frame", "frames"), diagnose.Span(t.FirstTime, t.LastTime))
}

// diagnosis writes one.
func (v *Verdict) diagnosis(w io.Writer, d *diagnose.Diagnosis) error {
	level := strings.ToUpper(d.Severity.String())
	if v.Brief && d.Severity > conformance.Note { // else it would read like a finding
		level = "PROBLEM"
	}
	if d.AllDecided {
		level = "KNOWN"
	}
	pad := strings.Repeat(" ", max(underLevel-len(level), 1))
	if d.Severity == conformance.Error && !d.AllDecided {
		level = v.Bad(level)
	}
	if err := v.say(w, underLevel, "\n"+level+pad+where(d)+d.Title); err != nil {
		return err
	}
	texts := append([]string{d.Text}, d.Also...)
	if rules := d.BrokenRules(); len(rules) > 0 && d.Kind != diagnose.Rule {
		texts = append(texts, plural(uint64(len(rules)), "Broken rule: ", "Broken rules: ")+strings.Join(rules, ", ")+".")
	}
	if len(d.Decided) > 0 {
		texts = append(texts, "Known or suppressed: "+strings.Join(d.Decided, ", ")+".")
	}
	if d.Advice != "" {
		texts = append(texts, "Try: "+d.Advice)
	}
	if d.Of > 1 {
		texts = append(texts, "The same on "+others(d)+".")
	}
	for _, t := range texts {
		if err := v.say(w, underLevel, strings.Repeat(" ", underLevel)+t); err != nil {
			return err
		}
	}
	return nil
}

// where names the connection of a diagnosis.
func where(d *diagnose.Diagnosis) string {
	switch {
	case d.Conn == nil:
		return ""
	case d.Of > 1:
		return fmt.Sprintf("%s connections, first conn %d  ", diagnose.Number(uint64(d.Of)), d.Conn.Number)
	}
	return fmt.Sprintf("conn %d  %s > %s  ", d.Conn.Number, d.Conn.Side[trace.I2R].Addr, d.Conn.Side[trace.R2I].Addr)
}

// others names the other connections with the same problem.
func others(d *diagnose.Diagnosis) string {
	numbers := make([]string, 0, fewNumbers)
	for _, n := range d.Conns {
		if n != d.Conn.Number && len(numbers) < fewNumbers {
			numbers = append(numbers, strconv.FormatUint(n, 10))
		}
	}
	s := plural(uint64(d.Of-1), "conn ", "conns ") + strings.Join(numbers, ", ") //nolint:gosec // a count
	if n := d.Of - 1 - len(numbers); n > 0 {
		s += fmt.Sprintf(" and %s more", diagnose.Number(uint64(n)))
	}
	return s
}

// unjudged says what was not judged, if the rules were asked.
func (v *Verdict) unjudged(w io.Writer) error {
	t := v.Tally
	if t == nil {
		return nil
	}
	n := t.Count(conformance.NotJudged)
	if n == 0 {
		return nil
	}
	missing := t.Missing()
	gates := make([]conformance.Gate, 0, len(missing))
	for g := range missing {
		gates = append(gates, g)
	}
	slices.SortFunc(gates, func(a, b conformance.Gate) int {
		if missing[a] != missing[b] {
			return missing[b] - missing[a]
		}
		return int(a) - int(b)
	})
	why := make([]string, 0, len(gates))
	for _, g := range gates {
		why = append(why, fmt.Sprintf("%s (%d)", g.Lack(), missing[g]))
	}
	text := fmt.Sprintf("\nRules not judged: %d of %d, because %s.", n, t.Rules(), strings.Join(why, "; "))
	if e := v.Totals.Evicted; e > 0 {
		text += fmt.Sprintf(" Beginnings, ends and octets may be missing because %s ended early to bound memory (--max-connections, --memory).",
			diagnose.Counted(e, "connection was", "connections were"))
	}
	return v.say(w, 0, text)
}

// say writes a line, broken at the width.
func (v *Verdict) say(w io.Writer, indent int, s string) error {
	width := v.Width
	if width == 0 {
		width = readable
	}
	for strings.HasPrefix(s, "\n") {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		s = s[1:]
	}
	return wrap(w, width, indent, s)
}

// diagnosisMembers are those of a diagnosis in JSON.
func diagnosisMembers(o *object, d *diagnose.Diagnosis) {
	o.str("kind", string(d.Kind))
	o.str("severity", d.Severity.String())
	if d.HasDir {
		o.str("dir", d.Dir.String())
		o.str("side", d.Dir.Sender())
	}
	o.uints("conns", d.Conns)
	if d.Of > len(d.Conns) {
		o.int("connections", int64(d.Of))
	}
	o.uints("frames", d.Frames)
	o.uints("pdus", d.PDUs)
	o.str("title", d.Title)
	o.str("text", d.Sentences())
	if d.Advice != "" {
		o.str("advice", d.Advice)
	}
	ruleList(o, "rules", d.Rules)
	ruleList(o, "decided_rules", d.Decided)
}

// ruleList writes the ids of rules, if there are any.
func ruleList(o *object, name string, rules []string) {
	if len(rules) == 0 {
		return
	}
	o.key(name)
	o.openList()
	for _, r := range rules {
		o.sep()
		o.b = appendJSONString(o.b, r)
		o.comma = true
	}
	o.closeList()
}

// diagnoses writes the list of them.
func (a *Analysis) diagnoses(s *diagnose.Summary) {
	o := &a.obj
	o.key("diagnoses")
	o.openList()
	for _, d := range s.List() {
		o.sep()
		o.b = append(o.b, '\n')
		o.open()
		diagnosisMembers(o, d)
		o.close()
		a.spill()
	}
	o.closeList()
}
