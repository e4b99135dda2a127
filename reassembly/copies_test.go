package reassembly

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

// TestCopies: octets that come again are compared wherever whole segments of them
// came before, in whichever packets they come again.
func TestCopies(t *testing.T) {
	const octets = "0123456789abcdefghijklmnopqrstuvwxyz"
	type packet struct {
		at   uint32
		data string
	}
	for _, c := range []struct {
		name       string
		first      []packet
		again      packet
		conflict   bool
		at         int64
		uncompared uint64
	}{
		{"the same", []packet{{0, octets[:12]}}, packet{0, octets[:12]}, false, 0, 0},
		{"another octet", []packet{{0, octets[:12]}}, packet{0, "0123456789aX"}, true, 0, 0},
		{"two in one", []packet{{0, octets[:12]}, {12, octets[12:24]}}, packet{0, octets[:24]}, false, 0, 0},
		{"two in one, the second differs", []packet{{0, octets[:12]}, {12, octets[12:24]}}, packet{0, octets[:23] + "X"}, true, 12, 0},
		{"with new octets behind", []packet{{0, octets[:12]}}, packet{0, octets[:24]}, false, 0, 0},
		{"with new octets behind, one in front differs", []packet{{0, octets[:12]}}, packet{0, "0X" + octets[2:24]}, true, 0, 0},
		{"with new octets behind two, one of the second differs", []packet{{0, octets[:12]}, {12, octets[12:24]}}, packet{0, octets[:22] + "X" + octets[23:36]}, true, 12, 0},
		{"a part of one", []packet{{0, octets[:12]}}, packet{4, octets[4:8]}, false, 0, 1},
		{"a part of one, and one", []packet{{0, octets[:12]}, {12, octets[12:24]}}, packet{6, octets[6:12] + "XXXXXXXXXXXX"}, true, 12, 1},
		{"before a hole", []packet{{0, octets[:12]}, {24, octets[24:]}}, packet{0, "X" + octets[1:12]}, true, 0, 0},
		{"behind a hole", []packet{{0, octets[:12]}, {24, octets[24:]}}, packet{24, octets[24:35] + "X"}, true, 24, 0},
		{"one octet may be a probe", []packet{{0, octets[:12]}, {12, "X"}}, packet{12, octets[12:24]}, false, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var conn Conn
			conn.Init(NewBudget(1<<20, 1<<20))
			push := func(p packet) Note {
				s := Segment{Seq: 1000 + p.at, Flags: FlagACK, Data: []byte(p.data), Len: len(p.data), Frame: 1, Sum: onesum.Sum([]byte(p.data)), Compare: true}
				note := conn.Push(0, &s)
				var piece Piece
				for conn.Pop(0, &piece) {
				}
				return note
			}
			for _, p := range c.first {
				if n := push(p); n&Conflict != 0 {
					t.Fatalf("octets that come first: %b", n)
				}
			}
			h := conn.Direction(0)
			if n := push(c.again); n&Conflict != 0 != c.conflict || c.conflict && h.Conflict() != c.at || h.Counts().Uncompared != c.uncompared {
				t.Errorf("conflict %v at %d, %d uncompared", n&Conflict != 0, h.Conflict(), h.Counts().Uncompared)
			}
		})
	}
}

