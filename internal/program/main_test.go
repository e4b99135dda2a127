package program

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/term"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/schematest"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	_ "github.com/iwdissect/iwdissect/internal/tracetest/garbage"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

// TestMain makes the program itself a command of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"iwdissect": validated})
}

// asValidator in the environment makes the program one that passes its input on and validates it.
const asValidator = "IWDISSECT_VALIDATES"

// validated is the program. In the campaign everything that it writes for other programs is held
// against the schemas of docs/schema, by a process of its own: the program itself is in its sandbox and
// reads no other files. It fails with a code of its own.
func validated() {
	if os.Getenv(asValidator) != "" {
		os.Exit(validate())
	}
	if term.IsTerminal(int(os.Stdout.Fd())) || !tracetest.Campaign() {
		os.Exit(cli.Main())
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(path)
	cmd.Args = os.Args
	cmd.Env = append(os.Environ(), asValidator+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	r.Close()
	os.Stdout = w
	code := cli.Main()
	w.Close()
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) && exit.ExitCode() == invalid {
		code = invalid
	}
	os.Exit(code)
}

// invalid is the exit code of an output that is not as its schema says.
const invalid = 99

// validate passes on what the program writes, and validates that and the files of its outputs.
// It returns an exit code.
func validate() (code int) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // they are for the program
	var printed bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(os.Stdout, &printed), os.Stdin); err != nil {
		return 1 // nobody reads it
	}
	outputs := [][]byte{printed.Bytes()}
	for i, arg := range os.Args {
		flag, file, _ := strings.Cut(arg, "=")
		if file == "" && i+1 < len(os.Args) {
			file = os.Args[i+1]
		}
		if flag == "--output" {
			if _, name, ok := strings.Cut(file, "="); ok {
				file = name
			}
		} else if flag != "--write-baseline" {
			continue
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			continue // a device never ends
		}
		if text, err := os.ReadFile(file); err == nil {
			outputs = append(outputs, text)
		}
	}
	for _, text := range outputs {
		if err := schematest.Output(text); err != nil {
			fmt.Fprintf(os.Stderr, "not as docs/schema says: %v\n", err)
			code = invalid
		}
	}
	return code
}

// TestScripts runs testdata/script: each script is a short session on the
// command line, with what has to come of it. $PCAPS is the folder of the real
// captures.
func TestScripts(t *testing.T) {
	pcaps, err := filepath.Abs("../../testdata/pcaps")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PCAPS", pcaps)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "tty": tty},
		Condition: func(name string) (bool, error) {
			switch name {
			case "netns":
				return netns()
			case "campaign":
				return tracetest.Campaign() || *update, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
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
