package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

const (
	second = int64(1e9)
	linger = second
)

// settler is a sink that notes with which frame connections were settled.
type settler struct {
	tracerun.Result
	frame   uint64
	settled []string
	closed  bool
}

func (s *settler) Frame(f *pipeline.Frame) {
	s.frame = f.Number
	s.Result.Frame(f)
}

func (s *settler) Ended(c *trace.Connection) {
	when := fmt.Sprintf("after frame %d", s.frame)
	if s.closed {
		when = "at the end"
	}
	s.settled = append(s.settled, fmt.Sprintf("conn %d %v %s", c.Number, c.Ending, when))
}

func (s *settler) Finish() {}

// settle runs over frames with Linger, and returns how many connections were in memory at most,
// and behind the last frame.
func settle(t *testing.T, opt pipeline.Options, fs []capture.Frame) (s *settler, most, left int) {
	t.Helper()
	s = new(settler)
	opt.Linger = linger
	run := pipeline.New(opt, s)
	for i := range fs {
		run.Frame(&fs[i])
		most = max(most, run.Tracked())
	}
	left = run.Tracked()
	s.closed = true
	s.Conns = run.Finish().Collect()
	s.Totals = run.Totals()
	return s, most, left
}

// at returns frames of a connection that begins so many nanoseconds after the start.
func at(pair int, ns int64, play func(*tracetest.TCP)) []capture.Frame {
	return numbered([2]uint32{1000, 2000}, pair, ns, play)
}

// numbered is the same with other initial sequence numbers.
func numbered(isn [2]uint32, pair int, ns int64, play func(*tracetest.TCP)) []capture.Frame {
	t := tracetest.TCP{}
	t.Handshake()
	play(&t)
	fs := tracetest.Net{Pair: pair, ISN: isn}.Frames(t.Packets)
	for i := range fs {
		fs[i].Time += ns
	}
	return fs
}

// merged puts frames in the order of their times.
func merged(parts ...[]capture.Frame) []capture.Frame {
	out := slices.Concat(parts...)
	slices.SortStableFunc(out, func(a, b capture.Frame) int { return int(a.Time - b.Time) })
	return tracetest.Number(out)
}

// TestSettle_WhenClosed: a connection that closed is settled a second later, one that is open at
// the end; and its stragglers are no connection of their own.
func TestSettle_WhenClosed(t *testing.T) {
	d := small(0)
	whole := func(t *tracetest.TCP) { t.Play(d); t.Close() }
	tests := []struct {
		name  string
		first func(*tracetest.TCP)
		want  []string
	}{
		{"fin", whole, []string{"conn 0 fin after frame 10", "conn 1 open at the end"}},
		{"reset", func(t *tracetest.TCP) { t.Play(d); t.RST(1) }, []string{"conn 0 rst after frame 8", "conn 1 open at the end"}},
		{"half closed", func(t *tracetest.TCP) { t.Play(d); t.FIN(0) }, []string{"conn 0 fin at the end", "conn 1 open at the end"}},
		{
			"a packet in time", func(t *tracetest.TCP) { whole(t); t.Wait(second / 2); t.Ack(0) },
			[]string{"conn 0 fin after frame 11", "conn 1 open at the end"},
		},
		{
			"stragglers", func(t *tracetest.TCP) { whole(t); t.Wait(2 * second); t.Ack(0); t.RST(1) },
			[]string{"conn 0 fin after frame 10", "conn 1 open at the end"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			late := at(1, 4*second, func(t *tracetest.TCP) { t.Play(small(0)) })
			s, _, _ := settle(t, pipeline.Options{}, merged(at(0, 0, tt.first), late))
			if diff := cmp.Diff(tt.want, s.settled); diff != "" {
				t.Error(diff)
			}
			complete(t, &s.Result, 0, d)
			if s.Totals.Connections != 2 {
				t.Errorf("%d connections", s.Totals.Connections)
			}
			for i, conn := range s.FrameConn[:len(s.FrameConn)-len(late)] {
				if conn != 0 {
					t.Errorf("frame %d is of connection %d", i+1, conn)
				}
			}
		})
	}
}

