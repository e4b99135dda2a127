package cli

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/view"
	"github.com/iwdissect/iwdissect/internal/view/viewtest"
)

var update = flag.Bool("update", false, "write the screens of docs/view.md anew")

// viewed shows what a command line of view asks for on a terminal of a test.
func viewed(t *testing.T, o *viewOptions, width, height int, args ...string) *viewtest.Terminal {
	t.Helper()
	opt, err := o.options()
	if err != nil {
		t.Fatal(err)
	}
	opt.Sums = true
	src, _, err := o.source(t.Context(), opt, args)
	if err != nil {
		t.Fatal(err)
	}
	m := view.NewModel(t.Context(), view.NewCapture(*src), false)
	m.Preset(o.display)
	return viewtest.Start(t, m, width, height)
}

// viewing are the flags of view as they are without arguments.
func viewing(in *bytes.Buffer) *viewOptions {
	o := &viewOptions{s: &IOStreams{In: in, Out: new(bytes.Buffer), Err: new(bytes.Buffer), OutTTY: true}, clock: time.Now}
	o.connections, o.reorder = 1000, 1<<20
	return o
}

// The filter of view is that of dissect -Y: the same PDUs match, also where a value becomes known
// later, and where it is of the frame.
func TestView_FilterAgrees(t *testing.T) {
	for _, c := range []struct{ file, filter string }{
		{"term-wbadkey.pcap", `iwarp_rdma.opcode == 0`},
		{"term-wbadkey.pcap", `iwd.rule == "DDP-STAG-02"`},
		{"term-wbadkey.pcap", `tcp.flags.push == 1 && ip.src == 10.1.0.1`},
		{"rping-p2p-read-crc.pcap", `iwd.latency > 0ms`},
		{"generated/spanning.pcapng", `frame.number in {6, 9}`},
		{"generated/loss.pcapng", `iwd.note contains "retransmission"`},
	} {
		path := filepath.Join("../../testdata/pcaps", c.file)
		var out, problems bytes.Buffer
		code := Run(&IOStreams{In: new(bytes.Buffer), Out: &out, Err: &problems}, []string{"dissect", "--no-findings=false", "-2", "-Y", c.filter, path})
		if code != 0 {
			t.Fatalf("%s: %s", c.filter, &problems)
		}
		want := 0
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, " ") && !strings.Contains(line, "-- gap") {
				want++
			}
		}
		o := viewing(nil)
		o.display = c.filter
		x := viewed(t, o, 200, 400, path)
		x.Wait()
		if title := x.Line(" PDUs  1 of "); want > 0 && !strings.Contains(title, " of "+strconv.Itoa(want)+"  that match") {
			t.Errorf("%s of %s: dissect has %d PDUs, view %q", c.filter, c.file, want, title)
		}
	}
}

// What a pipe brings is shown, and may be filtered and followed.
func TestView_Pipe(t *testing.T) {
	b, err := os.ReadFile("../../testdata/pcaps/term-wbadkey.pcap")
	if err != nil {
		t.Fatal(err)
	}
	x := viewed(t, viewing(bytes.NewBuffer(b)), 120, 60, "-")
	x.Wait()
	x.Wants("standard input", "15 frames · 6 PDUs · 1 connection · 1 error, 2 warnings · ended", "═ PDUs  6 of 6  (at the end)", "─ PDU 5, 1448 octets")
	x.Press("/")
	x.Type("iwarp_rdma.opcode == 7")
	x.Press("enter")
	x.Wants("1 of 1  that match the filter", "Terminate msn 1", "frame 12")
	x.Press("f")
	x.Wants("═ Connection 0", "error RDMAP-TERM-RSVD-01")
}

// quiet is a pipe that brings some octets, and then nothing until it is closed.
type quiet struct {
	io.Reader
	closed chan bool
}

func (q *quiet) Read(b []byte) (int, error) {
	n, err := q.Reader.Read(b)
	if err == io.EOF {
		<-q.closed
	}
	return n, err
}

// While a pipe is quiet, what it brought is counted, and a connection that has closed is settled once
// that is long enough ago.
func TestView_QuietPipe(t *testing.T) {
	b, err := os.ReadFile("../../testdata/pcaps/term-wbadkey.pcap")
	if err != nil {
		t.Fatal(err)
	}
	in := &quiet{bytes.NewReader(b), make(chan bool)}
	var later atomic.Int64
	o := viewing(nil)
	o.s.In = in
	o.clock = func() time.Time { return time.Unix(0, later.Load()) }
	x := viewed(t, o, 120, 36, "-")
	x.Until("15 frames · 6 PDUs")
	x.Until("· live")
	x.WantsNot("accepted, rst")
	later.Store(int64(time.Minute))
	x.Until("accepted, rst")
	x.Wants("1 error, 2 warnings · live")
	close(in.closed)
	x.Until("· ended")
	x.Wait()
	x.Wants("15 frames · 6 PDUs · 1 connection · 1 error, 2 warnings")
}

