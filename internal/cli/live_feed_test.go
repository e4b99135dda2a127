package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live"
)

// feed is a tap without an interface: it hands out frames, and calls functions when the
// capture is idle.
type feed struct {
	items  []any       // capture.Frame, or func()
	now    int64       // the time of the latest frame
	closed atomic.Bool // Close may come from another goroutine
}

func (f *feed) LinkTypes() []uint16        { return []uint16{live.LinkEthernet} }
func (f *feed) Stats() (live.Stats, error) { return live.Stats{}, nil }
func (f *feed) Release() error             { return nil }
func (f *feed) Close() error {
	f.closed.Store(true)
	return nil
}

func (f *feed) Next(p *live.Packet, wait time.Duration) (bool, error) {
	if f.closed.Load() || len(f.items) == 0 {
		return false, io.EOF
	}
	switch x := f.items[0].(type) {
	case capture.Frame:
		f.items = f.items[1:]
		p.Data, p.Time, p.OrigLen = x.Data, x.Time, x.OrigLen
		f.now = x.Time
		return true, nil
	case func():
		if wait > 0 {
			f.items = f.items[1:]
			x()
		}
	}
	return false, nil
}

// add hands out frames as if they came so long after what came before.
func (f *feed) add(after time.Duration, frames []capture.Frame) {
	for i := len(f.items) - 1; i >= 0; i-- {
		if x, ok := f.items[i].(capture.Frame); ok {
			frames = later(frames, x.Time+int64(after)-frames[0].Time)
			break
		}
	}
	for _, x := range frames {
		f.items = append(f.items, x)
	}
}

func (f *feed) idle(do func()) { f.items = append(f.items, do) }

// later are frames that came so many nanoseconds later.
func later(frames []capture.Frame, ns int64) []capture.Frame {
	out := slices.Clone(frames)
	for i := range out {
		out[i].Time += ns
	}
	return out
}

// run runs live over the feed. The clock shows the time of the latest frame and what slept adds.
func (f *feed) run(t *testing.T, s *IOStreams, slept *time.Duration, args ...string) error {
	t.Helper()
	o := newLiveOptions(s)
	rest := pflagSet(t, o, append(args, "feed0"))
	o.tap = func([]live.Options) (tap, error) { return f, nil }
	o.clock = func() time.Time { return time.Unix(0, f.now).Add(*slept) }
	return o.run(context.Background(), rest)
}

// pflagSet sets the flags of live, and returns the other arguments.
func pflagSet(t *testing.T, o *liveOptions, args []string) []string {
	t.Helper()
	flags := pflag.NewFlagSet("live", pflag.ContinueOnError)
	o.flags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags.Args()
}

// pcap are the frames of one of the captures for tests.
func pcap(t *testing.T, name string) []capture.Frame {
	t.Helper()
	return readFrames(t, filepath.Join("../../testdata/pcaps", name))
}

// scenarioFrames are the frames of a generated trace.
func scenarioFrames(t *testing.T, name string) []capture.Frame {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".pcap")
	results(t, "generate", name, "-o", file)
	return readFrames(t, file)
}

// TestLive_WhenClosed: the findings and the record of a connection, or its verdict, come a second
// after it closed: with the next frame, or by the clock when none comes.
func TestLive_WhenClosed(t *testing.T) {
	for _, format := range []string{"text", "ndjson"} {
		for _, quiet := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, quiet %t", format, quiet), func(t *testing.T) {
				var out bytes.Buffer
				var slept time.Duration
				before, after := "", ""
				// A Read Request that nobody answers: only the end proves it.
				frames := scenarioFrames(t, "RDMAP-READ-PAIR-01")
				f := &feed{}
				f.add(0, frames)
				f.idle(func() { before = out.String() })
				if quiet {
					f.idle(func() { slept = 2 * time.Second })
					f.idle(func() {})
				} else {
					f.add(2*time.Second, pcap(t, "lo-rping-crc.pcap")[:1])
				}
				f.idle(func() { after = out.String() })
				f.add(40*time.Second, pcap(t, "lo-rping-crc.pcap")[1:5])
				s := &IOStreams{Out: &out, Err: io.Discard}
				if err := f.run(t, s, &slept, "--format", format, "-q"); err != nil {
					t.Fatal(err)
				}
				valid(t, out.Bytes())
				for _, want := range map[string][]string{
					"text":   {"RDMAP-READ-PAIR-01", "-- conn 0 ended: fin"},
					"ndjson": {`"rule":"RDMAP-READ-PAIR-01"`, `{"record":"connection","conn":0,`},
				}[format] {
					if strings.Contains(before, want) || !strings.Contains(after, want) {
						t.Errorf("%s: before %t, after %t", want, strings.Contains(before, want), strings.Contains(after, want))
					}
				}
			})
		}
	}
}

