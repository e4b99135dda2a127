package reassembly_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

// seqState is what became of a number.
type seqState uint8

const (
	unseen seqState = iota
	delivered
	held
	lost
)

// seqModel is a slow Sequence: a map from numbers that do not wrap. It drives
// the code under test and compares.
type seqModel struct {
	tb     testing.TB
	seed   uint64
	q      reassembly.Sequence
	budget *reassembly.Budget
	state  map[int64]seqState
	kept   map[int64]reassembly.Message
	begun  bool
	known  bool
	first  int64
	next   int64
	serial uint32
}

func newSeqModel(tb testing.TB, seed uint64, perDirection, total int) *seqModel {
	m := &seqModel{tb: tb, seed: seed, budget: reassembly.NewBudget(perDirection, total), state: map[int64]seqState{}, kept: map[int64]reassembly.Message{}}
	m.q.Init(m.budget)
	return m
}

func (m *seqModel) fail(format string, args ...any) {
	m.tb.Helper()
	m.tb.Fatalf("seed %d, next %d: "+format, append([]any{m.seed, m.next}, args...)...)
}

// begin tells the first number.
func (m *seqModel) begin(v int64) {
	m.q.Begin(uint16(v))
	m.begun, m.known, m.first, m.next = true, true, v, v
}

// place is what a message with the number should be.
func (m *seqModel) place(v int64) reassembly.Place {
	switch s := m.state[v]; {
	case s == delivered || s == held:
		return reassembly.Duplicate
	case s == lost:
		return reassembly.Late
	case v < m.first && m.known:
		return reassembly.Duplicate // no such number was ever to come
	case v < m.first:
		return reassembly.Late
	case v == m.next:
		return reassembly.Next
	}
	return reassembly.Held
}

// push puts in a message of n octets, and takes out what it makes deliverable.
func (m *seqModel) push(v int64, n int) reassembly.Place {
	m.tb.Helper()
	if !m.begun {
		m.begun, m.first, m.next = true, v, v
	}
	m.serial++
	src := reassembly.Message{
		SID: 3, PPID: 16, First: int64(m.serial), TSNs: []uint32{m.serial, m.serial + 1},
		Octets: make([]byte, n), Length: n + 1, Frame: uint64(m.serial), Frames: []uint64{uint64(m.serial)},
	}
	for i := range src.Octets {
		src.Octets[i] = byte(uint32(i) + m.serial)
	}
	kept := src
	kept.Octets, kept.TSNs, kept.Frames = bytes.Clone(src.Octets), slices.Clone(src.TSNs), slices.Clone(src.Frames)
	want := m.place(v)
	got := m.q.Push(uint16(v), &src)
	if got != want {
		m.fail("Push(%d) = %v, want %v", v, got, want)
	}
	// What is kept must not lean on what was lent.
	clear(src.Octets)
	clear(src.TSNs)
	clear(src.Frames)
	switch got {
	case reassembly.Next:
		m.state[v] = delivered
		m.next++
		m.drain()
	case reassembly.Held:
		m.state[v], m.kept[v] = held, kept
	case reassembly.Late:
		m.state[v] = delivered
	case reassembly.Duplicate:
	}
	m.compare()
	return got
}

// drain pops what is next.
func (m *seqModel) drain() {
	m.tb.Helper()
	for {
		got, ok := m.q.Pop()
		want, has := m.kept[m.next]
		if ok != has {
			m.fail("Pop: %v, want %v", ok, has)
		}
		if !ok {
			return
		}
		if !bytes.Equal(got.Octets, want.Octets) || !slices.Equal(got.TSNs, want.TSNs) || !slices.Equal(got.Frames, want.Frames) ||
			got.First != want.First || got.Length != want.Length || got.Frame != want.Frame || got.SID != want.SID || got.PPID != want.PPID {
			m.fail("Pop: %+v, want %+v", got, want)
		}
		delete(m.kept, m.next)
		m.state[m.next] = delivered
		m.next++
	}
}

// skip gives up what is before the first that is kept.
func (m *seqModel) skip() {
	m.tb.Helper()
	var n int64
	if len(m.kept) > 0 {
		for m.state[m.next+n] == unseen {
			m.state[m.next+n] = lost
			n++
		}
	}
	from, got := m.q.Skip()
	if got != n || n > 0 && from != uint16(m.next) {
		m.fail("Skip: %d from %d, want %d from %d", got, from, n, uint16(m.next))
	}
	m.next += n
	m.drain()
	m.compare()
}

