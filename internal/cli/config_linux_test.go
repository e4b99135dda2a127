package cli

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestConfig_NotRegular: a configuration that was found, and its baseline, neither block nor are
// passed over.
func TestConfig_NotRegular(t *testing.T) {
	fifo := func(name string) func() error {
		return func() error { return syscall.Mkfifo(name, 0o600) }
	}
	link := func(name string) func() error {
		return func() error { return os.Symlink("nowhere", name) }
	}
	for name, tt := range map[string]struct {
		make func() error
		yaml string
		says string
	}{
		"pipe":             {fifo(configFile), "", configFile + " is not a regular file"},
		"link to nothing":  {link(configFile), "", configFile + " is a link to a file that does not exist"},
		"baseline, pipe":   {fifo("known.json"), "baseline: known.json\n", "known.json is not a regular file"},
		"baseline, a link": {link("known.json"), "baseline: known.json\n", "known.json is a link to a file that does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := tt.make(); err != nil {
				t.Fatal(err)
			}
			if tt.yaml != "" {
				if err := os.WriteFile(configFile, []byte(tt.yaml), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out, err bytes.Buffer
			if code := Run(&IOStreams{In: strings.NewReader(""), Out: &out, Err: &err}, []string{"check", "-"}); code != exitUsage || !strings.Contains(err.String(), tt.says) {
				t.Errorf("exit code %d: %s", code, err.String())
			}
		})
	}
}
