package tracerun

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// Captures calls use with the frames of each capture of the project that was not made from a
// scenario. root is the way to the root of the project.
func Captures(t testing.TB, root string, use func(name string, fs []capture.Frame)) {
	t.Helper()
	for _, f := range tracetest.Captures(t, root) {
		if filepath.Base(filepath.Dir(f)) != "generated" {
			useFile(t, f, use)
		}
	}
}

// Outside calls use, in the campaign, with the frames of the captures that IWDISSECT_CAPTURES
// names, and of those in the folder public beside them.
func Outside(t testing.TB, use func(name string, fs []capture.Frame)) {
	t.Helper()
	dir := os.Getenv("IWDISSECT_CAPTURES")
	if dir == "" || !tracetest.Campaign() {
		return
	}
	for _, d := range []string{dir, filepath.Join(dir, "../public")} {
		files, err := filepath.Glob(filepath.Join(d, "*.pcap*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			useFile(t, f, use)
		}
	}
}

func useFile(t testing.TB, file string, use func(name string, fs []capture.Frame)) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	use(filepath.Base(file), framesIn(t, b))
}

// LegalScenarios calls use with the legal trace of each scenario in the campaign, and with
// those of one in so many otherwise.
func LegalScenarios(t testing.TB, one int, use func(name string, fs []capture.Frame)) {
	t.Helper()
	for _, s := range tracetest.Some(scenario.Builtin(), one) {
		var b bytes.Buffer
		if _, err := synth.Run(&b, s.Script(true)); err != nil {
			t.Fatal(err)
		}
		use(s.Name, framesIn(t, b.Bytes()))
	}
}

func framesIn(t testing.TB, file []byte) []capture.Frame {
	t.Helper()
	fs, err := tracetest.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fs
}
