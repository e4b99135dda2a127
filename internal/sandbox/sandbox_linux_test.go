package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// inside in the environment makes the test a program that enters the sandbox and tries things. It
// is the folder that is used.
const inside = "SANDBOX_INSIDE"

// accepting in the environment lets it take connections.
const accepting = "SANDBOX_ACCEPTING"

func TestMain(m *testing.M) {
	if folder := os.Getenv(inside); folder != "" {
		program(folder)
		return
	}
	os.Exit(m.Run())
}

// layout are the files of a test, below a folder.
type layout struct {
	folder string
	accept bool
}

func (l layout) in() string      { return filepath.Join(l.folder, "in.pcap") }
func (l layout) link() string    { return filepath.Join(l.folder, "link.pcap") }
func (l layout) planted() string { return filepath.Join(l.folder, "planted") }
func (l layout) out() string     { return filepath.Join(l.folder, "out", "report.json") }
func (l layout) fill() string    { return filepath.Join(l.folder, "fill") }

func (l layout) policy() Policy {
	return Policy{Read: []string{l.in(), l.link(), filepath.Join(l.folder, "not there")}, Write: []string{l.out()}, Fill: []string{l.fill()}, Accept: l.accept}
}

// program tries everything in a sandbox, says what came of it, and ends with its input.
func program(folder string) {
	// Threads that were there before are in the sandbox as well.
	tries := make(chan func())
	for range 3 {
		go func() {
			runtime.LockOSThread()
			for f := range tries {
				f()
			}
		}()
	}
	l := layout{folder, os.Getenv(accepting) != ""}
	listening := listen()
	state, err := Enter(l.policy())
	got := map[string]string{"enter": result(err), "state": state.String()}
	for name, try := range attempts(l, listening) {
		done := make(chan struct{})
		tries <- func() {
			got[name] = result(try())
			close(done)
		}
		<-done
	}
	_ = json.NewEncoder(os.Stdout).Encode(got)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// result is the name of an error number.
func result(err error) string {
	var n syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &n):
		return unix.ErrnoName(n)
	}
	return err.Error()
}

// attempts are what is tried.
func attempts(l layout, listening int) map[string]func() error {
	read := func(name string) func() error {
		return func() error {
			_, err := os.ReadFile(name)
			return err
		}
	}
	create := func(name string) func() error {
		return func() error { return os.WriteFile(name, []byte("new"), 0o600) }
	}
	call := func(number uintptr, args ...uintptr) func() error {
		return func() error {
			var a [6]uintptr
			copy(a[:], args)
			if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
				return errno
			}
			return nil
		}
	}
	socket := func(family, kind int) func() error {
		return func() error {
			_, err := unix.Socket(family, kind, 0)
			return err
		}
	}
	var octet [1]byte
	made := filepath.Join(filepath.Dir(l.out()), "made")
	return map[string]func() error{
		"read an input":           read(l.in()),
		"read an input by a link": read(l.link()),
		"read a planted file":     read(l.planted()),
		"read /etc/passwd":        read("/etc/passwd"),
		"read the environment":    read("/proc/self/environ"),
		"list a folder": func() error {
			_, err := os.ReadDir(l.folder)
			return err
		},
		"write an input":              create(l.in()),
		"write a planted file":        create(l.planted()),
		"truncate a planted file":     func() error { return os.Truncate(l.planted(), 0) },
		"remove a planted file":       func() error { return os.Remove(l.planted()) },
		"make a file elsewhere":       create(filepath.Join(l.folder, "other")),
		"make a folder for outputs":   func() error { return os.Mkdir(made+".d", 0o700) },
		"make a link among outputs":   func() error { return os.Symlink("/etc/passwd", made+".link") },
		"make an output, and name it": func() error { return errors.Join(create(made)(), os.Rename(made, l.out())) },
		"make and remove an output":   func() error { return errors.Join(create(made+"2")(), os.Remove(made+"2")) },
		"read an output":              func() error { return errors.Join(create(made+"3")(), read(made+"3")()) },
		"move an output elsewhere":    func() error { return errors.Join(create(made+"4")(), os.Rename(made+"4", l.planted())) },
		"link a file in a folder":     func() error { return fillFolder(l.fill()) },
		"run a program": func() error {
			_, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
			return err
		},
		"run a program by the system": func() error { return unix.Exec("/bin/true", []string{"true"}, nil) },
		"make a process":              call(unix.SYS_CLONE, uintptr(unix.SIGCHLD)),
		"connect by IP":               socket(unix.AF_INET, unix.SOCK_STREAM),
		"connect by UDP":              socket(unix.AF_INET6, unix.SOCK_DGRAM),
		"connect by a local socket":   socket(unix.AF_UNIX, unix.SOCK_STREAM),
		"take a connection": func() error {
			_, _, err := unix.Accept4(listening, 0)
			return err
		},
		"capture":                      socket(unix.AF_PACKET, unix.SOCK_RAW),
		"signal the parent":            func() error { return unix.Kill(os.Getppid(), 0) },
		"signal all":                   func() error { return unix.Kill(-1, 0) },
		"signal itself":                func() error { return unix.Kill(os.Getpid(), 0) },
		"signal itself as os does":     signalSelf,
		"trace":                        call(unix.SYS_PTRACE, unix.PTRACE_TRACEME),
		"mount":                        func() error { return unix.Mount("none", l.folder, "tmpfs", 0, "") },
		"enter a namespace":            func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"load a filter into a kernel":  call(unix.SYS_BPF),
		"watch events":                 call(unix.SYS_PERF_EVENT_OPEN),
		"io_uring":                     call(unix.SYS_IO_URING_SETUP),
		"keys":                         call(unix.SYS_KEYCTL),
		"a file in memory":             call(unix.SYS_MEMFD_CREATE, uintptr(unsafe.Pointer(&octet[0])), 0),
		"read memory of a process":     call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid())),
		"load a module":                call(unix.SYS_INIT_MODULE),
		"make memory code":             func() error { return executable(0) },
		"get memory for code":          func() error { return executable(unix.PROT_EXEC) },
		"type on the terminal":         call(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&octet[0]))),
		"get memory":                   func() error { return anonymous(unix.PROT_READ | unix.PROT_WRITE) },
		"start a thread":               startThread,
		"clone3 is not in this kernel": call(unix.SYS_CLONE3),
	}
}

