package link

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestQueue_OrderOfTimeThenOfInsertion(t *testing.T) {
	type happening struct {
		at int64
		n  int
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	var q Queue
	var want, got []happening
	for n := range 2000 {
		h := happening{rnd.Int64N(50), n}
		want = append(want, h)
		q.At(h.at, func() {
			if q.Now() != h.at {
				t.Errorf("event %d of time %d at %d", h.n, h.at, q.Now())
			}
			got = append(got, h)
		})
	}
	slices.SortStableFunc(want, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	for q.Step() {
	}
	if d := gocmp.Diff(want, got, gocmp.AllowUnexported(happening{})); d != "" {
		t.Fatal(d)
	}
}

func TestQueue_PastIsNow(t *testing.T) {
	var q Queue
	var got []string
	q.At(100, func() {
		q.At(100, func() { got = append(got, "second") })
		q.At(-5, func() { got = append(got, "third") })
		q.At(101, func() { got = append(got, "last") })
		got = append(got, "first")
	})
	for q.Step() {
	}
	if d := gocmp.Diff([]string{"first", "second", "third", "last"}, got); d != "" {
		t.Error(d)
	}
	if q.Now() != 101 {
		t.Errorf("the queue ends at %d", q.Now())
	}
}

func TestQueue_Empty(t *testing.T) {
	var q Queue
	if q.Step() || q.Now() != 0 {
		t.Errorf("something happened in an empty queue, at %d", q.Now())
	}
}

func TestQueue_AllocatesNothing(t *testing.T) {
	var q Queue
	f := func() {}
	for range 64 {
		q.At(q.Now(), f)
	}
	if n := testing.AllocsPerRun(1000, func() {
		q.Step()
		q.At(q.Now()+7, f)
	}); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}
