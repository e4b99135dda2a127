package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
	"github.com/iwdissect/iwdissect/internal/sandbox"
)

// running is the program, while it runs.
type running struct {
	*exec.Cmd
	out, said bytes.Buffer
	over      chan struct{}
}

// start runs the program as users do, in a folder.
func start(t *testing.T, folder string, stdin *os.File, args ...string) *running {
	t.Helper()
	path, err := exec.LookPath("iwdissect")
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Cmd: exec.Command(path, args...), over: make(chan struct{})}
	r.Dir = folder
	if stdin != nil {
		r.Stdin = stdin
	}
	r.Stdout, r.Stderr = &r.out, &r.said
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.over)
		_ = r.Wait() // the state tells
	}()
	t.Cleanup(func() {
		_ = r.Process.Kill()
		<-r.over
	})
	return r
}

// code waits for the end and returns the exit code.
func (r *running) code() int {
	<-r.over
	return r.ProcessState.ExitCode()
}

// reads opens a named pipe for writing as soon as the program reads it.
func (r *running) reads(t *testing.T, name string) *os.File {
	t.Helper()
	for {
		w, err := os.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK, 0)
		if err == nil {
			return w
		}
		select {
		case <-r.over:
			t.Fatalf("it does not read: %s", &r.said)
		case <-time.After(time.Millisecond):
		}
	}
}

// status is what the kernel says of each thread of a process under some names, once each.
func status(t *testing.T, pid int, names ...string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatal(tasks, err)
	}
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(b)) {
			name, v, _ := strings.Cut(line, ":")
			if v = strings.TrimSpace(v); slices.Contains(names, name) && !slices.Contains(all[name], v) {
				all[name] = append(all[name], v)
			}
		}
	}
	return all
}

// fifo is a named pipe in a folder. Once it could be opened for writing, the program reads it, and
// so is in its sandbox.
func fifo(t *testing.T, folder string) string {
	t.Helper()
	name := filepath.Join(folder, "first.pcap")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func sandboxed(t *testing.T) sandbox.State {
	t.Helper()
	s := sandbox.Supported()
	t.Logf("this kernel has: %s", s)
	if s == (sandbox.State{}) {
		t.Skip("no Landlock, no seccomp")
	}
	return s
}

const sample = "../../testdata/pcaps/lo-rping-crc.pcap"

// TestSandbox_Planted: a file outside cannot be opened, even if it takes the name of an input
// while the program reads another one. Each command that reads captures is in the sandbox, and
// says so to the kernel, on all threads.
func TestSandbox_Planted(t *testing.T) {
	s := sandboxed(t)
	capture, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		off  bool
	}{
		{args: []string{"analyze"}},
		{args: []string{"analyze", "--format", "json"}},
		{args: []string{"analyze", "-q", "-z", "conv,tcp"}},
		{args: []string{"analyze", "--join=given"}},
		{args: []string{"dissect"}},
		{args: []string{"check"}},
		{args: []string{"report", "-o", "report.html"}},
		{args: []string{"analyze", "--no-sandbox"}, off: true},
		{args: []string{"check", "--no-sandbox"}, off: true},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			folder, outside := t.TempDir(), t.TempDir()
			first := fifo(t, folder)
			second, planted := filepath.Join(folder, "second.pcap"), filepath.Join(outside, "planted.pcap")
			for _, name := range []string{second, planted} {
				if err := os.WriteFile(name, capture, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := start(t, folder, nil, append(tt.args, "-j", "1", first, second)...)
			w := r.reads(t, first)
			if err := os.Remove(second); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(planted, second); err != nil {
				t.Fatal(err)
			}
			got := status(t, r.Process.Pid, "NoNewPrivs", "Seccomp", "CapEff")
			if _, err := w.Write(capture); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			code := r.code()
			if tt.off {
				if code != 0 || slices.Contains(got["NoNewPrivs"], "1") || slices.Contains(got["Seccomp"], "2") {
					t.Errorf("exit code %d, %v: %s", code, got, &r.said)
				}
				return
			}
			if s.Seccomp && !slices.Equal(got["Seccomp"], []string{"2"}) || !slices.Equal(got["NoNewPrivs"], []string{"1"}) || !slices.Equal(got["CapEff"], []string{"0000000000000000"}) {
				t.Errorf("the kernel says %v", got)
			}
			if s.Landlock > 0 && (code != 3 || !strings.Contains(r.said.String(), "permission denied: the file came after the start, and the sandbox keeps it closed: start again, or with --no-sandbox")) {
				t.Errorf("exit code %d: %s", code, &r.said)
			}
		})
	}
}

