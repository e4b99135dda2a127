package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
)

// The elements of a JUnit report: a suite for each capture, a case for each rule
// that applies to it.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string    `xml:"classname,attr"`
		Name    string    `xml:"name,attr"`
		Failure *junitSay `xml:"failure"`
		Error   *junitSay `xml:"error"`
		Skipped *junitSay `xml:"skipped"`
		Output  string    `xml:"system-out,omitempty"`
	}
	junitSay struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

type junitReport struct {
	w    io.Writer
	fail conformance.Severity
	doc  junitSuites
}

// NewJUnitReport writes a JUnit document. Findings below the severity fail, and
// those that were decided about, stand in the output of a case that passes.
func NewJUnitReport(w io.Writer, fail conformance.Severity) Report {
	return &junitReport{w: w, fail: fail, doc: junitSuites{Name: "iwdissect"}}
}

func (r *junitReport) Capture(c *Checked) error {
	s := junitSuite{Name: inside(c.title())}
	found := map[*conformance.Entry][]*Finding{}
	for i := range c.Findings {
		f := &c.Findings[i]
		found[f.Rule] = append(found[f.Rule], f)
	}
	for _, j := range c.Tally.Judgements() {
		k := junitCase{Class: "iwdissect." + j.Rule.Layer, Name: j.Rule.ID}
		switch j.Verdict {
		case conformance.NotJudged:
			k.Skipped = &junitSay{Message: "not judged for lack of " + j.Gate.String()}
			s.Skipped++
		case conformance.Fail:
			worst, text := conformance.None, strings.Builder{}
			var first *Finding // that fails
			open := 0
			for _, f := range found[j.Rule] {
				decided := f.decision()
				if decided == "" {
					if f.Severity > worst {
						worst, first = f.Severity, f
					}
					open += f.times()
				} else {
					decided = " (" + decided + ")"
				}
				fmt.Fprintf(&text, "%s%s: connection %d, %s: %s\n", f.Severity, decided, f.Conn.Number, f.place(), said(&f.Finding))
			}
			if worst >= r.fail {
				k.Failure = &junitSay{Message: fault(first, open-1), Type: worst.String(), Text: why(j.Rule) + "\n" + text.String()}
				s.Failures++
			} else {
				k.Output = text.String()
			}
		case conformance.Pass, conformance.NotApplicable:
		}
		s.Cases = append(s.Cases, k)
	}
	if c.Failure != "" {
		s.Cases = append(s.Cases, junitCase{Class: "iwdissect", Name: "capture", Error: &junitSay{Message: c.Failure}})
		s.Errors++
	}
	if c.TooFew != "" {
		s.Cases = append(s.Cases, junitCase{Class: "iwdissect", Name: "connections", Error: &junitSay{Message: inside(c.TooFew)}})
		s.Errors++
	}
	if lacks := GivenUp(&c.Totals); len(lacks) > 0 {
		s.Cases = append(s.Cases, junitCase{Class: "iwdissect", Name: "memory", Skipped: &junitSay{Message: "to bound memory, " + strings.Join(lacks, "; ")}})
		s.Skipped++
	}
	s.Tests = len(s.Cases)
	r.doc.Tests += s.Tests
	r.doc.Failures += s.Failures
	r.doc.Errors += s.Errors
	r.doc.Skipped += s.Skipped
	r.doc.Suites = append(r.doc.Suites, s)
	return nil
}

// fault says what a case fails of: lists show the message alone.
func fault(f *Finding, more int) string {
	s := fmt.Sprintf("connection %d, frame %d: %s", f.Conn.Number, f.Frame, said(&f.Finding))
	if more > 0 {
		s += fmt.Sprintf(" (and %d more)", more)
	}
	return s
}

func (r *junitReport) Close() error {
	if _, err := io.WriteString(r.w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(r.w)
	e.Indent("", "  ")
	if err := e.Encode(&r.doc); err != nil {
		return err
	}
	_, err := io.WriteString(r.w, "\n")
	return err
}