// TestSettle_File: in a file, too, connections are settled when many are over. Their records are
// those that they have if all stay to the end, and a straggler opens no connection.
func TestSettle_File(t *testing.T) {
	const conns, closed = 60, 16
	var parts [][]capture.Frame
	for i := range conns {
		parts = append(parts, at(i, int64(i)*second, func(t *tracetest.TCP) { t.Play(small(i % 2)); t.Close() }))
	}
	var straggler tracetest.TCP
	straggler.Handshake()
	straggler.Play(small(0))
	straggler.Close()
	straggler.Wait(second / 2)
	straggler.Ack(0)
	late := tracetest.Net{Pair: conns - closed - 4, ISN: [2]uint32{1000, 2000}}.Frames(straggler.Packets)
	fs := tracetest.Number(append(merged(parts...), late[len(late)-1]))
	fs[len(fs)-1].Time = fs[len(fs)-2].Time + 1
	read := func(closed int) (*settler, int) {
		s, most := new(settler), 0
		run := pipeline.New(pipeline.Options{}, s)
		run.SetMaxOver(closed)
		for i := range fs {
			run.Frame(&fs[i])
			most = max(most, run.Tracked())
		}
		s.Conns, s.Totals = run.Finish().Collect(), run.Totals()
		return s, most
	}
	got, most := read(closed)
	want, all := read(8 * conns) // in each of eight parts all may stay
	if most > closed+1 || all != conns {
		t.Errorf("up to %d connections in memory, without the bound %d", most, all)
	}
	last := len(fs) - 1
	if n := got.FrameConn[last]; n != conns-closed-4 || want.FrameConn[last] != n {
		t.Errorf("the straggler is of connection %d, without the bound %d", n, want.FrameConn[last])
	}
	if got.Totals != want.Totals {
		t.Errorf("%+v, without the bound %+v", got.Totals, want.Totals)
	}
	for i, c := range want.Conns {
		if diff := cmp.Diff(tracetest.Summary(c), tracetest.Summary(got.Conns[i])); diff != "" && c.Number != conns-closed-4 {
			t.Errorf("connection %d: %s", i, diff)
		}
	}
}

// TestRecords: there is a record of each of thousands of connections that came and went, and each
// is what it would be alone.
func TestRecords(t *testing.T) {
	tracetest.UnlessRaced(t)
	const conns = 30_000
	d := small(0)
	alone := tracerun.Run(t, pipeline.Options{}, at(0, 0, func(t *tracetest.TCP) { t.Play(d); t.Close() })).Conns[0]
	run := pipeline.New(pipeline.Options{}, nil)
	number, most := uint64(0), 0
	for i := range conns {
		for _, f := range at(i, int64(i)*second, func(t *tracetest.TCP) { t.Play(d); t.Close() }) {
			number++
			f.Number = number
			run.Frame(&f)
		}
		most = max(most, run.Tracked())
	}
	records, next := run.Finish(), uint64(0)
	for c := range records.All() {
		if c.Number != next || c.Flow[0].FPDUs != alone.Flow[0].FPDUs || c.Flow[1].CRCGood != alone.Flow[1].CRCGood || c.Ending != alone.Ending ||
			c.LastFrame-c.FirstFrame != alone.LastFrame-alone.FirstFrame || c.Side[1].Addr != alone.Side[1].Addr || len(c.Flow[0].Ops) != len(alone.Flow[0].Ops) {
			t.Fatalf("connection %d: %+v, alone %+v", next, c, alone)
		}
		next++
	}
	if totals := run.Totals(); next != conns || records.Len() != conns || totals.RecordsDropped != 0 || totals.IWARP != conns || most > conns/2 {
		t.Errorf("%d records, %d said, %d connections, %d dropped, up to %d in memory", next, records.Len(), totals.IWARP, totals.RecordsDropped, most)
	}
}

// TestSettle_Waits: while octets are missing a closed connection waits longer for them.
func TestSettle_Waits(t *testing.T) {
	d := small(0)
	var lost []tracetest.Packet
	fs := at(0, 0, func(t *tracetest.TCP) {
		t.Play(d)
		at := len(t.Packets) - 1
		lost = slices.Clone(t.Packets[at:])
		t.Packets = t.Packets[:at]
		t.Close()
		t.Wait(3 * second)
		again := lost[0]
		t.Ack(0)
		again.Time = t.Packets[len(t.Packets)-1].Time + 1
		t.Packets = append(t.Packets, again)
	})
	fs = merged(fs, at(1, second*3/2, func(*tracetest.TCP) {}), at(2, 5*second, func(*tracetest.TCP) {}))
	s, _, _ := settle(t, pipeline.Options{}, fs)
	complete(t, &s.Result, 0, d)
	if len(s.settled) != 1 || s.Conns[0].Flow[0].Rare().Gaps+s.Conns[0].Flow[1].Rare().Gaps > 0 {
		t.Errorf("%q, %+v", s.settled, s.Conns[0].Flow)
	}
}

