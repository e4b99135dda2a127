package reassembly_test

import (
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/reassembly"
)

// benchWindow is the number of segments between two losses or swaps.
const benchWindow = 64

// drive pushes a segment the way analysis does and returns the octets that came
// out.
func drive(c *reassembly.Conn, dir int, s *reassembly.Segment, p *reassembly.Piece) int64 {
	var n int64
	c.Push(dir, s)
	for c.Pop(dir, p) {
		n += p.Len
	}
	if c.Direction(1 - dir).Waiting() {
		for c.Pop(1-dir, p) {
			n += p.Len
		}
		c.Direction(1 - dir).Release(c.Direction(1 - dir).Next())
	}
	c.Direction(dir).Release(c.Direction(dir).Next())
	return n
}

// bench runs windows of segments in the given order; a negative entry is a
// segment that is left out, and acknowledged by the peer at the window's end.
func bench(b *testing.B, size int, order []int) {
	budget := reassembly.NewBudget(4<<20, 64<<20)
	var c reassembly.Conn
	c.Init(budget)
	s := reassembly.Segment{Seq: 0xffff0000, Flags: reassembly.FlagSYN, Frame: 1}
	var p reassembly.Piece
	drive(&c, 0, &s, &p)
	ack := reassembly.Segment{Seq: 99, Flags: reassembly.FlagACK | reassembly.FlagSYN}
	data := make([]byte, size)
	s = reassembly.Segment{Flags: reassembly.FlagACK, Ack: 100, Data: data, Len: size}
	base := uint32(0xffff0001)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	var frame uint64
	for i := 0; i < b.N; {
		for _, o := range order {
			i++
			frame++
			if o < 0 {
				continue
			}
			s.Seq, s.Frame, s.Time = base+uint32(o*size), frame, int64(frame)
			drive(&c, 0, &s, &p)
		}
		base += uint32(len(order) * size)
		ack.Seq, ack.Ack, ack.Frame, ack.Flags = 100, base, frame, reassembly.FlagACK
		drive(&c, 1, &ack, &p)
	}
}

func straight() []int {
	order := make([]int, benchWindow)
	for i := range order {
		order[i] = i
	}
	return order
}

func BenchmarkInOrder(b *testing.B) {
	for _, size := range []int{64, 1448, 8948} {
		b.Run(itoa(size), func(b *testing.B) { bench(b, size, straight()) })
	}
}

// BenchmarkOutOfOrder swaps segments within a window of 64.
func BenchmarkOutOfOrder(b *testing.B) {
	order := straight()
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	bench(b, 1448, order)
}

// BenchmarkLoss leaves out one segment in 64, which the peer acknowledges.
func BenchmarkLoss(b *testing.B) {
	order := straight()
	order[20] = -1
	bench(b, 1448, order)
}
