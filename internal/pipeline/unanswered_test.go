package pipeline_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/hostile"
	"github.com/iwdissect/iwdissect/trace"
)

// told keeps what a sink is told of frames.
type told struct {
	tracetest.Collect
	frames []string
}

func (s *told) Frame(f *pipeline.Frame) { s.frames = append(s.frames, toldLine("frame", f)) }

func toldLine(what string, f *pipeline.Frame) string {
	l := fmt.Sprint(what, f.Number, " ", f.Status, f.Dir, f.Note, f.From, f.To, f.HasSpan, f.Origin, f.HasOrig, f.Open, f.OpenTo, f.HasOpen, f.Damaged)
	if c := f.Conn; c != nil {
		l += " " + written(c)
	}
	return l
}

// written is all that is known of a connection.
func written(c *trace.Connection) string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// play runs frames, with SYNs that wait or with a connection for each.
func play(fs []capture.Frame, opt pipeline.Options, eager bool) (out []string) {
	var s told
	opt.Opened = func(f *pipeline.Frame) { s.frames = append(s.frames, toldLine("opened", f)) }
	run := pipeline.New(opt, &s)
	if eager {
		run.Eager()
	}
	for i := range fs {
		run.Frame(&fs[i])
	}
	for _, c := range run.Finish().Collect() {
		out = append(out, written(c))
	}
	t := run.Totals()
	t.Compared, t.Alike, t.ComparedBare, t.AlikeBare = 0, 0, 0, 0 // packets are compared once there is a connection
	return append(append(out, s.frames...), fmt.Sprintf("%+v %+v", t, *run.Others()))
}

// withOptions is a SYN with other options, and sometimes without a window.
func withOptions(f capture.Frame, rnd *rand.Rand) capture.Frame {
	var p packet.Packet
	packet.NewDecoder().Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Time, &p)
	options := [][]byte{nil, {2, 4, 5, 180}, {2, 4, 35, 0, 1, 1, 4, 2}, {1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2}}
	f.Data = (&packet.Build{
		Link: packet.LinkEthernet, Src: p.Src, Dst: p.Dst, SrcPort: p.SrcPort, DstPort: p.DstPort, Seq: p.Seq, Ack: p.Ack, Flags: p.Flags,
		Options: options[rnd.IntN(len(options))], Window: uint16(rnd.IntN(2)),
	}).Append(nil)
	f.OrigLen = uint32(len(f.Data))
	if rnd.IntN(4) == 0 {
		f.Data = f.Data[:len(f.Data)-rnd.IntN(5)]
	}
	return f
}

// TestUnanswered_SameAsConnections: a SYN that waits for an answer makes no difference to
// anything that is told or listed, whatever comes before it and after it.
func TestUnanswered_SameAsConnections(t *testing.T) {
	tracetest.UnlessRaced(t)
	t.Parallel()
	flags := []uint16{
		packet.FlagSYN, packet.FlagSYN, packet.FlagSYN, packet.FlagSYN | packet.FlagACK, packet.FlagACK, packet.FlagRST,
		packet.FlagRST | packet.FlagACK, packet.FlagFIN | packet.FlagACK, packet.FlagSYN | packet.FlagFIN, packet.FlagSYN | 0xc0,
	}
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var fs []capture.Frame
		for range 60 {
			n := tracetest.Net{V6: rnd.IntN(3) == 0, Pair: rnd.IntN(6), ServerPort: uint16(rnd.IntN(2)), ISN: [2]uint32{uint32(rnd.IntN(3)), 7}}
			if rnd.IntN(12) == 0 {
				fs = append(fs, frames(n, small(rnd.IntN(2)))...)
				continue
			}
			p := tracetest.Packet{Side: rnd.IntN(2), Off: -1, Flags: flags[rnd.IntN(len(flags))], Time: tracetest.Start + rnd.Int64N(1e12)}
			if p.Flags&packet.FlagSYN == 0 {
				p.Off = 0
			}
			if rnd.IntN(9) == 0 {
				p.Data = []byte("octets")
			}
			if rnd.IntN(9) == 0 {
				n.Snap = 14 + 20 + 20 + rnd.IntN(8)
			}
			f := n.Frames([]tracetest.Packet{p})
			if p.Flags&packet.FlagSYN != 0 && len(p.Data) == 0 && n.Snap == 0 {
				f[0] = withOptions(f[0], rnd)
			}
			if rnd.IntN(9) == 0 {
				f[0].Data[len(f[0].Data)-1] ^= 1 // damaged
			}
			fs = append(fs, f...)
		}
		tracetest.Number(fs)
		for _, opt := range []pipeline.Options{{}, {Sums: true}, {MaxConnections: 500, DecodeAs: []uint16{1}}, {Linger: 1e9}} {
			if diff := cmp.Diff(play(fs, opt, true), play(fs, opt, false)); diff != "" {
				t.Fatalf("seed %d, %+v: %s", seed, opt, diff)
			}
		}
	}
}

// TestUnanswered_Flood: a SYN that nothing answers takes some octets, and not a connection.
func TestUnanswered_Flood(t *testing.T) {
	tracetest.UnlessRaced(t)
	const n = 200_000
	syns, _ := hostile.Find("syns")
	before := used()
	run := pipeline.New(pipeline.Options{Brief: true, Sums: true}, nil)
	syns.Frames(n, run.Frame)
	each := float64(used()-before) / n
	t.Logf("%.1f octets each", each)
	if each > 72 || run.SYNs() != n {
		t.Errorf("%.1f octets each, %d wait", each, run.SYNs())
	}
	run.Finish()
	tot, o := run.Totals(), run.Others()
	if tot.Connections != n || tot.Evicted != 0 || len(o.Unopened) != 1 || o.Unopened[0].Silent != (pipeline.Seen{Count: n, First: 1}) {
		t.Errorf("%+v %+v", tot, o)
	}
}

// TestUnanswered_Bound: beyond the bound those that came first are given up, listed and counted.
func TestUnanswered_Bound(t *testing.T) {
	t.Parallel()
	const n, most = 5000, 100
	syns, _ := hostile.Find("syns")
	run := pipeline.New(pipeline.Options{Brief: true, MaxConnections: most}, nil)
	syns.Frames(n, func(f *capture.Frame) {
		if run.Frame(f); run.SYNs() > 10*most {
			t.Fatalf("%d wait", run.SYNs())
		}
	})
	waiting := run.SYNs()
	run.Finish()
	if tot, o := run.Totals(), run.Others(); waiting < 9*most || tot.Evicted != uint64(n-waiting) || o.Unopened[0].Silent.Count != n {
		t.Errorf("%d wait at the end: %+v %+v", waiting, tot, o)
	}
}