// TestCopies_Parts: a segment that comes again in several packets is compared with the last of
// them, if they follow each other.
func TestCopies_Parts(t *testing.T) {
	const octets = "0123456789abcdefghijklmnopqrstuvwxyz"
	for _, c := range []struct {
		name       string
		again      []string // one behind the other; - for octets that do not come again
		conflicts  uint64
		at         int64
		uncompared uint64
	}{
		{"in halves", []string{octets[:6], octets[6:12]}, 0, 0, 0},
		{"in halves, the first differs", []string{"01X345", octets[6:12]}, 1, 0, 0},
		{"in halves, the second differs", []string{octets[:6], "6789aX"}, 1, 0, 0},
		{"across the bounds", []string{octets[:8], octets[8:20], octets[20:36]}, 0, 0, 0},
		{"across the bounds, one differs", []string{octets[:8], octets[8:14] + "X" + octets[15:20], octets[20:36]}, 1, 12, 0},
		{"by single octets and more", []string{octets[:3], octets[3:5], octets[5:11], octets[11:13], octets[13:24]}, 0, 0, 0},
		{"the first half alone", []string{octets[:6]}, 0, 0, 1},
		{"the second half alone", []string{"------", octets[6:12]}, 0, 0, 1},
		{"without the middle", []string{octets[:4], "----", octets[8:12]}, 0, 0, 2},
		{"the end of one and the next", []string{"------", octets[6:18], "iXklmn"}, 1, 12, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var conn Conn
			b := NewBudget(1<<20, 1<<20)
			conn.Init(b)
			push := func(at int, data string) {
				s := Segment{Seq: 1000 + uint32(at), Flags: FlagACK, Data: []byte(data), Len: len(data), Frame: 1, Compare: true}
				conn.Push(0, &s)
				for piece := (Piece{}); conn.Pop(0, &piece); {
				}
			}
			for i := 0; i < len(octets); i += 12 {
				push(i, octets[i:i+12])
			}
			at := 0
			for _, data := range c.again {
				if data[0] != '-' {
					push(at, data)
				}
				at += len(data)
			}
			h := conn.Direction(0)
			if n := h.Counts(); n.Conflicts != c.conflicts || h.Conflict() != c.at || n.Uncompared != c.uncompared {
				t.Errorf("%d conflicts at %d, %d uncompared", n.Conflicts, h.Conflict(), n.Uncompared)
			}
			if conn.Release(); b.Used() != 0 {
				t.Errorf("%d octets are still in use", b.Used())
			}
		})
	}
}

// TestCopies_Bounded: the oldest make room, whether segments follow each other or not.
func TestCopies_Bounded(t *testing.T) {
	for _, c := range []struct {
		name string
		gap  int64
		want int64 // how many are remembered
	}{{"following", 0, maxRuns * runLen}, {"apart", 1, maxRuns}} {
		t.Run(c.name, func(t *testing.T) {
			const each = 3 * maxRuns
			var all runs
			var k copies
			n := each * c.want / maxRuns
			for i := range n {
				from := i * (2 + c.gap)
				k.add(&all, from, from+2, uint64(i), false)
			}
			if k.n != maxRuns || all.n != maxRuns {
				t.Errorf("%d runs, in room for %d", k.n, all.n)
			}
			i := n - c.want
			k.each(&all, func(p *copied, from, to int64) {
				if want := i * (2 + c.gap); from != want || to != want+2 || p.sum != uint32(i) {
					t.Errorf("%d to %d with the sum %d in place of segment %d", from, to, p.sum, i)
				}
				i++
			})
			if i != n {
				t.Errorf("the last one is segment %d of %d", i, n)
			}
		})
	}
}

// TestCopies_Wide: segments that a network card assembled may be larger than a packet.
func TestCopies_Wide(t *testing.T) {
	var all runs
	var k copies
	from, want := int64(0), []copied(nil)
	for i, size := range []int64{10, 70000, 65535, 65536, 1 << 20, 2, 3} {
		k.add(&all, from, from+size, uint64(i), i%2 == 0)
		want = append(want, newCopied(size, uint64(i), i%2 == 0))
		from += size
	}
	var got []copied
	at := int64(0)
	k.each(&all, func(c *copied, from, to int64) {
		if got = append(got, *c); from != at || to != from+int64(c.size) {
			t.Errorf("%d octets from %d to %d, want from %d", c.size, from, to, at)
		}
		at = to
	})
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestRuns: directions that end leave their runs to others, and no two directions share one.
func TestRuns(t *testing.T) {
	var all runs
	var dirs [20]copies
	var said [len(dirs)][]uint32
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range uint32(200_000) {
		n := rnd.IntN(len(dirs))
		k := &dirs[n]
		switch rnd.IntN(300) {
		case 0:
			all.release(k)
			said[n] = nil
			continue
		case 1, 2, 3: // a hole
			k.end++
		}
		k.add(&all, k.end, k.end+2, uint64(i), false)
		said[n] = append(said[n], i)
	}
	for n := range dirs {
		var got []uint32
		dirs[n].each(&all, func(c *copied, _, _ int64) { got = append(got, c.sum) })
		if want := said[n]; len(got) > len(want) || !slices.Equal(got, want[len(want)-len(got):]) || len(got) < min(len(want), maxRuns) {
			t.Errorf("direction %d remembers %d of %d segments, or others", n, len(got), len(want))
		}
	}
	if most := uint32(len(dirs) * maxRuns); all.n > most {
		t.Errorf("%d runs for at most %d", all.n, most)
	}
}
