package reassembly_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
)

const (
	endFlag       = sctp.FlagEnd
	beginFlag     = sctp.FlagBegin
	unorderedFlag = sctp.FlagUnordered
	whole         = beginFlag | endFlag
)

// sent is a chunk as a sender made it.
type sent struct {
	reassembly.Chunk
	wire int
	msg  int
	// frames that have carried it so far.
	frames []uint64
}

// user is a user message and what is to come out for it.
type user struct {
	chunks []*sent
	out    bool
}

// life is a random life of one direction: its chunks by TSN.
type life struct {
	start  uint32
	chunks []*sent
	users  []*user
	came   map[int]bool
	left   map[int]int // chunks of a message that have not come
}

// newLife makes messages of up to six chunks. I-DATA chunks of up to three
// messages are mixed, those of DATA follow one another (RFC 8260 section 2.2,
// RFC 9260 section 6.9). A cut capture has less of some chunks.
func newLife(rng *rand.Rand, start uint32, messages int, idata, cut bool) *life {
	l := &life{start: start, came: map[int]bool{}, left: map[int]int{}}
	type open struct {
		user, left int
		d          reassembly.Chunk
	}
	var opens []*open
	mids := map[uint16]uint32{}
	for made := 0; made < messages || len(opens) > 0; {
		if made < messages && (len(opens) == 0 || idata && len(opens) < 3 && rng.IntN(2) == 0) {
			o := &open{user: made, left: 1 + rng.IntN(6)*rng.IntN(2), d: reassembly.Chunk{
				I: idata, SID: uint16(rng.IntN(3)), PPID: 16 + uint32(rng.IntN(2)), SSN: uint16(rng.Uint32()), Flags: beginFlag,
			}}
			if rng.IntN(4) > 0 {
				o.d.Flags |= unorderedFlag
			}
			o.d.MID = mids[o.d.SID]
			mids[o.d.SID]++
			if !idata {
				o.d.MID = 0
			}
			opens = append(opens, o)
			l.users = append(l.users, &user{})
			made++
		}
		at := rng.IntN(len(opens))
		o := opens[at]
		d := o.d
		d.TSN = start + uint32(len(l.chunks))
		if o.left--; o.left == 0 {
			d.Flags |= endFlag
			opens = slices.Delete(opens, at, at+1)
		}
		c := &sent{Chunk: d, wire: 1 + rng.IntN(80), msg: o.user}
		if rng.IntN(10) == 0 {
			c.wire = 1 + rng.IntN(3000)
		}
		c.Octets = make([]byte, c.wire)
		for i := range c.Octets {
			c.Octets[i] = byte(rng.Uint32())
		}
		if cut && rng.IntN(5) == 0 {
			c.Octets = c.Octets[:rng.IntN(c.wire)]
		}
		l.chunks = append(l.chunks, c)
		u := l.users[o.user]
		u.chunks = append(u.chunks, c)
		l.left[o.user]++
		o.d.Flags &^= beginFlag
		o.d.FSN++
		if idata {
			o.d.PPID = 0 // the number of the fragment has its place
		}
	}
	return l
}

// TestAssociation_RandomOrder sends messages of both sides in random order, with
// duplicates, over the wrap of the TSN: each comes out once, with the chunk that
// completes it.
func TestAssociation_RandomOrder(t *testing.T) {
	starts := []uint32{0, 1, 1<<31 - 60, 1<<32 - 1, 1<<32 - 40, 1<<32 - 100}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var a reassembly.Association
		budget := reassembly.NewBudget(1<<30, 1<<30)
		budget.Grace = 1
		a.Init(budget)
		known := seed%2 == 0
		var lives [2]*life
		var order [2][]int
		var base [2]int64 // of the unwrapped TSNs
		for side := range lives {
			l := newLife(rng, starts[rng.IntN(len(starts))], 30, seed%3 == 0, seed%5 == 0)
			lives[side], order[side] = l, shuffled(rng, len(l.chunks), 1+rng.IntN(50), 0, 0.3)
			base[side] = int64(l.start)
			if known {
				a.Start(side, l.start)
			} else {
				first := l.chunks[order[side][0]].TSN
				base[side] = int64(first) - int64(order[side][0])
			}
		}
		frame := uint64(0)
		for len(order[0])+len(order[1]) > 0 {
			side := rng.IntN(2)
			if len(order[side]) == 0 {
				continue
			}
			at := order[side][0]
			order[side] = order[side][1:]
			frame++
			carriage := reassembly.Carriage{Frame: frame, Time: int64(frame) * 10}
			if rng.IntN(6) == 0 {
				frame++
				carriage = reassembly.Carriage{Frame: frame, Time: int64(frame) * 10, Fragments: []uint64{frame - 1, frame}}
			}
			a.Packet()
			lives[side].put(t, seed, &a, side, at, base[side], &carriage)
			if known { // nothing is missing for long enough to be given up
				for side := range 2 {
					if n := a.Age(side); n != 0 {
						t.Fatalf("seed %d: %d TSNs given up, none was acknowledged", seed, n)
					}
					if m := a.Broken(side, false, frame, 0); m != nil {
						t.Fatalf("seed %d: broken %+v", seed, m)
					}
				}
			}
		}
		for side, l := range lives {
			for i, u := range l.users {
				if !u.out {
					t.Errorf("seed %d: message %d did not come out", seed, i)
				}
			}
			if m := a.Broken(side, true, frame, 0); m != nil {
				t.Errorf("seed %d: left at the end: %+v", seed, m)
			}
			if n := int64(len(l.chunks)); a.FirstMissing(side) != base[side]+n && known || a.High(side) != base[side]+n {
				t.Errorf("seed %d: settled %d, high %d, want %d", seed, a.FirstMissing(side), a.High(side), base[side]+n)
			}
		}
		if budget.Used() != 0 {
			t.Errorf("seed %d: %d octets in use at the end", seed, budget.Used())
		}
	}
}

