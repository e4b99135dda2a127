package program

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// TestMain makes the program itself a command of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"iwdissect": func() { validated(func() int { return cli.Main() }) },
		"misprints": func() { validated(misprints) },
	})
}

// habitScripts are the scripts that docs/habits.md names.
const habitScripts = "habit_*.txtar"

// TestScripts runs testdata/script: each script is a short session on the
// command line, with what has to come of it. $PCAPS is the folder of the real
// captures.
func TestScripts(t *testing.T) { runScripts(t, false, nil) }

// TestScripts_Habits runs those of docs/habits.md.
func TestScripts_Habits(t *testing.T) {
	if !tracetest.Campaign() && !*update {
		t.Skip("part of the campaign")
	}
	runScripts(t, true, func(condition string) (bool, error) {
		if condition != "netns" {
			return false, fmt.Errorf("unknown condition %q", condition)
		}
		return netns()
	})
}

// runScripts runs the scripts that are, or are not, of docs/habits.md.
func runScripts(t *testing.T, habits bool, condition func(string) (bool, error)) {
	t.Helper()
	pcaps, err := filepath.Abs("../../testdata/pcaps")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(path string) bool {
		habit, _ := filepath.Match(habitScripts, filepath.Base(path))
		return habit != habits
	})
	if len(files) < 10 {
		t.Fatalf("%d scripts", len(files))
	}
	validator := startValidator(t)
	testscript.Run(t, testscript.Params{
		Files:               files,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PCAPS", pcaps)
			env.Setenv(validatorAddress, validator)
			return nil
		},
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "tty": tty},
		Condition: condition,
	})
}

// netns reports whether a script makes a network namespace of its own, in which it
// captures: not in a plain go test. It is an error if it cannot, and the run was told that it can.
func netns() (bool, error) {
	if !tracetest.Asked("IWDISSECT_LIVE_TESTS") {
		return false, nil
	}
	err := exec.Command("unshare", "-n", "ip", "link", "set", "lo", "up").Run()
	if err != nil && os.Getenv("IWDISSECT_LIVE_TESTS") == "required" {
		return false, fmt.Errorf("no network namespace: %w", err)
	}
	return err == nil, nil
}

// exits runs a program that has to end with an exit code: exits 3 iwdissect x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%v: exit code %d, not %d", args[1:], got, want)
	}
}
