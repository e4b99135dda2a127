package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live/livetest"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// liveRun is a live capture under test. Run must stay on the goroutine of the
// test, whose thread is the one in the namespace; what goes on meanwhile is in
// functions that run beside it.
type liveRun struct {
	out, errs *output
	s         *IOStreams
	code      int
}

// during runs live and, once it captures, do beside it. When do returns the
// capture is interrupted.
func during(t *testing.T, l *liveRun, do func(), args ...string) {
	t.Helper()
	beside(t, l, do, true, args...)
}

func beside(t *testing.T, l *liveRun, do func(), interrupt bool, args ...string) {
	t.Helper()
	l.out, l.errs = newOutput(), newOutput()
	if l.s == nil {
		l.s = &IOStreams{}
	}
	if l.s.Out == nil {
		l.s.Out = l.out
	}
	l.s.Err = l.errs
	ctx, cancel := context.WithCancel(context.Background())
	// A capture that never ends is a failure, not a test that hangs.
	limit := time.AfterFunc(2*patience, func() {
		t.Error("the capture did not end")
		cancel()
	})
	defer limit.Stop()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		if interrupt {
			defer cancel()
		}
		if !l.errs.waitFor(func(s string) bool { return strings.Contains(s, "capturing on") }) {
			t.Errorf("no capture: %s", l.errs)
		} else {
			do()
		}
	}()
	l.code = runContext(ctx, l.s, append([]string{"live"}, args...))
	wg.Wait()
	cancel()
}

// expect checks exit code and last words.
func (l *liveRun) expect(t *testing.T, code int, words ...string) {
	t.Helper()
	if l.code != code {
		t.Errorf("exit code %d, want %d: %s", l.code, code, l.errs)
	}
	for _, w := range words {
		if !strings.Contains(l.errs.String(), w) {
			t.Errorf("want %q in: %s", w, l.errs)
		}
	}
}

func sendAll(send func([]byte), frames []capture.Frame) {
	for i := range frames {
		send(frames[i].Data)
	}
}