// put sends chunk number at, and judges what comes out.
func (l *life) put(t *testing.T, seed uint64, a *reassembly.Association, side, at int, base int64, carriage *reassembly.Carriage) {
	t.Helper()
	c := l.chunks[at]
	u := l.users[c.msg]
	d := c.Chunk
	d.Octets = bytes.Clone(c.Octets)
	before := a.Stats(side)
	m, tsn, note := a.Data(side, &d, c.wire, carriage)
	after := a.Stats(side)
	if tsn != base+int64(at) {
		t.Fatalf("seed %d: TSN %d, want %d", seed, tsn, base+int64(at))
	}
	again := l.came[at]
	if got := note&reassembly.Retransmission != 0; got != again || after.Chunks != before.Chunks+1 || after.Retransmitted-before.Retransmitted != count(again) {
		t.Fatalf("seed %d: TSN %d: note %q, sent before %v, counts %+v after %+v", seed, tsn, notes(note), again, after, before)
	}
	if got := note&reassembly.OutOfOrder != 0; after.Reordered-before.Reordered != count(got) {
		t.Fatalf("seed %d: TSN %d: note %q, counts %+v after %+v", seed, tsn, notes(note), after, before)
	}
	if !again {
		l.came[at] = true
		l.left[c.msg]--
	}
	if len(carriage.Fragments) > 0 {
		c.frames = append(c.frames, carriage.Fragments...)
	} else {
		c.frames = append(c.frames, carriage.Frame)
	}
	if want := l.left[c.msg] == 0 && !u.out; (m != nil) != want {
		t.Fatalf("seed %d: TSN %d: message %v, want %v", seed, tsn, m, want)
	}
	if m == nil {
		clear(d.Octets) // they were only lent
		return
	}
	u.out = true
	u.check(t, seed, m, base, l.start, carriage)
}

