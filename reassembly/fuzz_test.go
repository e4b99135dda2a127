package reassembly_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

// fuzzRecord is a packet in the fuzzer's input: options, sequence number,
// acknowledgement (16 bits signed each, around where the stream stands), length,
// captured length.
const fuzzRecord = 9

// record writes what FuzzConn reads.
func record(dir int, flags byte, seq, ack int16, n, captured, options byte) []byte {
	b := []byte{byte(dir) | flags<<1, options}
	b = binary.BigEndian.AppendUint16(b, uint16(seq))
	b = binary.BigEndian.AppendUint16(b, uint16(ack))
	return append(b, n, captured, 0)
}

func seeds() [][]byte {
	const f, s, r, a = fin, syn, rst, ack
	open := slices.Concat(record(0, s, 0, 0, 0, 0, 0), record(1, s|a, 0, 0, 0, 0, 0))
	return [][]byte{
		slices.Concat(open, record(0, a, 0, 0, 9, 9, 0), record(1, a, 0, 0, 5, 5, 0), record(0, f|a, 0, 0, 1, 1, 0), record(1, r, 0, 0, 0, 0, 0)),
		slices.Concat(open, record(0, a, 20, 0, 9, 9, 0), record(0, a, 15, 0, 9, 9, 1), record(0, a, 0, 0, 40, 40, 0)),
		slices.Concat(open, record(0, a, 20, 0, 9, 3, 0), record(0, a, -3, 0, 30, 7, 2), record(0, a, -1, 0, 1, 1, 0)),
		slices.Concat(open, record(0, a, 20, 0, 9, 3, 4), slices.Repeat(record(1, a, 0, 25, 0, 0, 0), 40), record(0, a, -20, 0, 60, 60, 8)),
		slices.Concat(record(1, a, 0, 0, 9, 9, 0), record(1, a, 30000, 0, 255, 255, 0x30), record(1, f, 200, 0, 9, 9, 0), record(1, a, 210, 0, 9, 9, 0)),
	}
}

// FuzzConn turns octets into a life of a connection.
func FuzzConn(f *testing.F) {
	for _, s := range seeds() {
		f.Add(uint32(0xfffffff0), uint16(2000), uint16(3000), s)
		f.Add(uint32(0), uint16(0), uint16(0), s)
		f.Add(uint32(0x7fffff00), uint16(65535), uint16(65535), s)
	}
	f.Fuzz(func(t *testing.T, isn uint32, perDirection, total uint16, in []byte) {
		z := &fuzzed{t: t, perDirection: int(perDirection), total: int(total)}
		z.budget = reassembly.NewBudget(z.perDirection, z.total)
		z.c.Init(z.budget)
		for len(in) >= fuzzRecord && z.frame < 4000 {
			z.packet(isn, in[:fuzzRecord])
			in = in[fuzzRecord:]
		}
		for dir := range 2 {
			z.take(dir, z.c.Flush)
			if z.c.Direction(dir).Waiting() {
				t.Error("octets wait after the end")
			}
		}
		if z.budget.Used() != 0 {
			t.Errorf("%d octets in use after the end", z.budget.Used())
		}
	})
}

type fuzzed struct {
	t                   *testing.T
	perDirection, total int
	budget              *reassembly.Budget
	c                   reassembly.Conn
	frame               uint64
	next                [2]int64
	last                [2]uint64
	released            [2]int64
	buf                 [4096]byte
	frames              []uint64
}

func (z *fuzzed) packet(isn uint32, b []byte) {
	z.frame++
	dir := int(b[0] & 1)
	h, peer := z.c.Direction(dir), z.c.Direction(1-dir)
	near := func(h *reassembly.Direction, d []byte) uint32 {
		base := isn
		if h.Started() {
			base = h.Base() + uint32(h.Next())
		}
		return base + uint32(int32(int16(binary.BigEndian.Uint16(d))))
	}
	s := reassembly.Segment{
		Seq: near(h, b[2:]), Ack: near(peer, b[4:]), Flags: uint16(b[0] >> 1), Frame: z.frame, Time: int64(z.frame),
		Len: int(b[6]) << (b[1] >> 4),
	}
	if s.Flags&syn != 0 && h.Started() && b[1]&4 == 0 {
		s.Seq = h.Base() - 1
	}
	if b[1]&4 != 0 && b[1]&8 != 0 {
		s.Seq = binary.BigEndian.Uint32(b[2:]) // anywhere
	}
	for i := range z.buf[:] {
		z.buf[i] = b[8] + byte(i)
	}
	s.Data = z.buf[:min(s.Len, int(b[7])<<(b[1]>>4), len(z.buf))]
	for range b[1] & 3 {
		s.Fragments = append(s.Fragments, z.frame)
		z.frame++
		s.Frame, s.Time = z.frame, int64(z.frame)
	}
	if len(s.Fragments) > 0 {
		s.Fragments = append(s.Fragments, z.frame)
	}
	z.c.NewConnection(dir, &s)
	z.c.Push(dir, &s)
	z.take(dir, z.c.Pop)
	z.take(1-dir, z.c.Pop)
	clear(z.buf[:])
	// What is held is bounded, whatever arrives.
	if used := z.budget.Used(); used > 2*z.perDirection || used > z.total {
		z.t.Fatalf("%d octets in use, may be %d and %d", used, z.perDirection, z.total)
	}
}

func (z *fuzzed) take(dir int, pop func(int, *reassembly.Piece) bool) {
	h := z.c.Direction(dir)
	var p reassembly.Piece
	for pop(dir, &p) {
		if p.Off != z.next[dir] || p.Len <= 0 || h.Next() != p.Off+p.Len {
			z.t.Fatalf("piece [%d,+%d), want it at %d; Next %d", p.Off, p.Len, z.next[dir], h.Next())
		}
		if p.Kind == reassembly.Data && int64(len(p.Data)) != p.Len {
			z.t.Fatalf("%d octets of %d", len(p.Data), p.Len)
		}
		if p.Frame < z.last[dir] || p.Frame > z.frame || p.Frame == 0 || p.Time != int64(p.Frame) {
			z.t.Fatalf("frame %d after %d", p.Frame, z.last[dir])
		}
		z.next[dir], z.last[dir] = h.Next(), p.Frame
		if f, _ := h.Delivered(h.Next()); f != p.Frame {
			z.t.Fatalf("Delivered(%d) = %d, want %d", h.Next(), f, p.Frame)
		}
		z.frames = h.Carriers(z.frames[:0], p.Off, p.Off+p.Len)
		if p.Kind != reassembly.Gap && len(z.frames) == 0 {
			z.t.Fatalf("nobody carried [%d,+%d)", p.Off, p.Len)
		}
		for i, f := range z.frames {
			if f == 0 || f > z.frame || i > 0 && f <= z.frames[i-1] {
				z.t.Fatalf("carriers %v", z.frames)
			}
		}
	}
	if z.released[dir] = max(z.released[dir], h.Next()-int64(z.frame%3)*20); z.frame%2 == 0 {
		h.Release(z.released[dir])
	}
}
