package pipeline

import (
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
)

// TestSYNs_Table: what is taken out of the table is what was put in, whatever else was put in,
// taken out and dropped.
func TestSYNs_Table(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	table, want := newSYNs(), map[packet.Endpoints]halfOpen{}
	ends := func() (e packet.Endpoints) {
		e.A, e.B = packet.Addr4(10, 0, 0, byte(rnd.IntN(9))), packet.Addr4(10, 1, byte(rnd.IntN(9)), byte(rnd.IntN(9)))
		if rnd.IntN(3) == 0 {
			e.A = packet.Addr{0: 0xfd, 15: byte(rnd.IntN(99))}
		}
		e.PortA, e.PortB = uint16(rnd.IntN(5)), uint16(rnd.IntN(5))
		return e
	}
	for number := range uint64(30_000) {
		e := ends()
		h, ok := table.take(&e)
		if was, there := want[e]; ok != there || ok && h.seg.Frame != was.seg.Frame {
			t.Fatalf("%v: %+v %v, want %+v %v", e, h, ok, was, there)
		} else if ok {
			if h.number != was.number || h.swap != was.swap || h.ends != e || h.seg.Seq != was.seg.Seq || h.seg.MSS != was.seg.MSS ||
				h.seg.Flags != was.seg.Flags || h.seg.Options != was.seg.Options || h.seg.OptionsCut != was.seg.OptionsCut ||
				h.seg.ZeroWindow != was.seg.ZeroWindow || h.seg.Time != was.seg.Time {
				t.Fatalf("%+v, want %+v", h, was)
			}
			delete(want, e)
			continue
		}
		h = halfOpen{number: number, ends: e, swap: rnd.IntN(2) == 0}
		h.seg.Reset(rnd.Uint32(), 0, reassembly.FlagSYN|0xc0*uint16(rnd.IntN(2)), nil, number+1, rnd.Int64())
		h.seg.Options, h.seg.MSS = 4*rnd.IntN(11), uint16(rnd.Uint32())
		h.seg.OptionsCut, h.seg.ZeroWindow = rnd.IntN(2) == 0, rnd.IntN(2) == 0
		table.add(&e, h.swap, number, &h.seg)
		want[e] = h
		if rnd.IntN(500) == 0 {
			all := table.order()
			below := all[rnd.IntN(len(all))].number
			table.drop(below)
			for e, h := range want {
				if h.number < below {
					delete(want, e)
				}
			}
		}
		if table.len() != len(want) {
			t.Fatalf("%d, want %d", table.len(), len(want))
		}
	}
}