func count(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// check compares a message with what was sent.
func (u *user) check(t *testing.T, seed uint64, m *reassembly.Message, base int64, start uint32, carriage *reassembly.Carriage) {
	t.Helper()
	first := u.chunks[0]
	want := reassembly.Message{
		SID: first.SID, PPID: first.PPID, Flags: first.Flags, IData: first.I, First: base + int64(first.TSN-start), Whole: true,
		Frame: carriage.Frame, Time: carriage.Time,
	}
	for _, c := range u.chunks {
		want.TSNs = append(want.TSNs, c.TSN)
		if want.Whole {
			want.Octets = append(want.Octets, c.Octets...)
		}
		want.Whole = want.Whole && len(c.Octets) == c.wire
		want.Length += c.wire
		want.Frames = append(want.Frames, c.frames...)
	}
	slices.Sort(want.Frames)
	want.Frames = slices.Compact(want.Frames)
	if got, want := spell(m), spell(&want); got != want {
		t.Fatalf("seed %d: message\n%s, want\n%s", seed, got, want)
	}
}

func spell(m *reassembly.Message) string {
	return fmt.Sprintf("%d %d %d %v %d %d %x %d %v %d %d %d",
		m.SID, m.PPID, m.Flags, m.IData, m.First, m.TSNs, m.Octets, m.Length, m.Whole, m.Frame, m.Time, m.Frames)
}

// assoc drives an association, side 0 sending, and writes down what comes out:
// one word a message, its TSNs joined by +, with ! unless it is whole.
type assoc struct {
	tb     testing.TB
	a      reassembly.Association
	budget *reassembly.Budget
	frame  uint64
	out    []string
	// headless are the messages without a beginning: whether a chunk is gone.
	headless []bool
}

func newAssoc(tb testing.TB, grace uint64) *assoc {
	a := &assoc{tb: tb, budget: reassembly.NewBudget(1<<20, 1<<20)}
	a.budget.Grace = grace
	a.a.Init(a.budget)
	return a
}

func (a *assoc) message(m *reassembly.Message) {
	a.tb.Helper()
	var w []string
	for i, tsn := range m.TSNs {
		w = append(w, itoa(int(tsn)))
		if want := payload(tsn); m.Whole && !bytes.Equal(m.Octets[i*len(want):][:len(want)], want) {
			a.tb.Errorf("octets %x of %v, want %x of %d", m.Octets, m.TSNs, want, tsn)
		}
	}
	s := strings.Join(w, "+")
	if !m.Whole {
		s += "!"
	}
	a.out = append(a.out, s)
}

// payload is what a chunk carries.
func payload(tsn uint32) []byte { return binary.BigEndian.AppendUint32(nil, tsn*0x9e3779b9) }

// data sends a DATA chunk in a packet of its own.
func (a *assoc) data(tsn uint32, flags uint8) reassembly.Note {
	a.tb.Helper()
	return a.chunk(reassembly.Chunk{TSN: tsn, Flags: flags})
}

func (a *assoc) chunk(d reassembly.Chunk) reassembly.Note {
	a.tb.Helper()
	a.frame++
	a.a.Packet()
	d.Octets = payload(d.TSN)
	m, _, note := a.a.Data(0, &d, len(d.Octets), &reassembly.Carriage{Frame: a.frame})
	clear(d.Octets[:0])
	if m != nil {
		a.message(m)
	}
	return note
}

// settle is what a caller does after a packet. It returns the TSNs given up.
func (a *assoc) settle(end bool) (n int64) {
	a.tb.Helper()
	n = a.a.Age(0)
	for m := a.a.Broken(0, end, a.frame, 0); m != nil; m = a.a.Broken(0, end, a.frame, 0) {
		if m.Whole {
			a.tb.Errorf("%v is whole, but was handed out as broken", m.TSNs)
		}
		if m.Headless {
			a.headless = append(a.headless, m.Gone)
			continue
		}
		a.message(m)
	}
	if end && a.budget.Used() != 0 {
		a.tb.Errorf("%d octets in use at the end", a.budget.Used())
	}
	return n
}

func (a *assoc) want(out string, st reassembly.ChunkStats) {
	a.tb.Helper()
	if got := strings.Join(a.out, " "); got != out {
		a.tb.Errorf("out came %q, want %q", got, out)
	}
	got := a.a.Stats(0)
	got.Chunks, got.Retransmitted, got.Reordered, got.MostOutstanding = 0, 0, 0, 0
	if got != st {
		a.tb.Errorf("counts %+v, want %+v", got, st)
	}
}

// blocks writes gap blocks as a SACK has them.
func blocks(b ...uint16) (out sctp.Blocks) {
	for _, v := range b {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return out
}

// TestAssociation_Grace holds after how many packets a hole is given up, however
// it was acknowledged and whatever else comes. TSN 10 was seen, 11 was not.
func TestAssociation_Grace(t *testing.T) {
	const grace = 6
	none := func(*assoc, uint32) {}
	tests := []struct {
		name string
		ahead,
		acked func(a *assoc)
		// during is done with each packet that follows, of which this is the nth.
		during func(a *assoc, n uint32)
		want   int64 // TSNs given up
	}{
		{"cumulative", func(a *assoc) { a.data(12, whole) }, func(a *assoc) { a.a.Ack(1, 12, nil) }, none, 1},
		{
			"cumulative, data and acknowledgements go on",
			func(a *assoc) { a.data(12, whole) },
			func(a *assoc) { a.a.Ack(1, 12, nil) },
			func(a *assoc, n uint32) { a.data(12+n, whole); a.a.Ack(1, 12+n, nil) }, 1,
		},
		{"last TSN", func(*assoc) {}, func(a *assoc) { a.a.Ack(1, 11, nil) }, none, 1},
		{"last three TSNs", func(*assoc) {}, func(a *assoc) { a.a.Ack(1, 13, nil) }, none, 3},
		{"gap block", func(a *assoc) { a.data(12, whole) }, func(a *assoc) { a.a.Ack(1, 9, blocks(2, 3)) }, none, 1},
		{
			"gap block, acknowledgements go on",
			func(a *assoc) { a.data(12, whole) },
			func(a *assoc) { a.a.Ack(1, 9, blocks(2, 3)) },
			func(a *assoc, _ uint32) { a.a.Ack(1, 9, blocks(2, 3)) }, 1,
		},
		{
			"gap block, data go on",
			func(a *assoc) { a.data(12, whole) },
			func(a *assoc) { a.a.Ack(1, 9, blocks(2, 3)) },
			func(a *assoc, n uint32) { a.data(12+n, whole) }, 1,
		},
		{"not acknowledged", func(a *assoc) { a.data(12, whole) }, func(a *assoc) { a.a.Ack(1, 10, blocks(2, 2)) }, none, 0},
		{"acknowledged by the wrong side", func(a *assoc) { a.data(12, whole) }, func(a *assoc) { a.a.Ack(0, 12, blocks(2, 2)) }, none, 0},
		{
			"only a part acknowledged", // 12 is still on its way
			func(a *assoc) { a.data(13, whole) },
			func(a *assoc) { a.a.Ack(1, 11, nil) }, none, 1,
		},
		{
			"only a part acknowledged, by a gap block",
			func(a *assoc) { a.data(13, whole) },
			func(a *assoc) { a.a.Ack(1, 9, blocks(2, 2, 4, 4)) }, none, 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAssoc(t, grace)
			a.a.Start(0, 10)
			a.data(10, whole)
			tt.ahead(a)
			a.a.Packet()
			tt.acked(a)
			for n := range uint32(grace - 1) {
				if got := a.settle(false); got != 0 {
					t.Fatalf("%d given up after %d packets", got, n)
				}
				a.packet(func() { tt.during(a, n+1) })
			}
			if got := a.settle(false); got != 0 {
				t.Fatalf("%d given up after %d packets", got, grace-1)
			}
			a.packet(func() { tt.during(a, grace) })
			if got := a.settle(false); got != tt.want {
				t.Fatalf("%d given up after %d packets, want %d", got, grace, tt.want)
			}
			if lost := a.a.Lost(0, 11); lost != (tt.want > 0) || a.a.Lost(0, 11+max(tt.want, 1)) {
				t.Errorf("lost %v", lost)
			}
		})
	}
}

// packet counts one packet, whether f makes one or not.
func (a *assoc) packet(f func()) {
	n := a.a.Packets()
	f()
	if a.a.Packets() == n {
		a.a.Packet()
	}
}

// TestAssociation_GraceOfTheNext holds that a hole has its own grace: not that of
// the one before it, which was filled at last.
func TestAssociation_GraceOfTheNext(t *testing.T) {
	const grace = 10
	a := newAssoc(t, grace)
	a.a.Start(0, 10)
	a.data(11, whole)
	a.data(13, whole) // 10 and 12 are missing
	a.a.Ack(1, 9, []byte{0, 2, 0, 2})
	for range grace - 1 {
		a.a.Packet()
	}
	a.settle(false)
	a.data(10, whole)
	a.a.Ack(1, 12, nil)
	for n := range grace - 1 {
		if got := a.settle(false); got != 0 {
			t.Fatalf("12 is given up %d packets after its acknowledgement", n+1)
		}
		a.a.Packet()
	}
	got := a.settle(false)
	a.a.Packet()
	if got += a.settle(false); got != 1 { // counted from when it was the first that is missing, at most
		t.Errorf("12 is not given up after its grace")
	}
	a.want("11 13 10", reassembly.ChunkStats{Gaps: 1, GapTSNs: 1})
}

// TestAssociation_Forward holds that what a sender gives up is given up at once,
// each hole counted.
func TestAssociation_Forward(t *testing.T) {
	a := newAssoc(t, 100)
	if n := a.a.Forward(0, 5); n != 0 {
		t.Errorf("%d given up of a side that sent nothing", n)
	}
	a.a.Start(0, 1<<32-2) // 4294967294 and 4294967295, 0, 1, ...
	a.data(0, whole)
	a.data(3, whole)
	if n := a.a.Forward(1, 3); n != 0 {
		t.Errorf("%d given up of the wrong side", n)
	}
	if n := a.a.Forward(0, 1); n != 3 || a.a.FirstMissing(0) != 1<<32+2 {
		t.Errorf("%d given up, settled %d, want 3, up to 2", n, a.a.FirstMissing(0))
	}
	if n := a.a.Forward(0, 0); n != 0 {
		t.Errorf("%d given up once more", n)
	}
	if n := a.a.Forward(0, 5); n != 3 || a.a.FirstMissing(0) != 1<<32+6 || a.a.High(0) != 1<<32+6 {
		t.Errorf("%d given up, settled %d, high %d, want 3, all up to 5", n, a.a.FirstMissing(0), a.a.High(0))
	}
	a.settle(false)
	// There were four holes: 4294967294 and 4294967295; 1 and 2, in two goes;
	// 4 and 5.
	a.want("0 3", reassembly.ChunkStats{Gaps: 4, GapTSNs: 6})
}

// TestAssociation_LateForGap holds that a chunk is delivered although it was
// given up.
func TestAssociation_LateForGap(t *testing.T) {
	a := newAssoc(t, 100)
	a.a.Start(0, 10)
	a.data(14, whole)
	a.a.Forward(0, 14)
	if !a.a.Lost(0, 10) || !a.a.Lost(0, 13) || a.a.Lost(0, 14) {
		t.Error("10 to 13 are lost")
	}
	for _, tt := range []struct {
		tsn  uint32
		note reassembly.Note
	}{
		{12, reassembly.LateForGap},
		{12, reassembly.Retransmission},
		{13, reassembly.LateForGap},
		{10, reassembly.LateForGap},
		{14, reassembly.Retransmission},
		{9, reassembly.BeforeStart},
		{11, reassembly.LateForGap},
		{11, reassembly.Retransmission},
	} {
		if got := a.data(tt.tsn, whole); got != tt.note {
			t.Errorf("TSN %d: %q, want %q", tt.tsn, notes(got), notes(tt.note))
		}
		a.settle(false)
	}
	if a.a.Lost(0, 10) {
		t.Error("nothing is lost any more")
	}
	a.want("14 12 13 10 11", reassembly.ChunkStats{Gaps: 1, GapTSNs: 4})
	a.settle(true)
}

// flagsOf reads the flags of a step: b begins a message, e ends one.
func flagsOf(step string) (flags uint8) {
	if strings.Contains(step, "b") {
		flags |= beginFlag
	}
	if strings.Contains(step, "e") {
		flags |= endFlag
	}
	return flags
}

// TestAssociation_Broken holds what is left of fragmented messages. The steps
// are TSNs with the flags b and e; "/8" gives up all up to 8, "." says that the
// capture ends.
func TestAssociation_Broken(t *testing.T) {
	tests := []struct {
		name, steps, want string
		orphans           uint64
	}{
		{"middle", "1b 3e /3", "1!", 1},
		{"middle of many", "1b 2 4 5 6e 7be /6", "7 1+2!", 3},
		{"start", "2 3e /3", "", 2},
		{"end", "1b 2 4be /4", "4 1+2!", 0},
		{"all but the middle", "2 /3", "", 1},
		{"end before the next message", "1b 2 4b 5e /5", "4+5 1+2!", 0},
		{"two", "1b 3e 4b 6e /6", "1! 4!", 2},
		{"no end, the next begins", "1b 2 3b 4e", "1+2! 3+4", 0},
		{"no start", "1be 2 3e 4be", "1 4", 2},
		{"not given up", "1b 3e", "", 0},
		{"not given up, then filled", "1b 3e 2", "1+2+3", 0},
		{"given up, but goes on", "2b 3 /3 4e", "2+3+4", 0},
		{"given up, then filled", "1b 3e /3 2", "1!", 2},
		{"capture ends", "1b 3e .", "1!", 1},
		{"capture ends in a message", "1b 2 .", "1+2!", 0},
		{"capture ends, more to come", "1b 3b 4 6e .", "1! 3+4!", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAssoc(t, 100)
			a.a.Start(0, 1)
			for _, s := range strings.Fields(tt.steps) {
				switch {
				case s == ".":
					a.settle(true)
				case s[0] == '/':
					a.a.Forward(0, uint32(s[1]-'0'))
				default:
					a.data(uint32(s[0]-'0'), flagsOf(s))
				}
				a.settle(false)
			}
			if got := strings.Join(a.out, " "); got != tt.want || a.a.Stats(0).Orphans != tt.orphans {
				t.Errorf("out came %q, %d orphans, want %q, %d", got, a.a.Stats(0).Orphans, tt.want, tt.orphans)
			}
			a.settle(true)
		})
	}
}

