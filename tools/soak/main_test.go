package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestMain makes the test the program that it runs.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main())
	}
	os.Exit(m.Run())
}

// TestSoak: some rounds, in a campaign ten seconds of them, in which nothing goes wrong.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it looks at memory, which the race detector takes")
	}
	args := []string{"-rounds", "60", "-seed", "7000", "-keep", t.TempDir()}
	if tracetest.Campaign() {
		args = []string{"-duration", "10s", "-seed", "8000", "-keep", t.TempDir()}
	}
	var out, progress bytes.Buffer
	err := run(&out, &progress, args)
	t.Logf("%s%s", &progress, &out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "no crash, no difference, nothing kept") {
		t.Errorf("it says %s", &out)
	}
}

// TestRun_Usage: what is no flag is refused.
func TestRun_Usage(t *testing.T) {
	for _, args := range [][]string{{"-nothing"}, {"one"}, {"-duration", "x"}} {
		if err := run(&bytes.Buffer{}, &bytes.Buffer{}, args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// TestDiffers: everything that a run gives is compared.
func TestDiffers(t *testing.T) {
	good := func() *ran {
		return &ran{code: 1, out: "one\ntwo\n", said: "said", files: map[string]string{"a": "1", "b": "2"}}
	}
	for want, change := range map[string]func(*ran){
		"":                                   func(*ran) {},
		"exit code 0, and 1":                 func(x *ran) { x.code = 0 },
		"exit code 7":                        func(x *ran) { x.code = 7 },
		"and nothing is said":                func(x *ran) { x.code, x.said = 3, "" },
		`octet 4 of 8 and 8: "one\nTwo\n"`:   func(x *ran) { x.out = "one\nTwo\n" },
		"standard error: octet 4 of 5 and 4": func(x *ran) { x.said += "!" },
		"b: written false, and true":         func(x *ran) { delete(x.files, "b") },
		"c: written true, and false":         func(x *ran) { x.files["c"] = "" },
		"a: octet 0 of 1 and 1: \"2\", and":  func(x *ran) { x.files["a"] = "2" },
		"signal: killed":                     func(x *ran) { x.crashed = "signal: killed" },
		"which is a fault of this program":   func(x *ran) { x.said = "which is a fault of this program" },
		"panic: it cannot be, goroutine 1":   func(x *ran) { x.said = "panic: it cannot be, goroutine 1" },
	} {
		x := good()
		change(x)
		got := x.differs(good())
		if len(got) != min(1, len(want)) || want != "" && !strings.Contains(got[0], want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFault: a round in which something went wrong is told with its seed, its command and how its
// capture was made, and its capture is kept.
func TestFault(t *testing.T) {
	keep := t.TempDir()
	var progress bytes.Buffer
	s, err := newSoak(77, keep, &progress)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	r := &round{soak: s, seed: 77}
	if wrong, err := r.run(); err != nil || len(wrong) > 0 {
		t.Fatal(wrong, err)
	}
	if err := s.fault(r, []string{"it is wrong"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"seed 77: it is wrong", r.line.Args[0], r.captures[0].About} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("%q is not in %s", want, &progress)
		}
	}
	if b, err := os.ReadFile(keep + "/77-" + r.captures[0].Name); err != nil || !bytes.Equal(b, r.captures[0].Data) {
		t.Errorf("%d octets are kept of %d, %v", len(b), len(r.captures[0].Data), err)
	}
	if err := s.tell(&bytes.Buffer{}); err == nil {
		t.Error("the soak did not fail")
	}
}
