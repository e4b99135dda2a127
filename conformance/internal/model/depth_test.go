package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plainFlight is what flight has to say, from a plain list that is searched.
type plainFlight struct {
	list  []plainFlying
	count uint64
}

type plainFlying struct {
	flying
	open bool // no answer
}

func (f *plainFlight) awaited(acked int64, yield func(*flying)) {
	for i := range f.list {
		if x := &f.list[i]; x.open || x.end > acked {
			yield(&x.flying)
		}
	}
}

func (f *plainFlight) retire(acked int64) {
	f.list = slices.DeleteFunc(f.list, func(x plainFlying) bool { return !x.open && x.end <= acked })
}

func (f *plainFlight) launch(r *Request, acked int64) (muddled bool) {
	if f.retire(acked); len(f.list) >= maxRequests {
		f.list, muddled = f.list[:0], true
	}
	f.list = append(f.list, plainFlying{flying{nth: f.count, atomic: r.Atomic, source: r.source}, true})
	f.count++
	return muddled
}

func (f *plainFlight) land(nth uint64, end int64) {
	for i := range f.list {
		if f.list[i].nth == nth {
			f.list[i].end, f.list[i].open = end, false
		}
	}
}

// report is all that is asked of a flight.
type report struct {
	Depth         depth
	Places        [3]uint8
	Reads, Atomic bool
}

func (f *plainFlight) report(acked int64) (r report) {
	f.awaited(acked, func(x *flying) {
		r.Depth.add(x.atomic)
		if x.atomic {
			r.Places[x.source.STag] |= x.source.Bit()
		}
	})
	for i := range f.list {
		r.Reads, r.Atomic = r.Reads || !f.list[i].atomic, r.Atomic || f.list[i].atomic
	}
	return r
}

// TestFlight_LikeAList: counts and places are those of a list that is searched, with answers
// in and out of order, twice, and never, acknowledgements that go back, and too many requests.
func TestFlight_LikeAList(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		s := &Segment{Depth: depth{Known: true}}
		var plain plainFlight
		var f flight
		end, muddled := int64(0), false
		turns, many := 3000, seed == 50
		if many {
			turns = 30_000 // so that there are too many
		}
		for range turns {
			acked := max(end-int64(rnd.IntN(50)), -1)
			switch rnd.IntN(3 + int(seed%3)) {
			case 0, 3, 4:
				if many && rnd.IntN(200_000) > 0 {
					acked = -1 // nothing is known to have arrived: they grow too many
				}
				r := &Request{Atomic: rnd.IntN(3) == 0, source: TaggedAddress{STag: uint32(rnd.IntN(3)), TO: uint64(rnd.IntN(16))}}
				muddled = plain.launch(r, acked) || muddled
				f.retire(acked)
				f.launch(r)
			default:
				nth := plain.count - min(uint64(rnd.IntN(1+rnd.IntN(40))), plain.count)
				if len(plain.list) > 0 && rnd.IntN(2) == 0 {
					nth = plain.list[0].nth
				}
				if end += int64(rnd.IntN(9)); rnd.IntN(20) == 0 {
					end = max(end-20, 0) // over SCTP
				}
				plain.land(nth, end)
				f.land(nth, end)
			}
			want := plain.report(acked)
			got := report{Depth: f.awaited(acked), Reads: f.Has(false), Atomic: f.Has(true)}
			if diff := cmp.Diff(want.Depth, got.Depth); diff != "" || want.Reads != got.Reads || want.Atomic != got.Atomic || muddled != f.muddled {
				t.Fatalf("seed %d: %s, %+v, want %+v", seed, diff, got, want)
			}
			if !many && rnd.IntN(10) == 0 {
				plain.retire(acked)
				f.retire(acked)
				for stag := range uint32(3) {
					got.Places[stag] = f.beside(s, stag)
				}
				if want.Places != got.Places {
					t.Fatalf("seed %d: places %v, want %v", seed, got.Places, want.Places)
				}
			}
		}
		if muddled != many {
			t.Errorf("seed %d: too many requests: %t", seed, muddled)
		}
	}
}

// work is what requests and answers cost in moved and visited entries, with so many requests
// outstanding. Each third answer is behind the oldest one.
func work(outstanding int) (steps uint64) {
	h := &Direction{asking: &asking{}}
	f := &h.Flight
	end := int64(0)
	ask := func() {
		r := Request{Atomic: f.count%2 == 0, source: TaggedAddress{STag: 1, TO: f.count * atomicLen}, nth: f.count}
		acked := end - 100
		f.awaited(acked)
		f.retire(acked)
		f.launch(&r)
		h.ask(r)
	}
	for range outstanding {
		ask()
	}
	before := f.steps + f.waitingRoom.Moved() + f.landedRoom.Moved() + h.room.Moved()
	for i := range 4 * outstanding {
		at := 0
		if i%3 == 0 {
			at = min(2, len(h.Requests)-1)
		}
		end += 10
		f.land(h.Requests[at].nth, end)
		h.answered(&h.Requests[at])
		ask()
	}
	return f.steps + f.waitingRoom.Moved() + f.landedRoom.Moved() + h.room.Moved() - before
}

// TestRequests_ConstantCost: a request costs the same however many are outstanding, up to the
// logarithm for the answers out of order.
func TestRequests_ConstantCost(t *testing.T) {
	for n := 64; n <= maxRequests/4; n *= 2 {
		if a, b := work(n), work(2*n); float64(b) > 2.3*float64(a) || b > uint64(2*n)*4*12 {
			t.Errorf("%d outstanding: %d steps, %d outstanding: %d", n, a, 2*n, b)
		}
	}
}
