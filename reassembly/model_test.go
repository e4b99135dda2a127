package reassembly_test

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/reassembly"
)

// octet is what the model knows of one octet of the stream.
type octet struct {
	value    byte
	captured bool
	first    uint64 // frame of the copy that counts
	carriers map[uint64]bool
	with     uint64 // frame it was delivered with, 0 while it was not
	gap      bool
}

// model is a slow reassembly: a map from offset to octet. When a hole is given
// up it takes from the code under test, and judges only whether it could be.
type model struct {
	tb       testing.TB
	seed     uint64
	octets   map[int64]*octet
	next     int64
	released int64
	acked    int64
	last     uint64 // frame of the last piece
	inGap    bool
	gaps     []int64 // starts of gaps, neighbours merged
	gapEnd   int64
	frame    uint64
}

func (m *model) fail(format string, args ...any) {
	m.tb.Helper()
	m.tb.Fatalf("seed %d frame %d: "+format, append([]any{m.seed, m.frame}, args...)...)
}

func (m *model) at(off int64) *octet {
	o := m.octets[off]
	if o == nil {
		o = &octet{carriers: map[uint64]bool{}}
		m.octets[off] = o
	}
	return o
}

// high is the offset behind the highest octet that came.
func (m *model) high() int64 {
	high := m.next
	for off, o := range m.octets {
		if o.first != 0 {
			high = max(high, off+1)
		}
	}
	return high
}

// push processes a segment and compares the note.
func (m *model) push(off int64, s *reassembly.Segment, note reassembly.Note) {
	m.frame = s.Frame
	if s.Len == 0 || note == reassembly.KeepAlive {
		if note != 0 && (note != reassembly.KeepAlive || s.Len > 1 || off != m.high()-1) {
			m.fail("note %q for %d octets at %d, next is %d", notes(note), s.Len, off, m.next)
		}
		return
	}
	var want reassembly.Note
	if off < 0 {
		want |= reassembly.BeforeStart
	}
	if off <= m.next && off+int64(s.Len) > m.next {
		m.inGap = false
	}
	fresh := false
	for i := range int64(s.Len) {
		at := off + i
		if at < 0 {
			continue
		}
		o := m.at(at)
		captured := i < int64(len(s.Data))
		switch {
		case o.gap:
			want |= reassembly.LateForGap
		case o.first == 0:
			fresh = true
			o.first, o.captured = s.Frame, captured
			if captured {
				o.value = s.Data[i]
			}
		default:
			want |= reassembly.Retransmission
			if o.with == 0 && captured && o.captured && o.value != s.Data[i] {
				want |= reassembly.Conflict
			}
		}
		o.carriers[s.Frame] = true
		for _, f := range s.Fragments {
			o.carriers[f] = true
		}
	}
	if fresh && off > m.next {
		want |= reassembly.OutOfOrder
	}
	if len(m.gaps) > 8 { // more than are remembered
		const doubt = reassembly.LateForGap | reassembly.Retransmission
		want, note = want&^doubt, note&^doubt
	}
	if note != want {
		m.fail("note %q, want %q for [%d,%d), next is %d", notes(note), notes(want), off, off+int64(s.Len), m.next)
	}
}

// piece checks the next piece.
func (m *model) piece(p *reassembly.Piece, ended bool) {
	if p.Off != m.next || p.Len <= 0 {
		m.fail("piece [%d,+%d), want it at %d", p.Off, p.Len, m.next)
	}
	for at := p.Off; at < p.Off+p.Len; at++ {
		o := m.at(at)
		switch {
		case o.with != 0:
			m.fail("octet %d twice", at)
		case (p.Kind == reassembly.Gap) != (o.first == 0):
			m.fail("octet %d: gap %v, but it was carried by %d", at, p.Kind == reassembly.Gap, o.first)
		case p.Kind != reassembly.Gap && o.captured != (p.Kind == reassembly.Data):
			m.fail("octet %d: kind %d", at, p.Kind)
		case p.Kind == reassembly.Data && p.Data[at-p.Off] != o.value:
			m.fail("octet %d is %#x, want %#x", at, p.Data[at-p.Off], o.value)
		}
		o.with = p.Frame
		o.gap = p.Kind == reassembly.Gap
		if p.Kind == reassembly.Gap {
			continue
		}
		want := m.frame
		if m.inGap {
			want = max(m.last, o.first)
		}
		if p.Frame != want {
			m.fail("octet %d delivered with frame %d, want %d (gap %v)", at, p.Frame, want, m.inGap)
		}
	}
	if p.Kind == reassembly.Gap {
		m.gap(p, ended)
	}
	if p.Frame < m.last {
		m.fail("frame falls from %d to %d", m.last, p.Frame)
	}
	m.last = p.Frame
	m.next += p.Len
}

