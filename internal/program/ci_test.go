package program

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/cli"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// ciDocs shows how to use the program in continuous integration, and what comes
// of it.
const ciDocs = "docs/ci.md"

// step is a step of an action or of a workflow.
type step struct {
	Uses  string            `yaml:"uses"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
	With  map[string]string `yaml:"with"`
}

// action is what action.yml says.
type action struct {
	Inputs map[string]struct {
		Required bool    `yaml:"required"`
		Default  *string `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Steps []step `yaml:"steps"`
	} `yaml:"runs"`
}

// runner stands for the machine that runs jobs.
type runner struct {
	workspace, temp, root string
}

// newRunner makes a workspace with captures in it: one that breaks a rule, one
// of siw that breaks none, and one without a frame.
func newRunner(t *testing.T, captures ...string) *runner {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash: what CI runs is not tested")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t.TempDir(), t.TempDir(), root}
	dir := filepath.Join(r.workspace, "captures")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range captures {
		file := filepath.Join(dir, name)
		if name == "empty.pcap" {
			if err := os.WriteFile(file, []byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00"+strings.Repeat("\x00", 8)+"\xff\xff\x00\x00\x01\x00\x00\x00"), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if name == "broken.pcap" {
			var errs bytes.Buffer
			if code := cli.Run(&cli.IOStreams{Out: &errs, Err: &errs}, []string{"generate", "MPA-CRC-VALUE-01", "-o", file}); code != 0 {
				t.Fatalf("exit code %d: %s", code, &errs)
			}
			continue
		}
		b, err := os.ReadFile(filepath.Join(root, "testdata/pcaps/rping-p2p-read-crc.pcap"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// bash runs a script as runners do, and returns what it prints and how it ends.
func (r *runner) bash(t *testing.T, script string, env map[string]string) (string, int) {
	t.Helper()
	file := filepath.Join(r.temp, "script.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	cmd.Dir = r.workspace
	cmd.Env = os.Environ()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, "../../action.yml")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

var expression = regexp.MustCompile(`\$\{\{ *(\S+) *\}\}`)

// act runs the steps of the action with inputs, until one fails. Those that use
// another action are left out: Go is there.
func (r *runner) act(t *testing.T, a action, inputs map[string]string) (string, int) {
	t.Helper()
	values := map[string]string{"github.action_path": r.root}
	for name, in := range a.Inputs {
		v, given := inputs[name]
		switch {
		case !given && in.Default != nil:
			v = *in.Default
		case !given && in.Required:
			t.Fatalf("input %s is missing", name)
		}
		values["inputs."+name] = v
	}
	for name := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("the action has no input %s", name)
		}
	}
	var log strings.Builder
	for _, s := range a.Runs.Steps {
		if s.Uses != "" {
			continue
		}
		if s.Shell != "bash" || expression.MatchString(s.Run) {
			t.Errorf("a step has no shell, or text of others in its script:\n%s", s.Run)
		}
		env := map[string]string{
			"GITHUB_ACTION_PATH": r.root, "GITHUB_WORKSPACE": r.workspace, "RUNNER_TEMP": r.temp,
			"GITHUB_OUTPUT": filepath.Join(r.temp, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(r.temp, "summary"),
		}
		for name, v := range s.Env {
			env[name] = expression.ReplaceAllStringFunc(v, func(x string) string {
				v, ok := values[expression.FindStringSubmatch(x)[1]]
				if !ok {
					t.Errorf("%s is not known", x)
				}
				return v
			})
		}
		out, code := r.bash(t, s.Run, env)
		log.WriteString(out)
		if code != 0 {
			return log.String(), code
		}
	}
	return log.String(), 0
}

// fenced returns what stands in the block behind a comment.
func fenced(t *testing.T, text, comment string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, "<!-- "+comment+" -->\n```")
	_, after, _ = strings.Cut(after, "\n")
	block, _, end := strings.Cut(after, "```\n")
	if !ok || !end {
		t.Fatalf("%s has no block for %q", ciDocs, comment)
	}
	return block
}

// TestCI runs the action with the inputs of the workflow in docs/ci.md, and the
// job that it has for GitLab, and compares what they print with what it shows.
// With -update it writes that.
func TestCI(t *testing.T) {
	if !tracetest.Campaign() && !*update {
		t.Skip("it builds the program: only in a campaign")
	}
	text := read(t, "../../"+ciDocs)
	var workflow struct {
		Jobs map[string]struct {
			Steps []step `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(fenced(t, text, "workflow")), &workflow); err != nil {
		t.Fatal(err)
	}
	var inputs map[string]string
	for _, s := range workflow.Jobs["conformance"].Steps {
		if strings.HasPrefix(s.Uses, "iwdissect/iwdissect@") {
			inputs = s.With
		}
	}
	var jobs map[string]struct {
		Variables map[string]string `yaml:"variables"`
		Script    []string          `yaml:"script"`
	}
	if err := yaml.Unmarshal([]byte(fenced(t, text, "job")), &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs["iwarp-conformance"]
	a := readAction(t)
	tests := []struct {
		captures []string
		code     int
		onGitLab bool
	}{
		{[]string{"broken.pcap", "clean.pcap"}, 1, true},
		{[]string{"clean.pcap"}, 0, true},
		{[]string{"clean.pcap", "empty.pcap"}, 3, false},
		{nil, 2, false},
	}
	updated := text
	compare := func(what, log string) {
		was := fenced(t, text, what)
		updated = strings.Replace(updated, what+" -->\n```text\n"+was, what+" -->\n```text\n"+log, 1)
		if d := cmp.Diff(was, log); d != "" && !*update {
			t.Errorf("%s: the %s is something else (-shown +printed); go test ./internal/program -update writes it:\n%s", ciDocs, what, d)
		}
	}
	// One folder for what is built, as on a runner that keeps it: it is linked once for the action and once
	// for the job.
	temp := t.TempDir()
	onRunner := func(captures ...string) *runner {
		r := newRunner(t, captures...)
		r.temp = temp
		for _, name := range []string{"output", "summary"} {
			if err := os.RemoveAll(filepath.Join(temp, name)); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	for _, tt := range tests {
		names := strings.Join(append([]string{""}, tt.captures...), " ")
		r := onRunner(tt.captures...)
		log, code := r.act(t, a, inputs)
		if code != tt.code {
			t.Errorf("the action, with%s: exit code %d, not %d", names, code, tt.code)
		}
		compare("log of the action:"+names, log)
		if got, want := read(t, r.temp+"/output"), "exit-code="+strconv.Itoa(code)+"\n"; got != want {
			t.Errorf("with%s its output is %q, not %q", names, got, want)
		}
		if len(tt.captures) > 0 {
			if sarif := read(t, filepath.Join(r.workspace, inputs["sarif"])); strings.Contains(sarif, "MPA-CRC-VALUE-01") != (code == 1) || sarif == "" {
				t.Errorf("with%s SARIF is %q", names, sarif)
			}
			if s := read(t, r.temp+"/summary"); !strings.Contains(s, "rules: ") || strings.Contains(s, "MPA-CRC-VALUE-01") != (code == 1) {
				t.Errorf("with%s the summary is %q", names, s)
			}
		}
		if !tt.onGitLab {
			continue
		}
		r = onRunner(tt.captures...)
		bin := filepath.Join(r.temp, "bin")
		env := maps.Clone(job.Variables)
		// What is to be installed is this program, and not the last that was
		// published: a workspace of Go has it.
		env["IWDISSECT"], _, _ = strings.Cut(env["IWDISSECT"], "@")
		env["GOWORK"] = filepath.Join(r.temp, "go.work")
		if err := os.WriteFile(env["GOWORK"], []byte("go 1.26.0\n\nuse "+strconv.Quote(r.root)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		env["GOFLAGS"] = "-trimpath" // as the action builds it: what it is made of need not be compiled once more
		env["GOBIN"], env["PATH"] = bin, bin+string(os.PathListSeparator)+os.Getenv("PATH")
		script := strings.Join(job.Script, "\n")
		if log, code = r.bash(t, script, env); code != tt.code {
			t.Errorf("the job, with%s: exit code %d, not %d", names, code, tt.code)
		}
		compare("log of the job:"+names, log)
		if s := read(t, r.workspace+"/reports/iwdissect.xml"); strings.Contains(s, "<failure") != (code == 1) || s == "" {
			t.Errorf("with%s the JUnit report is %q", names, s)
		}
	}
	if *update {
		if err := os.WriteFile("../../"+ciDocs, []byte(updated), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAction_Arguments: what the action hands to the program, which is replaced
// by one that prints it.
func TestAction_Arguments(t *testing.T) {
	tests := []struct {
		name   string
		inputs map[string]string
		want   []string
	}{
		{
			"defaults",
			map[string]string{"files": "captures/clean.pcap"},
			[]string{"--format", "github", "--output", "text=REPORT", "--", "captures/clean.pcap"},
		},
		{
			"no connections", // which the configuration may ask for
			map[string]string{"files": "captures/clean.pcap\n\n", "min-connections": "0"},
			[]string{"--format", "github", "--output", "text=REPORT", "--min-connections", "0", "--", "captures/clean.pcap"},
		},
		{
			"all",
			map[string]string{
				"files": "captures/*.pcap\na b.pcap\ncaptures", "fail-on": "note", "min-connections": "2", "baseline": "known findings.json", "config": "iwdissect.yaml",
				"sarif": "out/of/x.sarif", "args": "--disable * \n --enable $(false)",
			},
			[]string{
				"--format", "github", "--output", "text=REPORT", "--fail-on", "note", "--min-connections", "2", "--baseline", "known findings.json",
				"--config", "iwdissect.yaml", "--output", "sarif=out/of/x.sarif", "--disable", "*", "--enable", "$(false)", "--",
				"captures/broken.pcap", "captures/clean.pcap", "a b.pcap", "captures",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRunner(t, "broken.pcap", "clean.pcap")
			a := readAction(t)
			a.Runs.Steps = a.Runs.Steps[len(a.Runs.Steps)-1:]
			dir := filepath.Join(r.temp, "iwdissect")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+"/iwdissect", []byte("#!/usr/bin/env bash\nprintf '%s\\n' \"$@\"\nexit 3\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			out, code := r.act(t, a, tt.inputs)
			if code != 3 {
				t.Errorf("exit code %d, not 3", code)
			}
			out = strings.ReplaceAll(out, dir+"/report.txt", "REPORT")
			if d := cmp.Diff(append([]string{"check"}, tt.want...), strings.Split(strings.TrimSuffix(out, "\n"), "\n")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestAction_Missing: each glob has to match something, and the program does not run if one does not.
func TestAction_Missing(t *testing.T) {
	for files, want := range map[string]string{
		"captures/*.pcap\ncaptures/*.pcapng\nother/*\n": "captures/*.pcapng, other/*",
		"captures/*.none": "captures/*.none",
		"":                "",
	} {
		r := newRunner(t, "clean.pcap")
		a := readAction(t)
		a.Runs.Steps = a.Runs.Steps[len(a.Runs.Steps)-1:]
		out, code := r.act(t, a, map[string]string{"files": files})
		if wants := "::error::no capture is named by " + want + "\n"; code != 2 || out != wants {
			t.Errorf("%q: exit code %d, %q, not %q", files, code, out, wants)
		}
		if got := read(t, r.temp+"/output"); got != "exit-code=2\n" {
			t.Errorf("%q: the output is %q", files, got)
		}
	}
}

// TestAction_EarlierReports: what an earlier run has left in the folder is not taken for the report
// of a run that wrote none.
func TestAction_EarlierReports(t *testing.T) {
	r := newRunner(t, "clean.pcap")
	a := readAction(t)
	a.Runs.Steps = a.Runs.Steps[len(a.Runs.Steps)-1:]
	dir := filepath.Join(r.temp, "iwdissect")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sarif := filepath.Join(r.workspace, "x.sarif")
	for name, text := range map[string]string{
		dir + "/iwdissect": "#!/bin/sh\nexit 2\n", dir + "/report.txt": "of an earlier run\n", sarif: "of an earlier run\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, code := r.act(t, a, map[string]string{"files": "captures/clean.pcap", "sarif": "x.sarif"})
	if code != 2 || strings.Contains(out, "earlier") || strings.Contains(read(t, r.temp+"/summary"), "earlier") || read(t, sarif) != "" {
		t.Errorf("exit code %d: %q, summary %q, SARIF %q", code, out, read(t, r.temp+"/summary"), read(t, sarif))
	}
}
