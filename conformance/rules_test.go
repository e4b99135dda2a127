package conformance_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
	"github.com/iwdissect/iwdissect/trace"
)

// judge is a sink of a run that asks an engine.
type judge struct {
	*conformance.Engine
	findings []conformance.Finding
	conns    []connJudged
}

// connJudged is a connection with the verdicts on it.
type connJudged struct {
	*trace.Connection
	verdicts []conformance.Judgement
}

func (*judge) Frame(*pipeline.Frame) {}

// Connection implements [conformance.Sink].
func (j *judge) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	j.findings = append(j.findings, fs...)
	j.conns = append(j.conns, connJudged{c, slices.Clone(vs)})
}

// verdicts are those on all connections.
func (j *judge) verdicts() (all []conformance.Judgement) {
	for _, c := range j.conns {
		all = append(all, c.verdicts...)
	}
	return all
}

// judged runs frames through the dissection and the rules; connections on the
// ports are taken for MPA.
func judged(tb testing.TB, frames []capture.Frame, ports ...uint16) *judge {
	tb.Helper()
	return judgedWith(tb, pipeline.Options{DecodeAs: ports}, frames)
}

func judgedWith(tb testing.TB, opt pipeline.Options, frames []capture.Frame) *judge {
	tb.Helper()
	j := &judge{}
	j.hear(tb, opt, j, frames)
	return j
}

// hear judges frames. The sink is the judge, or passes on to it.
func (j *judge) hear(tb testing.TB, opt pipeline.Options, sink pipeline.Sink, frames []capture.Frame) {
	tb.Helper()
	j.Engine = conformance.New(conformance.Options{OnBug: func(rule string, why any) { tb.Errorf("%s panics: %v", rule, why) }}, j)
	opt.Brief, opt.Sums = sink == pipeline.Sink(j), true // a sink that passes on needs whole frames
	run := pipeline.New(opt, sink)
	if err := run.Read(tracetest.Source(frames)); err != nil {
		tb.Fatal(err)
	}
	run.Finish()
	if touched := j.Engine.Touched(); len(touched) > 0 {
		tb.Errorf("the halves share %v, and it was written to", touched)
	}
}

func framesOf(tb testing.TB, s *synth.Script) []capture.Frame {
	tb.Helper()
	return framesIn(tb, traceOf(tb, s))
}

func traceOf(tb testing.TB, s *synth.Script) []byte {
	tb.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, s); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func framesIn(tb testing.TB, file []byte) []capture.Frame {
	tb.Helper()
	fs, err := tracetest.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return fs
}

// wantFindings judges frames and fails unless these are the findings: ids with severities,
// sorted.
func wantFindings(t *testing.T, frames []capture.Frame, want []string) {
	t.Helper()
	j := judged(t, frames)
	var got []string
	for i := range j.findings {
		got = append(got, fmt.Sprintf("%s %v", j.findings[i].Rule.ID, j.findings[i].Severity))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v\n\t%s", got, want, text(j.findings))
	}
}

func text(fs []conformance.Finding) string {
	var s []string
	for i := range fs {
		f := &fs[i]
		s = append(s, fmt.Sprintf("%s %v frame %d pdu %d: %s: %s, expected %s", f.Rule.ID, f.Severity, f.Frame, f.PDU, f.Message, f.Observed, f.Expected))
	}
	return strings.Join(s, "\n\t")
}

// also lists what the traces of a scenario show besides its own rule: rules that are
// violated together with it, and facts about the clean trace that the text of an RFC
// supports. Each was examined.
type also struct {
	Clean  []string `json:"clean,omitempty"`
	Faulty []string `json:"faulty,omitempty"`
}

const alsoFile = "testdata/also.json"

var update = flag.Bool("update", false, "write the lists in testdata")