func (m *model) gap(p *reassembly.Piece, ended bool) {
	m.inGap = true
	if len(m.gaps) == 0 || m.gapEnd != p.Off {
		m.gaps = append(m.gaps, p.Off)
	}
	m.gapEnd = p.Off + p.Len
	if (p.Reason == reassembly.Ended) != ended {
		m.fail("gap reason %v", p.Reason)
	}
	if p.Reason == reassembly.Acked && m.gapEnd > m.acked {
		m.fail("gap up to %d, acknowledged %d", m.gapEnd, m.acked)
	}
}

// settled checks what can be asked between packets.
func (m *model) settled(h *reassembly.Direction, rng *rand.Rand) {
	if o := m.octets[m.next]; o != nil && o.first != 0 {
		m.fail("octet %d is there and was not delivered", m.next)
	}
	if m.next <= m.released {
		return
	}
	for range 3 {
		from := m.released + rng.Int64N(m.next-m.released)
		to := from + 1 + rng.Int64N(m.next-from)
		m.carriers(h, from, to)
		if f, at := h.Delivered(to); f != m.octets[to-1].with || at != int64(f)*10 {
			m.fail("Delivered(%d) = %d, %d, want %d", to, f, at, m.octets[to-1].with)
		}
	}
}

func (m *model) carriers(h *reassembly.Direction, from, to int64) {
	set := map[uint64]bool{}
	for at := from; at < to; at++ {
		if o := m.octets[at]; o != nil {
			for f := range o.carriers {
				set[f] = true
			}
		}
	}
	want := []uint64{7}
	for f := range set {
		want = append(want, f)
	}
	slices.Sort(want[1:])
	if got := h.Carriers([]uint64{7}, from, to); !slices.Equal(got, want) {
		m.fail("Carriers(%d, %d) = %v, want %v; next %d", from, to, got, want, m.next)
	}
}

// history is a random life of one direction.
type history struct {
	isn   uint32
	syn   bool
	total int64
	parts []part
}

type part struct {
	off, n int64
	keep   int64 // captured octets
	spoilt bool  // differs from the other copies
	when   int
}

func randomHistory(rng *rand.Rand) *history {
	h := &history{total: 1 + rng.Int64N(600), syn: rng.IntN(4) > 0}
	h.isn = uint32(-rng.Int64N(h.total + 50))
	if rng.IntN(4) == 0 {
		h.isn = rng.Uint32()
	}
	most := 1 + rng.Int64N(60)
	window := rng.IntN(12) * rng.IntN(2)
	loss, again, snap, spoil := rng.IntN(15)*rng.IntN(2), rng.IntN(40), rng.IntN(30)*rng.IntN(2), rng.IntN(30)*rng.IntN(2)
	add := func(off, n int64, when int) {
		p := part{off: off, n: n, keep: n, when: when + rng.IntN(window+1), spoilt: rng.IntN(100) < spoil}
		if rng.IntN(100) < snap {
			p.keep = rng.Int64N(n + 1)
		}
		h.parts = append(h.parts, p)
	}
	for off := int64(0); off < h.total; {
		n := min(1+rng.Int64N(most), h.total-off)
		when := len(h.parts)
		if rng.IntN(100) >= loss {
			add(off, n, when)
		}
		for rng.IntN(100) < again {
			from := max(0, off-rng.Int64N(2*most))
			add(from, min(1+rng.Int64N(3*most), h.total-from), when+rng.IntN(2*window+1))
		}
		off += n
	}
	sort.SliceStable(h.parts, func(i, j int) bool { return h.parts[i].when < h.parts[j].when })
	return h
}

