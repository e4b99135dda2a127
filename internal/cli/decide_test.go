package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/render"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/trace"
)

func TestSuppression_Named(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"a.pcap", "a.pcap", true},
		{"a.pcap", "d/e/a.pcap", true},
		{"*.pcap", "d/a.pcapng", false},
		{"e", "d/e/a.pcap", true},
		{"d/e", "d/e/a.pcap", true},
		{"d/e/", "d/e/a.pcap", true},
		{"./d", "d/e/a.pcap", true},
		{"d/*.pcap", "d/a.pcap", true},
		{"d/*.pcap", "d/e/a.pcap", false},
		{"e/a.pcap", "d/e/a.pcap", false},
		{"../x", "../x/a.pcap", true},
		{"https://example.com/a/*", "https://example.com/a/b.pcap", true},
		{"https://example.com/a", "https://example.com/ab/b.pcap", false},
	} {
		if got := (&suppression{file: c.pattern}).named(c.file); got != c.want {
			t.Errorf("%q of %q: %v", c.pattern, c.file, got)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, c := range []struct {
		pattern, endpoint string
		want              bool
	}{
		{"10.0.0.1", "10.0.0.1:40000", true},
		{" 10.0.0.1:* ", "10.0.0.1:40000", true},
		{"10.0.0.1", "10.0.0.11:40000", false},
		{"10.0.0.1", "110.0.0.1:40000", false},
		{"10.0.0.1", "10x0.0.1:40000", false},
		{"*:7200", "10.0.0.1:7200", true},
		{"*:7200", "10.0.0.1:17200", false},
		{"[fe80::*]", "[fe80::1]:1", true},
	} {
		if p, ok := endpointsLike(c.pattern); !ok || p.of(c.endpoint) != c.want {
			t.Errorf("%q of %q: %v, read %v", c.pattern, c.endpoint, !c.want, ok)
		}
	}
}

// TestConfig_Documented reads the configuration that the documentation shows, which
// has every key.
func TestConfig_Documented(t *testing.T) {
	text, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, ok := strings.Cut(block, "```\n")
	if !ok {
		t.Fatal("there is none")
	}
	c, err := readConfig("c.yaml", []byte(block))
	if err != nil {
		t.Fatal(err)
	}
	s := c.suppress[0]
	if c.failOn == "" || c.format == "" || c.baseline == "" || len(c.enable) == 0 || len(c.disable) == 0 || len(c.outputs) != 2 ||
		s.rule == "" || s.reason == "" || s.file == "" || s.until.IsZero() || s.conn(new(trace.Connection)) {
		t.Errorf("%+v, %+v", c, s)
	}
}

// TestSuppression_Until: the last day is one of those on which it holds.
func TestSuppression_Until(t *testing.T) {
	c, err := readConfig("c.yaml", []byte("suppress: {rule: DDP-STAG-02, reason: a test, until: 2026-03-29}\n"))
	if err != nil {
		t.Fatal(err)
	}
	day := func(d, hour, minute int) time.Time { return time.Date(2026, 3, d, hour, minute, 0, 0, time.Local) }
	for _, v := range []struct {
		now  time.Time
		want bool
	}{{day(28, 0, 0), false}, {day(29, 0, 0), false}, {day(29, 23, 59), false}, {day(30, 0, 0), true}} {
		if got := c.suppress[0].over(v.now); got != v.want {
			t.Errorf("%v: over %v", v.now, got)
		}
	}
}

// TestBaseline_Further: a finding that stands for more of its rule than were known
// is not known.
func TestBaseline_Further(t *testing.T) {
	t.Chdir(capturesOf(t))
	b, err := newBaseline("known.json")
	if err != nil {
		t.Fatal(err)
	}
	fs := make([]render.Finding, 2)
	for i, id := range [...]string{"A", "B"} {
		fs[i].Rule, fs[i].Conn = &conformance.Entry{ID: id}, new(trace.Connection)
	}
	(&render.Checked{Findings: fs}).Fingerprints()
	b.add(&knownFinding{File: "a.pcap", Finding: fs[0].Fingerprint(), Further: 0})
	b.add(&knownFinding{File: "b.pcap", Finding: fs[1].Fingerprint(), Further: 7})
	b.mark([]string{"a.pcap"}, fs)
	if !fs[0].Known || fs[1].Known {
		t.Errorf("known %v, %v: B is one of another capture", fs[0].Known, fs[1].Known)
	}
	b.entries[0].Further = -1
	if b.mark([]string{"a.pcap"}, fs); fs[0].Known {
		t.Error("more than were known are known")
	}
}

// FuzzBaseline: what is read, written and read again is the same; of what is not
// read the line is one of the file.
func FuzzBaseline(f *testing.F) {
	f.Add([]byte(`{"schema":"iwdissect-baseline/1","findings":[{"file":"a","finding":"b","further":3,"message":"<>"},{"file":"a","finding":"c"}]}`))
	f.Add([]byte(`{"findings":[{"file":"a","finding":"b"}` + "\n\n"))
	f.Add([]byte(`[{"schema":`))
	f.Fuzz(func(t *testing.T, src []byte) {
		name := filepath.Join(t.TempDir(), "b.json")
		b, err := newBaseline(name)
		if err != nil {
			t.Fatal(err)
		}
		if line, err := b.decode(src); err != nil {
			if line < 1 || line > 1+bytes.Count(src, []byte("\n")) {
				t.Errorf("line %d: %v", line, err)
			}
			return
		}
		if err := b.write(nil); err != nil {
			t.Fatal(err)
		}
		again, err := new(IOStreams).readBaseline(name)
		if err != nil {
			written, _ := os.ReadFile(name)
			t.Fatalf("%v: %q", err, written)
		}
		if d := cmp.Diff(b.entries, again.entries, cmp.AllowUnexported(knownFinding{})); d != "" {
			t.Error(d)
		}
	})
}

// FuzzConfig: a configuration is read, or its error has a place.
func FuzzConfig(f *testing.F) {
	f.Add("fail-on: note\nenable: [layer=mpa]\ndisable: ADV-*\nbaseline: b.json\nformat: sarif\noutput: {junit: j.xml}\n")
	f.Add("suppress:\n- {rule: DDP-*, reason: r, file: a/*, conn: \"[::1]:* > *\", until: 2027-01-31}\n")
	f.Add("suppress: {rule: [], reason: {}, file: \"[\", conn: , until: 0}\noutput: []\n")
	f.Fuzz(func(t *testing.T, src string) {
		c, err := readConfig("c.yaml", []byte(src))
		if err == nil {
			c.expire(time.Now(), func(error) {})
			return
		}
		var at *strictyaml.Error
		if !errors.As(err, &at) || at.Line < 1 {
			t.Errorf("%q: %v", src, err)
		}
	})
}

// TestWriteBaseline_Unread: a baseline is not replaced by one that lacks a capture of which nothing
// could be read. Of one that is read in part the findings of that part are written.
func TestWriteBaseline_Unread(t *testing.T) {
	capture, err := os.ReadFile(wrongKey)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("a.pcap", capture, 0o600), os.WriteFile("part.pcap", capture[:len(capture)-1], 0o600),
		os.WriteFile("no.pcap", capture[:10], 0o600), os.WriteFile("points.txt", []byte("t gone.pcap\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	check := func(args ...string) (code int, errs string) {
		code, _, errs = command(t, nil, append([]string{"check", "--write-baseline", "known.json"}, args...)...)
		return code, errs
	}
	if _, errs := check("gone.pcap"); !strings.Contains(errs, "known.json is not written: gone.pcap could not be read\n") || there("known.json") {
		t.Error(errs)
	}
	if code, errs := check("a.pcap"); code != exitOK || errs != "" {
		t.Fatal(code, errs)
	}
	want, err := os.ReadFile("known.json")
	if err != nil || bytes.Count(want, []byte("a.pcap")) != 3 {
		t.Fatalf("%s %v", want, err)
	}
	const left = "; the older file is left as it is\n"
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"gone.pcap"}, "gone.pcap could not be read" + left},
		{[]string{"no.pcap"}, "no.pcap could not be read" + left},
		{[]string{"a.pcap", "gone.pcap", "no.pcap"}, "gone.pcap and 1 more could not be read" + left},
		{[]string{"--points", "points.txt"}, "point t could not be read" + left},
		{[]string{"--baseline", "known.json", "gone.pcap", "a.pcap"}, "gone.pcap could not be read" + left},
	} {
		code, errs := check(test.args...)
		got, err := os.ReadFile("known.json")
		if code != exitInput || !strings.Contains(errs, "known.json is not written: "+test.says) || err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: exit code %d: %s%s", test.args, code, errs, got)
		}
	}
	code, errs := check("a.pcap", "part.pcap")
	got, err := os.ReadFile("known.json")
	if code != exitInput || !strings.Contains(errs, "known.json has only what could be read of part.pcap\n") || err != nil ||
		!bytes.Contains(got, []byte("a.pcap")) || !bytes.Contains(got, []byte("part.pcap")) {
		t.Errorf("exit code %d: %s%s", code, errs, got)
	}
}
