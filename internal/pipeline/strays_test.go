package pipeline_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/trace"
)

// TestStrays: a connection whose SYNs were not captured is another one than that before it on its ports, whether that is kept or
// settled; packets of the one before that come late, and a packet that nothing follows, make none.
func TestStrays(t *testing.T) {
	whole := func(t *tracetest.TCP) { t.Play(small(0)); t.Close() }
	old := numbered([2]uint32{1000, 2000}, 0, 0, whole)
	next := numbered([2]uint32{500_000_000, 3_000_000_000}, 0, 20*second, whole)[3:]
	open := old[:len(old)-3]
	reset := numbered([2]uint32{1000, 2000}, 0, 0, func(t *tracetest.TCP) { t.Play(small(0)); t.RST(0) })
	refused := numbered([2]uint32{1000, 2000}, 0, 0, func(t *tracetest.TCP) {
		t.Play(small(0))
		t.RST(0)
		t.Packets[len(t.Packets)-1].Off++
	})
	higher := numbered([2]uint32{1 << 20, 1 << 20}, 0, 20*second, whole)[5:] // without the startup
	lower := func(after int64) []capture.Frame {
		return numbered([2]uint32{3_000_000_000, 100_000_000}, 0, after, whole)[5:]
	}
	syns := numbered([2]uint32{500_000_000, 3_000_000_000}, 0, 20*second, whole)
	sent := func(fs []capture.Frame) []capture.Frame { // by the server, and the SYNs of the client
		return slices.DeleteFunc(slices.Clone(fs), func(f capture.Frame) bool { return f.Data[29] == 1 && f.Data[47]&2 == 0 })
	}
	elsewhere := func(by int32) []capture.Frame { // by so much from next
		return numbered([2]uint32{500_000_000 + uint32(by), 3_000_000_000 + uint32(by)}, 0, 20*second, whole)[3:]
	}
	sends := numbered([2]uint32{1000, 2000}, 0, 0, func(t *tracetest.TCP) {
		whole(t)
		t.Send(0, tracetest.Octets(1, 900))
		t.Send(1, tracetest.Octets(1, 900))
		t.Send(0, tracetest.Octets(1, 900))
		t.Send(1, tracetest.Octets(1, 900))
	})
	for _, tt := range []struct {
		name  string
		parts [][]capture.Frame
		want  int
	}{
		{"closed", [][]capture.Frame{old, next}, 2},
		{"open", [][]capture.Frame{open, next}, 2},
		{"open, and its last packets come late", [][]capture.Frame{open[:len(open)-1], next[:4], open[len(open)-1:], next[4:]}, 2},
		{"closed, and its last packets come late, behind the next SYN", [][]capture.Frame{old[:6], old[7:], syns[:1], old[6:7], syns[1:]}, 2},
		{"one side alone, likewise", [][]capture.Frame{sent(old[:6]), sent(old[7:]), sent(syns)[:1], sent(old[6:7]), sent(syns)[1:]}, 2},
		{"one packet", [][]capture.Frame{old[:6], next[:1], old[6:]}, 1},
		{"two packets, each of its own", [][]capture.Frame{old[:6], next[:1], old[6:8], elsewhere(-100_000_000)[:1], old[8:]}, 1},
		{"one packet, and another connection", [][]capture.Frame{old[:6], next[:1], elsewhere(100_000_000)}, 2},
		{"the same one", [][]capture.Frame{old[:6], old[7:]}, 1},
		{"the close comes again", [][]capture.Frame{old, old[5:]}, 1},
		{"closed, and the next numbers are not much higher", [][]capture.Frame{old, higher}, 2},
		{"reset, and they are not", [][]capture.Frame{reset, higher}, 2},
		{"reset with a number that the other side refuses", [][]capture.Frame{refused, higher}, 1},
		{"closed by one side", [][]capture.Frame{old[:len(old)-2], higher}, 1},
		{"open, and octets are missing", [][]capture.Frame{open, higher}, 1},
		{"open, and numbers that are lower, or gigabytes higher", [][]capture.Frame{open, lower(20 * second)}, 1},
		{"open, and so soon it cannot be gigabytes", [][]capture.Frame{open, lower(20_000)}, 2},
		{"octets in front of both FINs come late", [][]capture.Frame{old[:5], old[7:], old[5:7]}, 1},
		{"both sides go on behind their FINs", [][]capture.Frame{sends}, 1},
	} {
		fs := tracetest.Join(tt.parts...)
		for _, over := range []int{0, 4096} {
			r := pipeline.New(pipeline.Options{Sums: true, Brief: true}, nil)
			r.SetMaxOver(over)
			if err := r.Read(tracetest.Source(fs)); err != nil {
				t.Fatal(err)
			}
			n := 0
			for c := range r.Finish().All() {
				n++
				checkStray(t, tt.name, c, n)
			}
			if n != tt.want {
				t.Errorf("%s, %d stay: %d connections, want %d", tt.name, over, n, tt.want)
			}
		}
		agree(t, tt.name, tracetest.PCAP(fs), pipeline.Options{Sums: true}, 0)
	}
}