// TestAssociation_Headless: fragments without the beginning of their message are handed out to be counted,
// once for each message, and whether the capture lost the beginning. That the sender left it out shows at once.
func TestAssociation_Headless(t *testing.T) {
	for _, tt := range []struct {
		name, steps, want string
		unbegun           uint64
	}{
		{"the beginning is lost", "2 3e /3 .", "[true]", 0},
		{"the beginning is lost, and more", "1be 3 5e 6be /6 .", "[true]", 0},
		{"the beginning is there", "1b 3e /3 .", "[]", 0},
		{"of two messages", "1b 3e 5e 6be /6 .", "[true]", 0},
		{"never sent", "1be 2 3e 4be .", "[false]", 1},
		{"never sent, disorder", "1be 3e 2 4be .", "[false]", 1},
		{"never sent, the first chunk", "1 2e 3be .", "[false]", 1},
		{"never sent, the only one", "1be 2e .", "[false]", 1},
		{"whole ones", "1be 2b 3e 4be 5b 6 7e .", "[]", 0},
	} {
		a := newAssoc(t, 100)
		a.a.Start(0, 1)
		for _, s := range strings.Fields(tt.steps) {
			switch s[0] {
			case '.':
			case '/':
				a.a.Forward(0, uint32(s[1]-'0'))
			default:
				a.data(uint32(s[0]-'0'), flagsOf(s))
			}
			a.settle(s[0] == '.')
		}
		if got := fmt.Sprint(a.headless); got != tt.want || a.a.Unbegun(0) != tt.unbegun {
			t.Errorf("%s: %s, %d without a beginning, want %s, %d", tt.name, got, a.a.Unbegun(0), tt.want, tt.unbegun)
		}
	}
}