func fillFolder(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), root.Link(".part", "whole"), root.Remove(".part"))
}

// listen opens a socket that listens, and to which nobody connects.
func listen() int {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err == nil {
		err = errors.Join(unix.Bind(s, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(s, 1))
	}
	if err != nil {
		panic(err)
	}
	return s
}

func signalSelf() error {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return p.Signal(syscall.SIGURG)
}

func anonymous(protection int) error {
	b, err := unix.Mmap(-1, 0, 4096, protection, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	return unix.Munmap(b)
}

// executable asks for memory that is code, at once or later.
func executable(atOnce int) error {
	b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|atOnce, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	return unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC)
}

func startThread() error {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		close(done)
	}()
	<-done
	return nil
}

// files are what attempts give that Landlock refuses.
var files = map[string]string{
	"read a planted file": "EACCES", "read /etc/passwd": "EACCES", "read the environment": "EACCES", "list a folder": "EACCES",
	"write an input": "EACCES", "write a planted file": "EACCES", "remove a planted file": "EACCES",
	"make a file elsewhere": "EACCES", "make a folder for outputs": "EACCES", "make a link among outputs": "EACCES", "read an output": "EACCES",
	"move an output elsewhere": "EACCES",
}

// calls are what attempts give that a filter refuses.
var calls = map[string]string{
	"run a program": "EPERM", "run a program by the system": "EPERM", "make a process": "EPERM",
	"connect by IP": "EPERM", "connect by UDP": "EPERM", "connect by a local socket": "EPERM", "take a connection": "EPERM", "capture": "EPERM",
	"signal the parent": "EPERM", "signal all": "EPERM", "trace": "EPERM", "mount": "EPERM", "enter a namespace": "EPERM",
	"load a filter into a kernel": "EPERM", "watch events": "EPERM", "io_uring": "EPERM", "keys": "EPERM", "a file in memory": "EPERM",
	"read memory of a process": "EPERM", "load a module": "EPERM", "make memory code": "EPERM", "get memory for code": "EPERM",
	"type on the terminal": "EPERM", "clone3 is not in this kernel": "ENOSYS",
}

// allowed are what works in the sandbox.
var allowed = []string{
	"enter", "read an input", "read an input by a link", "make an output, and name it", "make and remove an output",
	"link a file in a folder", "signal itself", "signal itself as os does", "get memory", "start a thread",
}

// need says what a test needs of the kernel. It is skipped without, unless the kernel has it.
func need(t *testing.T) State {
	t.Helper()
	s := Supported()
	if lsm, err := os.ReadFile("/sys/kernel/security/lsm"); err == nil && strings.Contains(string(lsm), "landlock") && s.Landlock == 0 {
		t.Fatal("the kernel has Landlock, and the sandbox does not find it")
	}
	t.Logf("this kernel has: %s", s)
	if s == (State{}) {
		t.Skip("no Landlock, no seccomp")
	}
	return s
}

