package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

func TestLive_Failures(t *testing.T) {
	livetest.Veth(t)
	livetest.IP(t, "link set "+livetest.Near+" down")
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	if err := os.WriteFile(kept, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"-w " + kept + " foo0", `iwdissect live: no such interface "foo0" (see iwdissect live --list)`},
		{"-w " + kept + " iwdA", `iwdissect live: interface "iwdA" is down (bring it up with: ip link set iwdA up)`},
		{"-w /nowhere/x.pcap iwdB", "iwdissect live: /nowhere/x.pcap is not written: no such file or directory: make its folder first"},
		{"-w /dev/full iwdB", "iwdissect live: /dev/full cannot be written any further: no space left on device: make room, or write elsewhere"},
	} {
		var out, errs bytes.Buffer
		code := Run(&IOStreams{Out: &out, Err: &errs}, append([]string{"live"}, strings.Fields(tt.args)...))
		if code != exitInput || strings.TrimSpace(errs.String()) != tt.want || out.Len() > 0 {
			t.Errorf("live %s: exit code %d: %s%s", tt.args, code, errs.String(), out.String())
		}
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "dear" {
		t.Errorf("a capture that did not start has overwritten the file: %q, %v", b, err)
	}
}

func TestLive_InterfaceGoes(t *testing.T) {
	path, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	remove := inNamespace(t, "ip link del "+livetest.Near)
	var l liveRun
	beside(t, &l, func() {
		sendAll(send, frames)
		remove()
	}, false, "--format", "ndjson", "-w", kept, livetest.Near)
	l.expect(t, exitInput, `iwdissect live: interface "iwdA" went down or was removed`, "92 frames captured")
	sameFrames(t, kept, frames)
	sameText(t, "what was captured before", timeless(t, l.out.String()),
		timeless(t, results(t, "dissect", "--format", "ndjson", path)))
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// hook is a stream that calls a function with what is written to it.
type hook func([]byte) (int, error)

func (h hook) Write(b []byte) (int, error) { return h(b) }

func TestLive_DropsAreTold(t *testing.T) {
	_, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, true)
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	const rounds = 100 // several times what the smallest ring holds
	var stops sync.Once
	stopped, sent := make(chan struct{}), make(chan struct{})
	out := newOutput()
	l := liveRun{s: &IOStreams{Out: hook(func(b []byte) (int, error) {
		stops.Do(func() { close(stopped) })
		<-sent // as slow as a terminal that was stopped
		return out.Write(b)
	})}}
	during(t, &l, func() {
		sendAll(send, frames)
		<-stopped
		for range rounds - 1 {
			sendAll(send, frames)
		}
		close(sent)
		l.errs.waitFor(func(s string) bool { return strings.Contains(s, "so far") })
	}, "--ring-size", "1", "-w", kept, livetest.Near)
	l.expect(t, exitOK, "frames were dropped by the kernel so far")
	m := regexp.MustCompile(`live capture \(([1-9]\d*) dropped by the kernel\), (\d+) frames`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("no drops in the summary: %s", l.errs)
	}
	if n := len(readFrames(t, kept)); n+number(t, m[1]) != rounds*len(frames) || n != number(t, m[2]) {
		t.Errorf("%d frames in the file, %s shown and %s dropped of %d", n, m[2], m[1], rounds*len(frames))
	}
	if !strings.Contains(l.errs.String(), ", "+m[1]+" dropped by the kernel; ") {
		t.Errorf("not %s: %s", m[1], l.errs)
	}
	if n := strings.Count(l.errs.String(), "so far"); n != 1 {
		t.Errorf("%d warnings at once: %s", n, l.errs)
	}
}

func TestLive_ReaderGoes(t *testing.T) {
	_, frames := sample(t)
	for _, tt := range []struct {
		err  error
		code int
	}{
		{syscall.EPIPE, exitOK}, // it has seen enough
		{syscall.ENOSPC, exitInput},
	} {
		t.Run(tt.err.Error(), func(t *testing.T) {
			livetest.Veth(t)
			send := livetest.Sender(t, false)
			kept := filepath.Join(t.TempDir(), "kept.pcap")
			l := liveRun{s: &IOStreams{Out: hook(func([]byte) (int, error) { return 0, tt.err })}}
			beside(t, &l, func() { sendAll(send, frames) }, false, "-w", kept, livetest.Near)
			l.expect(t, tt.code)
			if tt.code != exitOK && strings.Count(l.errs.String(), "no space left on device") != 1 {
				t.Errorf("got %s", l.errs)
			}
			// The capture ends when it is noticed; what came until then is kept.
			if got := readFrames(t, kept); len(got) == 0 || len(got) > len(frames) {
				t.Errorf("%d frames in the file", len(got))
			} else {
				sameFrames(t, kept, frames[:len(got)])
			}
		})
	}
}

