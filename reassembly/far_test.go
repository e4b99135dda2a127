package reassembly

import "testing"

// TestFar: octets far from the rest of their direction are of it if the next packet follows them or the other side acknowledges them, and
// are left out if the direction goes on where it was.
func TestFar(t *testing.T) {
	const size, gib = 100, 1 << 30
	type packet struct {
		dir      int
		seq, ack uint32
		n        int
		soon     bool
	}
	from := func(at uint32) packet { return packet{seq: at, n: size} }
	for _, tt := range []struct {
		name     string
		packets  []packet
		octets   int64 // of direction 0
		gap, out uint64
		away     bool // it does not go on where it was
	}{
		{"the next one follows", []packet{from(3 * gib), from(3*gib + size)}, 3, 3*gib - size, 0, false},
		{"less than 2 GiB ahead", []packet{from(gib), from(gib + size)}, 3, gib - size, 0, false},
		{"it is acknowledged", []packet{from(3 * gib), {dir: 1, ack: 3*gib + size}}, 2, 3*gib - size, 0, false},
		{"the other side is far off, too", []packet{from(3 * gib), {dir: 1, seq: gib, ack: 3*gib + size}}, 1, 0, 1, true},
		{"the next one follows, and the direction goes on", []packet{from(gib), from(gib + size), from(size), {dir: 1, ack: 2 * size}}, 2, 0, 2, false},
		{"it goes on, and they are acknowledged", []packet{from(gib), from(gib + size), from(size), {dir: 1, ack: gib + 2*size}}, 4, gib - 2*size, 0, false},
		{"it goes on, and what it sent more was not acknowledged", []packet{from(gib), from(gib + size), from(size), {dir: 1, ack: size}}, 2, 0, 2, false},
		{"it went on before", []packet{from(size), from(gib), from(gib + size), {dir: 1, ack: 2 * size}}, 4, gib - 2*size, 0, false},
		{"alone, less than 2 GiB ahead", []packet{from(gib)}, 2, gib - size, 0, false},
		{"the direction goes on", []packet{from(gib), from(size), from(2 * size)}, 3, 0, 1, false},
		{"the direction goes on, more than 2 GiB ahead", []packet{from(3 * gib), from(size)}, 2, 0, 1, false},
		{"two, each of its own", []packet{from(gib), from(3 * gib / 2), from(size)}, 2, 0, 2, false},
		{"the same one twice", []packet{from(gib), from(gib), from(size)}, 2, 0, 1, false},
		{"too soon", []packet{{seq: 3 * gib, n: size, soon: true}, {seq: 3*gib + size, n: size, soon: true}}, 1, 0, 2, true},
	} {
		var c Conn
		b := NewBudget(1<<20, 1<<20)
		c.Init(b)
		octets := int64(0)
		var p Piece
		take := func(next func(int, *Piece) bool) {
			for dir := range 2 {
				for next(dir, &p) {
					if p.Kind == Data {
						octets += p.Len
					}
				}
			}
		}
		for i, k := range append([]packet{{dir: 1}, from(0)}, tt.packets...) {
			var s Segment
			s.Reset(1000+k.seq, 1000+k.ack, FlagACK, make([]byte, k.n), uint64(i), int64(i))
			s.Soon = k.soon
			c.Push(k.dir, &s)
			take(c.Pop)
		}
		take(c.Flush)
		if n := c.Direction(0).Counts(); octets != tt.octets*size || n.GapOctets != tt.gap || n.LeftOut != tt.out || c.Direction(0).Elsewhere() != tt.away {
			t.Errorf("%s: %d octets, %+v", tt.name, octets, n)
		}
		c.Release()
		if b.Used() != 0 {
			t.Errorf("%s: %d octets are still taken", tt.name, b.Used())
		}
	}
}

// TestFar_Budget: a packet that waits far off counts as all octets that wait, and is left out where there is no room for it.
func TestFar_Budget(t *testing.T) {
	for _, tt := range []struct {
		perDirection, total int
		out                 uint64
	}{
		{1 << 20, 1 << 20, 0}, {1 << 20, 64, 1}, {64, 1 << 20, 1}, {0, 0, 1},
	} {
		var c Conn
		b := NewBudget(tt.perDirection, tt.total)
		c.Init(b)
		for i, seq := range []uint32{1000, 1000 + 1<<30} {
			var s Segment
			s.Reset(seq, 0, FlagACK, make([]byte, 100), uint64(i), int64(i))
			c.Push(0, &s)
			for p := new(Piece); c.Pop(0, p); {
			}
		}
		if n := c.Direction(0).Counts().LeftOut; n != tt.out || b.Used() > tt.total || tt.out == 0 && b.Used() < 100 {
			t.Errorf("%d and %d: %d packets are left out, %d octets in use", tt.perDirection, tt.total, n, b.Used())
		}
	}
}