// TestSettle_PortsAgain: a SYN on the ports of a settled connection begins another one.
func TestSettle_PortsAgain(t *testing.T) {
	d, e := small(0), small(1)
	again := tracetest.Net{ISN: [2]uint32{5000, 9000}}.Frames(tracetest.Connection(e, 0))
	fs := merged(
		at(0, 0, func(t *tracetest.TCP) { t.Play(d); t.Close() }),
		later(again, 2*second),
	)
	s, _, _ := settle(t, pipeline.Options{}, fs)
	complete(t, &s.Result, 0, d)
	complete(t, &s.Result, 1, e)
	if s.Totals.Connections != 2 {
		t.Errorf("%d connections", s.Totals.Connections)
	}
}

// TestSettle_SameAsFile: thousands of connections at random, closed and open, have the same PDUs,
// numbers and records as without Linger, and few of them are in memory at a time.
func TestSettle_SameAsFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 3))
	var parts [][]capture.Frame
	const n = 2000
	for i := range n {
		d := small(rng.IntN(2))
		parts = append(parts, at(i, int64(i)*second/20+rng.Int64N(second), func(t *tracetest.TCP) {
			t.Step = rng.Int64N(second / 50)
			t.Play(d)
			switch rng.IntN(20) {
			case 0:
			case 1:
				t.FIN(0)
			case 2:
				t.RST(rng.IntN(2))
			default:
				t.Close()
			}
		}))
	}
	fs := merged(parts...)
	want := tracerun.Run(t, pipeline.Options{}, fs)
	got, most, _ := settle(t, pipeline.Options{}, fs)
	brief := func(r *tracerun.Result) (out []string) {
		for _, p := range r.PDUs {
			out = append(out, fmt.Sprint(p.Conn.Number, p.Frame, tracetest.Brief(p)))
		}
		for _, c := range r.Conns {
			out = append(out, fmt.Sprint(c.Number, c.Ending, c.FirstFrame, c.LastFrame, c.Side[0].Addr))
		}
		return append(out, fmt.Sprint(r.FrameConn))
	}
	if diff := cmp.Diff(brief(want), brief(&got.Result)); diff != "" {
		t.Error(diff)
	}
	// A tenth of them stays open.
	if most > n/6 {
		t.Errorf("%d connections in memory", most)
	}
}

// TestSettle_Quiet: without further frames the clock settles.
func TestSettle_Quiet(t *testing.T) {
	s := new(settler)
	run := pipeline.New(pipeline.Options{Linger: linger}, s)
	fs := at(0, 0, func(t *tracetest.TCP) { t.Play(small(0)); t.Close() })
	for i := range fs {
		run.Frame(&fs[i])
	}
	last := fs[len(fs)-1].Time
	if run.Settle(last + linger/2); len(s.settled) > 0 || run.Tracked() != 1 {
		t.Errorf("settled too early: %q", s.settled)
	}
	if run.Settle(last + linger); len(s.settled) != 1 || run.Tracked() != 0 {
		t.Errorf("not settled: %q", s.settled)
	}
}

// TestSettle_SCTP: an association that was shut down or aborted is settled with its sessions.
func TestSettle_SCTP(t *testing.T) {
	for name, end := range map[string]func(*assoc){
		"shutdown": func(a *assoc) {
			a.send(0, chunk(ckShutdown, 0, be32(nil, a.tsn[1]-1)...))
			a.send(1, chunk(ckShutdownAck, 0))
			a.send(0, chunk(ckShutdownDone, 0))
		},
		"abort": func(a *assoc) { a.send(0, chunk(ckAbort, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{}
			a := newAssoc(w)
			a.begin(0, 4)
			a.send(0, a.say(0, 4, "abc"))
			end(a)
			late := at(1, 60*second, func(*tracetest.TCP) {})
			fs := tracetest.Number(slices.Concat(w.frames, late))
			s, _, left := settle(t, pipeline.Options{}, fs)
			if len(s.settled) != 1 || s.closed && s.settled[0] != fmt.Sprintf("conn 0 %s after frame %d", name, len(w.frames)) || left != 1 {
				t.Errorf("%q, %d in memory", s.settled, left)
			}
		})
	}
}