// ids are the rules of findings, each once, sorted.
func ids(fs []conformance.Finding, without string) (out []string) {
	for i := range fs {
		if id := fs[i].Rule.ID; id != without {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// optionsOf are the options that a built-in scenario is read with.
func optionsOf(name string) pipeline.Options {
	if testOf(name).Draft01 {
		return pipeline.Options{Layout: mpa.LayoutDraft01, Forced: true}
	}
	if name == "MPA-START-08B" {
		return pipeline.Options{DecodeAs: []uint16{5001}} // it judges what is known to be MPA
	}
	return pipeline.Options{}
}

// TestRules: the trace that breaks a rule is found to, once; the same trace
// without the fault is not; and nothing else is found but what is listed.
func TestRules(t *testing.T) {
	known := map[string]also{}
	if b, err := os.ReadFile(alsoFile); err == nil {
		if err := json.Unmarshal(b, &known); err != nil {
			t.Fatal(err)
		}
	}
	now := map[string]also{}
	checked := conformance.Checked()
	tested := 0
	for _, s := range scenario.Builtin() {
		clean := judgedWith(t, optionsOf(s.Name), framesOf(t, s.Script(true)))
		seen := also{Clean: ids(clean.findings, "")}
		if slices.Contains(seen.Clean, s.Name) {
			t.Errorf("%s: the clean trace breaks it:\n\t%s", s.Name, text(clean.findings))
		}
		if j := judged(t, framesOf(t, s.Script(true))); testOf(s.Name).Draft01 && len(j.findings) > 0 {
			t.Errorf("%s: the clean trace breaks rules unless the layout is forced:\n\t%s", s.Name, text(j.findings))
		}
		if s.HasFaults() {
			j := judgedWith(t, optionsOf(s.Name), framesOf(t, s.Script(false)))
			seen.Faulty = ids(j.findings, s.Name)
			count := [2]int{}
			for i := range j.findings {
				if f := &j.findings[i]; f.Rule.ID == s.Name {
					count[f.Dir]++
				}
			}
			n := count[0] + count[1]
			if testOf(s.Name).EachDirection {
				n = max(count[0], count[1])
			}
			switch {
			case !slices.Contains(checked, s.Name):
			case n != 1:
				t.Errorf("%s is found %d times:\n\t%s", s.Name, n, text(j.findings))
			default:
				tested++
			}
			compare(t, s.Name+", faulty", known[s.Name].Faulty, seen.Faulty, j.findings)
		}
		compare(t, s.Name+", clean", known[s.Name].Clean, seen.Clean, clean.findings)
		if len(seen.Clean)+len(seen.Faulty) > 0 {
			now[s.Name] = seen
		}
	}
	if tested != len(checked) {
		t.Errorf("there are %d rules, and %d are shown by a trace", len(checked), tested)
	}
	if *update {
		write(t, alsoFile, now)
	}
}

func compare(t *testing.T, what string, want, got []string, fs []conformance.Finding) {
	t.Helper()
	if !*update && !slices.Equal(want, got) {
		t.Errorf("%s: besides its own, %v; %s lists %v, go test ./conformance -update writes it\n\t%s", what, got, alsoFile, want, text(fs))
	}
}

// TestCatalogue: there is an entry for each check, of the kind that has one.
func TestCatalogue(t *testing.T) {
	book := conformance.Catalogue()
	seen := map[string]bool{}
	for _, id := range conformance.Checked() {
		e, ok := book.Find(id)
		if !ok || e.Kind != conformance.KindCheck {
			t.Errorf("%s is no entry that can be checked", id)
		}
		if seen[id] {
			t.Errorf("%s has two checks", id)
		}
		seen[id] = true
	}
	for _, e := range book.Entries {
		for _, id := range slices.Concat(conformance.YieldsTo(e.ID), e.ReportedAs) {
			if _, ok := book.Find(id); !ok {
				t.Errorf("%s speaks of %s, which is not there", e.ID, id)
			}
		}
		if e.Statement == "" || e.Kind == conformance.KindCheck && e.Check == "" {
			t.Errorf("%s is not complete", e.ID)
		}
	}
}

// capturesFile lists what is found on the real captures: for each file and rule
// how often. Each was looked at.
const capturesFile = "testdata/captures.json"

// TestCaptures: what is found on the real captures is what is written down,
// nothing more and nothing less.
func TestCaptures(t *testing.T) {
	files, err := filepath.Glob("../testdata/pcaps/*.pcap*")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	if dir := os.Getenv("IWDISSECT_CAPTURES"); dir != "" {
		for _, d := range []string{dir, filepath.Join(dir, "../public")} {
			more, err := filepath.Glob(filepath.Join(d, "*.pcap*"))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, more...)
		}
	}
	known := map[string]map[string]int{}
	if b, err := os.ReadFile(capturesFile); err == nil {
		if err := json.Unmarshal(b, &known); err != nil {
			t.Fatal(err)
		}
	}
	now := map[string]map[string]int{}
	seen := map[string]bool{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		j := judged(t, framesIn(t, b))
		seen[filepath.Base(f)] = true
		name, found := filepath.Base(f), map[string]int{}
		for i := range j.findings {
			found[j.findings[i].Rule.ID+" "+j.findings[i].Severity.String()]++
		}
		if len(found) > 0 {
			now[name] = found
		}
		if !*update && !maps.Equal(known[name], found) {
			t.Errorf("%s: %v; %s lists %v, go test ./conformance -update writes it\n\t%.4000s", name, found, capturesFile, known[name], text(j.findings))
		}
	}
	for name := range known {
		if os.Getenv("IWDISSECT_CAPTURES") != "" && !seen[name] {
			t.Errorf("%s is listed, and not there", name)
		}
	}
	if *update {
		for name, found := range known {
			if !seen[name] { // of a folder that is not there now
				now[name] = found
			}
		}
		write(t, capturesFile, now)
	}
}

func write(t *testing.T, file string, what any) {
	t.Helper()
	b, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(b, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}
