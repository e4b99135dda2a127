package main

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

// TestREADME runs what the README shows: in each block of kind console the
// lines that start with a dollar, and compares with what follows. With -update
// it writes that.
func TestREADME(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "```console\n", "```\n"
	var out strings.Builder
	shown := 0
	trace := filepath.Join(t.TempDir(), traceFile)
	rest := string(text)
	for {
		before, after, ok := strings.Cut(rest, begin)
		out.WriteString(before)
		if !ok {
			break
		}
		block, next, ok := strings.Cut(after, end)
		if !ok {
			t.Fatal("a block does not end")
		}
		rest = next
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
	if shown < 5 {
		t.Errorf("only %d commands found", shown)
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(text), out.String()); d != "" {
		t.Errorf("the README shows something else (-shown +printed); go test ./cmd/iwdissect -update writes it:\n%s", d)
	}
}

// traceFile is what the README writes to. The test has it somewhere else.
const traceFile = "trace.pcapng"

// show runs a command of the program, which may have head or tail behind it,
// and returns what it prints.
func show(t *testing.T, command, trace string) string {
	t.Helper()
	command = strings.ReplaceAll(command, traceFile, trace)
	command, filter, _ := strings.Cut(command, " | ")
	args := strings.Fields(command)
	switch {
	case args[0] == "iwdissect":
		args = args[1:]
	case strings.HasPrefix(command, "go run ./cmd/iwdissect "):
		args = args[3:]
	default:
		t.Fatalf("%q does not run the program", command)
	}
	var stdout, stderr bytes.Buffer
	if code := cli.Run(&cli.IOStreams{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, args); code != 0 && (code != 1 || args[0] != "check") {
		t.Fatalf("%s: exit code %d: %s", command, code, &stderr)
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
	return strings.Join(lines, "")
}
