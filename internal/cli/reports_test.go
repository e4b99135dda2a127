package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// oddName is the name of a capture with all that the formats have to escape, as
// far as a file may be called so.
var oddName = func() string {
	if runtime.GOOS == "windows" {
		return "100%, a&b' ü.pcap"
	}
	return "100%, a:b\n\"<&>' ü.pcap"
}()

// reports are what check writes of some captures in all formats.
type reports struct {
	sarif, junit, github, ndjson []byte
	code                         int
}

// capturesOf are captures with findings, without, and one that breaks off.
func capturesOf(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for to, from := range map[string]string{oddName: "term-wbadkey.pcap", "clean.pcap": "lo-rping-crc.pcap", "broken.pcap": "term-wbadkey.pcap"} {
		b, err := os.ReadFile(filepath.Join("../../testdata/pcaps", from))
		if err != nil {
			t.Fatal(err)
		}
		if to == "broken.pcap" {
			b = b[:len(b)-100]
		}
		if err := os.WriteFile(filepath.Join(folder, to), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// checked runs check over captures of the working directory.
func checked(t *testing.T, args ...string) *reports {
	t.Helper()
	out := t.TempDir()
	r := new(reports)
	all := map[string]*[]byte{"sarif": &r.sarif, "junit": &r.junit, "github": &r.github, "ndjson": &r.ndjson}
	args = append([]string{"check"}, args...)
	for format := range all {
		args = append(args, "--output", format+"="+filepath.Join(out, format))
	}
	var stderr bytes.Buffer
	r.code = Run(&IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &stderr}, args)
	for format, to := range all {
		b, err := os.ReadFile(filepath.Join(out, format))
		if err != nil {
			t.Fatalf("%v: %s", err, &stderr)
		}
		*to = b
	}
	return r
}

// runs of check, with how many findings each has, and how many of them are open.
var reportRuns = []struct {
	name           string
	args           []string
	code           int
	findings, open int
}{
	{"findings", []string{oddName, "clean.pcap"}, 1, 3, 3},
	{"none", []string{"clean.pcap"}, 0, 0, 0},
	{"known", []string{"--baseline", "known.json", oddName, "clean.pcap"}, 0, 3, 0},
	{"suppressed", []string{"--config", "suppress.yaml", oddName}, 0, 3, 2},
	{"suppressed and new", []string{"--config", "suppress.yaml", "--baseline", "empty.json", "--fail-on", "warning", oddName}, 1, 3, 2},
	{"broken", []string{"broken.pcap", "missing.pcap", "clean.pcap"}, 3, 3, 3},
}

// eachRun runs them all.
func eachRun(t *testing.T, look func(t *testing.T, name string, r *reports, findings, open int)) {
	t.Helper()
	t.Chdir(capturesOf(t))
	if code := Run(&IOStreams{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, []string{"check", "--write-baseline", "known.json", oddName}); code != 0 {
		t.Fatalf("the baseline is not written: %d", code)
	}
	for name, text := range map[string]string{
		"suppress.yaml": "suppress: {rule: RDMAP-TERM-RSVD-01, reason: \"a \\\"test\\\" <&>\"}\n",
		"empty.json":    fmt.Sprintf("{\"schema\": %q, \"findings\": []}\n", baselineSchema),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range reportRuns {
		r := checked(t, c.args...)
		if r.code != c.code {
			t.Errorf("%s: exit code %d, want %d", c.name, r.code, c.code)
		}
		look(t, c.name, r, c.findings, c.open)
	}
}

// TestReports_SARIF holds each log against the schema that OASIS has published.
func TestReports_SARIF(t *testing.T) {
	file, err := filepath.Abs("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	read := func(b []byte) any {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	eachRun(t, func(t *testing.T, name string, r *reports, findings, open int) {
		t.Helper()
		if err := schema.Validate(read(r.sarif)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var log struct {
			Runs []struct {
				Invocations []struct {
					ExecutionSuccessful bool
				}
				Tool struct {
					Driver struct{ Rules []struct{ ID string } }
				}
				Results []struct {
					RuleID              string
					RuleIndex           int
					BaselineState       string
					Suppressions        []struct{ Justification string }
					PartialFingerprints map[string]string
				}
			}
		}
		if err := json.Unmarshal(r.sarif, &log); err != nil || len(log.Runs) != 1 {
			t.Fatalf("%s: %d runs, %v", name, len(log.Runs), err)
		}
		run := log.Runs[0]
		if run.Invocations[0].ExecutionSuccessful == (r.code == 3) {
			t.Errorf("%s: executionSuccessful %v with exit code %d", name, run.Invocations[0].ExecutionSuccessful, r.code)
		}
		isOpen := 0
		seen := map[string]bool{}
		for _, v := range run.Results {
			if v.BaselineState != "unchanged" && len(v.Suppressions) == 0 {
				isOpen++
			}
			if id := run.Tool.Driver.Rules[v.RuleIndex].ID; id != v.RuleID {
				t.Errorf("%s: the index of %s is that of %s", name, v.RuleID, id)
			}
			if p := v.PartialFingerprints["iwdissect/v1"]; !strings.HasPrefix(p, v.RuleID+" tcp ") || seen[p] {
				t.Errorf("%s: fingerprint %q", name, p)
			} else {
				seen[p] = true
			}
		}
		if len(run.Results) != findings || isOpen != open {
			t.Errorf("%s: %d results, %d open; want %d, %d", name, len(run.Results), isOpen, findings, open)
		}
	})
	// A log with something else in it is not valid: the schema is asked.
	if err := schema.Validate(read([]byte(`{"version":"2.1.0","runs":[],"more":1}`))); err == nil {
		t.Error("the schema takes anything")
	}
}

// TestReports_JUnit reads each report with a reader that many use, and compares
// its counts with the records.
func TestReports_JUnit(t *testing.T) {
	eachRun(t, func(t *testing.T, name string, r *reports, _, _ int) {
		t.Helper()
		suites, err := junit.Ingest(r.junit)
		if err != nil {
			t.Fatal(err)
		}
		var got, want junit.Totals
		var names []string
		for _, s := range suites {
			s.Aggregate()
			got.Tests += s.Totals.Tests
			got.Passed += s.Totals.Passed
			got.Skipped += s.Totals.Skipped
			got.Failed += s.Totals.Failed
			got.Error += s.Totals.Error
			names = append(names, s.Name)
		}
		want, files := totalsOf(t, r.ndjson, name)
		for _, f := range []string{"broken.pcap", "missing.pcap"} {
			if strings.HasPrefix(name, "broken") {
				want.Error++
				want.Tests++
				files = append(files, f)
			}
		}
		slices.Sort(files)
		files = slices.Compact(files)
		slices.Sort(names)
		if got != want || !slices.Equal(names, files) {
			t.Errorf("%s: %+v of %q, want %+v of %q", name, got, names, want, files)
		}
	})
}

// totalsOf counts what JUnit has to show: of each capture each rule with its worst
// verdict, failed only by an open finding at the level.
func totalsOf(t *testing.T, ndjson []byte, run string) (n junit.Totals, files []string) {
	t.Helper()
	type rule struct{ file, id string }
	worst, fails := map[rule]string{}, map[rule]bool{}
	rank := []string{"", "pass", "not-judged", "fail"}
	for _, l := range bytes.Split(bytes.TrimSpace(ndjson), []byte("\n")) {
		var v struct {
			Record, File, Rule, Verdict, Level, Suppressed string
			Known                                          bool
		}
		if err := json.Unmarshal(l, &v); err != nil {
			t.Fatal(err)
		}
		k := rule{v.File, v.Rule}
		switch {
		case v.Record == "verdict" && slices.Index(rank, v.Verdict) > slices.Index(rank, worst[k]):
			worst[k] = v.Verdict
		case v.Record == "finding" && !v.Known && v.Suppressed == "" && (v.Level == "error" || v.Level == "warning" && strings.HasSuffix(run, "new")):
			fails[k] = true
		}
	}
	for k, v := range worst {
		n.Tests++
		switch {
		case v == "not-judged":
			n.Skipped++
		case fails[k]:
			n.Failed++
		default:
			n.Passed++
		}
		files = append(files, k.file)
	}
	return n, files
}

// TestReports_GitHub reads the workflow commands as the runner does.
func TestReports_GitHub(t *testing.T) {
	eachRun(t, func(t *testing.T, name string, r *reports, _, open int) {
		t.Helper()
		lines := strings.Split(strings.TrimSuffix(string(r.github), "\n"), "\n")
		if open == 0 {
			if len(r.github) != 0 {
				t.Errorf("%s: %q", name, r.github)
			}
			return
		}
		if len(lines) != open {
			t.Errorf("%s: %d lines, want %d", name, len(lines), open)
		}
		for _, l := range lines {
			rest, ok := strings.CutPrefix(l, "::")
			head, text, ok2 := strings.Cut(rest, "::")
			command, properties, _ := strings.Cut(head, " ")
			got := map[string]string{}
			for _, p := range strings.Split(properties, ",") {
				key, value, _ := strings.Cut(p, "=")
				got[key] = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(value)
			}
			file := oddName
			if name == "broken" {
				file = "broken.pcap"
			}
			if !ok || !ok2 || command != "error" && command != "warning" || len(got) != 2 || got["file"] != file || got["title"] == "" || text == "" {
				t.Errorf("%s: %q", name, l)
			}
		}
	})
}