func TestLive_FileFails(t *testing.T) {
	_, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	pipe := filepath.Join(t.TempDir(), "kept.pcap")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		f, err := os.Open(pipe)
		if err != nil {
			t.Error(err)
			return
		}
		var header [24]byte
		if n, err := f.Read(header[:]); n != len(header) || err != nil {
			t.Errorf("%d octets of header, %v", n, err)
		}
		f.Close()
	}()
	var l liveRun
	beside(t, &l, func() {
		<-gone
		sendAll(send, frames)
	}, false, livetest.Near, "-w", pipe)
	l.expect(t, exitInput, pipe+" cannot be written any further: broken pipe", "frames captured")
	if strings.Contains(l.errs.String(), "kept in") {
		t.Errorf("it claims to have kept the frames: %s", l.errs)
	}
	if !strings.Contains(l.out.String(), "Capture: live capture") {
		t.Errorf("no summary: %s", l.out)
	}
}

// TestHelper_Main is the program itself, as a process that can be sent
// signals.
func TestHelper_Main(*testing.T) {
	if args := os.Getenv("IWDISSECT_TEST_ARGS"); args != "" {
		os.Args = append([]string{"iwdissect"}, strings.Fields(args)...)
		os.Exit(Main())
	}
}

func program(t *testing.T, args string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelper_Main$")
	cmd.Env = append(os.Environ(), "IWDISSECT_TEST_ARGS="+args)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
	})
	return cmd
}

func TestLive_Signals(t *testing.T) {
	path, frames := sample(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			// Started by nohup, say: the program under test inherits that, and
			// goes on as it should.
			t.Logf("%v is ignored here", sig)
			continue
		}
		t.Run(sig.String(), func(t *testing.T) {
			livetest.Veth(t)
			send := livetest.Sender(t, false)
			cmd := program(t, "live --format ndjson "+livetest.Near)
			out, errs := newOutput(), newOutput()
			cmd.Stdout, cmd.Stderr = out, errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			errs.waitFor(func(s string) bool { return strings.Contains(s, "capturing on") })
			sendAll(send, frames)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			defer stuck.Stop()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, errs)
			}
			sameText(t, "records", timeless(t, out.String()), timeless(t, results(t, "dissect", "--format", "ndjson", path)))
		})
	}
}

func TestLive_SecondSignalKills(t *testing.T) {
	_, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	cmd := program(t, "live -V -x "+livetest.Near)
	unread, stdout, err := os.Pipe() // and so the program gets stuck
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	errs := newOutput()
	cmd.Stdout, cmd.Stderr = stdout, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	errs.waitFor(func(s string) bool { return strings.Contains(s, "capturing on") })
	for range 10 {
		sendAll(send, frames)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the first signal ended a program that has much to say: %v: %s", err, errs)
	case <-time.After(500 * time.Millisecond):
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	select {
	case err := <-ended:
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
			t.Errorf("ended with %v: %s", err, errs)
		}
	case <-time.After(timeout):
		t.Error("a second signal does not end the program")
	}
}

// TestLive_BrokenPipe has the reader of standard output go away, which kills
// most programs: here there are frames to keep.
func TestLive_BrokenPipe(t *testing.T) {
	_, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcapng")
	cmd := program(t, "live -w "+kept+" "+livetest.Near)
	closed, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	errs := newOutput()
	cmd.Stdout, cmd.Stderr = stdout, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	errs.waitFor(func(s string) bool { return strings.Contains(s, "capturing on") })
	sendAll(send, frames)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, errs)
	}
	if got := readFrames(t, kept); len(got) == 0 || got[0].Link != pcapng.Ethernet {
		t.Errorf("%d frames were kept", len(got))
	}
}
