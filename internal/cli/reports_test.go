package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/joshdk/go-junit"

	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/schematest"
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
		valid(t, b)
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
	eachRun(t, func(t *testing.T, name string, r *reports, findings, open int) {
		t.Helper()
		if err := schematest.As("sarif", r.sarif); err != nil {
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
	if err := schematest.As("sarif", []byte(`{"version":"2.1.0","runs":[],"more":1}`)); err == nil {
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
		want := open
		if name == "broken" { // and the inputs that could not be read to their end
			want += 2
		}
		if len(lines) != want {
			t.Errorf("%s: %d lines, want %d", name, len(lines), want)
		}
		unread := map[string]bool{}
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
			if got["title"] == "capture" {
				unread[got["file"]] = true
				continue
			}
			if !ok || !ok2 || command != "error" && command != "warning" || len(got) != 2 || got["file"] != file || got["title"] == "" || text == "" {
				t.Errorf("%s: %q", name, l)
			}
		}
		if len(lines) == want && (want > open) != (unread["broken.pcap"] && unread["missing.pcap"]) {
			t.Errorf("%s: unread are %v", name, unread)
		}
	})
}

// TestReports_SARIFPlaces: each result has its frame as a line, and the octets of the frame in the
// file, if the file has such a place.
func TestReports_SARIFPlaces(t *testing.T) {
	frames := pcap(t, "term-wbadkey.pcap")
	t.Chdir(t.TempDir())
	write := func(name string, opt pcapng.WriterOptions, cut int) {
		var b bytes.Buffer
		w, err := pcapng.NewWriter(&b, opt)
		for i := range frames {
			f := &frames[i]
			if err == nil {
				err = w.WritePacket(&pcapng.Record{Data: f.Data, Time: f.Time, OrigLen: f.OrigLen, Link: f.Link})
			}
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		text := b.Bytes()[:b.Len()-cut]
		if strings.HasSuffix(name, ".gz") {
			var z bytes.Buffer
			g := gzip.NewWriter(&z)
			_, _ = g.Write(text)
			_ = g.Close()
			text = z.Bytes()
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.pcap", pcapng.WriterOptions{Link: pcapng.Ethernet}, 0)
	write("a.pcapng", pcapng.WriterOptions{Format: pcapng.PCAPNG, Link: pcapng.Ethernet}, 0)
	write("cut.pcapng", pcapng.WriterOptions{Format: pcapng.PCAPNG, Link: pcapng.Ethernet}, 7)
	write("a.pcap.gz", pcapng.WriterOptions{Link: pcapng.Ethernet}, 0)
	for name, placed := range map[string]bool{"a.pcap": true, "a.pcapng": true, "cut.pcapng": true, "a.pcap.gz": false} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var log struct {
			Runs []struct {
				Results []struct {
					Properties struct{ Frame uint64 }
					Locations  []struct {
						PhysicalLocation struct {
							Region struct {
								StartLine              uint64
								ByteOffset, ByteLength *int
							}
						}
					}
				}
			}
		}
		if err := json.Unmarshal(checked(t, name).sarif, &log); err != nil || len(log.Runs[0].Results) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		for _, r := range log.Runs[0].Results {
			g := r.Locations[0].PhysicalLocation.Region
			if g.StartLine != r.Properties.Frame {
				t.Errorf("%s: line %d of frame %d", name, g.StartLine, r.Properties.Frame)
			}
			switch {
			case !placed && (g.ByteOffset != nil || g.ByteLength != nil):
				t.Errorf("%s: a place %d in a compressed file", name, *g.ByteOffset)
			case placed && (g.ByteOffset == nil || g.ByteLength == nil):
				t.Errorf("%s: frame %d has no place", name, r.Properties.Frame)
			case placed:
				if got, want := file[*g.ByteOffset:*g.ByteOffset+*g.ByteLength], frames[r.Properties.Frame-1].Data; !bytes.Equal(got, want) {
					t.Errorf("%s: frame %d is not at %d", name, r.Properties.Frame, *g.ByteOffset)
				}
			}
		}
	}
}

// TestReports_JUnitMessage: a list of failed tests shows their messages alone, so they say what is
// wrong where; the rule stands in the text.
func TestReports_JUnitMessage(t *testing.T) {
	t.Chdir(capturesOf(t))
	suites, err := junit.Ingest(checked(t, oddName).junit)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range suites[0].Tests {
		if c.Name != "RDMAP-TERM-RSVD-01" {
			continue
		}
		want := "connection 0, frame 12: "
		statement := "RFC 5040 4.8: "
		if !strings.HasPrefix(c.Message, want) || !strings.Contains(c.Message, "observed 0x") || strings.Contains(c.Message, statement) || !strings.Contains(c.Error.Error(), statement) {
			t.Errorf("message %q, text %q", c.Message, c.Error)
		}
		return
	}
	t.Error("the rule did not fail")
}

// TestCheck_FullOnce: that standard output takes no more is told once, in each format.
func TestCheck_FullOnce(t *testing.T) {
	for _, format := range []string{"text", "ndjson", "json", "junit", "sarif", "github"} {
		var errs bytes.Buffer
		code := Run(&IOStreams{In: strings.NewReader(""), Out: noRoom{}, Err: &errs},
			[]string{"check", "--config", "none", "--format", format, "../../testdata/pcaps/cmtime-20conn-crc.pcap"})
		if n := strings.Count(errs.String(), syscall.ENOSPC.Error()); code != exitInput || n != 1 {
			t.Errorf("%s: exit code %d, told %d times: %s", format, code, n, &errs)
		}
	}
}

// noRoom takes nothing.
type noRoom struct{}

func (noRoom) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestReports_Incomplete: the records of a capture that was not read to its end say so, and those of one
// that was not read at all.
func TestReports_Incomplete(t *testing.T) {
	whole, err := os.ReadFile("../../testdata/pcaps/rping-rev2-crc.pcap")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("cut.pcap", whole[:len(whole)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	var out, says bytes.Buffer
	if code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &says}, []string{"check", "--format", "ndjson", "cut.pcap", "none.pcap"}); code != exitInput {
		t.Errorf("exit code %d", code)
	}
	valid(t, out.Bytes())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{`,"file":"cut.pcap"}`, `{"record":"incomplete","reason":"none.pcap: no such file or directory","file":"none.pcap"}`} {
		if s := lines[len(lines)-2+i]; !strings.HasPrefix(s, `{"record":"incomplete","reason":"`) || !strings.HasSuffix(s, want) {
			t.Errorf("%s, not %s", s, want)
		}
	}
}
