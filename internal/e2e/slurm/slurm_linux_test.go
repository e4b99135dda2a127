// Package slurm has a test that runs the scripts of examples/slurm on a cluster. It is a package of its
// own because it mostly waits.
package slurm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// slurm is a cluster of two nodes on this machine.
type slurm struct {
	t      *testing.T
	folder string
}

// startSlurm starts a cluster. Without Slurm, or if the user is not root, the test is skipped; it fails
// if IWDISSECT_SLURM=required.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if !tracetest.Campaign() {
		t.Skip("it starts a cluster: only in a campaign")
	}
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "munged"} {
		tracetest.Program(t, name, "IWDISSECT_SLURM")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can start the daemons")
	}
	// Not in the folder of the test: munged runs as a user of its own, and wants to pass through.
	folder, err := os.MkdirTemp("", "slurm") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	s := &slurm{t, folder}
	t.Cleanup(s.stop)
	if out, err := exec.CommandContext(t.Context(), "testdata/cluster.sh", folder).CombinedOutput(); err != nil {
		t.Fatalf("the cluster: %v\n%s", err, out)
	}
	return s
}

// stop ends the daemons, and removes the folder.
func (s *slurm) stop() {
	for _, name := range []string{"run/n0.pid", "run/n1.pid", "run/slurmctld.pid", "socket/pid"} {
		s.kill(name, syscall.SIGKILL)
	}
	if err := os.RemoveAll(s.folder); err != nil {
		s.t.Log(err)
	}
}

// kill sends a signal to a daemon.
func (s *slurm) kill(pidFile string, sig syscall.Signal) {
	text, err := os.ReadFile(filepath.Join(s.folder, pidFile))
	if err != nil {
		return
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
		_ = syscall.Kill(pid, sig) // it may have ended
	}
}

