package render

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// Checked is what became of a capture that was checked.
type Checked struct {
	// Point is the name of the capture point, "": there is none. File are its files.
	Point        string
	File, Format string
	Totals       pipeline.Totals
	// Others is what the capture holds besides iWARP; may be nil.
	Others      *pipeline.Others
	Connections *ended.List
	// Findings in the order of their frames.
	Findings []Finding
	// Unlisted counts findings that are not among them, to bound memory, by severity.
	Unlisted [conformance.Error + 1]int
	Verdicts []ConnVerdicts
	Tally    conformance.Tally
	// Rules is how many rules were asked.
	Rules int
	// Exhibits are the PDUs of findings as [Exhibits] shows them, nil if they were
	// not asked for.
	Exhibits map[*conformance.Finding][]byte
	// Selected says that Findings, Connections and verdicts are not all of the capture.
	Selected bool
	// Parts says that findings are those of parts of connections. Verdicts are always on whole ones.
	Parts bool
	// Places are the octets of the frames of findings in the file, of those that are known.
	Places map[uint64]Place
	// Live says that it was captured on an interface while it was checked.
	Live bool
	// Failure says why it could not be read to its end.
	Failure string
	// TooFew says that it has fewer connections than were asked for, "": it has enough.
	TooFew string
	// diagnoses are made when they are first asked for.
	diagnoses *diagnose.Summary
	// Keep, if not nil, says which diagnoses are shown.
	Keep func(*diagnose.Diagnosis) bool
	// Compared says that there is a baseline; Config names the configuration that
	// may suppress findings, if there is one.
	Compared bool
	Config   string
}

// title is what the capture is called in text.
func (c *Checked) title() string {
	if c.Point != "" {
		return "point " + c.Point
	}
	return c.File
}

// placeOf is the file that a finding is in and the number of its frame there, as far as they are known.
func (c *Checked) placeOf(f *Finding) Origin {
	if f.In.File != "" {
		return f.In
	}
	return Origin{c.File, f.Frame}
}

// ConnVerdicts are the verdicts on a connection. Thousands of connections may share
// one list of them.
type ConnVerdicts struct {
	Conn  uint64
	Rules []conformance.Judgement
}

// Place is where the octets of a frame lie in a file.
type Place struct {
	Offset int64
	Length int
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
	return n + c.Unlisted[s]
}

// Diagnoses says in sentences what went wrong. What somebody decided about tells only which problems are known.
func (c *Checked) Diagnoses() *diagnose.Summary {
	if c.diagnoses != nil {
		return c.diagnoses
	}
	found := map[uint64][]int32{}
	for conn, at := range byConnection(c.Findings) {
		found[conn] = at
	}
	verdicts := make(map[uint64][]conformance.Judgement, len(c.Verdicts))
	for i := range c.Verdicts {
		verdicts[c.Verdicts[i].Conn] = c.Verdicts[i].Rules
	}
	c.diagnoses = &diagnose.Summary{Keep: c.Keep, Live: c.Live}
	for t := range c.Connections.All() {
		at := found[t.Number]
		fs, decided := make([]conformance.Finding, 0, len(at)), make([]bool, 0, len(at))
		for _, i := range at {
			fs, decided = append(fs, c.Findings[i].Finding), append(decided, !c.Findings[i].Open())
		}
		c.diagnoses.Decided(t, fs, verdicts[t.Number], decided)
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

// noReport writes nothing.
type noReport struct{}

// NewNoReport makes a report that writes nothing: what became of captures goes elsewhere.
func NewNoReport() Report { return noReport{} }

func (noReport) Capture(*Checked) error { return nil }
func (noReport) Close() error           { return nil }

// said is what was found, with observed and expected if there are any.
func said(f *conformance.Finding) string {
	if f.Observed == "" && f.Expected == "" {
		return f.Message
	}
	return strings.TrimSuffix(f.Message, ".") + ": " + values(f, ", ")
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
	b := appendUint(append(make([]byte, 0, 64), "frame "...), f.Frame)
	if f.HasDir {
		b = append(append(b, ' '), f.Dir.String()...)
	}
	if f.HasPDU {
		b = appendUint(append(b, " pdu "...), f.PDU)
	}
	if f.HasOffset {
		b = appendInt(append(b, " offset "...), f.Offset)
	}
	return string(b)
}

// why is what the source demands, in one line.
func why(e *conformance.Entry) string {
	s := e.Spec
	if e.Section != "" {
		s += " " + e.Section
	}
	return s + ": " + e.Statement
}