// sameFrames checks that a file has the frames that were sent.
func sameFrames(t *testing.T, path string, want []capture.Frame) {
	t.Helper()
	got := readFrames(t, path)
	for i := range min(len(got), len(want)) {
		g, w := &got[i], &want[i]
		if !bytes.Equal(g.Data, w.Data) || g.OrigLen != w.OrigLen || g.Link != w.Link {
			t.Fatalf("%s: frame %d:\n got %x (%d octets, %v)\nwant %x (%d octets, %v)",
				path, i+1, g.Data, g.OrigLen, g.Link, w.Data, w.OrigLen, w.Link)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s has %d frames, want %d", path, len(got), len(want))
	}
}

// timeless takes out of records what differs between two captures of the same
// traffic.
func timeless(t *testing.T, records string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(records) {
		var r any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		text, err := json.Marshal(withoutTimes(r))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

func withoutTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if k == "time" || strings.HasSuffix(k, "_time") || strings.HasSuffix(k, "_ns") ||
				strings.HasPrefix(k, "latency") || k == "duration" {
				delete(v, k)
				continue
			}
			v[k] = withoutTimes(v[k])
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return v
}

// sameText fails at the first line that differs.
func sameText(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s, line %d:\n got %swant %s", what, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(g)-1, len(w)-1)
}

func TestLive_SameAsFile(t *testing.T) {
	path, frames := sample(t)
	for _, name := range []string{"kept.pcap", "kept.pcapng"} {
		t.Run("ndjson "+name, func(t *testing.T) {
			livetest.Veth(t)
			send := livetest.Sender(t, false)
			kept := filepath.Join(t.TempDir(), name)
			var l liveRun
			// The end comes when most frames are still in the ring.
			during(t, &l, func() { sendAll(send, frames) }, "-w", kept, "--format", "ndjson", livetest.Near)
			l.expect(t, exitOK, "92 frames captured on iwdA in ", "kept in "+kept, "0 dropped by the kernel",
				"1 TCP connections, 1 with iWARP, 74 PDUs")
			sameFrames(t, kept, frames)
			sameText(t, "the file that was kept", l.out.String(), results(t, "dissect", "--format", "ndjson", kept))
			sameText(t, "the file that was sent", timeless(t, l.out.String()),
				timeless(t, results(t, "dissect", "--format", "ndjson", path)))
		})
		t.Run("text "+name, func(t *testing.T) {
			livetest.Veth(t)
			send := livetest.Sender(t, false)
			kept := filepath.Join(t.TempDir(), name)
			var l liveRun
			during(t, &l, func() { sendAll(send, frames) }, "-V", "-x", "--color", "always", "-w", kept, livetest.Near)
			l.expect(t, exitOK)
			sameFrames(t, kept, frames)
			lines := results(t, "dissect", "-V", "-x", "--color", "always", kept)
			tables := results(t, "analyze", "--color", "always", kept)
			tables = strings.Replace(tables, kept+": "+strings.TrimPrefix(filepath.Ext(name), "."),
				"iwdA: live capture (0 dropped by the kernel)", 1)
			sameText(t, "lines and tables", l.out.String(), lines+"\n"+tables)
		})
	}
}

func TestLive_LinesWhileFramesCome(t *testing.T) {
	path, frames := sample(t)
	lines := results(t, "dissect", "--format", "ndjson", path)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	frames = frames[:12]
	var wanted [12]int
	for i := range frames {
		wanted[i] = strings.Count(upTo(t, lines, frames[i].Number), "\n")
	}
	var l liveRun
	during(t, &l, func() {
		for i, want := range wanted {
			send(frames[i].Data)
			if !l.out.waitFor(func(s string) bool { return strings.Count(s, "\n") >= want }) {
				t.Errorf("after frame %d there are not %d lines: %s", i+1, want, l.out)
				return
			}
			if info, err := os.Stat(kept); err != nil || info.Size() < int64(len(frames[i].Data)) {
				t.Errorf("the file lags behind: %v, %v", info, err)
			}
			// What is shown is in the file.
			if n := len(readFrames(t, kept)); n != i+1 {
				t.Errorf("%d frames in the file when %d were shown", n, i+1)
			}
		}
	}, "--format", "ndjson", "-w", kept, livetest.Near)
	l.expect(t, exitOK, "12 frames captured")
}

func TestLive_Count(t *testing.T) {
	_, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	var l liveRun
	beside(t, &l, func() { sendAll(send, frames) }, false, "-c", "10", "-w", kept, "-i", livetest.Near)
	l.expect(t, exitOK, "10 frames captured")
	sameFrames(t, kept, frames[:10])
}

func TestLive_Duration(t *testing.T) {
	_, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	start := time.Now()
	var l liveRun
	beside(t, &l, func() { sendAll(send, frames) }, false, "--duration", "1s", "-w", kept, livetest.Near)
	if d := time.Since(start); d < time.Second || d > patience {
		t.Errorf("it took %v", d)
	}
	l.expect(t, exitOK, "92 frames captured")
	sameFrames(t, kept, frames)
}

func TestLive_SummaryOnly(t *testing.T) {
	_, frames := sample(t)
	for _, format := range []string{"text", "ndjson"} {
		t.Run(format, func(t *testing.T) {
			livetest.Veth(t)
			send := livetest.Sender(t, false)
			kept := filepath.Join(t.TempDir(), "kept.pcapng")
			var l liveRun
			during(t, &l, func() { sendAll(send, frames) }, "--summary-only", "--format", format, "-w", kept, livetest.Near)
			l.expect(t, exitOK)
			want := results(t, "dissect", "--format", "ndjson", "--records", "connection", kept)
			if format == "text" {
				want = strings.Replace(results(t, "analyze", kept), kept+": pcapng",
					"iwdA: live capture (0 dropped by the kernel)", 1)
			}
			sameText(t, format, l.out.String(), want)
		})
	}
}

func TestLive_Quiet(t *testing.T) {
	livetest.Veth(t)
	var out, errs bytes.Buffer
	if code := Run(&IOStreams{Out: &out, Err: &errs}, []string{"live", "-q", "--duration", "100ms", livetest.Near}); code != exitOK || errs.Len() > 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if !strings.Contains(out.String(), "iwdA: live capture (0 dropped by the kernel), 0 frames") {
		t.Errorf("got %s", out.String())
	}
}

func TestLive_Promiscuous(t *testing.T) {
	for want, args := range map[string][]string{
		"promiscuity 1": {livetest.Near},
		"promiscuity 0": {livetest.Near, "-p"},
	} {
		t.Run(want, func(t *testing.T) {
			livetest.Veth(t)
			look := inNamespace(t, "ip -d link show "+livetest.Near)
			var l liveRun
			during(t, &l, func() {
				if seen := look(); !strings.Contains(seen, want) {
					t.Errorf("not %s: %s", want, seen)
				}
			}, args...)
			l.expect(t, exitOK)
		})
	}
}

// inNamespace readies a shell command, to be run later and from any goroutine:
// a process gets into the namespace only if the thread of the test starts it.
func inNamespace(t *testing.T, command string) (run func() string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "read go; "+command)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		if _, err := start.Write([]byte("go\n")); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v: %s", command, err, out.String())
		}
		return out.String()
	}
}

