package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/trace"
)

// TestSent: the runs give back what was put into them, the latest first, and a run takes no
// more than two cache lines.
func TestSent(t *testing.T) {
	if n := unsafe.Sizeof(sentRun{}); n > 128 {
		t.Errorf("a run takes %d octets", n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var h sent
		var taken sharing
		if r.IntN(2) == 0 {
			taken = sharing(sharedRuns - r.IntN(maxSentRuns))
		}
		had := taken
		var want []sentSegment
		var g ddp.Segment
		p := trace.PDU{Frame: 1}
		for range 1 + r.IntN(2000) {
			switch r.IntN(8) { // mostly one goes on where the one before ended
			case 0:
				g = ddp.Segment{DV: 1, RsvdULP: 0x43, QN: uint32(r.IntN(2)), MSN: r.Uint32()}
			case 1:
				g = ddp.Segment{Tagged: true, DV: 1, RsvdULP: 0x40, STag: uint32(r.IntN(3)), TO: r.Uint64(), Last: r.IntN(2) == 0}
			default:
				g.TO, g.MO = g.TO+100, g.MO+100
			}
			p.Number += uint64(1 + r.IntN(3))
			p.Frame += uint64(r.IntN(3))
			p.Offset += int64(4 * r.IntN(70000))
			if r.IntN(20) == 0 {
				p.Number, p.Frame = p.Number+1000, p.Frame+1000
			}
			head := g.Append(nil)
			h.add(&taken, &g, &p, head, len(head)+100)
			key, name := placeOf(&g)
			want = append(want, sentSegment{key, p.Number, p.Frame, p.Offset, name, uint32(len(head) + 100), [2]byte(head)})
		}
		got := h.latest(nil)
		slices.Reverse(want)
		if len(got) > len(want) || len(got) < len(want) && !h.lost {
			t.Fatalf("%d of %d segments, lost is %v", len(got), len(want), h.lost)
		}
		if !slices.Equal(got, want[:len(got)]) {
			t.Fatal("the segments are not those that were sent")
		}
		if least := fewRuns + min(sharedRuns-int(had), maxSentRuns-fewRuns)/2; h.lost && len(got) < least {
			t.Errorf("only %d segments are kept, at least %d", len(got), least)
		}
		if taken > sharedRuns {
			t.Errorf("%d runs are shared", taken)
		}
		if h.release(&taken); taken != had {
			t.Errorf("%d runs are shared, before it %d", taken, had)
		}
	}
}

// TestSent_Allocs: once the ring is full, nothing is allocated.
func TestSent_Allocs(t *testing.T) {
	var h sent
	var taken sharing
	p := trace.PDU{}
	add := func() {
		g := ddp.Segment{Tagged: true, STag: uint32(p.Number)}
		head := [ddp.TaggedLen]byte{}
		p.Number++
		h.add(&taken, &g, &p, head[:], 100)
	}
	for range 2 * maxSentRuns {
		add()
	}
	if n := testing.AllocsPerRun(100, add); n > 0 {
		t.Errorf("%v allocations for a segment", n)
	}
}