func (m *seqModel) compare() {
	m.tb.Helper()
	if m.q.Begun() != m.begun || m.begun && m.q.Expected() != uint16(m.next) || m.q.Waiting() != len(m.kept) {
		m.fail("begun %v, expected %d, waiting %d, want %v, %d, %d",
			m.q.Begun(), m.q.Expected(), m.q.Waiting(), m.begun, uint16(m.next), len(m.kept))
	}
	if len(m.kept) == 0 && m.budget.Used() != 0 {
		m.fail("%d octets in use, but nothing waits", m.budget.Used())
	}
}

// end gives up all that is missing.
func (m *seqModel) end() {
	m.tb.Helper()
	for m.q.Waiting() > 0 {
		m.skip()
	}
	if used := m.budget.Used(); used != 0 {
		m.fail("%d octets in use at the end", used)
	}
}

// shuffled returns the numbers below n, none more than window from its place,
// some of them missing and some several times.
func shuffled(rng *rand.Rand, n, window int, loss, again float64) (out []int) {
	type at struct{ v, key int }
	var all []at
	for v := range n {
		if rng.Float64() < loss {
			continue
		}
		all = append(all, at{v, v + rng.IntN(window)})
		for rng.Float64() < again {
			all = append(all, at{v, v + rng.IntN(2*window)})
		}
	}
	slices.SortStableFunc(all, func(x, y at) int { return x.key - y.key })
	for _, x := range all {
		out = append(out, x.v)
	}
	return out
}

// TestSequence_Model compares with maps: disorder, duplicates, loss, the wrap at
// 65536, the first number known or not.
func TestSequence_Model(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		m := newSeqModel(t, seed, 1<<30, 1<<30)
		base := []int64{0, 1, 32760, 65530, 65000}[rng.IntN(5)]
		if seed%2 == 0 {
			m.begin(base)
		}
		loss := []float64{0, 0.02, 0.2}[rng.IntN(3)]
		for _, v := range shuffled(rng, 600, 1+rng.IntN(100), loss, 0.2) {
			m.push(base+int64(v), rng.IntN(100)*rng.IntN(30))
			if len(m.kept) > 0 && rng.IntN(60) == 0 {
				m.skip()
			}
		}
		if loss == 0 && seed%2 == 0 && rng.IntN(2) == 0 && len(m.kept) > 0 {
			m.fail("%d messages wait, but none is missing", len(m.kept))
		}
		m.end()
	}
}

// TestSequence_Laps goes round the 65536 numbers three times, in disorder.
func TestSequence_Laps(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	m := newSeqModel(t, 4, 1<<30, 1<<30)
	m.begin(7)
	for _, v := range shuffled(rng, 3*65536, 40, 0, 0.01) {
		m.push(7+int64(v), 2)
	}
	m.end()
	if m.next != 7+3*65536 {
		t.Errorf("ended at %d", m.next)
	}
}

// TestSequence_Window holds what a number means that is half a lap away.
func TestSequence_Window(t *testing.T) {
	for _, tt := range []struct {
		name string
		off  uint16
		want reassembly.Place
	}{
		{"next", 0, reassembly.Next},
		{"one early", 1, reassembly.Held},
		{"farthest ahead", 32767, reassembly.Held},
		{"farthest behind", 32768, reassembly.Duplicate},
		{"one behind", 65535, reassembly.Duplicate},
	} {
		for _, at := range []uint16{0, 5, 40000, 65535} {
			var q reassembly.Sequence
			q.Init(reassembly.NewBudget(1000, 1000))
			q.Begin(at)
			if got := q.Push(at+tt.off, &reassembly.Message{}); got != tt.want {
				t.Errorf("%s of %d: %v, want %v", tt.name, at, got, tt.want)
			}
		}
	}
}

// TestSequence_Full holds each of the bounds, and that skipping leads back.
func TestSequence_Full(t *testing.T) {
	for _, tt := range []struct {
		name                string
		perDirection, total int
		size                int
		most                int // messages that can be kept
	}{
		// A message of 500 octets takes a buffer of 512, 64 for itself, 8 for
		// its two TSNs and 8 for its frame.
		{"for the direction", 10 * 592, 1 << 20, 500, 10},
		{"for the run", 1 << 20, 10 * 512, 500, 10},
		{"number of messages", 1 << 30, 1 << 30, 0, 4096},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newSeqModel(t, 0, tt.perDirection, tt.total)
			m.begin(60000)
			if m.q.Full() {
				t.Error("full when nothing is kept")
			}
			for i := range tt.most + 20 {
				m.push(60001+2*int64(i), tt.size)
				if want := i+1 > tt.most; m.q.Full() != want {
					t.Fatalf("%d kept: full %v, want %v", i+1, m.q.Full(), want)
				}
				if m.q.Full() {
					break
				}
			}
			m.skip()
			if m.q.Full() || m.q.Waiting() != tt.most {
				t.Errorf("full %v with %d after a skip", m.q.Full(), m.q.Waiting())
			}
			m.end()
		})
	}
}

