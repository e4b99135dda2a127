package diagnose_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/trace"
)

// delays are the kinds of diagnoses that these tests are about.
var delays = []diagnose.Kind{
	diagnose.Stalled, diagnose.Lossy, diagnose.WindowShut, diagnose.Reordered, diagnose.DepthLimited, diagnose.Clocks, diagnose.StartupLate, diagnose.StartupRefused,
}

// generate makes the trace of a scenario.
func generate(t *testing.T, src string, clean bool) []byte {
	t.Helper()
	s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+src))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := synth.Run(&b, s.Script(clean)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// analyse returns the connections of a capture.
func analyse(t *testing.T, octets []byte) []*trace.Connection {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, octets, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := pipeline.New(pipeline.Options{}, nil)
	if err := r.Read(f); err != nil {
		t.Fatal(err)
	}
	return r.Finish().Collect()
}

// says holds what is said of the delays and clocks in traces against what they want.
func says(t *testing.T, traces []struct{ name, src, want string }) {
	t.Helper()
	for _, tt := range traces {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, spoken(t, generate(t, tt.src, false))); d != "" {
				t.Error(d)
			}
		})
	}
}

// spoken are the diagnoses of delays in a capture, each in four lines.
func spoken(t *testing.T, octets []byte) string {
	t.Helper()
	var out []string
	for _, c := range analyse(t, octets) {
		for _, d := range diagnose.Connection(c, nil, nil) {
			if slices.Contains(delays, d.Kind) {
				out = append(out, d.Severity.String()+" "+string(d.Kind)+": "+d.Title, d.Text)
				out = append(out, d.Also...)
				out = append(out, "Try: "+d.Advice, "")
			}
		}
	}
	return strings.Join(out, "\n")
}
