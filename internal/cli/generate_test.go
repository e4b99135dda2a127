package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestGenerate_InterruptRemovesFile holds that Ctrl-C leaves no half trace, and
// that this is told.
func TestGenerate_InterruptRemovesFile(t *testing.T) {
	var stderr bytes.Buffer
	o := &generateOptions{s: &IOStreams{Err: &stderr}}
	out := filepath.Join(t.TempDir(), "t.pcap")
	interrupt := make(chan os.Signal, 1)
	interrupt <- os.Interrupt
	err := o.one(traceOf{name: "load"}, scenario.Load(scenario.Shape{Size: 1 << 20, Flows: 2, Seed: 1}), out, &untilInterrupt{interrupt: interrupt})
	if !errors.Is(err, errInterrupted) || exitCode(err) != exitInput || !strings.HasSuffix(err.Error(), out+" is not written: interrupted") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
}

// failing fails after some octets.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestGenerate_OutputFails(t *testing.T) {
	var stderr bytes.Buffer
	s := &IOStreams{Out: &failing{left: 100_000}, Err: &stderr}
	if code := Run(s, []string{"generate", "--size", "1MiB", "-o", "-"}); code != exitInput {
		t.Errorf("exit code %d", code)
	}
	if got := stderr.String(); got != "iwdissect generate: -: full\n" {
		t.Errorf("told: %q", got)
	}
}
