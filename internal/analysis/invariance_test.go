package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20)) }

// sizes are the segment sizes of issue point 4; 0 is a turn as a whole.
var sizes = []int{1, 2, 3, 4, 5, 511, 512, 513, 1448, 0}

// way of sending the same octets. A causal one never shows an answer before its
// question; the others are what a merge of two captures may look like.
type way struct {
	name   string
	causal bool
	do     func(*rand.Rand, []tracetest.Packet) []tracetest.Packet
}

// handshake is the number of packets before the first octet.
const handshake = 3

// ways leave out acknowledgements where packets move further than an
// acknowledgement may run ahead of the data.
var ways = []way{
	{"plain", true, func(_ *rand.Rand, ps []tracetest.Packet) []tracetest.Packet { return ps }},
	{"shuffled turns", true, func(r *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		return tracetest.ShuffleRuns(r, tracetest.Unacked(ps), 256, handshake)
	}},
	{"shuffled by 8", false, func(r *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		return tracetest.Shuffle(r, ps, 8, handshake)
	}},
	{"shuffled by 64", false, func(r *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		return tracetest.Shuffle(r, tracetest.Unacked(ps), 64, handshake)
	}},
	{"shuffled", false, func(r *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		return tracetest.Shuffle(r, tracetest.Unacked(ps), len(ps), handshake)
	}},
	{"duplicated", true, func(r *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		return tracetest.Duplicate(r, ps, 2)
	}},
	{"overlapped", true, tracetest.Overlap},
	{"reaching", true, func(r *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		return tracetest.Reach(r, ps, 2)
	}},
	{"merged", true, func(_ *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		return tracetest.Merge(ps, 9000)
	}},
	{"all of it", true, func(r *rand.Rand, ps []tracetest.Packet) []tracetest.Packet {
		ps = tracetest.Duplicate(r, tracetest.Reach(r, tracetest.Overlap(r, ps), 3), 4)
		return tracetest.ShuffleRuns(r, tracetest.Unacked(ps), 16, handshake)
	}},
}

// talk is a dialog of all kinds of operations.
func talk(seed uint64, s tracetest.Setup, count, most int) *tracetest.Dialog {
	d := tracetest.NewDialog(s)
	r := random(seed)
	if seed%3 == 1 { // delayed startup: both sides stream before they turn to MPA
		d.Streaming(d.Initiator, tracetest.Octets(seed, 37))
		d.Streaming(1-d.Initiator, []byte("login: MPA ID Req Fr"))
		d.Streaming(d.Initiator, tracetest.Octets(seed+1, 701))
	}
	d.Request()
	if seed%4 == 2 {
		d.Break()
	}
	d.Reply()
	d.Work(r, count, most, 700)
	return d
}

// isn lets the sequence numbers wrap in mid-stream for every other seed.
func isn(seed uint64) [2]uint32 {
	if seed%2 == 0 {
		return [2]uint32{1000, 0x80000000}
	}
	r := random(seed)
	return [2]uint32{-uint32(r.IntN(2500)), -uint32(r.IntN(2500))}
}

// same compares a run with what the plain one found.
func same(t *testing.T, name string, causal bool, got, want *tracerun.Result) {
	t.Helper()
	if len(got.Gaps) > 0 {
		t.Fatalf("%s: gap %+v", name, got.Gaps[0])
	}
	for n := range want.Totals.Connections {
		if d := tracetest.Diff(got.Lines(n), want.Lines(n)); d != "" {
			t.Errorf("%s: PDU %s", name, d)
			return
		}
		if !causal {
			continue
		}
		if d := tracetest.Diff(got.Answers(n), want.Answers(n)); d != "" {
			t.Fatalf("%s: transaction %s", name, d)
		}
	}
	if len(got.Conns) != len(want.Conns) {
		t.Fatalf("%s: %d connections", name, len(got.Conns))
	}
	for i := range want.Conns {
		if !causal {
			continue
		}
		if d := tracetest.Diff(tracetest.Summary(got.Conns[i]), tracetest.Summary(want.Conns[i])); d != "" {
			t.Fatalf("%s: connection %s", name, d)
		}
	}
}

// truth compares what was found on a connection with what was said.
func truth(t *testing.T, name string, r *tracerun.Result, n uint64, d *tracetest.Dialog) {
	t.Helper()
	for _, side := range []int{tracetest.Client, tracetest.Server} {
		var got []string
		for _, p := range r.Of(n, trace.Dir(side^d.Initiator)) {
			got = append(got, tracetest.Brief(p))
		}
		if diff := tracetest.Diff(got, d.Want(side)); diff != "" {
			t.Fatalf("%s: side %d: %s", name, side, diff)
		}
	}
	for _, p := range r.PDUs {
		f := p.FPDU
		switch {
		case f == nil:
		case len(f.Missing) > 0, f.Captured != mpa.Full, f.Sync != mpa.InSync, !f.MarkersOK(), !f.PadZero():
			t.Fatalf("%s: %s", name, tracetest.Line(p))
		case d.CRC && f.CRCStatus != mpa.CRCGood, !d.CRC && f.CRCStatus != mpa.CRCOff:
			t.Fatalf("%s: %s", name, tracetest.Line(p))
		}
	}
}

func TestInvariance_CutsAndOrder(t *testing.T) {
	for i, s := range tracetest.Setups() {
		t.Run(fmt.Sprintf("%d", i), func(t *testing.T) {
			t.Parallel()
			seed := uint64(i)
			d := talk(seed, s, 14, 2000)
			net := tracetest.Net{V6: i%3 == 0, ISN: isn(seed)}
			if i%4 == 1 {
				net.VLANs = []packet.VLAN{{TCI: 5}}
			}
			want := tracerun.Run(t, pipeline.Options{}, net.Frames(tracetest.Connection(d, 1448)))
			truth(t, "1448", want, 0, d)
			for _, size := range sizes {
				for j, w := range ways {
					if size > 0 && size < 5 && (i+j+size)%4 != 0 {
						continue // each way meets each size with some setup
					}
					name := fmt.Sprintf("%s in segments of %d", w.name, size)
					ps := w.do(random(seed*1000+uint64(j)), tracetest.Connection(d, size))
					same(t, name, w.causal, tracerun.Run(t, pipeline.Options{}, net.Frames(ps)), want)
				}
			}
		})
	}
}
