package cli

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestWidth: the flag decides, then the terminal; a file or a pipe is as wide as the
// text needs.
func TestWidth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		s      IOStreams
		flag   int
		want   int
		failed bool
	}{
		{"pipe", IOStreams{Width: 90}, unsetWidth, 0, false},
		{"pipe with a flag", IOStreams{Width: 90}, 70, 70, false},
		{"terminal", IOStreams{OutTTY: true, Width: 90}, unsetWidth, 90, false},
		{"terminal that does not tell", IOStreams{OutTTY: true}, unsetWidth, standardWidth, false},
		{"narrow terminal", IOStreams{OutTTY: true, Width: 7}, unsetWidth, leastWidth, false},
		{"any width", IOStreams{OutTTY: true, Width: 90}, 0, 0, false},
		{"too narrow", IOStreams{OutTTY: true, Width: 90}, 39, 0, true},
		{"negative", IOStreams{OutTTY: true, Width: 90}, -7, 0, true},
		{"least negative", IOStreams{OutTTY: true, Width: 90}, -1, 0, true},
	} {
		got, err := c.s.width(c.flag)
		if got != c.want || (err != nil) != c.failed {
			t.Errorf("%s: %d, %v", c.name, got, err)
		}
	}
}

func TestTerminalWidth(t *testing.T) {
	for v, want := range map[string]int{"132": 132, "40": 40} {
		t.Setenv("COLUMNS", v)
		if got := terminalWidth(); got != want {
			t.Errorf("COLUMNS=%s: %d, want %d", v, got, want)
		}
	}
	t.Setenv("COLUMNS", "")
	unset := terminalWidth()
	for _, v := range []string{"0", "-5", "wide"} {
		t.Setenv("COLUMNS", v)
		if got := terminalWidth(); got != unset {
			t.Errorf("COLUMNS=%s: %d, want %d", v, got, unset)
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestWidth_Captures: what is said of real captures fits the width, each colour ends in
// the line that it begins in, and a pipe gets what a wide terminal does.
func TestWidth_Captures(t *testing.T) {
	tracetest.UnlessRaced(t)
	t.Chdir("../../testdata/pcaps")
	files, err := filepath.Glob("*.pcap")
	if err != nil || len(files) < 20 {
		t.Fatal(len(files), err)
	}
	run := func(s IOStreams, args ...string) string {
		var out, errs bytes.Buffer
		s.Out, s.Err = &out, &errs
		if code := Run(&s, args); code != exitOK && code != exitFindings {
			t.Fatalf("%v: %s", args, &errs)
		}
		return out.String()
	}
	for _, command := range []string{"analyze", "check"} {
		for _, width := range []int{60, 80, 120, 200} {
			args := append([]string{command, "--color", "always"}, files...)
			terminal := run(IOStreams{OutTTY: true, Width: width}, args...)
			for line := range strings.Lines(terminal) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(escapes.ReplaceAllString(line, "")); n > width {
					t.Errorf("%s: %d columns, not %d: %q", command, n, width, line)
				}
				if seq := escapes.FindAllString(line, -1); len(seq)%2 != 0 || len(seq) > 0 && (seq[0] == "\x1b[0m" || seq[len(seq)-1] != "\x1b[0m") {
					t.Errorf("%s: a colour reaches over a line: %q", command, line)
				}
			}
		}
		args := append([]string{command, "--color", "always"}, files...)
		if run(IOStreams{Width: 60}, args...) != run(IOStreams{OutTTY: true, Width: 60}, append(args, "--width", "0")...) {
			t.Errorf("%s: a pipe gets something else than --width 0", command)
		}
	}
}
