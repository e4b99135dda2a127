package tracetest

import (
	"os"
	"os/exec"
	"testing"
)

// Tshark is the path of tshark. A plain go test, which a stranger runs, does not compare with programs
// of others: the test is skipped but in a campaign or if IWDISSECT_TSHARK is set. Then, without tshark, it
// is skipped, or fails if IWDISSECT_TSHARK=required, as the step campaign of .ci/run has it.
func Tshark(t testing.TB) string {
	t.Helper()
	return compared(t, "tshark", "IWDISSECT_TSHARK")
}

// Tcpdump is the path of tcpdump, with IWDISSECT_TCPDUMP as in [Tshark].
func Tcpdump(t testing.TB) string {
	t.Helper()
	return compared(t, "tcpdump", "IWDISSECT_TCPDUMP")
}

// Tmux is the path of a terminal that can be looked at, with IWDISSECT_TMUX as in [Tshark].
func Tmux(t testing.TB) string {
	t.Helper()
	return compared(t, "tmux", "IWDISSECT_TMUX")
}

// Chromium is the path of a browser that can be driven, with IWDISSECT_CHROMIUM as in [Tshark].
func Chromium(t testing.TB) string {
	t.Helper()
	const variable = "IWDISSECT_CHROMIUM"
	onRequest(t, "chromium", variable)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return Program(t, "chromium", variable)
}

// compared is the path of a program that a plain go test leaves alone.
func compared(t testing.TB, name, variable string) string {
	t.Helper()
	onRequest(t, name, variable)
	return Program(t, name, variable)
}

// Asked reports whether a run is asked for what a plain go test leaves alone: it is a campaign, or has the
// variable of the environment set.
func Asked(variable string) bool { return Campaign() || os.Getenv(variable) != "" }

func onRequest(t testing.TB, name, variable string) {
	t.Helper()
	if !Asked(variable) {
		t.Skipf("%s is used in a campaign, or with %s=required", name, variable)
	}
}

// Program is the path of a program. Without it the test is skipped; it fails if the variable of
// the environment says required.
func Program(t testing.TB, name, variable string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv(variable) == required:
		t.Fatalf("%s is not installed, and %s says required", name, variable)
	default:
		t.Skipf("%s is not installed", name)
	}
	return path
}

const required = "required"

// AllCaptures reports whether a comparison with tshark looks at all captures, and not at a few
// of them: in a campaign, or if tshark is required.
func AllCaptures() bool { return Campaign() || os.Getenv("IWDISSECT_TSHARK") == required }

// EveryNth is how far apart the captures are that a further comparison with tshark looks at, beside the
// one of every PDU: each starts tshark for each capture, which takes a quarter of a second.
func EveryNth(plain int) int {
	if AllCaptures() {
		return Count(5, 5, 1)
	}
	return plain
}