// TestSandbox_Merge: merge is in the sandbox when it writes, and reads all tables from there.
func TestSandbox_Merge(t *testing.T) {
	s := sandboxed(t)
	folder := t.TempDir()
	capture, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	for _, point := range []string{"a", "b", "c"} {
		if r := start(t, folder, nil, "check", "-q", "--format", "parquet", "-o", "results", "--point", point, capture); r.code() != 0 {
			t.Fatalf("%s: %s", point, &r.said)
		}
	}
	// Nobody reads what it writes, so that it can be looked at.
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := unix.FcntlInt(in.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("iwdissect")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "merge", "--format", "html", "--output", "json=all.json", "results")
	cmd.Dir, cmd.Stdout = folder, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	page := make([]byte, 1)
	if _, err := io.ReadFull(out, page); err != nil {
		t.Fatal(err)
	}
	got := status(t, cmd.Process.Pid, "NoNewPrivs", "Seccomp", "CapEff")
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !bytes.Contains(rest, []byte("iWARP report of 3 points")) {
		t.Errorf("%v: %.200s", err, rest)
	}
	if s.Seccomp && !slices.Equal(got["Seccomp"], []string{"2"}) || !slices.Equal(got["NoNewPrivs"], []string{"1"}) || !slices.Equal(got["CapEff"], []string{"0000000000000000"}) {
		t.Errorf("the kernel says %v", got)
	}
	if i, err := os.Stat(filepath.Join(folder, "all.json")); err != nil || i.Size() == 0 {
		t.Errorf("the other report: %v", err)
	}
}

