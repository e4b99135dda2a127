package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/tools/soak/internal/commands"
	"github.com/iwdissect/iwdissect/tools/soak/internal/traffic"
)

// round is captures, and a command line that is run over them in several ways.
type round struct {
	*soak
	seed     uint64
	captures []traffic.Capture
	line     commands.Line
}

// ran is what a run of the program gave.
type ran struct {
	code      int
	out, said string
	files     map[string]string
	crashed   string
}

// run does the round, and returns what went wrong.
func (r *round) run() (wrong []string, err error) {
	rnd := rand.New(rand.NewPCG(r.seed, 21))
	names := []string(nil)
	for i := range 1 + max(0, rnd.IntN(6)-3) {
		c, err := traffic.Make(fmt.Sprintf("c%d", i), rnd.Uint64())
		if err != nil {
			return nil, err
		}
		if err := outfile.Write(c.Name, c.Data, nil); err != nil {
			return nil, err
		}
		defer os.Remove(c.Name) //nolint:errcheck // the folder goes as well
		r.captures, names = append(r.captures, c), append(names, c.Name)
		r.octets += int64(len(c.Data))
	}
	r.line = commands.Random(rnd, names)
	several := []string{"-j", strconv.Itoa(2 + rnd.IntN(4))}
	alone, err := r.inside("-j", "1")
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, alone.wrong()...)
	together, err := r.inside(several...)
	if err != nil {
		return nil, err
	}
	for _, d := range together.differs(alone) {
		wrong = append(wrong, strings.Join(several, " ")+": "+d)
	}
	if rnd.IntN(4) == 0 {
		child, err := r.outside(several...)
		if err != nil {
			return nil, err
		}
		for _, d := range child.differs(alone) {
			wrong = append(wrong, "in a process of its own: "+d)
		}
	}
	return wrong, nil
}

// made says how the captures were made.
func (r *round) made() string {
	said := make([]string, 0, len(r.captures))
	for _, c := range r.captures {
		said = append(said, c.Name+": "+c.About)
	}
	return strings.Join(said, "; ")
}

// stdin is what the command reads.
func (r *round) stdin() io.Reader {
	if r.line.Stdin {
		return bytes.NewReader(r.captures[0].Data)
	}
	return bytes.NewReader(nil)
}

// inside runs the command in this process.
func (r *round) inside(more ...string) (*ran, error) {
	if err := os.MkdirAll(commands.Out, 0o777); err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	code := cli.Run(&cli.IOStreams{In: r.stdin(), Out: &out, Err: &said}, slices.Concat(r.line.Args, more))
	r.runs++
	return r.ended(code, &out, &said)
}

// outside runs the command as users do: in a process, and so in the sandbox.
func (r *round) outside(more ...string) (*ran, error) {
	if err := os.MkdirAll(commands.Out, 0o777); err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	cmd := exec.Command(r.program, slices.Concat(r.line.Args, more)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.stdin(), &out, &said
	err := cmd.Run()
	r.children++
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && cmd.ProcessState == nil {
		return nil, err
	}
	x, err := r.ended(cmd.ProcessState.ExitCode(), &out, &said)
	if err == nil && !cmd.ProcessState.Exited() {
		x.crashed = cmd.ProcessState.String()
	}
	return x, err
}

// ended gathers what a run wrote.
func (r *round) ended(code int, out, said *bytes.Buffer) (*ran, error) {
	x := &ran{code: code, out: out.String(), said: said.String(), files: map[string]string{}}
	if code >= 0 && code < len(r.exits) {
		r.exits[code]++
	}
	err := filepath.WalkDir(commands.Out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		x.files[path] = string(b)
		return err
	})
	return x, errors.Join(err, os.RemoveAll(commands.Out))
}

// ours are words of messages that tell of a fault of the program.
var ours = []string{"fault of this program", "panic:", "runtime error", "goroutine "}

// wrong says what no run may give.
func (x *ran) wrong() (all []string) {
	switch {
	case x.crashed != "":
		all = append(all, x.crashed+": "+end(x.said))
	case x.code < 0 || x.code > 3:
		all = append(all, fmt.Sprintf("exit code %d: %s", x.code, end(x.said)))
	case x.code >= 2 && x.said == "":
		all = append(all, fmt.Sprintf("exit code %d, and nothing is said", x.code))
	}
	for _, word := range ours {
		if strings.Contains(x.said, word) {
			all = append(all, end(x.said))
			break
		}
	}
	return all
}

// differs says what a run gives otherwise than another one.
func (x *ran) differs(from *ran) (all []string) {
	if all = x.wrong(); len(all) > 0 {
		return all
	}
	if x.code != from.code {
		all = append(all, fmt.Sprintf("exit code %d, and %d: %s", x.code, from.code, end(x.said)))
	}
	for what, pair := range map[string][2]string{"standard output": {x.out, from.out}, "standard error": {x.said, from.said}} {
		if pair[0] != pair[1] {
			all = append(all, what+": "+firstDifference(pair[0], pair[1]))
		}
	}
	names := slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, files := range []map[string]string{x.files, from.files} {
			for name := range maps.Keys(files) {
				if !yield(name) {
					return
				}
			}
		}
	}))
	for _, name := range names {
		a, there := x.files[name]
		b, before := from.files[name]
		switch {
		case there != before:
			all = append(all, fmt.Sprintf("%s: written %t, and %t", name, there, before))
		case a != b:
			all = append(all, name+": "+firstDifference(a, b))
		}
	}
	return all
}

// firstDifference shows where two texts begin to differ.
func firstDifference(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	const before, behind = 60, 120
	from := max(0, at-before)
	return fmt.Sprintf("octet %d of %d and %d: %q, and %q", at, len(a), len(b), a[from:min(len(a), at+behind)], b[from:min(len(b), at+behind)])
}

// end is the end of a text.
func end(text string) string { return text[max(0, len(text)-2000):] }
