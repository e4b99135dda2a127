package program

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/cli"
)

// TestREADME runs what the README and the tour show: in each block of kind console
// the lines that start with a dollar, and compares with what follows. With -update
// it writes that.
func TestREADME(t *testing.T) {
	t.Chdir("../..")
	for name, least := range map[string]int{"README.md": 2, "docs/tour.md": 10, "docs/diagnosis.md": 30, "docs/statistics.md": 15, "docs/upper-layers.md": 7, "docs/follow.md": 5, "docs/filters.md": 4} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out, shown := shows(t, string(text))
		if shown < least {
			t.Errorf("%s: only %d commands found", name, shown)
		}
		if *update {
			if err := os.WriteFile(name, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(string(text), out); d != "" {
			t.Errorf("%s shows something else (-shown +printed); go test ./internal/program -update writes it:\n%s", name, d)
		}
	}
}

// shows returns a document with what its commands print, and how many there are.
func shows(t *testing.T, text string) (string, int) {
	t.Helper()
	const begin, end = "```console\n", "```\n"
	var out strings.Builder
	shown := 0
	trace := filepath.Join(t.TempDir(), traceFile)
	for {
		before, after, ok := strings.Cut(text, begin)
		out.WriteString(before)
		if !ok {
			return out.String(), shown
		}
		block, next, ok := strings.Cut(after, end)
		if !ok {
			t.Fatal("a block does not end")
		}
		text = next
		line, _, _ := strings.Cut(block, "\n")
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			t.Fatalf("a block starts with %q and not with a command", line)
		}
		out.WriteString(begin + line + "\n")
		if !strings.HasPrefix(command, "go test") {
			out.WriteString(show(t, command, trace))
			shown++
		}
		out.WriteString(end)
	}
}

// traceFile is what the documents write to. The test has it somewhere else.
const traceFile = "trace.pcapng"

// show runs a command of the program, which may have head or tail behind it,
// and returns what it prints. One that is wrong has 2>&1 behind it.
func show(t *testing.T, command, trace string) string {
	t.Helper()
	command = strings.ReplaceAll(command, traceFile, trace)
	command, wrong := strings.CutSuffix(command, " 2>&1")
	command, filter, _ := strings.Cut(command, " | ")
	args := shellWords(command)
	switch {
	case args[0] == "iwdissect":
		args = args[1:]
	case strings.HasPrefix(command, "go run ./cmd/iwdissect "):
		args = args[3:]
	default:
		t.Fatalf("%q does not run the program", command)
	}
	var stdout, stderr bytes.Buffer
	if code := cli.Run(&cli.IOStreams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, args); code != 0 && (code != 1 || args[0] != "check") && (code != 2 || !wrong) {
		t.Fatalf("%s: exit code %d: %s", command, code, &stderr)
	}
	if wrong {
		stdout.Write(stderr.Bytes())
	}
	lines := strings.SplitAfter(stdout.String(), "\n")
	lines = lines[:len(lines)-1]
	if filter != "" {
		which, number, _ := strings.Cut(filter, " -n ")
		n, err := strconv.Atoi(number)
		if err != nil || n > len(lines) {
			t.Fatalf("%s: %d lines, and %q behind it", command, len(lines), filter)
		}
		switch which {
		case "head":
			lines = lines[:n]
		case "tail":
			lines = lines[len(lines)-n:]
		default:
			t.Fatalf("%q is neither head nor tail", filter)
		}
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \n") + "\n"
	}
	return strings.ReplaceAll(strings.Join(lines, ""), trace, traceFile)
}