// TestAssociation_BrokenIData holds that the end of a capture leaves nothing of
// I-DATA either; which of its messages a lost TSN was of, nobody knows before.
func TestAssociation_BrokenIData(t *testing.T) {
	a := newAssoc(t, 100)
	a.a.Start(0, 1)
	chunk := func(tsn uint32, flags uint8, mid, fsn uint32) {
		a.chunk(reassembly.Chunk{I: true, TSN: tsn, Flags: flags, MID: mid, FSN: fsn})
		a.settle(false)
	}
	chunk(1, beginFlag, 7, 0)
	chunk(2, beginFlag|unorderedFlag, 7, 0) // the same number, but of those without order
	chunk(3, 0, 7, 1)
	chunk(5, endFlag, 7, 3) // 4 is lost
	chunk(6, endFlag|unorderedFlag, 7, 1)
	chunk(7, endFlag, 8, 1) // its start was never sent
	a.want("2+6", reassembly.ChunkStats{})
	a.settle(true)
	a.want("2+6 1+3!", reassembly.ChunkStats{Orphans: 2})
}

// TestAssociation_LateStart holds that a capture that begins late takes chunks
// from before its first one, in any order, and waits some time for them.
func TestAssociation_LateStart(t *testing.T) {
	tests := []struct {
		name, steps, want string
		orphans           uint64
	}{
		{"in order", "5be 6b 7e", "5 6+7", 0},
		{"reversed", "5be 4be 3be 4be", "5 4 3", 0},
		{"end first", "5be 4e 3b", "5 3+4", 0},
		{"begin first", "5be 3b 4e", "5 3+4", 0},
		{"middle last", "5be 2b 4e 3", "5 2+3+4", 0},
		{"first one is the end", "5e 6be 4b", "6 4+5", 0},
		{"first one is the middle", "5 6e 7be 4b", "7 4+5+6", 0},
		// TSNs before the start are awaited for four times the grace, which is five packets.
		{"start never comes", "5e" + strings.Repeat(" 6be", 19), "6", 0},
		{"start never came", "5e" + strings.Repeat(" 6be", 20), "6", 1},
		{"end never came", "5be 3b" + strings.Repeat(" 6be", 20), "5 6 3!", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAssoc(t, 5)
			for _, s := range strings.Fields(tt.steps) {
				a.data(uint32(s[0]-'0'), flagsOf(s))
				a.settle(false)
			}
			if got := strings.Join(a.out, " "); got != tt.want || a.a.Stats(0).Orphans != tt.orphans {
				t.Errorf("out came %q, %d orphans, want %q, %d", got, a.a.Stats(0).Orphans, tt.want, tt.orphans)
			}
			if a.a.StartKnown(0) {
				t.Error("nothing told the start")
			}
			a.settle(true)
		})
	}
}

