package program

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/cli"
)

// TestPicture: the program prints what the picture in the README shows, which
// internal/termsvg draws from testdata/check.ansi. With -update it writes that file.
func TestPicture(t *testing.T) {
	const golden = "internal/program/testdata/check.ansi"
	t.Chdir("../..")
	var out, problems bytes.Buffer
	args := []string{"check", "--color", "always", "testdata/pcaps/term-wbadkey.pcap"}
	if code := cli.Run(&cli.IOStreams{In: strings.NewReader(""), Out: &out, Err: &problems}, args); code != 1 {
		t.Fatalf("exit code %d: %s", code, &problems)
	}
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Errorf("the program prints something else (-picture +printed); go test ./internal/program -update and go generate ./internal/termsvg:\n%s", d)
	}
}