// Frames of an interface are shown while they come; a connection that has closed is settled.
func TestView_Live(t *testing.T) {
	frames := framesOf(t, "../../testdata/pcaps/term-wbadkey.pcap")
	f := &feed{}
	arrived, more := make(chan bool), make(chan bool)
	f.add(0, frames[:8])
	f.items = append(f.items, func() {
		close(arrived)
		<-more
	})
	f.add(time.Millisecond, frames[8:])
	o := viewing(nil)
	o.ifaces, o.iface, o.snapLen, o.ring = []string{"eth0"}, "eth0", live.DefaultSnapLen, live.DefaultRingBytes
	o.tap = func([]live.Options) (tap, error) { return f, nil }
	o.clock = func() time.Time { return time.Unix(0, frames[0].Time) }
	x := viewed(t, o, 120, 36)
	<-arrived
	x.Until("Send msn 1")
	x.Wants("eth0", "· live", "(at the end)")
	close(more)
	x.Until("· ended")
	x.Wait()
	x.Wants("15 frames · 6 PDUs · 1 connection · 1 error, 2 warnings", "Terminate msn 1", "accepted, rst")
}

func TestView_Refuses(t *testing.T) {
	const file = "../../testdata/pcaps/term-wbadkey.pcap"
	for _, c := range []struct {
		name, term string
		tty        bool
		args       []string
		code       int
		says       string
	}{
		{"no terminal", "xterm", false, []string{file}, 2, "view needs a terminal, and standard output is none: 'iwdissect analyze' and 'iwdissect dissect' write text"},
		{"dumb", "dumb", true, []string{file}, 2, `TERM is "dumb"`},
		{"no TERM", "", true, []string{file}, 2, `needs a terminal that can move its cursor`},
		{"no file", "xterm", true, nil, 2, "no capture file given"},
		{"two files", "xterm", true, []string{file, file}, 2, "--join makes one"},
		{"wrong filter", "xterm", true, []string{"-Y", "ip.sr == 1", file}, 2, "did you mean ip.src?"},
		{"capture flag", "xterm", true, []string{"-w", "x.pcap", file}, 2, "--write goes with -i IFACE"},
		{"missing", "xterm", true, []string{"missing.pcap"}, 3, "missing.pcap"},
		{"no capture", "xterm", true, []string{"view_test.go"}, 3, "view_test.go"},
		{"colour", "xterm", true, []string{"--color=blue", file}, 2, "--color takes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TERM", c.term)
			var out, problems bytes.Buffer
			code := Run(&IOStreams{In: new(bytes.Buffer), Out: &out, Err: &problems, OutTTY: c.tty}, append([]string{"view"}, c.args...))
			if code != c.code || !strings.Contains(problems.String(), c.says) || out.Len() > 0 {
				t.Errorf("exit code %d, output %q, errors %q", code, &out, &problems)
			}
		})
	}
}

// TestView_Docs: docs/view.md shows what the program shows. With -update it is written anew.
func TestView_Docs(t *testing.T) {
	const page, picture = "../../docs/view.md", "../../internal/program/testdata/view.ansi"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for name, keys := range map[string][]string{
		"open":      nil,
		"next":      {"n", "n", "n", "tab"},
		"diagnosis": {"2"},
		"follow":    {"n", "n", "f"},
		"complete":  {"/", "i", "p", ".", "s"},
	} {
		x := viewed(t, viewing(nil), 110, 30, "../../testdata/pcaps/term-wbadkey.pcap")
		x.Wait()
		x.Press(keys...)
		begin, end := "<!-- screen "+name+" -->\n```\n", "```\n"
		before, rest, ok := strings.Cut(text, begin)
		_, behind, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no place for the screen %s", page, name)
		}
		text = before + begin + x.Screen() + end + behind
		if name == "next" {
			compareFile(t, picture, x.Painted()+"\n")
		}
	}
	compareFile(t, page, text)
}

// compareFile compares a file with what it is to hold, or writes it with -update.
func compareFile(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(got), want); d != "" {
		t.Errorf("%s (-is +should be); go test ./internal/cli -run TestView_Docs -update, and go generate ./internal/termsvg:\n%s", name, d)
	}
}