// TestAssociation_BrokenFrames holds that frames of a broken message are sorted,
// each of them once, also when only one chunk is left of it.
func TestAssociation_BrokenFrames(t *testing.T) {
	a := newAssoc(t, 100)
	a.a.Start(0, 1)
	d := &reassembly.Chunk{TSN: 1, Flags: beginFlag, Octets: payload(1)}
	for _, frame := range []uint64{7, 7, 9, 8} { // twice in the first packet
		a.a.Data(0, d, 4, &reassembly.Carriage{Frame: frame})
	}
	m := a.a.Broken(0, true, 20, 200)
	if m == nil || !slices.Equal(m.Frames, []uint64{7, 8, 9}) || m.Frame != 20 || m.Time != 200 {
		t.Errorf("%+v", m)
	}
}

// TestAssociation_BrokenLends holds that a broken message is intact until the
// next call on the association, whatever the budget is used for by others.
func TestAssociation_BrokenLends(t *testing.T) {
	a := newAssoc(t, 100)
	a.a.Start(0, 1)
	a.data(1, beginFlag)
	m := a.a.Broken(0, true, 1, 0)
	var q reassembly.Sequence
	q.Init(a.budget)
	q.Begin(0)
	q.Push(1, &reassembly.Message{Octets: []byte("other")})
	if m == nil || !bytes.Equal(m.Octets, payload(1)) {
		t.Errorf("lent octets became %q", m.Octets)
	}
}

