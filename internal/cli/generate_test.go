package cli

import (
	"bytes"
	"errors"
	"testing"
)

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
