package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/trace"
)

// TestSent: the records give back what was put into them, the latest first, and what a
// segment touches of its direction lies in two cache lines.
func TestSent(t *testing.T) {
	if n := unsafe.Sizeof(sent{}); n > 128 {
		t.Errorf("a direction takes %d octets", n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var h sent
		var taken sharing
		if r.IntN(2) == 0 {
			taken = sharing(sharedSent - r.IntN(2*maxSent))
		}
		had := taken
		var want []sentSegment
		var g ddp.Segment
		p := trace.PDU{Frame: 1, HasOffset: r.IntN(3) > 0}
		odd := 2 + r.IntN(100) // one of so many segments is none that goes on
		for range 1 + r.IntN(5000) {
			p.Number++
			p.Frame++
			length := 100
			if !g.Tagged && g.Last {
				g.MSN, g.MO = g.MSN+1, 0
			} else {
				g.TO, g.MO = g.TO+100, g.MO+100
			}
			if p.HasOffset {
				p.Offset += 120 + 4*int64(r.IntN(2))
			}
			switch r.IntN(odd) {
			case 0:
				g = ddp.Segment{DV: 1, RsvdULP: 0x43, QN: r.Uint32N(2), MSN: r.Uint32(), Last: r.IntN(2) == 0}
				p.Number += uint64(r.IntN(3))
				p.Frame += uint64(r.IntN(3))
			case 1:
				g = ddp.Segment{Tagged: true, DV: 1, RsvdULP: 0x40, STag: r.Uint32(), TO: r.Uint64(), Last: r.IntN(2) == 0}
				length = r.IntN(1 << 16)
				if p.HasOffset {
					p.Offset += r.Int64N(1 << 40)
				}
				p.Number, p.Frame = p.Number+1000, p.Frame-min(p.Frame, 3)
			}
			head := g.Append(nil)
			length += len(head)
			h.add(&taken, &g, &p, head, length)
			key, name := placeOf(&g)
			want = append(want, sentSegment{key, p.Number, p.Frame, p.Offset, name, uint32(length), [2]byte(head)})
		}
		got := h.latest(nil)
		slices.Reverse(want)
		if len(got) > len(want) || len(got) < len(want) && !h.lost {
			t.Fatalf("%d of %d segments, lost is %v", len(got), len(want), h.lost)
		}
		if !slices.Equal(got, want[:len(got)]) {
			t.Fatal("the segments are not those that were sent")
		}
		if least := cap(h.older) / (maxSentRecord + 1); h.lost && len(got) < least {
			t.Errorf("only %d segments are kept, at least %d", len(got), least)
		}
		if n := cap(h.older) + cap(h.newer); n > 2*maxSent || h.lost && n < 2*ownSent || h.lost && had == 0 && n < 2*maxSent {
			t.Errorf("segments are given up with room for %d octets", n)
		}
		if taken > sharedSent {
			t.Errorf("%d octets are shared", taken)
		}
		if h.release(&taken); taken != had {
			t.Errorf("%d octets are shared, before it %d", taken, had)
		}
	}
}

// TestSent_Allocs: once there may be no more room, nothing is allocated.
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
	for range 4 * maxSent {
		add()
	}
	if n := testing.AllocsPerRun(1000, add); n > 0 {
		t.Errorf("%v allocations for a segment", n)
	}
}