// TestAssociation_Skip holds that chunks of which nobody wants the messages
// still fill holes.
func TestAssociation_Skip(t *testing.T) {
	a := newAssoc(t, 1)
	a.a.Start(0, 10)
	for _, tt := range []struct {
		tsn  uint32
		note reassembly.Note
	}{{10, 0}, {12, 0}, {11, reassembly.OutOfOrder}, {11, reassembly.Retransmission}, {9, reassembly.BeforeStart}} {
		if got := a.a.Skip(0, &reassembly.Chunk{TSN: tt.tsn}); got != tt.note {
			t.Errorf("%d: %q, want %q", tt.tsn, notes(got), notes(tt.note))
		}
	}
	if st := a.a.Stats(0); a.a.FirstMissing(0) != 13 || st.Chunks != 5 || st.Retransmitted != 1 || st.Reordered != 1 {
		t.Errorf("settled %d, %+v", a.a.FirstMissing(0), st)
	}
}

// TestAssociation_Outstanding holds how many TSNs were under way at most.
func TestAssociation_Outstanding(t *testing.T) {
	for _, known := range []bool{true, false} {
		a := newAssoc(t, 100)
		if known {
			a.a.Start(0, 10)
		}
		for tsn := uint32(10); tsn < 15; tsn++ {
			a.data(tsn, whole)
		}
		want := int64(5)
		if !known {
			want = 0 // nothing tells how many there were before
		}
		if got := a.a.Stats(0).MostOutstanding; got != want {
			t.Errorf("start known %v: %d outstanding, want %d", known, got, want)
		}
		a.a.Ack(1, 12, nil)
		a.a.Ack(1, 11, nil) // an old one
		if acked, ok := a.a.Acked(0); acked != 13 || !ok {
			t.Errorf("acknowledged %d, %v", acked, ok)
		}
		a.data(20, whole)
		if got := a.a.Stats(0).MostOutstanding; got != 8 {
			t.Errorf("start known %v: %d outstanding, want 8", known, got)
		}
	}
}

// TestAssociation_Budget floods both sides with chunks of messages that are
// never complete: no more is kept than allowed, and each chunk is handed out or
// counted.
func TestAssociation_Budget(t *testing.T) {
	for _, tt := range []struct{ name, flags string }{
		{"starts", "b"}, {"ends", "e"}, {"middles", "m"}, {"long messages", "bmmmmmmmmmmmmmmmmmmm"}, {"mixture", "bmeme"},
	} {
		for _, limit := range []struct{ perDirection, total int }{{20000, 1 << 29}, {1 << 29, 30000}, {20000, 30000}, {0, 0}} {
			for _, idata := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d, %d, I-DATA %v", tt.name, limit.perDirection, limit.total, idata), func(t *testing.T) {
					overflow(t, tt.flags, limit.perDirection, limit.total, idata)
				})
			}
		}
	}
}

func overflow(t *testing.T, flags string, perDirection, total int, idata bool) {
	t.Helper()
	const chunks, most = 1000, 2048
	var a reassembly.Association
	budget := reassembly.NewBudget(perDirection, total)
	a.Init(budget)
	octets := make([]byte, 1500)
	out := 0
	take := func(m *reassembly.Message) {
		out += len(m.TSNs)
	}
	rng := rand.New(rand.NewPCG(1, 6))
	tsns := [2]uint32{1, 1}
	for side := range 2 {
		a.Start(side, 0) // 0 never comes
	}
	for i := range chunks {
		side := rng.IntN(2)
		d := &reassembly.Chunk{I: idata, TSN: tsns[side], MID: uint32(i), Octets: octets[:rng.IntN(len(octets))]}
		tsns[side] += 1 + uint32(rng.IntN(2))
		switch flags[i%len(flags)] {
		case 'b':
			d.Flags = beginFlag
		case 'e':
			d.Flags = endFlag
		}
		a.Packet()
		if m, _, _ := a.Data(side, d, len(octets), &reassembly.Carriage{Frame: uint64(i + 1)}); m != nil {
			take(m)
		}
		if used := budget.Used(); used > total+most || used > 2*perDirection+most {
			t.Fatalf("%d octets in use, may be %d and %d", used, perDirection, total)
		}
		for side := range 2 {
			for m := a.Broken(side, false, uint64(i+1), 0); m != nil; m = a.Broken(side, false, uint64(i+1), 0) {
				if !m.Headless { // it is counted as orphans
					take(m)
				}
			}
		}
		if used := budget.Used(); used > total || used > 2*perDirection {
			t.Fatalf("%d octets in use after a packet, may be %d and %d", used, perDirection, total)
		}
	}
	for side := range 2 {
		for m := a.Broken(side, true, chunks, 0); m != nil; m = a.Broken(side, true, chunks, 0) {
			if !m.Headless { // it is counted as orphans
				take(m)
			}
		}
	}
	if orphans := a.Stats(0).Orphans + a.Stats(1).Orphans; out+int(orphans) != chunks {
		t.Errorf("%d chunks handed out, %d orphans, want %d together", out, orphans, chunks)
	}
	if budget.Used() != 0 {
		t.Errorf("%d octets in use at the end", budget.Used())
	}
}