// TestSequence_PopLends holds that a message that was popped is intact until the
// next Pop, whatever is kept in the meantime.
func TestSequence_PopLends(t *testing.T) {
	var q reassembly.Sequence
	budget := reassembly.NewBudget(1<<20, 1<<20)
	q.Init(budget)
	q.Begin(0)
	msg := func(b byte) *reassembly.Message {
		return &reassembly.Message{Octets: bytes.Repeat([]byte{b}, 50), Length: 50}
	}
	q.Push(1, msg(1))
	q.Push(0, msg(0))
	m, ok := q.Pop()
	if !ok {
		t.Fatal("nothing popped")
	}
	for n := uint16(3); n < 10; n++ {
		q.Push(n, msg(byte(n)))
	}
	if !bytes.Equal(m.Octets, bytes.Repeat([]byte{1}, 50)) {
		t.Errorf("lent octets became %x", m.Octets)
	}
	used := budget.Used()
	if _, ok := q.Pop(); ok || budget.Used() >= used {
		t.Errorf("popped %v, %d octets in use, before %d", ok, budget.Used(), used)
	}
}

// TestSequence_Again holds that frames of what comes once more are noted with the
// message that waits, by its first TSN or another one, each frame once.
func TestSequence_Again(t *testing.T) {
	var q reassembly.Sequence
	q.Init(reassembly.NewBudget(1<<20, 1<<20))
	q.Begin(0)
	const first = 1<<32 + 5
	q.Push(1, &reassembly.Message{First: first, TSNs: []uint32{5, 6}, Frames: []uint64{10, 11}})
	q.Again(first, 5, &reassembly.Carriage{Frame: 20})
	q.Again(first+1, 6, &reassembly.Carriage{Frame: 19, Fragments: []uint64{18, 19}})
	q.Again(first+1, 6, &reassembly.Carriage{Frame: 20})
	q.Again(first+2, 7, &reassembly.Carriage{Frame: 30}) // of another message
	for i := range uint64(200) {
		q.Again(first, 5, &reassembly.Carriage{Frame: 100 + i})
	}
	q.Push(0, &reassembly.Message{})
	m, ok := q.Pop()
	if want := []uint64{10, 11, 18, 19, 20, 100}; !ok || len(m.Frames) > 100 || !slices.Equal(m.Frames[:len(want)], want) {
		t.Errorf("%v, frames %v", ok, m.Frames)
	}
}

// FuzzSequence turns octets into pushes and skips, and compares with the model.
func FuzzSequence(f *testing.F) {
	rec := func(op byte, off int16, n byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{op}, uint16(off)), n)
	}
	f.Add(uint16(0), uint16(0), false, uint16(65535), slices.Concat(rec(0, 0, 9), rec(0, 1, 9), rec(0, -1, 2), rec(0, 0, 200)))
	f.Add(uint16(2000), uint16(900), true, uint16(0), slices.Concat(rec(0, 5, 9), rec(0, 3, 9), rec(1, 0, 2), rec(0, -2, 0), rec(0, 32767, 1), rec(0, -32768, 1)))
	f.Add(uint16(65535), uint16(65535), false, uint16(9), slices.Concat(slices.Repeat(rec(2, 1, 255), 3), rec(0, 0, 1), rec(0, -7, 1), rec(0, -7, 1)))
	f.Fuzz(func(t *testing.T, perDirection, total uint16, known bool, first uint16, in []byte) {
		m := newSeqModel(t, 0, int(perDirection), int(total))
		if m.next = int64(first); known {
			m.begin(m.next)
		}
		// Fewer steps than spans are remembered, so that the model need not forget. The model goes
		// through each number that is given up: a thousand times half of them take seconds.
		const numbers = 1 << 18
		for n := 0; len(in) >= 4 && n < 1000 && m.next-int64(first) < numbers; n++ {
			v := m.next + int64(int16(binary.BigEndian.Uint16(in[1:])))
			if in[0]&2 != 0 {
				v = m.next + int64(in[2]%16) - 4
			}
			if in[0]&1 != 0 {
				m.skip()
			} else {
				m.push(v, int(in[3])*int(1+in[0]>>4))
			}
			// What is kept is bounded, but for the message just kept.
			if used := m.budget.Used(); used > max(int(perDirection), 0)+9216 || used > int(total)+9216 {
				t.Fatalf("%d octets in use, may be %d and %d", used, perDirection, total)
			}
			for m.q.Full() {
				m.skip()
			}
			if used := m.budget.Used(); used > int(perDirection) || used > int(total) {
				t.Fatalf("%d octets in use and not full, may be %d and %d", used, perDirection, total)
			}
			in = in[4:]
		}
		m.end()
	})
}