// run runs a command of Slurm.
func (s *slurm) run(env []string, name string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Env = append(append(os.Environ(), "SLURM_CONF="+filepath.Join(s.folder, "slurm.conf")), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// eventually waits until something is so.
func (s *slurm) eventually(what string, so func() bool) {
	s.t.Helper()
	for begin := time.Now(); !so(); time.Sleep(200 * time.Millisecond) {
		if time.Since(begin) > 4*time.Minute {
			s.t.Fatalf("not so after minutes: %s\n%s", what, s.run(nil, "squeue"))
		}
	}
}

// fleet are points, and what a site has: a list, and a program.
type fleet struct{ folder, list, program string }

// run runs the program itself.
func (f *fleet) run(t *testing.T, args ...string) (code int, errs string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), f.program+".real", args...)
	var b bytes.Buffer
	cmd.Stderr = &b
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

// sitePoints are four good points, of which one has wrong CRCs, and one that cannot be read.
func sitePoints(t *testing.T, folder string) fleet {
	t.Helper()
	f := fleet{folder: folder, list: filepath.Join(folder, "points.txt"), program: filepath.Join(folder, "iwdissect")}
	build := exec.CommandContext(t.Context(), "go", "build", "-pgo=off", "-o", f.program+".real", "../../../cmd/iwdissect")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The first run of the third point hangs until the file go is there, as if its capture were large.
	script := "#!/bin/bash\n" +
		"if [ \"${SLURM_ARRAY_TASK_ID:-}\" = 2 ]; then\n" +
		"	echo \"${SLURM_RESTART_COUNT:-0} $SLURMD_NODENAME\" >>" + folder + "/attempts\n" +
		"	for ((i = 0; i < 1200 && ${SLURM_RESTART_COUNT:-0} == 0; i++)); do [ -e " + folder + "/go ] && break; sleep 0.1; done\n" +
		"	" + f.program + ".real \"$@\"\n" +
		"	code=$?\n" +
		"	echo \"${SLURM_RESTART_COUNT:-0} done $code\" >>" + folder + "/attempts\n" +
		"	exit $code\n" +
		"fi\n" +
		"exec " + f.program + ".real \"$@\"\n"
	if err := os.WriteFile(f.program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	list := "# a site\n\n"
	for i := range 4 {
		args := []string{"generate", "-q", "--size", "300KiB", "--flows", "3", "--seed", strconv.Itoa(i + 1), "-o", filepath.Join(folder, fmt.Sprintf("p%d.pcap", i))}
		if i == 1 {
			args = append(args, "--bad-crc", "2")
		}
		if code, errs := f.run(t, args...); code != 0 {
			t.Fatalf("%q: %d %s", args, code, errs)
		}
		list += fmt.Sprintf("p%d p%d.pcap\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(folder, "broken.pcap"), []byte("no capture"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.list, []byte(list+"broken broken.pcap # cannot be read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// submit has the cluster analyse the points, and returns the numbers of the array and of the merge.
func (s *slurm) submit(f fleet, out string) (array, merge string) {
	s.t.Helper()
	said := s.run([]string{"IWDISSECT=" + f.program}, "../../../examples/slurm/submit.sh", f.list, out)
	jobs := regexp.MustCompile(`job (\d+)`).FindStringSubmatch(said)
	lines := strings.Fields(said)
	if jobs == nil {
		s.t.Fatalf("submit.sh said %q", said)
	}
	return jobs[1], lines[len(lines)-1]
}

// exit is how a job ended, as Slurm tells: the code and the signal.
func (s *slurm) exit(job string) string {
	s.t.Helper()
	text := s.run(nil, "scontrol", "show", "job", job)
	m := regexp.MustCompile(`ExitCode=(\d+:\d+)`).FindStringSubmatch(text)
	if m == nil {
		s.t.Fatal(text)
	}
	return m[1]
}

// document is the result of merge.
func document(t *testing.T, file string) (doc map[string]any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSlurm: a site runs its points on a cluster. One task fails, and a node dies in the middle of
// another one, which is run again while its first copy goes on. What comes of it is what one machine
// makes of all points, and the exit code tells of the point that could not be read.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	f := sitePoints(t, s.folder)
	out := filepath.Join(f.folder, "results")
	array, merge := s.submit(f, out)

	var node string
	s.eventually("the third point is being analysed", func() bool {
		text, err := os.ReadFile(filepath.Join(f.folder, "attempts"))
		if err != nil || len(text) == 0 {
			return false
		}
		node = strings.Fields(string(text))[1]
		return true
	})
	// Its node dies. What it had started goes on, as it does where only the network is gone.
	s.kill("run/"+node+".pid", syscall.SIGKILL)
	s.run(nil, "scontrol", "update", "nodename="+node, "state=down", "reason=died")
	s.eventually("it is run again", func() bool {
		text, _ := os.ReadFile(filepath.Join(f.folder, "attempts"))
		return strings.Contains(string(text), "1 done 0")
	})
	if err := os.WriteFile(filepath.Join(f.folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.eventually("both copies have ended", func() bool {
		text, _ := os.ReadFile(filepath.Join(f.folder, "attempts"))
		return strings.Contains(string(text), "0 done 0")
	})
	s.eventually("all jobs have ended", func() bool { return strings.TrimSpace(s.run(nil, "squeue", "-h")) == "" })
	if got := s.exit(array + "_4"); got != "3:0" {
		t.Errorf("the task of the point that cannot be read ended with %s, want 3:0", got)
	}
	if got := s.exit(merge); got != "3:0" {
		t.Errorf("the merge ended with %s, want 3:0", got)
	}

	// One machine, all points.
	alone := filepath.Join(f.folder, "alone")
	if code, errs := f.run(t, "analyze", "-q", "--points", f.list, "--format", "parquet", "-o", alone); code != 3 {
		t.Fatalf("one machine: %d %s", code, errs)
	}
	file := filepath.Join(f.folder, "alone.json")
	if code, errs := f.run(t, "merge", "--points", f.list, "--output", "json="+file, alone); code != 3 {
		t.Fatalf("its merge: %d %s", code, errs)
	}
	want, got := document(t, file), document(t, filepath.Join(out, "fleet.json"))
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the cluster makes something else of it: %s", d)
	}
	if n := fmt.Sprint(want["points"]); !strings.Contains(n, "p1") || !strings.Contains(n, "broken") {
		t.Errorf("the points are %s", n)
	}
}
