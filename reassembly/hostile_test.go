package reassembly_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/reassembly"
)

// hostile are histories that cost the square of their length, or more, when
// the lists behind are plain arrays.
var hostile = []struct {
	name string
	run  func(r *flood)
}{
	{"reverse", func(r *flood) {
		for i := r.n; i >= 0; i-- {
			r.octet(int64(i))
		}
	}},
	{"random", func(r *flood) {
		for _, i := range r.rng.Perm(r.n) {
			r.octet(int64(i) + 1)
		}
		r.octet(0)
	}},
	{"every second, backwards, then the others", func(r *flood) {
		for i := r.n; i > 0; i-- {
			r.octet(int64(2 * i))
		}
		for i := r.n; i > 0; i-- {
			r.octet(int64(2*i - 1))
		}
		r.octet(0)
	}},
	{"never the first octet, random", func(r *flood) {
		for range 10 * r.n {
			r.octet(1 + r.rng.Int64N(1<<20))
		}
	}},
	{"duplicates of held octets", func(r *flood) {
		for i := range r.n {
			r.octet(int64(2*i + 1))
		}
		for range 10 * r.n {
			r.octet(1 + 2*r.rng.Int64N(int64(r.n)))
		}
	}},
	{"in order below many held and repeated octets", func(r *flood) {
		for range 8 {
			for i := range r.n {
				r.octet(int64(1e6 + 2*i))
			}
		}
		for i := range 10 * r.n {
			r.octet(int64(i))
		}
	}},
	{"an open PDU of one-octet segments, repeated", func(r *flood) {
		r.keep = true
		for i := range 2 * r.n {
			r.octet(int64(i))
		}
		for range 10 * r.n {
			r.octet(r.rng.Int64N(int64(2 * r.n)))
		}
	}},
	{"carriers of each octet behind a filled hole", func(r *flood) {
		r.ask = true
		for i := range r.n {
			r.octet(int64(1 + i))
			r.octet(int64(1 + i))
		}
		r.octet(0)
	}},
	{"carriers of each octet under one large segment", func(r *flood) {
		r.ask = true
		for i := range r.n {
			r.octet(int64(1 + i))
		}
		r.s.Data, r.s.Len = make([]byte, r.n), r.n
		for range 1000 {
			r.push(1)
		}
		r.octet(0)
	}},
	{"many acknowledged holes", func(r *flood) {
		for i := range r.n {
			r.octet(int64(2*i + 1))
		}
		for range 100 {
			r.frame++
			r.c.Push(1, &reassembly.Segment{Seq: 1, Ack: r.seq + uint32(2*r.n), Flags: ack, Frame: r.frame})
			r.take()
		}
	}},
}

// flood is a connection under a flood of small segments.
type flood struct {
	tb        testing.TB
	n         int
	rng       *rand.Rand
	budget    *reassembly.Budget
	c         reassembly.Conn
	s         reassembly.Segment
	seq       uint32
	frame     uint64
	keep, ask bool
	frames    []uint64
	p         reassembly.Piece
}

func (r *flood) octet(off int64) {
	r.s.Data, r.s.Len = r.s.Data[:1], 1
	r.push(off)
}

func (r *flood) push(off int64) {
	r.frame++
	r.s.Seq, r.s.Frame = r.seq+uint32(off), r.frame
	r.c.Push(0, &r.s)
	r.take()
}

func (r *flood) take() {
	h := r.c.Direction(0)
	for r.c.Pop(0, &r.p) {
		if r.ask {
			r.frames = h.Carriers(r.frames[:0], r.p.Off, r.p.Off+r.p.Len)
		}
	}
	if !r.keep {
		h.Release(h.Next())
	}
	if r.budget.Used() > 8<<20 {
		r.tb.Fatalf("%d octets in use", r.budget.Used())
	}
}

// TestHostile must end long before the test's time is over. With plain arrays
// some of these take minutes.
func TestHostile(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			r := &flood{tb: t, n: 30000, rng: rand.New(rand.NewPCG(1, 1)), budget: reassembly.NewBudget(8<<20, 64<<20), seq: 0xffffff00}
			r.s = reassembly.Segment{Seq: r.seq - 1, Flags: syn, Data: make([]byte, 1)}
			r.c.Init(r.budget)
			r.s.Len = 0
			r.s.Data = r.s.Data[:0]
			r.c.Push(0, &r.s)
			r.s.Flags = ack
			from := time.Now()
			tt.run(r)
			t.Logf("%d packets, %v", r.frame, time.Since(from).Round(time.Millisecond))
			for r.c.Flush(0, &r.p) {
			}
			if r.budget.Used() != 0 {
				t.Errorf("%d octets in use after the end", r.budget.Used())
			}
		})
	}
}