func runModel(tb testing.TB, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	hist := randomHistory(rng)
	perDirection := 4 << 20
	if rng.IntN(3) == 0 {
		perDirection = rng.IntN(3000)
	}
	budget := reassembly.NewBudget(perDirection, 8<<20)
	var c reassembly.Conn
	c.Init(budget)
	m := &model{tb: tb, seed: seed, octets: map[int64]*octet{}}
	h := c.Direction(0)
	var p reassembly.Piece
	var frame uint64
	take := func() {
		for c.Pop(0, &p) {
			m.piece(&p, false)
			if rng.IntN(4) == 0 {
				m.carriersAt(h, rng)
			}
		}
		m.settled(h, rng)
		if budget.Used() > perDirection {
			m.fail("%d octets in use", budget.Used())
		}
		if rng.IntN(3) == 0 {
			m.released = max(m.released, m.next-rng.Int64N(m.next+1)*rng.Int64N(2))
			h.Release(m.released)
		}
	}
	stream := make([]byte, hist.total)
	for i := range stream {
		stream[i] = byte(rng.Uint32())
	}
	start := int64(0) // offset in the history of offset 0
	if hist.syn {
		frame++
		c.Push(0, &reassembly.Segment{Seq: hist.isn, Flags: syn, Frame: frame, Time: int64(frame) * 10})
		take()
	} else if len(hist.parts) > 0 {
		start = hist.parts[0].off
		if hist.parts[0].n == 1 {
			start++ // a keep-alive, as far as anyone can tell
		}
	}
	high := int64(0)
	for _, pt := range hist.parts {
		frame++
		s := reassembly.Segment{Seq: hist.isn + 1 + uint32(pt.off), Flags: ack, Len: int(pt.n)}
		s.Data = slices.Clone(stream[pt.off : pt.off+pt.keep])
		if pt.spoilt && len(s.Data) > 0 {
			s.Data[rng.IntN(len(s.Data))] ^= 0x55
		}
		if rng.IntN(10) == 0 {
			for range 1 + rng.IntN(3) {
				s.Fragments = append(s.Fragments, frame)
				frame++
			}
			s.Fragments = append(s.Fragments, frame)
		}
		s.Frame, s.Time = frame, int64(frame)*10
		off := pt.off - start
		before := m.next
		note := c.Push(0, &s)
		if h.Next() != before {
			m.fail("Push moved Next")
		}
		m.push(off, &s, note)
		take()
		for i := range s.Data {
			s.Data[i] = 0xee // it was only borrowed
		}
		high = max(high, off+pt.n)
		for rng.IntN(3) == 0 && high > 0 {
			frame++
			m.frame = frame
			to := m.next + rng.Int64N(max(1, high-m.next+1))
			c.Push(1, &reassembly.Segment{Seq: 5, Ack: hist.isn + 1 + uint32(to+start), Flags: ack, Frame: frame, Time: int64(frame) * 10})
			m.acked = max(m.acked, to)
			take()
		}
	}
	for c.Flush(0, &p) {
		m.piece(&p, true)
	}
	m.settled(h, rng)
	if m.next != high || budget.Used() != 0 || h.Waiting() {
		m.fail("end at %d, want %d; %d octets in use", m.next, high, budget.Used())
	}
}

// carriersAt asks while pieces are still to be popped, as for a PDU that ends
// in the piece at hand.
func (m *model) carriersAt(h *reassembly.Direction, rng *rand.Rand) {
	if m.next > m.released {
		from := m.released + rng.Int64N(m.next-m.released)
		m.carriers(h, from, m.next)
	}
}

// TestModel compares random histories with the slow model, octet for octet.
func TestModel(t *testing.T) {
	seeds := uint64(600)
	if tracetest.Campaign() {
		seeds = 4000
	}
	for seed := range seeds {
		runModel(t, seed)
	}
}