// TestAssociation_ManyFragments bounds the number of chunks that wait, however
// small they are, and gets rid of them.
func TestAssociation_ManyFragments(t *testing.T) {
	const most = 4096
	fill := func(n int, flags uint8, step uint32) (a *reassembly.Association, b *reassembly.Budget) {
		a, b = &reassembly.Association{}, reassembly.NewBudget(1<<30, 1<<30)
		a.Init(b)
		a.Start(0, 0) // never comes
		for i := range uint32(n) {
			a.Data(0, &reassembly.Chunk{Flags: flags, TSN: 1 + i*step}, 0, &reassembly.Carriage{Frame: 1})
		}
		return a, b
	}
	a, _ := fill(most+200, beginFlag, 1)
	for i := range 200 {
		if m := a.Broken(0, false, 1, 0); m == nil || m.First != 1+int64(i) {
			t.Fatalf("%d too many are kept, the oldest is %+v", 200-i, m)
		}
	}
	if m := a.Broken(0, false, 1, 0); m != nil {
		t.Fatalf("%d is handed out although there is room", m.First)
	}
	for _, tt := range []struct {
		name  string
		flags uint8
		step  uint32
	}{{"orphans", 0, 2}, {"orphans in a row", 0, 1}, {"starts", beginFlag, 1}} {
		a, budget := fill(8000, tt.flags, tt.step)
		for a.Broken(0, true, 1, 0) != nil {
		}
		if budget.Used() != 0 {
			t.Errorf("%s: %d octets in use at the end", tt.name, budget.Used())
		}
	}
}

// TestAssociation_Allocs holds that what needs no reassembly allocates nothing:
// messages of one chunk, in order, over both wraps, with acknowledgements.
func TestAssociation_Allocs(t *testing.T) {
	var a reassembly.Association
	var q reassembly.Sequence
	budget := reassembly.NewBudget(1<<20, 1<<20)
	a.Init(budget)
	q.Init(budget)
	const start = 1<<32 - 500
	a.Start(0, start)
	q.Begin(65000)
	d := reassembly.Chunk{Flags: whole | unorderedFlag, TSN: start, SID: 2, PPID: 16, Octets: make([]byte, 1000)}
	ssn := uint16(65000)
	c := reassembly.Carriage{Frame: 1}
	ip := []uint64{0, 0}
	got := 0
	run := func() {
		c.Frame++
		c.Fragments = nil
		if c.Frame%3 == 0 {
			ip[0], ip[1] = c.Frame, c.Frame+1
			c.Frame++
			c.Fragments = ip
		}
		a.Packet()
		m, _, note := a.Data(0, &d, 1000, &c)
		if m == nil || note != 0 || q.Push(ssn, m) != reassembly.Next {
			t.Fatalf("TSN %d is not next", d.TSN)
		}
		if _, ok := q.Pop(); ok || q.Full() {
			t.Fatal("something waits")
		}
		got += len(m.Octets)
		a.Packet()
		a.Ack(1, d.TSN, nil)
		a.Age(0)
		if a.Broken(0, false, c.Frame, 0) != nil {
			t.Fatal("a message is broken")
		}
		d.TSN++
		ssn++
	}
	for range 100 {
		run()
	}
	if n := testing.AllocsPerRun(1000, run); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	if got != 1101*1000 || budget.Used() != 0 {
		t.Errorf("%d octets came out, %d in use", got, budget.Used())
	}
}

// TestChunk_Flags: they are those of the chunks, as package sctp reads them.
func TestChunk_Flags(t *testing.T) {
	got := [...]uint8{reassembly.ChunkEnd, reassembly.ChunkBegin, reassembly.ChunkUnordered}
	if want := [...]uint8{sctp.FlagEnd, sctp.FlagBegin, sctp.FlagUnordered}; got != want {
		t.Errorf("%v, not %v", got, want)
	}
}
