package cli

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestProbe_SiwSkipped: the script that tests siw says why it does nothing where it cannot.
func TestProbe_SiwSkipped(t *testing.T) {
	if _, err := os.Stat("/sys/module/siw"); err == nil || runtime.GOOS == "windows" || exec.CommandContext(t.Context(), "modprobe", "-n", "-q", "siw").Run() == nil {
		t.Skip("this kernel has siw, or there is no shell")
	}
	out, err := exec.CommandContext(t.Context(), "sh", "../../examples/siw/probe-siw.sh").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 77 || !strings.Contains(string(out), "probe-siw: skipped: ") || !strings.Contains(string(out), "siw") {
		t.Errorf("%v: %s", err, out)
	}
}
