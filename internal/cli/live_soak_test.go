package cli

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/live"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// shortConnections is a tap that makes connections, one after the other: startup, a Send each way,
// close. In every eighth a side answers nothing, and every eighth is reset.
type shortConnections struct {
	left   int // connections still to come
	number int
	step   int64 // nanoseconds from one to the next
	frames []live.Packet
	closed bool
	probe  func(connection int)
}

func (g *shortConnections) LinkTypes() []uint16        { return []uint16{live.LinkEthernet} }
func (g *shortConnections) Stats() (live.Stats, error) { return live.Stats{}, nil }
func (g *shortConnections) Release() error             { return nil }
func (g *shortConnections) Close() error {
	g.closed = true
	return nil
}

func (g *shortConnections) Next(p *live.Packet, _ time.Duration) (bool, error) {
	if len(g.frames) == 0 {
		if g.left == 0 || g.closed {
			return false, io.EOF
		}
		g.make()
	}
	*p = g.frames[0]
	g.frames = g.frames[1:]
	return true, nil
}

func (g *shortConnections) make() {
	g.probe(g.number)
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(0, rdmap.OpSend, []byte("question"), 700)
	var t tracetest.TCP
	if g.number%8 == 0 {
		d.Read(0, 7, 0, 100)
	} else {
		d.Message(1, rdmap.OpSend, []byte("answer"), 700)
	}
	t.Handshake()
	t.Play(d)
	if g.number%8 == 1 {
		t.RST(0)
	} else {
		t.Close()
	}
	net := tracetest.Net{Pair: g.number % 20000, ServerPort: uint16(5001 + g.number/20000)}
	for _, f := range net.Frames(t.Packets) {
		g.frames = append(g.frames, live.Packet{Data: f.Data, Time: f.Time + int64(g.number)*g.step, OrigLen: f.OrigLen})
	}
	g.number++
	g.left--
}

// TestLive_Soak: the memory of live, and its table of connections, do not grow with the number of
// connections that have come and gone.
func TestLive_Soak(t *testing.T) {
	tracetest.UnlessRaced(t)
	for _, args := range [][]string{{"--lines"}, {"--format", "ndjson"}, {"--summary"}} {
		t.Run(args[0], func(t *testing.T) {
			var s *session
			var early, late uint64
			most := 0
			all, warm := tracetest.Count(16_000, 24_000, 24_000), 12_000
			heap := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			g := &shortConnections{left: all, step: int64(time.Millisecond), probe: func(n int) {
				if s == nil {
					return
				}
				most = max(most, s.run.Tracked())
				switch n {
				case warm:
					early = heap()
				case all - 1:
					late = heap()
				}
			}}
			o := newLiveOptions(&IOStreams{Out: io.Discard, Err: io.Discard})
			f := pflagSet(t, o, append(args, "-q", "soak0"))
			o.tap = func([]live.Options) (tap, error) { return g, nil }
			if err := o.check(f); err != nil {
				t.Fatal(err)
			}
			err := o.record(context.Background(), func(c *session) (liveView, error) {
				s = c
				return o.view(c)
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.run.Totals(); got.IWARP != uint64(all) || got.Connections != uint64(all) {
				t.Errorf("%d of %d connections", got.IWARP, all)
			}
			// A thousand a second, each settled a second after its end.
			if most > 1200 {
				t.Errorf("%d connections in the table", most)
			}
			// A connection that were kept would be 3 kB at least.
			t.Logf("%d connections in the table at most; %d KiB in use after %d connections, %d after %d", most, early>>10, warm, late>>10, all)
			if late > early+uint64(all-warm)*100 {
				t.Errorf("memory grew from %d to %d octets", early, late)
			}
		})
	}
}

// recordCount counts the records of connections that are written to it. Results are handed on in
// pieces that end anywhere: while frames come without a pause, with each 64 KiB.
type recordCount struct {
	n    atomic.Int64
	tail []byte // may be the beginning of another one
}

const connectionRecord = `{"record":"connection"`

func (c *recordCount) Write(b []byte) (int, error) {
	c.tail = append(c.tail, b...)
	c.n.Add(int64(bytes.Count(c.tail, []byte(connectionRecord))))
	c.tail = append(c.tail[:0], c.tail[max(0, len(c.tail)-len(connectionRecord)+1):]...)
	return len(b), nil
}

// TestLive_SoakCount: each connection is counted once wherever its record is cut, also when no
// frame ever waits for another and so only a full buffer is written.
func TestLive_SoakCount(t *testing.T) {
	text := strings.Repeat(connectionRecord+`,"conn":0}`+"\n", 3)
	for size := 1; size <= len(text); size++ {
		var c recordCount
		for b := []byte(text); len(b) > 0; {
			n := min(size, len(b))
			_, _ = c.Write(b[:n])
			b = b[n:]
		}
		if got := c.n.Load(); got != 3 {
			t.Errorf("%d records in pieces of %d octets", got, size)
		}
	}
	const all = 2400
	var c recordCount
	g := &shortConnections{left: all, step: int64(time.Millisecond), probe: func(int) {}}
	o := newLiveOptions(&IOStreams{Out: &c, Err: io.Discard})
	f := pflagSet(t, o, []string{"--format", "ndjson", "-q", "soak0"})
	o.tap = func([]live.Options) (tap, error) { return g, nil }
	if err := o.check(f); err != nil {
		t.Fatal(err)
	}
	if err := o.record(context.Background(), o.view); err != nil {
		t.Fatal(err)
	}
	if got := c.n.Load(); got != all {
		t.Errorf("%d of %d connections have a record", got, all)
	}
}
