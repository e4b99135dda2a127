package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// TestEvicted_NoFalseProblems reads captures with room for a few connections only. What that
// takes from a connection is not taken for a fault of the capture or of a side: nothing is told
// that is not told with room for all, but that the beginning of some may be missing.
func TestEvicted_NoFalseProblems(t *testing.T) {
	for _, args := range []string{
		"cmtime-20conn-crc.pcap --max-connections 1", "cmtime-20conn-crc.pcap --max-connections 3",
		"abort-rst-midtransfer.pcap --max-connections 1", "pt-lat-crc.pcap --max-connections 1",
	} {
		fields := strings.Fields("../../testdata/pcaps/" + args)
		whole, got := sayOf(t, fields[0]), sayOf(t, fields...)
		if got.Summary.Early == 0 {
			t.Errorf("%s: there was room for all", args)
		}
		for _, d := range got.Diagnoses {
			same := func(x said) bool { return x.Kind == d.Kind && x.Dir == d.Dir }
			if d.Kind == string(diagnose.LateStart) && strings.Contains(d.Text, "ended early to bound memory") || slices.ContainsFunc(whole.Diagnoses, same) {
				continue
			}
			t.Errorf("%s: %s: %s", args, d.Kind, d.Text)
		}
	}
}

// TestLimits_NotTheCapture: what --max-connections and --reorder-memory leave out is not said to be missing from the
// capture, and the flags are named.
func TestLimits_NotTheCapture(t *testing.T) {
	for _, transport := range []string{"", " --sctp --mix bulk"} {
		file := filepath.Join(t.TempDir(), "lossy.pcap")
		var out, errs bytes.Buffer
		if code := Run(&IOStreams{Out: &out, Err: &errs}, strings.Fields("generate -q --size 1MB --flows 8 --loss 1 --reorder 1 -o "+file+transport)); code != exitOK {
			t.Fatal(errs.String())
		}
		if whole := sayOf(t, file); slices.ContainsFunc(whole.Diagnoses, func(d said) bool { return d.Kind == string(diagnose.Missing) }) {
			t.Fatal("something is missing from the whole capture")
		}
		for _, limit := range []string{"--reorder-memory 1", "--max-connections 5"} {
			named, got := false, sayOf(t, append(strings.Fields(limit), file)...)
			if s := got.Summary; s.Early+s.GapsGivenUp == 0 {
				t.Errorf("%s%s: the summary counts nothing that was given up", limit, transport)
			}
			for _, d := range got.Diagnoses {
				if strings.Contains(d.Text, "not in the capture") || strings.Contains(d.Text, "missing from the capture") {
					t.Errorf("%s%s: %s", limit, transport, d.Text)
				}
				named = named || d.Kind == string(diagnose.Missing) && strings.Contains(d.Advice, strings.Fields(limit)[0])
			}
			if !named {
				t.Errorf("%s%s: no diagnosis names the flag", limit, transport)
			}
		}
	}
}

// TestLimits_Told: commands without tables say on standard error that connections were ended early.
func TestLimits_Told(t *testing.T) {
	for _, command := range []string{"dissect", "follow", "check", "analyze --brief", "report -o " + filepath.Join(t.TempDir(), "page.html"), "annotate -o " + filepath.Join(t.TempDir(), "a.pcapng")} {
		var out, errs bytes.Buffer
		Run(&IOStreams{Out: &out, Err: &errs}, strings.Fields(command+" --max-connections 3 ../../testdata/pcaps/cmtime-20conn-crc.pcap"))
		if n := strings.Count(errs.String(), "connections were ended early"); n != 1 {
			t.Errorf("%s: %q", command, errs.String())
		}
	}
}

type (
	said    struct{ Kind, Dir, Text, Advice string }
	sayings struct {
		Summary struct {
			Early       int `json:"connections_ended_early"`
			GapsGivenUp int `json:"gaps_given_up"`
		}
		Diagnoses []said
	}
)

// sayOf is what analyze says of a capture.
func sayOf(t *testing.T, args ...string) sayings {
	t.Helper()
	var out, errs bytes.Buffer
	Run(&IOStreams{Out: &out, Err: &errs}, append([]string{"analyze", "--format", "json"}, args...))
	var doc struct{ Captures []sayings }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Captures) != 1 {
		t.Fatal(err, errs.String())
	}
	return doc.Captures[0]
}

// TestCheck_JUnitLacks: a case that was skipped says that connections were ended early.
func TestCheck_JUnitLacks(t *testing.T) {
	var out, errs bytes.Buffer
	Run(&IOStreams{Out: &out, Err: &errs}, strings.Fields("check --format junit --max-connections 3 ../../testdata/pcaps/cmtime-20conn-crc.pcap"))
	if !strings.Contains(out.String(), `name="memory">`) || !strings.Contains(out.String(), "connections were ended early") {
		t.Errorf("%.2000s", out.String())
	}
}

// TestCheck_VerdictLineLacks: the last line of check tells what the verdicts do not cover.
func TestCheck_VerdictLineLacks(t *testing.T) {
	const whole = "../../testdata/pcaps/cmtime-20conn-crc.pcap"
	octets, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	cut, other := filepath.Join(t.TempDir(), "cut.pcap"), filepath.Join(t.TempDir(), "other.pcap")
	for _, name := range []string{cut, other} {
		if err := os.WriteFile(name, octets[:len(octets)-1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		whole:                          "iWARP connections of 1 capture; rules:",
		whole + " not-there.pcap":      "of 1 capture; 1 could not be read; rules:",
		whole + " " + cut:              "of 2 captures (1 not read in full); rules:",
		cut + " " + other:              "of 2 captures (2 not read in full); rules:",
		whole + " --max-connections 3": "ended early to bound memory; rules:",
	} {
		var out, errs bytes.Buffer
		Run(&IOStreams{Out: &out, Err: &errs}, append([]string{"check"}, strings.Fields(args)...))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; !strings.Contains(last, want) {
			t.Errorf("check %s: %s", args, last)
		}
	}
}