// TestLive_Compared: rules that compare connections do so while the capture goes on.
func TestLive_Compared(t *testing.T) {
	var out bytes.Buffer
	var slept time.Duration
	before, after := "", ""
	f := &feed{}
	f.add(0, scenarioFrames(t, "ADV-REV-FALLBACK"))
	f.idle(func() { before = out.String() })
	f.idle(func() { slept = 2 * compareLive })
	f.idle(func() {})
	f.idle(func() { after = out.String() })
	if err := f.run(t, &IOStreams{Out: &out, Err: io.Discard}, &slept, "--format", "ndjson", "--records", "finding"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "ADV-REV-FALLBACK"); strings.Contains(before, "ADV-REV-FALLBACK") || !strings.Contains(after, "ADV-REV-FALLBACK") || n != 1 {
		t.Errorf("%d times; after a minute: %s", n, after)
	}
}

// TestLive_Board: on a terminal the worst connection stands above the others, the board is
// drawn again in its place, fits the terminal, and gives way to messages and to the tables.
func TestLive_Board(t *testing.T) {
	var out bytes.Buffer
	var slept time.Duration
	var boards []string
	f := &feed{}
	drawn := func() {
		boards = append(boards, out.String())
		out.Reset()
		time.Sleep(drawEvery) // the clock of the terminal is the real one
	}
	f.add(0, pcap(t, "lo-rping-crc.pcap"))
	f.idle(drawn)
	f.add(3*time.Second, pcap(t, "term-wbadkey.pcap"))
	f.idle(drawn)
	f.idle(drawn)
	s := &IOStreams{Out: &out, Err: io.Discard, OutTTY: true, NoColor: true, Size: func() (int, int) { return 100, 10 }}
	if err := f.run(t, s, &slept); err != nil {
		t.Fatal(err)
	}
	last := boards[len(boards)-1]
	lines := strings.Split(strings.TrimSuffix(last, "\n"), "\n")
	if len(lines) < 6 || !strings.HasPrefix(lines[0], "\x1b[") || !strings.Contains(lines[0], "A\r\x1b[Jfeed0 for ") {
		t.Fatalf("%q", lines)
	}
	lines[0] = lines[0][strings.Index(lines[0], "feed0"):]
	for _, l := range lines {
		if n := len([]rune(l)); n > 100 {
			t.Errorf("%d letters: %s", n, l)
		}
	}
	if w := strings.Fields(lines[4]); w[0] != "1" || w[2] == "0" || !strings.Contains(lines[4], "RDMAP-TERM-RSVD-01") {
		t.Errorf("the worst is %q", lines[4])
	}
	if w := strings.Fields(lines[5]); w[0] != "0" || w[2] != "0" {
		t.Errorf("the other is %q", lines[5])
	}
	end := out.String()
	if !strings.HasPrefix(end, fmt.Sprintf("\x1b[%dA\r\x1b[J", len(lines))) || !strings.Contains(end, "\nConnections\n") {
		t.Errorf("the tables follow like this: %q", end)
	}
}

// TestLive_Shown: what is shown where.
func TestLive_Shown(t *testing.T) {
	for _, tt := range []struct {
		tty         bool
		args        []string
		board, line bool
	}{
		{true, nil, true, false},
		{true, []string{"--lines"}, false, true},
		{true, []string{"-V"}, false, true},
		{true, []string{"--summary-only"}, false, false},
		{true, []string{"--format", "ndjson"}, false, false},
		{false, nil, false, true},
		{false, []string{"--summary"}, true, false},
	} {
		var out bytes.Buffer
		var slept time.Duration
		f := &feed{}
		f.add(0, pcap(t, "term-wbadkey.pcap"))
		f.idle(func() {})
		if err := f.run(t, &IOStreams{Out: &out, Err: io.Discard, OutTTY: tt.tty, NoColor: true}, &slept, tt.args...); err != nil {
			t.Fatal(err)
		}
		board := strings.Contains(out.String(), "Ctrl-C ends\n")
		line := strings.Contains(out.String(), "i2r MPA Request")
		if board != tt.board || line != tt.line {
			t.Errorf("terminal %t, %q: board %t, lines %t:\n%s", tt.tty, tt.args, board, line, &out)
		}
	}
}

// TestLive_ShownUsage: what does not go together.
func TestLive_ShownUsage(t *testing.T) {
	for _, args := range []string{"--summary --lines", "--summary -V", "--summary --format ndjson", "--lines --summary-only"} {
		var slept time.Duration
		err := (&feed{}).run(t, &IOStreams{Out: io.Discard, Err: io.Discard}, &slept, strings.Fields(args)...)
		var usage *usageError
		if !errors.As(err, &usage) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