// newLayout makes the files.
func newLayout(t *testing.T) layout {
	t.Helper()
	l := layout{folder: t.TempDir()}
	for _, name := range []string{l.in(), l.planted()} {
		if err := os.WriteFile(name, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{filepath.Dir(l.out()), l.fill()} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("in.pcap", l.link()); err != nil {
		t.Fatal(err)
	}
	return l
}

// enter runs the program, and returns what it got. It is there until the test ends.
func enter(t *testing.T, l layout) (got map[string]string, pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), inside+"="+l.folder)
	if l.accept {
		cmd.Env = append(cmd.Env, accepting+"=yes")
	}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return got, cmd.Process.Pid
}

// TestEnter_Accept: a process that answers takes connections, and still makes none.
func TestEnter_Accept(t *testing.T) {
	need(t)
	l := newLayout(t)
	l.accept = true
	got, _ := enter(t, l)
	for name, want := range map[string]string{"take a connection": "EAGAIN", "connect by IP": "EPERM", "connect by a local socket": "EPERM"} {
		if !Supported().Seccomp && want == "EPERM" {
			continue
		}
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
}

// TestEnter: a planted file outside cannot be opened, nothing can be run, reached or traced, and
// what the policy names works, from threads that were there before.
func TestEnter(t *testing.T) {
	s := need(t)
	l := newLayout(t)
	got, pid := enter(t, l)
	if got["state"] != s.String() {
		t.Errorf("in force: %s; the kernel has %s", got["state"], s)
	}
	want := map[string]string{}
	for _, name := range allowed {
		want[name] = "ok"
	}
	if s.Landlock > 0 {
		for name, result := range files {
			want[name] = result
		}
	}
	if s.Landlock >= 3 {
		want["truncate a planted file"] = "EACCES"
	}
	if s.Seccomp {
		for name, result := range calls {
			want[name] = result
		}
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s, want %s", name, got[name], want[name])
		}
	}
	if b, err := os.ReadFile(l.planted()); s.Landlock >= 3 && (err != nil || string(b) != "secret") {
		t.Errorf("the planted file has %q, %v", b, err)
	}
	for task, fields := range statuses(t, pid) {
		want := map[string]string{"NoNewPrivs": "1", "CapPrm": none, "CapEff": none}
		if s.Seccomp {
			want["Seccomp"] = "2"
		}
		for name, v := range want {
			if fields[name] != v {
				t.Errorf("thread %s: %s is %s, want %s", task, name, fields[name], v)
			}
		}
	}
}

const none = "0000000000000000"

// statuses are what the kernel says of the threads of a process.
func statuses(t *testing.T, pid int) map[string]map[string]string {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(names) < 3 {
		t.Fatal(names, err)
	}
	all := map[string]map[string]string{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		all[name] = map[string]string{}
		for line := range strings.Lines(string(b)) {
			if key, v, ok := strings.Cut(line, ":"); ok {
				all[name][key] = strings.TrimSpace(v)
			}
		}
	}
	return all
}

// TestEnter_OfOthers: root keeps the capabilities without which it could not open the files of
// another user, and no others.
func TestEnter_OfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	need(t)
	l := newLayout(t)
	const nobody = 65534
	for _, name := range []string{l.in(), filepath.Dir(l.out())} {
		if err := os.Chown(name, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(l.out(), []byte("older"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(l.out(), nobody, nobody); err != nil {
		t.Fatal(err)
	}
	got, pid := enter(t, l)
	for _, name := range allowed {
		if got[name] != "ok" {
			t.Errorf("%s: %s", name, got[name])
		}
	}
	has := uint64(1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_CHOWN | 1<<unix.CAP_FOWNER)
	for task, fields := range statuses(t, pid) {
		if n, err := strconv.ParseUint(fields["CapEff"], 16, 64); err != nil || n != has {
			t.Errorf("thread %s has the capabilities %x, want %x", task, n, has)
		}
	}
}

// TestProgram: the filter is one that the kernel takes, and refuses each call once.
func TestProgram(t *testing.T) {
	if len(denied) == 0 {
		t.Skip("no filter for this machine")
	}
	seen := map[uint32]int{}
	for _, list := range [][]uint32{common, denied} {
		for _, n := range list {
			seen[n]++
		}
	}
	for _, c := range byArgument(false) {
		seen[c.number]++
	}
	for n, times := range seen {
		if times != 1 {
			t.Errorf("call %d is listed %d times", n, times)
		}
	}
	if n := len(filter(false)); n > 4096 {
		t.Errorf("%d instructions", n)
	}
}

// TestState: what is in force is said in words.
func TestState(t *testing.T) {
	got := []string{State{}.String(), State{Landlock: 7}.String(), State{Seccomp: true}.String(), State{7, true}.String()}
	want := []string{"none on this system", "Landlock (ABI 7)", "seccomp", "Landlock (ABI 7), seccomp"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