// checkStray: the nth connection has all of its FPDUs, and lacks nothing.
func checkStray(t *testing.T, name string, c *trace.Connection, n int) {
	t.Helper()
	lone := map[string][2]uint64{"one packet": {7, 1}, "two packets, each of its own": {7, 2}, "one packet, and another connection": {7, 1}}
	if k := c.HalfOpen; n == 1 && k != nil && [2]uint64{k.Lone, k.Lones} != lone[name] || n == 1 && k == nil && lone[name][1] > 0 {
		t.Errorf("%s: lone packets %+v", name, k)
	}
	gaps := c.Flow[0].Rare().Gaps + c.Flow[1].Rare().Gaps
	if name == "one side alone, likewise" {
		gaps = 0 // all of the other side
	}
	if k := c.HalfOpen; gaps > 0 && n > 1 || n > 1 && !c.SYN && (k == nil || k.Late == 0) {
		t.Error(name, fmt.Sprintf("%d: %+v %+v", n, c.Flow[0].Rare(), k))
	}
}

// TestStrays_Acknowledged: what a connection acknowledged of octets that are missing from the capture counts, although another one takes its
// ports whose SYNs are missing; what that one acknowledged first does not.
func TestStrays_Acknowledged(t *testing.T) {
	old := numbered([2]uint32{1000, 2000}, 0, 0, func(t *tracetest.TCP) {
		t.Play(small(0))
		t.Ack(0)
	})
	for _, isn := range [][2]uint32{{500_000_000, 3_000_000_000}, {3_000_000_000, 300_000}} {
		next := numbered(isn, 0, 20*second, func(t *tracetest.TCP) { t.Play(small(0)) })[2:]
		for _, lost := range []int{0, 2} { // the Reply and the last message of the server
			fs := slices.Clone(old)
			if lost > 0 {
				fs = slices.Delete(slices.Delete(fs, 6, 7), 4, 5)
			}
			r := pipeline.New(pipeline.Options{Brief: true}, nil)
			if err := r.Read(tracetest.Source(tracetest.Join(fs, next))); err != nil {
				t.Fatal(err)
			}
			all := r.Finish().Collect()
			if len(all) != 2 {
				t.Fatal(isn, lost, len(all))
			}
			if got, want := all[0].Flow[trace.R2I].Acked, int64(len(small(0).Stream(1))); got != want {
				t.Errorf("%d, %d lost: %d octets were acknowledged, want %d", isn, lost, got, want)
			}
		}
	}
}

// TestStrays_Large: the first packet of a connection whose SYNs are missing may be many segments in one, and the next one follows it.
func TestStrays_Large(t *testing.T) {
	old := numbered([2]uint32{1000, 2000}, 0, 0, func(t *tracetest.TCP) { t.Play(small(0)); t.Close() })
	for _, size := range []int{9000, 12_000, 60_000} {
		d := small(0)
		d.Turns = d.Turns[:0]
		for range 3 {
			d.Break()
			d.Message(0, rdmap.OpSend, tracetest.Octets(1, size), size)
		}
		next := numbered([2]uint32{500_000_000, 3_000_000_000}, 0, 20*second, func(t *tracetest.TCP) {
			t.Size = [2]int{tracetest.MaxSegment, tracetest.MaxSegment}
			t.Play(d)
		})[3:]
		r := pipeline.New(pipeline.Options{Brief: true}, nil)
		if err := r.Read(tracetest.Source(tracetest.Join(old, next))); err != nil {
			t.Fatal(err)
		}
		if all := r.Finish().Collect(); len(all) != 2 || all[1].Flow[0].FPDUs != 3 || all[1].Flow[0].Rare().Gaps > 0 {
			t.Error(size, len(all), written(all[len(all)-1]))
		}
	}
}
