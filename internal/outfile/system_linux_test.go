package outfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestFile_FullDisk: the older file stays, and nothing else is left.
func TestFile_FullDisk(t *testing.T) {
	dir := tracetest.SmallDisk(t)
	path := filepath.Join(dir, "out")
	put(t, path, "old", 0o600)
	o, err := Create(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = o.Write(make([]byte, 10_000))
	}
	want := path + " is not written: no space left on device: make room, or write elsewhere; the older file is left as it is"
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
		t.Error(err)
	}
	if err := o.Commit(); err == nil || err.Error() != want {
		t.Error("half a file is committed:", err)
	}
	has(t, path, "old")
	if got := tracetest.Names(t, dir); got != "out" {
		t.Error(got)
	}
}

// TestGrowing_FullDisk: the file ends with a whole record, of those that were written at once
// the last one that there was room for.
func TestGrowing_FullDisk(t *testing.T) {
	dir := tracetest.SmallDisk(t)
	path := filepath.Join(dir, "out")
	g, err := Grow(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Show(); err != nil {
		t.Fatal(err)
	}
	size := 0
	for err == nil { // 7 records of 1000 octets at once
		for range 7 {
			size += 1000
			g.Ends(uint64(size))
		}
		_, err = g.Write(bytes.Repeat([]byte("x"), 7000))
	}
	want := path + " cannot be written any further: no space left on device: make room, or write elsewhere; it was cut back to the last whole record"
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
		t.Error(err)
	}
	if _, again := g.Write([]byte("x")); again == nil {
		t.Error("it is written to behind what is missing")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if i, err := os.Stat(path); err != nil || i.Size() != 65_000 {
		t.Errorf("%d octets, %v", i.Size(), err)
	}
}

// TestFolder_FullDisk: files that are whole stay, and no other.
func TestFolder_FullDisk(t *testing.T) {
	dir := tracetest.SmallDisk(t)
	d, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range []string{"a", "b"} {
		p, err := d.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Write(make([]byte, 40_000)); (err != nil) != (name == "b") {
			t.Error(err)
		}
		if err := p.Commit(); (err != nil) != (name == "b") {
			t.Error(err)
		}
	}
	if got := tracetest.Names(t, dir); got != "a" {
		t.Error(got)
	}
}

// TestHelper_Ends is a process that writes until a signal ends it.
func TestHelper_Ends(*testing.T) {
	dir, kind, _ := strings.Cut(os.Getenv("OUTFILE_TEST"), " ")
	if dir == "" {
		return
	}
	o, err := Create(filepath.Join(dir, "out"), nil)
	if err != nil {
		panic(err)
	}
	d, err := OpenFolder(dir)
	if err != nil {
		panic(err)
	}
	p, err := d.Create("part")
	if err != nil {
		panic(err)
	}
	_, _ = o.Write([]byte("half"))
	_, _ = p.Write([]byte("half"))
	if kind == "catch" {
		Catch(func() bool {
			fmt.Println("caught")
			return false
		}, os.Interrupt)
	}
	if kind == "refused" {
		_, _ = os.FindProcess(os.Getpid()) // the standard library tries once whether descriptors of processes work
		if err := refuse(unix.SYS_PIDFD_SEND_SIGNAL); err != nil {
			panic(err)
		}
	}
	if kind == "pipe" {
		time.Sleep(200 * time.Millisecond) // until nobody reads
		for range 100 {
			fmt.Println("more")
		}
		if err := o.Commit(); err != nil {
			panic(err)
		}
		os.Exit(7)
	}
	if kind == "list" {
		_ = p.CommitIn(&Growing{f: os.Stdout, name: "list", direct: true}, make([]byte, longEntry))
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
	os.Exit(8)
}

// longEntry is more than a pipe takes while nobody reads.
const longEntry = 1 << 20

// writing starts such a process, in a folder with an older file.
func writing(t *testing.T, kind string) (cmd *exec.Cmd, out *os.File, dir string) {
	t.Helper()
	dir = t.TempDir()
	put(t, filepath.Join(dir, "out"), "old", 0o600)
	cmd = exec.Command(os.Args[0], "-test.run=^TestHelper_Ends$")
	cmd.Env = append(os.Environ(), "OUTFILE_TEST="+dir+" "+kind)
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	if kind == "quit" {
		cmd.Stderr = w // the stacks
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		out.Close()
	})
	return cmd, out, dir
}

// line waits for what the process says.
func line(t *testing.T, out *os.File, want string) {
	t.Helper()
	b := make([]byte, 100)
	n, err := out.Read(b)
	if got := strings.TrimSpace(string(b[:n])); got != want {
		t.Fatalf("%q and not %q: %v", got, want, err)
	}
}

// killed waits until the process ends by a signal.
func killed(t *testing.T, cmd *exec.Cmd, by syscall.Signal) {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != by {
		t.Errorf("ended by %v, not by %v", err, by)
	}
}

// TestSignals_LeaveNothing: a signal that ends the process leaves what was there before.
func TestSignals_LeaveNothing(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) {
			continue // inherited
		}
		t.Run(s.String(), func(t *testing.T) {
			cmd, out, dir := writing(t, "")
			line(t, out, "ready")
			if err := cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			killed(t, cmd, s)
			has(t, filepath.Join(dir, "out"), "old")
			if got := tracetest.Names(t, dir); got != "out" {
				t.Error(got)
			}
		})
	}
}