func TestLive_List(t *testing.T) {
	livetest.Veth(t)
	livetest.IP(t, "addr add 10.9.8.7/24 dev "+livetest.Near)
	livetest.IP(t, "link set "+livetest.Far+" down")
	table := results(t, "live", "--list")
	for _, line := range []string{
		`(?m)^interface +state +MTU +link address +addresses$`,
		`(?m)^lo +down +65536 +(-|00:00:00:00:00:00) +-$`,
		`(?m)^iwdA +up +9000 +([0-9a-f]{2}:){5}[0-9a-f]{2} +10\.9\.8\.7/24$`,
		`(?m)^iwdB +down +9000 +([0-9a-f]{2}:){5}[0-9a-f]{2} +-$`,
	} {
		if !regexp.MustCompile(line).MatchString(table) {
			t.Errorf("no line %s in:\n%s", line, table)
		}
	}
	var doc struct {
		Schema     string
		Interfaces []listed
	}
	if err := json.Unmarshal([]byte(results(t, "live", "-D", "--format", "json")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "iwdissect/1" || len(doc.Interfaces) < 3 {
		t.Fatalf("got %+v", doc)
	}
	for _, i := range doc.Interfaces {
		up, addrs := "down", ""
		if i.Name == livetest.Near {
			up, addrs = "up", "10.9.8.7/24"
		}
		if i.State != up || strings.Join(i.Addresses, " ") != addrs || i.Loopback != (i.Name == "lo") {
			t.Errorf("got %+v", i)
		}
	}
	if names := strings.Join(interfaceNames(nil), " "); names != "iwdA any" {
		t.Errorf("completed to %s", names)
	}
}

func TestLive_Failures(t *testing.T) {
	livetest.Veth(t)
	livetest.IP(t, "link set "+livetest.Near+" down")
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	if err := os.WriteFile(kept, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"-w " + kept + " foo0", `iwdissect: no such interface "foo0" (see iwdissect live --list)`},
		{"-w " + kept + " iwdA", `iwdissect: interface "iwdA" is down (bring it up with: ip link set iwdA up)`},
		{"-w /nowhere/x.pcap iwdB", "iwdissect: open /nowhere/x.pcap: no such file or directory"},
		{"-w /dev/full iwdB", "iwdissect: write /dev/full: no space left on device"},
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
	l.expect(t, exitInput, `iwdissect: interface "iwdA" went down or was removed`, "92 frames captured")
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
	sent := make(chan struct{})
	out := newOutput()
	l := liveRun{s: &IOStreams{Out: hook(func(b []byte) (int, error) {
		<-sent // as slow as a terminal that was stopped
		return out.Write(b)
	})}}
	during(t, &l, func() {
		for range rounds {
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
	l.expect(t, exitInput, "write "+pipe+": broken pipe", "frames captured")
	if strings.Contains(l.errs.String(), "kept in") {
		t.Errorf("it claims to have kept the frames: %s", l.errs)
	}
	if !strings.Contains(l.out.String(), "iwdA: live capture") {
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
	case <-time.After(patience):
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
