package reassembly

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue compares the blocks with a sorted slice, for insertions in several
// orders mixed with removals from the front, and bounds the number of blocks:
// that bounds the work for an insertion.
func TestQueue(t *testing.T) {
	orders := []struct {
		name string
		next func(rng *rand.Rand, i int) int64
	}{
		{"forward", func(_ *rand.Rand, i int) int64 { return int64(i) * 3 }},
		{"backward", func(_ *rand.Rand, i int) int64 { return int64(1e6 - i*3) }},
		{"random", func(rng *rand.Rand, _ int) int64 { return rng.Int64N(1e6) }},
		{"outwards", func(_ *rand.Rand, i int) int64 { return int64(5e5 + (i&1*2-1)*i*3) }},
		{"narrow", func(rng *rand.Rand, i int) int64 { return rng.Int64N(int64(i) + 2) }},
	}
	for _, o := range orders {
		for _, drops := range []int{0, 3, 10} {
			t.Run(o.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(drops), 3))
				var q queue
				b := NewBudget(0, 0)
				var want []int64
				for i := range 5000 {
					off := o.next(rng, i)
					at, found := slices.BinarySearch(want, off)
					p := q.seek(off)
					if e := q.at(p); (e != nil && e.off == off) != found || (e == nil) != (at == len(want)) {
						t.Fatalf("seek(%d) = %+v", off, e)
					}
					if !found {
						want = slices.Insert(want, at, off)
						p = q.insert(b, p, held{off: off, n: 1})
						if e := q.at(p); e.off != off {
							t.Fatalf("inserted %d, there is %d", off, e.off)
						}
					}
					if rng.IntN(20) < drops && len(want) > 0 {
						if q.first().off != want[0] {
							t.Fatalf("first %d, want %d", q.first().off, want[0])
						}
						q.drop(b)
						want = want[1:]
					}
					if i%97 == 0 {
						checkQueue(t, &q, want)
					}
				}
				checkQueue(t, &q, want)
				for range want {
					q.drop(b)
				}
				checkQueue(t, &q, nil)
				for _, k := range b.blocks {
					if k.from != 0 || k.to != 0 {
						t.Fatal("a used block was taken back")
					}
					for i := range k.e {
						if k.e[i].data != nil || k.e[i].n != 0 {
							t.Fatal("a block was taken back with what it held")
						}
					}
				}
			})
		}
	}
}

func checkQueue(t *testing.T, q *queue, want []int64) {
	t.Helper()
	var got []int64
	if q.n > 0 {
		for p := q.start(0); q.at(p) != nil; p = q.after(p) {
			got = append(got, q.at(p).off)
		}
	}
	if !slices.Equal(got, want) || q.n != len(want) {
		t.Fatalf("%d held segments, want %d", q.n, len(want))
	}
	if q.n > 0 && q.last().off != want[len(want)-1] {
		t.Fatalf("last %d", q.last().off)
	}
	for _, k := range q.dir {
		if k.from >= k.to {
			t.Fatal("empty block")
		}
	}
	// A block is split into halves, and only the ends lose more.
	if most := 2*q.n/(blockLen/2) + 3; len(q.dir) > most {
		t.Fatalf("%d blocks for %d held segments", len(q.dir), q.n)
	}
}

// TestBounds floods the lists of carriers: what is remembered stays bounded.
func TestBounds(t *testing.T) {
	b := NewBudget(1<<20, 1<<20)
	var c Conn
	c.Init(b)
	s := Segment{Seq: 0, Flags: FlagSYN}
	c.Push(0, &s)
	s.Flags, s.Data, s.Len = FlagACK, []byte{1}, 1
	h := c.Direction(0)
	var p Piece
	send := func(off int) {
		s.Seq, s.Frame = uint32(off)+1, s.Frame+1
		c.Push(0, &s)
		for c.Pop(0, &p) {
		}
	}
	for range maxEarly + 1000 {
		send(10)
	}
	for off := range 5 {
		send(off)
		for range maxAgain + 1000 {
			send(0)
		}
	}
	if len(h.dis.pending) > maxEarly+1 || len(h.dis.late) > maxAgain {
		t.Errorf("%d early and %d late carriers", len(h.dis.pending), len(h.dis.late))
	}
	send(12) // new octets are remembered nevertheless
	last := s.Frame
	for off := range 12 {
		send(off)
	}
	if got := h.Carriers(nil, 12, 13); len(got) != 1 || got[0] != last {
		t.Errorf("carriers %v, want %d", got, last)
	}
	for off := range maxPassed + 1000 {
		send(13 + off)
	}
	if len(h.deliveries()) > maxPassed {
		t.Errorf("%d deliveries", len(h.deliveries()))
	}
	h.Release(h.Next())
	if h.extra || cap(h.deliveries())+cap(h.dis.late)+cap(h.dis.pending)+cap(h.dis.sorted) > 4*keepCap {
		t.Errorf("lists keep %d %d %d %d", cap(h.deliveries()), cap(h.dis.late), cap(h.dis.pending), cap(h.dis.sorted))
	}
}

// TestHeld bounds the number of held segments, and comes back to the fast path
// when none is left.
func TestHeld(t *testing.T) {
	var c Conn
	c.Init(NewBudget(1<<30, 1<<30))
	s := Segment{Flags: FlagSYN}
	c.Push(0, &s)
	h := c.Direction(0)
	if !h.plain {
		t.Error("not plain at the start")
	}
	s.Flags, s.Data, s.Len = FlagACK, []byte{1}, 1
	var p Piece
	for i := range maxHeld + 100 {
		s.Seq, s.Frame = uint32(2*i)+2, uint64(i)+1
		c.Push(0, &s)
		for c.Pop(0, &p) {
		}
		if want := min(i+1, maxHeld); int(h.waiting) != want || h.plain || !h.more {
			t.Fatalf("%d held segments, want %d", h.waiting, want)
		}
	}
	for c.Flush(0, &p) {
	}
	if !h.plain || h.more || len(h.dis.held.dir) != 0 || h.dis.bytes != 0 {
		t.Errorf("at the end plain %v, more %v, %d octets", h.plain, h.more, h.dis.bytes)
	}
}

// TestBudget_Idle keeps what a burst leaves behind within bounds.
func TestBudget_Idle(t *testing.T) {
	b := NewBudget(0, 0)
	for _, n := range []int{1, 64, 65, 1500, 9000, 65535, 66048, 66049, 200000} {
		var bufs [][]byte
		for range 200 {
			buf := b.take(n)
			if len(buf) != 0 || cap(buf) < n {
				t.Fatalf("take(%d): %d, %d", n, len(buf), cap(buf))
			}
			bufs = append(bufs, buf)
		}
		if b.Used() < 200*n {
			t.Errorf("%d in use", b.Used())
		}
		for _, buf := range bufs {
			b.give(buf)
		}
		if b.Used() != 0 || b.idle > maxIdle {
			t.Errorf("%d in use, %d idle", b.Used(), b.idle)
		}
	}
	for range maxBlocks + 10 {
		b.giveBlock(new(block))
	}
	if len(b.blocks) != maxBlocks {
		t.Errorf("%d blocks", len(b.blocks))
	}
}
