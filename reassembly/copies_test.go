package reassembly

import (
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

// TestCopies_Bounded: the oldest make room, whether segments follow each other or not.
func TestCopies_Bounded(t *testing.T) {
	for _, c := range []struct {
		name string
		gap  int64
		want int64 // how many are remembered
	}{{"following", 0, maxRuns * runLen}, {"apart", 1, maxRuns}} {
		t.Run(c.name, func(t *testing.T) {
			const each = 3 * maxRuns
			var k copies
			n := each * c.want / maxRuns
			for i := range n {
				from := i * (2 + c.gap)
				k.add(from, from+2, uint64(i), false)
			}
			if room := runsBlock * len(k.runs); k.n != maxRuns || room != maxRuns {
				t.Errorf("%d runs, in room for %d", k.n, room)
			}
			i := n - c.want
			k.each(func(p *copied, from, to int64) {
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
