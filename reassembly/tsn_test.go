package reassembly

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

// numbers spells a list of spans out.
func numbers(s []span) map[int64]bool {
	m := map[int64]bool{}
	for _, x := range s {
		for v := x.from; v < x.to; v++ {
			m[v] = true
		}
	}
	return m
}

// tidy reports whether a list is sorted and no span is empty or touches another.
func tidy(s []span) bool {
	for i, x := range s {
		if x.from >= x.to || i > 0 && x.from <= s[i-1].to {
			return false
		}
	}
	return true
}

// TestTSNs_Spans compares insert, cut and find with a set of numbers.
func TestTSNs_Spans(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s []span
		set := map[int64]bool{}
		for range 400 {
			v := rng.Int64N(120) - 20
			if i := find(s, v); i >= 0 && rng.IntN(2) == 0 {
				s = cut(s, i, v)
				delete(set, v)
			} else {
				n := 1 + rng.Int64N(1+rng.Int64N(9))
				s = insert(s, span{v, v + n})
				for k := range n {
					set[v+k] = true
				}
			}
			if !tidy(s) || !maps.Equal(numbers(s), set) {
				t.Fatalf("seed %d: %v after %d, want %v", seed, s, v, slices.Sorted(maps.Keys(set)))
			}
			for v := int64(-30); v < 120; v++ {
				i := find(s, v)
				if (i >= 0) != set[v] || i >= 0 && (v < s[i].from || v >= s[i].to) {
					t.Fatalf("seed %d: %d is found at %d of %v", seed, v, i, s)
				}
			}
		}
	}
}

// tsnModel knows of every TSN whether it was seen or lost.
type tsnModel struct {
	start, next, high int64
	known             bool
	seen, lost        map[int64]bool
}

func (m *tsnModel) settle() {
	for m.seen[m.next] || m.lost[m.next] {
		m.next++
	}
	m.high = max(m.high, m.next)
}

func (m *tsnModel) add(v int64) (Note, bool) {
	switch {
	case m.seen[v]:
		return Retransmission, false
	case v < m.start && m.known:
		return BeforeStart, false
	}
	m.seen[v] = true
	switch {
	case v < m.start:
		return OutOfOrder, true
	case m.lost[v]:
		delete(m.lost, v)
		return LateForGap, true
	case v < m.high:
		m.settle()
		return OutOfOrder, true
	}
	m.high = v + 1
	m.settle()
	return 0, true
}

func (m *tsnModel) giveUp(below int64) (n int64) {
	for v := m.next; v < below; v++ {
		if !m.seen[v] {
			m.lost[v] = true
			n++
		}
	}
	m.settle()
	return n
}

// TestTSNs_Model compares with maps, over the wrap at 2^32, with the first TSN
// known or not.
func TestTSNs_Model(t *testing.T) {
	starts := []uint32{0, 1, 1<<31 - 20, 1 << 31, 1<<32 - 1, 1<<32 - 200, 1<<32 - 30}
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		first := starts[rng.IntN(len(starts))]
		m := &tsnModel{start: int64(first), next: int64(first), high: int64(first), known: seed%2 == 0, seen: map[int64]bool{}, lost: map[int64]bool{}}
		var x tsns
		if got := x.unwrap(first); got != m.start {
			t.Fatalf("the first TSN %d is unwrapped to %d", first, got)
		}
		x.begin(first, m.known)
		spread := 1 + rng.Int64N(60)
		for range 500 {
			if rng.IntN(12) == 0 {
				below := m.next + rng.Int64N(spread) - spread/4
				if got, want := x.giveUp(below), m.giveUp(below); got != want {
					t.Fatalf("seed %d: giveUp(%d) = %d, want %d", seed, below, got, want)
				}
			} else {
				v := m.next + rng.Int64N(spread) - rng.Int64N(spread)/2
				if rng.IntN(3) == 0 {
					v = m.next // or no hole is ever filled
				}
				// On the wire there are 32 bits of it.
				if got := x.unwrap(uint32(v)); got != v {
					t.Fatalf("seed %d: %d is unwrapped to %d", seed, v, got)
				}
				note, fresh := x.add(v)
				if wantNote, want := m.add(v); note != wantNote || fresh != want {
					t.Fatalf("seed %d: add(%d) = %b, %v, want %b, %v", seed, v, note, fresh, wantNote, want)
				}
			}
			m.compare(t, seed, &x)
		}
	}
}