// TestSignals_Quit: SIGQUIT leaves what was there before too, and Go writes the stacks behind that.
func TestSignals_Quit(t *testing.T) {
	cmd, out, dir := writing(t, "quit")
	line(t, out, "ready")
	if got := tracetest.Names(t, dir); got == "out" {
		t.Fatal("nothing is being written")
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	stacks, err := io.ReadAll(out)
	if err != nil || !bytes.Contains(stacks, []byte("SIGQUIT: quit")) || !bytes.Contains(stacks, []byte("\ngoroutine ")) {
		t.Errorf("%v: no stacks: %s", err, stacks)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("ended by %v, not with the exit code of Go", err)
	}
	has(t, filepath.Join(dir, "out"), "old")
	if got := tracetest.Names(t, dir); got != "out" {
		t.Error(got)
	}
}

// TestSignals_Listed: a signal that comes when a file has its name and is not listed yet, waits until
// it is.
func TestSignals_Listed(t *testing.T) {
	cmd, out, dir := writing(t, "list")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "part")); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // it has arrived
	if n, err := io.ReadFull(out, make([]byte, longEntry)); err != nil {
		t.Errorf("%d octets of the entry are there: %v", n, err)
	}
	killed(t, cmd, syscall.SIGTERM)
	has(t, filepath.Join(dir, "part"), "half")
	has(t, filepath.Join(dir, "out"), "old")
}

// refuse has the kernel refuse a call to all threads, for good.
func refuse(call uint32) error {
	const loadWord, jumpEqual, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{
		{Code: loadWord, K: 0}, // the number of the call
		{Code: jumpEqual, K: call, Jf: 1},
		{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: answer, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return e
	}
	return nil
}

// TestSignals_Refused: a process that enters the sandbox while a signal comes has a descriptor of itself, and may
// not use it. It ends by the signal all the same, and not as if it had found something.
func TestSignals_Refused(t *testing.T) {
	cmd, out, _ := writing(t, "refused")
	line(t, out, "ready")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	killed(t, cmd, syscall.SIGTERM)
}

// TestCatch_Twice: a signal that is sent twice, as timeout does to its child and to the group of it, is one.
func TestCatch_Twice(t *testing.T) {
	if signal.Ignored(syscall.SIGINT) {
		t.Skip("inherited")
	}
	now := time.Now()
	for s, want := range map[os.Signal]bool{os.Interrupt: true, syscall.SIGHUP: true, syscall.SIGTERM: false} {
		l := lastCaught{[]os.Signal{os.Interrupt, syscall.SIGHUP}, now}
		if got := l.again(s); got != want && time.Since(now) < sameSignal {
			t.Error(s, got)
		}
		if l.at = now.Add(-sameSignal); l.again(s) {
			t.Errorf("%v: the time is over", s)
		}
	}
	for range 3 { // a processor that is busy may take longer than the time
		cmd, out, _ := writing(t, "catch")
		line(t, out, "ready")
		sent := time.Now()
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		line(t, out, "caught")
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		took := time.Since(sent)
		time.Sleep(2 * sameSignal)
		if err := cmd.Process.Signal(syscall.Signal(0)); err == nil && !zombie(t, cmd.Process.Pid) {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return
		}
		if took < sameSignal/2 {
			t.Fatal("the process has ended")
		}
	}
	t.Skip("too busy")
}

// zombie reports whether a child has ended, and nobody has waited for it.
func zombie(t *testing.T, pid int) bool {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(b), ") Z ")
}

// TestCatch_First: a signal that is caught ends nothing; the second one does.
func TestCatch_First(t *testing.T) {
	if signal.Ignored(syscall.SIGINT) {
		t.Skip("inherited")
	}
	cmd, out, dir := writing(t, "catch")
	line(t, out, "ready")
	for _, want := range []string{"caught", ""} {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			line(t, out, want)
			time.Sleep(2 * sameSignal) // else it would be the same one
		}
	}
	killed(t, cmd, syscall.SIGINT)
	if got := tracetest.Names(t, dir); got != "out" {
		t.Error(got)
	}
}

// TestFile_ReaderGoes: that nobody reads standard output any more does not keep a file from
// being written.
func TestFile_ReaderGoes(t *testing.T) {
	cmd, out, dir := writing(t, "pipe")
	out.Close()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended by %v", err)
	}
	has(t, filepath.Join(dir, "out"), "half")
}

// TestCatch_Stops: when nothing is left to do, signals do what they did before.
func TestCatch_Stops(t *testing.T) {
	stop := Catch(func() bool { return true }, syscall.SIGUSR1)
	stop()
	stop()
	leftovers.mu.Lock()
	defer leftovers.mu.Unlock()
	if leftovers.signals != nil || len(leftovers.catches) > 0 {
		t.Error("signals are still caught")
	}
}
