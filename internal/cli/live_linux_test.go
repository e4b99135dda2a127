package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live/livetest"
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
	limit := time.AfterFunc(2*timeout, func() {
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
				"; 1 connection, 1 with iWARP, 74 PDUs")
			sameFrames(t, kept, frames)
			valid(t, []byte(l.out.String()))
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
			tables = asLive(tables, kept)
			all, verdicts := withoutVerdicts(l.out.String())
			sameText(t, "lines and tables", all, lines+"\n"+tables)
			if len(verdicts) != 1 || !strings.Contains(verdicts[0], "-- conn 0 ended: fin by initiator, 72 segments") {
				t.Errorf("verdicts %q", verdicts)
			}
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
	if d := time.Since(start); d < time.Second || d > timeout {
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
				want = asLive(results(t, "analyze", kept), kept)
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
	if !strings.Contains(out.String(), "Capture: live capture (0 dropped by the kernel), 0 frames") {
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

// inNamespace prepares a shell command, to be run later and from any goroutine:
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
	if names, _ := completeInterfaces(nil, nil, ""); strings.Join(names, " ") != "iwdA any" {
		t.Errorf("completed to %s", names)
	}
}

// withoutVerdicts takes the lines about connections that ended out of what live prints.
func withoutVerdicts(out string) (rest string, verdicts []string) {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if strings.Contains(line, " -- conn ") && strings.Contains(line, " ended: ") {
			verdicts = append(verdicts, line)
		} else {
			b.WriteString(line)
		}
	}
	return b.String(), verdicts
}

// TestCheckLive_Interface checks what comes on an interface until --duration ends it, with the
// findings and the exit code of check of the file.
func TestCheckLive_Interface(t *testing.T) {
	frames := readFrames(t, "../../testdata/pcaps/term-wbadkey.pcap")
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	t.Chdir(t.TempDir())
	out, errs := newOutput(), newOutput()
	go func() {
		if errs.waitFor(func(s string) bool { return strings.Contains(s, "capturing on") }) {
			sendAll(send, frames)
		}
	}()
	code := Run(&IOStreams{Out: out, Err: errs}, []string{"check", "--live", livetest.Near, "--duration", "2s"})
	if code != exitFindings || !strings.Contains(out.String(), "RDMAP-TERM-RSVD-01  frame 12 r2i") || !strings.Contains(out.String(), "\n1 error, 2 warnings") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// asLive are the tables of a file as live prints them.
func asLive(tables, file string) string {
	tables = strings.Replace(tables, file+":", "iwdA:", 1)
	format := strings.TrimPrefix(filepath.Ext(file), ".")
	return strings.Replace(tables, "Capture: "+format+",", "Capture: live capture (0 dropped by the kernel),", 1)
}