func (m *tsnModel) compare(t *testing.T, seed uint64, x *tsns) {
	t.Helper()
	if x.next != m.next || x.high != m.high || x.start != m.start {
		t.Fatalf("seed %d: start %d next %d high %d, want %d, %d, %d", seed, x.start, x.next, x.high, m.start, m.next, m.high)
	}
	early, seen := map[int64]bool{}, map[int64]bool{}
	for v := range m.seen {
		switch {
		case v < m.start:
			early[v] = true
		case v >= m.next:
			seen[v] = true
		}
	}
	for _, c := range []struct {
		name string
		got  []span
		want map[int64]bool
	}{{"seen", x.seen, seen}, {"early", x.early, early}, {"lost", x.lost, m.lost}} {
		if !tidy(c.got) || !maps.Equal(numbers(c.got), c.want) {
			t.Fatalf("seed %d: %s %v, want %v", seed, c.name, c.got, slices.Sorted(maps.Keys(c.want)))
		}
	}
}

// TestTSNs_ListsAreBounded holds that nothing that a sender can do makes the
// lists grow without end.
func TestTSNs_ListsAreBounded(t *testing.T) {
	const slack = 8
	tests := []struct {
		name string
		run  func(x *tsns)
	}{
		// Every other TSN is seen, then FORWARD TSN jumps over all holes at once.
		{"many holes at once", func(x *tsns) {
			for range 5 {
				for i := range int64(maxSpans) {
					x.add(x.next + 1 + 2*i)
				}
				x.giveUp(x.high)
			}
		}},
		// One long hole, of which every other TSN comes late.
		{"a hole in pieces", func(x *tsns) {
			from := x.next
			x.giveUp(from + 1<<20)
			for i := range int64(5 * maxSpans) {
				x.add(from + 1 + 2*i)
			}
		}},
		// Every other TSN before a capture began.
		{"before the start", func(x *tsns) {
			for i := range int64(5 * maxSpans) {
				x.add(x.start - 2 - 2*i)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var x tsns
			x.begin(1<<31, false)
			tt.run(&x)
			if len(x.lost) > maxSpans+slack || len(x.early) > maxSpans+slack {
				t.Errorf("%d spans lost, %d early, want %d at most", len(x.lost), len(x.early), maxSpans)
			}
		})
	}
}

// TestAssociation_SeenIsBounded holds that the list of what was seen is bounded
// although a packet has room for more than 3000 chunks, and holes are given up
// only after a packet.
func TestAssociation_SeenIsBounded(t *testing.T) {
	var a Association
	a.Init(NewBudget(1<<20, 1<<20))
	a.Start(0, 0)
	tsn := uint32(1)
	for range 20 {
		a.Packet()
		for range 3000 {
			a.Data(0, &Chunk{Flags: ChunkBegin | ChunkEnd, TSN: tsn, Octets: []byte{1}}, 1, &Carriage{Frame: 1})
			tsn += 2
		}
		a.Age(0)
		if n := len(a.dirs[0].seen); n > maxSpans {
			t.Fatalf("%d spans seen after a packet, want %d at most", n, maxSpans)
		}
	}
}

// TestSequence_LostIsBounded does the same for the numbers that were given up:
// every other one comes late.
func TestSequence_LostIsBounded(t *testing.T) {
	var q Sequence
	q.Init(NewBudget(1<<20, 1<<20))
	q.Begin(0)
	m := &Message{}
	for range 20 {
		from := q.Expected()
		q.Push(from+30000, m)
		q.Skip()
		for _, ok := q.Pop(); ok; _, ok = q.Pop() {
		}
		for n := uint16(1); n < 30000; n += 2 {
			if got := q.Push(from+n, m); got != Late {
				t.Fatalf("%d of a hole at %d is %v, want Late", n, from, got)
			}
			if len(q.lost) > maxSpans+8 {
				t.Fatalf("%d spans lost, want %d at most", len(q.lost), maxSpans)
			}
		}
	}
}

// TestSequence_SkipOfNothing holds that Skip gives up nothing while nothing is
// missing.
func TestSequence_SkipOfNothing(t *testing.T) {
	var q Sequence
	q.Init(NewBudget(1<<20, 1<<20))
	q.Begin(5)
	if from, n := q.Skip(); from != 0 || n != 0 {
		t.Errorf("nothing kept: skipped %d from %d", n, from)
	}
	q.Push(6, &Message{})
	q.Push(5, &Message{}) // 6 waits to be popped
	if _, n := q.Skip(); n != 0 || !tidy(q.lost) {
		t.Errorf("nothing missing: skipped %d, lost %v", n, q.lost)
	}
}

// gaps writes gap blocks as a SACK has them.
func gaps(b ...uint16) (out sctp.Blocks) {
	for _, v := range b {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return out
}

// TestAssociation_SinceIsTheHole holds that the age of a hole is that of its
// acknowledgement, whatever else the association sees.
func TestAssociation_SinceIsTheHole(t *testing.T) {
	var a Association
	b := NewBudget(1<<20, 1<<20)
	b.Grace = 8
	a.Init(b)
	a.Start(0, 10)
	put := func(tsn uint32) {
		a.Data(0, &Chunk{Flags: ChunkBegin | ChunkEnd, TSN: tsn, Octets: []byte{1}}, 1, &Carriage{Frame: 1})
	}
	a.Packet()
	put(12) // 10 and 11 are missing
	a.Ack(1, 9, gaps(2, 3))
	if a.dirs[0].since != 0 {
		t.Error("11 and 12 are acknowledged, but 10, the first that is missing, is not")
	}
	a.Packet()
	a.Ack(1, 9, gaps(1, 1, 3, 3))
	if a.dirs[0].since != 2 {
		t.Errorf("10 is acknowledged since packet %d, want 2", a.dirs[0].since)
	}
	a.Packet()
	put(10)
	if a.dirs[0].since != 0 {
		t.Errorf("10 came, 11 is not acknowledged, but the hole is so since packet %d", a.dirs[0].since)
	}
}

// TestTSNs_Acknowledged compares what is open with a set of TSNs that were
// acknowledged, cumulatively or by blocks.
func TestTSNs_Acknowledged(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var x tsns
		x.begin(1000, true)
		acked := map[int64]bool{}
		for range 200 {
			cumulative := 999 + rng.Int64N(100)
			sack := sctp.Sack{TSN: uint32(cumulative)}
			for range rng.IntN(4) {
				from := uint16(1 + rng.IntN(50))
				b := sctp.Block{Start: from, End: from + uint16(rng.IntN(5))}
				sack.Blocks = append(sack.Blocks, b)
				for v := b.Start; v <= b.End; v++ {
					acked[cumulative+int64(v)] = true
				}
			}
			for v := int64(1000); v <= cumulative; v++ {
				acked[v] = true
			}
			chunk := sack.Chunk()
			_, blocks, err := sctp.Acked(&chunk)
			if err != nil {
				t.Fatal(err)
			}
			x.ack(cumulative+1, blocks)
			from := 1000 + rng.Int64N(160)
			want := from
			for acked[want] {
				want++
			}
			if got := x.open(from); got != want || !tidy(x.sacked) {
				t.Fatalf("seed %d: from %d on %d is open, want %d", seed, from, got, want)
			}
		}
	}
}

// TestTSNs_Blurred: more blocks than can be kept leave nothing open for certain, until
// all of them are acknowledged.
func TestTSNs_Blurred(t *testing.T) {
	var a Association
	a.Init(NewBudget(1<<20, 1<<20))
	a.Start(0, 1)
	var sack sctp.Sack
	for i := range uint16(maxSpans + 2) {
		sack.Blocks = append(sack.Blocks, sctp.Block{Start: 2 + 2*i, End: 2 + 2*i})
	}
	chunk := sack.Chunk()
	_, blocks, err := sctp.Acked(&chunk)
	if err != nil {
		t.Fatal(err)
	}
	a.Ack(1, 0, blocks)
	if _, ok := a.Unacked(0, 3); ok || len(a.dirs[0].sacked) > maxSpans+1 {
		t.Errorf("certain with %d spans", len(a.dirs[0].sacked))
	}
	a.Ack(1, 5000, nil)
	a.Ack(1, 5000, nil)
	if tsn, ok := a.Unacked(0, 3); !ok || tsn != 5001 {
		t.Errorf("%d, %v", tsn, ok)
	}
}

// TestAssociation_Splits: a message between the fragments of another one is told
// once, whichever comes last; fragments that are missing are none.
func TestAssociation_Splits(t *testing.T) {
	const b, e = ChunkBegin, ChunkEnd
	type chunk struct {
		tsn   uint32
		flags uint8
		sid   uint16
	}
	for _, tt := range []struct {
		name   string
		chunks []chunk
		want   uint64
	}{
		{"whole", []chunk{{10, b, 1}, {11, 0, 1}, {12, e, 1}}, 0},
		{"disordered", []chunk{{12, e, 1}, {10, b, 1}, {11, 0, 1}}, 0},
		{"a message between", []chunk{{10, b, 1}, {11, b | e, 1}, {12, e, 1}}, 1},
		{"the fragments first", []chunk{{12, e, 1}, {10, b, 1}, {11, b | e, 1}}, 1},
		{"a fragment of another stream", []chunk{{10, b, 1}, {11, e, 2}}, 1},
		{"a message that has no end", []chunk{{10, b, 1}, {11, b, 1}, {12, e, 1}}, 1},
		{"one that is missing", []chunk{{10, b, 1}, {12, b | e, 1}}, 0},
	} {
		for _, skip := range []bool{false, true} {
			var a Association
			a.Init(NewBudget(1<<20, 1<<20))
			a.Start(0, 10)
			for _, c := range tt.chunks {
				a.Packet()
				d := Chunk{TSN: c.tsn, Flags: c.flags, SID: c.sid, Octets: []byte{1}}
				if skip && c.flags == b|e {
					a.Skip(0, &d) // of another protocol
				} else {
					a.Data(0, &d, 1, &Carriage{Frame: 1})
				}
			}
			if got := a.Splits(0); got != tt.want {
				t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
			}
		}
	}
}