// TestSandbox_MergeReplaced: a task that was requeued runs twice, and its second copy may give the files
// of a point their names again while merge reads those of another point. All rows are counted. A table that
// cannot be read is told in the reports, and the point is not taken for one that has nothing.
func TestSandbox_MergeReplaced(t *testing.T) {
	sandboxed(t)
	folder := t.TempDir()
	capture, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	for _, point := range []string{"a", "b"} {
		if r := start(t, folder, nil, "analyze", "-q", "--format", "parquet", "-o", "results", "--point", point, capture); r.code() != 0 {
			t.Fatalf("%s: %s", point, &r.said)
		}
	}
	// The table of the first point is a pipe: its reader is in its sandbox, and waits.
	table := func(point string) string {
		names, err := filepath.Glob(filepath.Join(folder, "results", "connections", "point="+point, "*.parquet"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		return names[0]
	}
	first, second := table("a"), table("b")
	info, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := filepath.Glob(filepath.Join(folder, "results", "manifests", "point=a", "*.json"))
	if err != nil || len(manifest) != 1 {
		t.Fatal(manifest, err)
	}
	text, err := os.ReadFile(manifest[0])
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, fmt.Appendf(nil, `"size": %d`, info.Size()), []byte(`"size": 0`), 1)
	if err := errors.Join(os.WriteFile(manifest[0], text, 0o600), os.Remove(first), unix.Mkfifo(first, 0o600)); err != nil {
		t.Fatal(err)
	}
	r := start(t, folder, nil, "merge", "--output", "json=all.json", "results")
	w := r.reads(t, first)
	whole, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(filepath.Dir(second), ".again.part")
	if err := errors.Join(os.WriteFile(again, whole, 0o600), os.Rename(again, second), w.Close()); err != nil {
		t.Fatal(err)
	}
	if code := r.code(); code != 3 {
		t.Errorf("exit code %d: %s", code, &r.said)
	}
	document, err := os.ReadFile(filepath.Join(folder, "all.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Points []struct {
			Point       string
			Connections int
			Errors      []string
		}
	}
	if err := json.Unmarshal(document, &all); err != nil || len(all.Points) != 2 {
		t.Fatalf("%v: %s", err, document)
	}
	if a := all.Points[0]; a.Connections != 0 || len(a.Errors) != 1 || !strings.Contains(a.Errors[0], "not all of the point is counted, since a table could not be read: results/connections/point=a/") {
		t.Errorf("the point of which a table cannot be read: %+v", a)
	}
	if b := all.Points[1]; b.Connections != 1 || len(b.Errors) != 0 {
		t.Errorf("the point whose files were written again: %+v; merge says %s", b, &r.said)
	}
	if !strings.Contains(r.out.String(), " in 2 points; 1 point has a table that could not be read: exit code 3") {
		t.Error(&r.out)
	}
}

// TestSandbox_Outputs: all outputs are written from the sandbox: to the working directory and to
// other folders, in the place of older files, through links, and to descriptors.
func TestSandbox_Outputs(t *testing.T) {
	sandboxed(t)
	capture, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"check --output json=out.json --output sarif=other/out.sarif in.pcap", "check --write-baseline known.json in.pcap", "check --output json=link.json in.pcap",
		"check --output json=/dev/null in.pcap", "check --output json=/dev/stderr in.pcap", "report in.pcap -o other/report.html", "report in.pcap -o older.html",
		"annotate in.pcap -o other/annotated.pcapng", "dissect -w other/some.pcapng in.pcap", "dissect --whole-connections -w older.html in.pcap",
		"dissect --payload new/folder in.pcap", "dissect --payload other in.pcap", "analyze --join in.pcap in.pcap", "analyze .", "analyze -", "dissect /dev/stdin",
		"analyze --worst 1 --format json in.pcap", "check -V in.pcap", "dissect -2 -R frame.number>3 in.pcap", "follow in.pcap",
	} {
		t.Run(strings.ReplaceAll(line, "/", "|"), func(t *testing.T) {
			folder := t.TempDir()
			name := func(n string) string { return filepath.Join(folder, n) }
			for _, n := range []string{"in.pcap", "older.html", "elsewhere/real.json"} {
				if err := os.MkdirAll(filepath.Dir(name(n)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name(n), capture, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("elsewhere/real.json", name("link.json")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(name("other"), 0o700); err != nil {
				t.Fatal(err)
			}
			stdin, err := os.Open(sample)
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			if r := start(t, folder, stdin, strings.Fields(line)...); r.code() != 0 {
				t.Errorf("exit code %d: %s", r.ProcessState.ExitCode(), &r.said)
			}
		})
	}
}

// TestSandbox_Live: live gives up all capabilities once it captures, and still writes a ring of
// files, counts what the kernel dropped, and ends in order.
func TestSandbox_Live(t *testing.T) {
	s := sandboxed(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	for _, tt := range []struct {
		keeps string
		owner int
	}{
		{"0000000000000000", 0},
		// As with sudo in the folder of a user: without CAP_DAC_OVERRIDE root may not write there.
		{"0000000000000002", 65534},
	} {
		liveInSandbox(t, s, send, tt.owner, tt.keeps)
	}
}

// liveInSandbox captures in a folder of a user. It does not start another goroutine: the network is
// that of the thread.
func liveInSandbox(t *testing.T, s sandbox.State, send func([]byte), owner int, keeps string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chown(folder, owner, owner); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("iwdissect")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "live", "--lines", "-w", "ring.pcapng", "-b", "packets:2", "-b", "files:2", "-f", "", livetest.Near)
	cmd.Dir = folder
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	announced := make([]byte, 4096)
	n, err := stderr.Read(announced) // that it captures
	if err != nil {
		t.Fatal(err)
	}
	got := status(t, cmd.Process.Pid, "NoNewPrivs", "Seccomp", "CapEff", "CapPrm")
	if s.Seccomp && !slices.Equal(got["Seccomp"], []string{"2"}) || !slices.Equal(got["NoNewPrivs"], []string{"1"}) ||
		!slices.Equal(got["CapEff"], []string{keeps}) || !slices.Equal(got["CapPrm"], []string{keeps}) {
		t.Errorf("%s: the kernel says %v", announced[:n], got)
	}
	frame := make([]byte, 60)
	copy(frame, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01\x88\xb5")
	for range 7 {
		send(frame)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if files, _ := filepath.Glob(filepath.Join(folder, "ring_0000[34]_*")); len(files) == 2 || time.Now().After(deadline) {
			break
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the state tells
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	if code := cmd.ProcessState.ExitCode(); code != 0 || len(files) != 2 || !bytes.Contains(said, []byte("7 frames captured")) {
		t.Errorf("exit code %d, %v: %s", code, files, said)
	}
}
