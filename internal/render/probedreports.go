package render

import (
	"fmt"
	"io"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/probe"
)

// ProbedJUnit writes results as a JUnit document: a suite for each group.
func ProbedJUnit(w io.Writer, p *Probed) error {
	doc := junitSuites{Name: "iwdissect probe " + p.Address}
	index := map[string]int{}
	for _, r := range p.Results {
		i, there := index[r.Case.Group]
		if !there {
			i = len(doc.Suites)
			index[r.Case.Group] = i
			doc.Suites = append(doc.Suites, junitSuite{Name: inside(r.Case.Group)})
		}
		s := &doc.Suites[i]
		k := junitCase{Class: "iwdissect.probe." + inside(r.Case.Group), Name: inside(r.Case.Name)}
		switch r.Verdict {
		case probe.Fail:
			k.Failure = &junitSay{Message: inside(r.Reason), Type: ids(r), Text: story(p, r)}
			s.Failures++
		case probe.NotJudged:
			k.Skipped = &junitSay{Message: inside(r.Reason)}
			s.Skipped++
		case probe.Pass:
		}
		s.Cases = append(s.Cases, k)
		s.Tests++
	}
	if p.Failure != "" {
		doc.Suites = append(doc.Suites, junitSuite{
			Name: "peer", Tests: 1, Errors: 1, Cases: []junitCase{{Class: "iwdissect.probe", Name: "answers", Error: &junitSay{Message: inside(p.Failure)}}},
		})
	}
	for i := range doc.Suites {
		s := &doc.Suites[i]
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Skipped += s.Skipped
	}
	return (&junitReport{w: w, doc: doc}).Close()
}

// story tells of a case that failed.
func story(p *Probed, r *probe.Result) string {
	s := fmt.Sprintf("%s\nsent: %s\ndemanded: %s\ncame: %s\nbecause: %s\n", stands(r), r.Case.Sends, r.Case.Demands, r.Came, r.Reason)
	if name := p.Captures[r.Case.Name]; name != "" {
		s += "capture: " + name + "\n"
	}
	return inside(s)
}

// ProbedSARIF writes the failures as a SARIF 2.1.0 log; version is that of the program. The place
// of one is the capture of its case, or the file of the case where none was kept.
func ProbedSARIF(w io.Writer, p *Probed, version string) error {
	s := NewSARIFReport(w, version).(*sarifReport)
	for _, r := range p.Results {
		if r.Verdict == probe.Fail {
			s.failure(p, r)
		}
	}
	if p.Failure != "" {
		s.ran.Successful = false
		s.ran.Notifications = append(s.ran.Notifications, sarifNotification{"error", sarifText{p.Failure}, []sarifLocation{}})
	}
	return s.Close()
}

// entryOf is the rule of a case that failed: of the catalogue, or one of the case alone.
func entryOf(r *probe.Result) *conformance.Entry {
	id := r.Broken[0]
	if e, ok := conformance.Catalogue().Find(id); ok {
		return e
	}
	return &conformance.Entry{ID: id, Spec: r.Case.Spec, Section: r.Case.Section, Statement: r.Case.Demands, Severity: conformance.Error, Layer: "probe"}
}

// failure writes the result of a case that failed, in a line.
func (r *sarifReport) failure(p *Probed, f *probe.Result) {
	sep := ",\n"
	if r.results == 0 {
		sep = "\n"
	}
	r.results++
	rule := entryOf(f)
	uri, line := p.Captures[f.Case.Name], 1
	if uri == "" {
		uri, line = f.Case.File, f.Case.Line
	}
	o := object{b: append(append(r.out.b, sep...), sarifResultIn...)}
	o.open()
	o.str("ruleId", rule.ID)
	o.int("ruleIndex", int64(r.rule(rule)))
	o.str("level", "error")
	o.key("message")
	o.open()
	o.str("text", fmt.Sprintf("%s: sent %s; came: %s; %s", f.Case.Name, f.Case.Sends, f.Came, f.Reason))
	o.close()
	at := sarifPlace{uri: artifactURI(uri), line: uint64(max(line, 1)), name: "case " + f.Case.Name, kind: "test"}
	at.append(&o)
	o.close()
	r.out.b = o.b
	r.out.done()
}
