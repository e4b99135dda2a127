package iwdissect_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOutside builds the program examples/badcrc in a module of its own, as a user
// of this package does, and runs it on captures with and without a bad CRC.
func TestOutside(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("examples/badcrc/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(src, []byte("\n")); n > 30 {
		t.Errorf("the program has %d lines, and is to be a short one", n)
	}
	// The sums are those of this module, so that nothing has to be fetched.
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), src)
	write(t, filepath.Join(dir, "go.sum"), sums)
	// Its requirements are those of this module too, as go mod tidy would write them. Else the go command
	// asks for the requirements of old modules, which a fresh clone has not fetched.
	requirements, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod := bytes.Replace(requirements, []byte("module "+module), []byte("module example.com/badcrc"), 1)
	mod = append(mod, "\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+strconv.Quote(root)+"\n"...)
	write(t, filepath.Join(dir, "go.mod"), mod)
	env := append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
	bin := filepath.Join(dir, "badcrc.exe") // a name that suits every system
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir, build.Env = dir, env
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for path, want := range map[string]string{
		badCRC: "frame 7, from 10.0.0.1:40000, offset 124: CRC dcdbc550, computed dddbc550\n",
		rping:  "",
	} {
		var out, errs strings.Builder
		run := exec.Command(bin, path)
		run.Stdout, run.Stderr = &out, &errs
		if err := run.Run(); err != nil || errs.String() != "" {
			t.Errorf("%s: %v: %s", path, err, &errs)
		}
		if out.String() != want {
			t.Errorf("%s: %q, want %q", path, &out, want)
		}
	}
	run := exec.Command(bin, filepath.Join(dir, "none"))
	if out, err := run.CombinedOutput(); err == nil || !strings.HasPrefix(string(out), "iwdissect: ") {
		t.Errorf("a capture that is not there: %v: %q", err, out)
	}
}
