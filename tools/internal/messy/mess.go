package messy

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// Mess is a way of capturing badly.
type Mess struct {
	Name, What string
	// Plain tells that it is for frames of Ethernet and IPv4 without options alone: it tells the
	// sides of a connection by their ports.
	Plain bool
	make  func(rnd *rand.Rand, whole []capture.Frame) []capture.Frame
}

// Of returns the messy capture of a whole one, whose frames it leaves as they are, and so are
// their numbers.
func (m Mess) Of(whole []capture.Frame, seed uint64) []capture.Frame {
	return m.make(rand.New(rand.NewPCG(seed, 5)), slices.Clone(whole))
}

const (
	microsecond = 1000
	millisecond = 1000 * microsecond
	second      = 1000 * millisecond
)

// All are the ways.
func All() []Mess {
	return []Mess{
		{Name: "loss-0.1", What: "0.1 % of the frames are lost", make: loss(0.001)},
		{Name: "loss-2", What: "2 % of the frames are lost", make: loss(0.02)},
		{Name: "loss-20", What: "20 % of the frames are lost", make: loss(0.2)},
		{Name: "late", What: "the first third is missing", make: func(_ *rand.Rand, f []capture.Frame) []capture.Frame { return f[len(f)/3:] }},
		{Name: "early-end", What: "the last third is missing", make: func(_ *rand.Rand, f []capture.Frame) []capture.Frame { return f[:len(f)*2/3] }},
		{Name: "one-lost", What: "one frame is lost", make: oneLost},
		{Name: "some", What: "only a part is captured, from any frame to any other", make: part},
		{Name: "server-late", What: "the first frames of the servers are missing, up to any of them", Plain: true, make: serverLate},
		{Name: "from-client", What: "the frames of the servers are missing", Plain: true, make: side(true)},
		{Name: "from-server", What: "the frames of the clients are missing", Plain: true, make: side(false)},
		{Name: "snap-200", What: "snap length 200", make: snap(200)},
		{Name: "snap-128", What: "snap length 128", make: snap(128)},
		{Name: "snap-96", What: "snap length 96", make: snap(96)},
		{Name: "snap-70", What: "snap length 70", make: snap(70)},
		{Name: "duplicates", What: "each frame comes again 30 us later, with a VLAN tag", Plain: true, make: duplicates},
		{Name: "clock", What: "the clock steps back and forth by up to a second", make: clock},
		{Name: "client-first-8", What: "frames of the clients come 8 frames early", Plain: true, make: early(true, 8, 0)},
		{Name: "server-first-8", What: "frames of the servers come 8 frames early", Plain: true, make: early(false, 8, 0)},
		{Name: "server-first-64", What: "frames of the servers come 64 frames early", Plain: true, make: early(false, 64, 0)},
		{Name: "server-first-2ms", What: "frames of the servers come 2 ms early", Plain: true, make: early(false, 0, 2*millisecond)},
		{Name: "taps", What: "two taps that each lose 2 %, with clocks 300 us apart, in one file", make: taps},
	}
}

// loss loses frames.
func loss(share float64) func(*rand.Rand, []capture.Frame) []capture.Frame {
	return func(rnd *rand.Rand, f []capture.Frame) []capture.Frame {
		return slices.DeleteFunc(f, func(capture.Frame) bool { return rnd.Float64() < share })
	}
}

// oneLost loses one frame.
func oneLost(rnd *rand.Rand, f []capture.Frame) []capture.Frame {
	i := rnd.IntN(len(f))
	return slices.Delete(f, i, i+1)
}

// part keeps the frames between two of them.
func part(rnd *rand.Rand, f []capture.Frame) []capture.Frame {
	from := rnd.IntN(len(f))
	return f[from : from+1+rnd.IntN(len(f)-from)]
}

// serverLate leaves out the frames of the servers before one of them.
func serverLate(rnd *rand.Rand, f []capture.Frame) []capture.Frame {
	n, from := 0, rnd.IntN(len(f))
	return slices.DeleteFunc(f, func(f capture.Frame) bool {
		n++
		return n <= from && !fromClient(&f)
	})
}

// fromClient reports whether a client sent a frame: Ethernet, IPv4 without options, and ports.
func fromClient(f *capture.Frame) bool {
	const ports = 14 + 20
	return binary.BigEndian.Uint16(f.Data[ports:]) > binary.BigEndian.Uint16(f.Data[ports+2:])
}

// side keeps the frames of the clients, or those of the servers.
func side(client bool) func(*rand.Rand, []capture.Frame) []capture.Frame {
	return func(_ *rand.Rand, f []capture.Frame) []capture.Frame {
		return slices.DeleteFunc(f, func(f capture.Frame) bool { return fromClient(&f) != client })
	}
}

func snap(n int) func(*rand.Rand, []capture.Frame) []capture.Frame {
	return func(_ *rand.Rand, f []capture.Frame) []capture.Frame {
		for i := range f {
			f[i].Data = f[i].Data[:min(len(f[i].Data), n)]
		}
		return f
	}
}

// duplicates merges the frames with copies of them that come later.
func duplicates(_ *rand.Rand, f []capture.Frame) []capture.Frame {
	tagged := make([]capture.Frame, 0, len(f))
	for _, g := range f {
		g.Data = slices.Concat(g.Data[:12], []byte{0x81, 0, 0, 42}, g.Data[12:])
		g.OrigLen += 4
		g.Time += 30 * microsecond
		tagged = append(tagged, g)
	}
	return merged(f, tagged)
}

// merged are the frames of captures in the order of time.
func merged(captures ...[]capture.Frame) []capture.Frame {
	all := slices.Concat(captures...)
	slices.SortStableFunc(all, func(a, b capture.Frame) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	return all
}

// clock changes the time every 500 frames.
func clock(rnd *rand.Rand, f []capture.Frame) []capture.Frame {
	var off int64
	for i := range f {
		if i%500 == 499 {
			off = rnd.Int64N(2*second) - second
		}
		f[i].Time += off
	}
	return f
}

// early has the frames of a side stand in front of others, as another queue of an adapter
// gives them: so many frames, or so much time, while the times of the frames rise.
func early(client bool, frames int, ns int64) func(*rand.Rand, []capture.Frame) []capture.Frame {
	return func(_ *rand.Rand, f []capture.Frame) []capture.Frame {
		times, at := make([]int64, len(f)), make(map[*byte]int64, len(f))
		for i := range f {
			times[i] = f[i].Time
			// Twice the place, so that a frame that moved stands in front of one that did not.
			p := int64(2 * i)
			if ns != 0 {
				p = 2 * f[i].Time
			}
			if fromClient(&f[i]) == client {
				p -= int64(2*frames) + 2*ns + 1
			}
			at[&f[i].Data[0]] = p
		}
		slices.SortStableFunc(f, func(a, b capture.Frame) int {
			return int(min(1, max(-1, at[&a.Data[0]]-at[&b.Data[0]])))
		})
		slices.Sort(times)
		for i := range f {
			f[i].Time = times[i]
		}
		return f
	}
}

// taps merges what two taps saw.
func taps(rnd *rand.Rand, f []capture.Frame) []capture.Frame {
	first := loss(0.02)(rnd, slices.Clone(f))
	other := loss(0.02)(rnd, f)
	for i := range other {
		other[i].Data = bytes.Clone(other[i].Data)
		other[i].Time += 300 * microsecond
	}
	return merged(first, other)
}
