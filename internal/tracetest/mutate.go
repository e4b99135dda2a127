package tracetest

import (
	"math/rand/v2"
	"slices"
)

// clone copies packets, not their octets.
func clone(ps []Packet) []Packet { return slices.Clone(ps) }

// retime gives the packets the times that they had in rising order.
func retime(ps []Packet) []Packet {
	times := make([]int64, len(ps))
	for i := range ps {
		times[i] = ps[i].Time
	}
	slices.Sort(times)
	for i := range ps {
		ps[i].Time = times[i]
	}
	return ps
}

// Shuffle puts packets in another order within windows of that many, behind the
// first keep ones.
func Shuffle(rnd *rand.Rand, ps []Packet, window, keep int) []Packet {
	ps = clone(ps)
	for rest := ps[min(keep, len(ps)):]; len(rest) > 0; {
		w := rest[:min(window, len(rest))]
		rnd.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
		rest = rest[len(w):]
	}
	return retime(ps)
}

// ShuffleRuns shuffles like [Shuffle], but only among packets of a side that
// follow each other, so that no answer passes its question.
func ShuffleRuns(rnd *rand.Rand, ps []Packet, window, keep int) []Packet {
	ps = clone(ps)
	for rest := ps[min(keep, len(ps)):]; len(rest) > 0; {
		n := 1
		for n < min(window, len(rest)) && rest[n].Side == rest[0].Side {
			n++
		}
		rnd.Shuffle(n, func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		rest = rest[n:]
	}
	return retime(ps)
}

// Duplicate repeats about one in n packets that carry octets, up to eight
// packets later.
func Duplicate(rnd *rand.Rand, ps []Packet, n int) []Packet {
	return again(ps, func(i int) (Packet, int, bool) {
		return ps[i], rnd.IntN(8), len(ps[i].Data) > 0 && rnd.IntN(n) == 0
	})
}

// again inserts packets: for each packet, more gives one to insert some packets
// behind it.
func again(ps []Packet, more func(i int) (p Packet, behind int, ok bool)) []Packet {
	var out []Packet
	late := map[int][]Packet{}
	for i := range ps {
		out = append(out, ps[i])
		if p, n, ok := more(i); ok {
			late[i+n] = append(late[i+n], p)
		}
		for _, p := range late[i] {
			p.Time = ps[i].Time + 1
			out = append(out, p)
		}
		delete(late, i)
	}
	return out
}

// streams puts the octets of both sides together.
func streams(ps []Packet) (s [2][]byte) {
	for i := range ps {
		p := &ps[i]
		if p.Off >= 0 && p.Off <= int64(len(s[p.Side])) && p.Off+int64(len(p.Data)) > int64(len(s[p.Side])) {
			s[p.Side] = append(s[p.Side][:p.Off], p.Data...)
		}
	}
	return s
}

// Overlap makes packets reach into their neighbours, and inserts
// retransmissions of what was sent before with other boundaries. The packets
// must be in order.
func Overlap(rnd *rand.Rand, ps []Packet) []Packet {
	s := streams(ps)
	ps = clone(ps)
	for i := range ps {
		p := &ps[i]
		if len(p.Data) == 0 || rnd.IntN(3) != 0 {
			continue
		}
		from, to := p.Off, p.Off+int64(len(p.Data))
		from = max(from-rnd.Int64N(2*int64(len(p.Data))), 0)
		p.Off, p.Data = from, s[p.Side][from:to]
	}
	return again(ps, func(i int) (Packet, int, bool) {
		p := ps[i]
		end := p.Off + int64(len(p.Data))
		if len(p.Data) == 0 || rnd.IntN(4) != 0 {
			return p, 0, false
		}
		a := rnd.Int64N(end)
		b := min(a+1+rnd.Int64N(3*int64(len(p.Data))), end)
		p.Off, p.Data = a, s[p.Side][a:b]
		return p, rnd.IntN(6), true
	})
}

// Reach lets about one in n packets carry what the next packet of the side
// brings as well.
func Reach(rnd *rand.Rand, ps []Packet, n int) []Packet {
	s := streams(ps)
	ps = clone(ps)
	for i := range ps {
		p := &ps[i]
		if len(p.Data) == 0 || rnd.IntN(n) != 0 {
			continue
		}
		for j := i + 1; j < len(ps) && ps[j].Side == p.Side && len(ps[j].Data) > 0; j++ {
			to := ps[j].Off + int64(1+rnd.IntN(len(ps[j].Data)))
			p.Data = s[p.Side][p.Off:max(to, p.Off+int64(len(p.Data)))]
			break
		}
	}
	return ps
}

// Drop leaves out the packets that lost names.
func Drop(ps []Packet, lost func(*Packet) bool) []Packet {
	var out []Packet
	for i := range ps {
		if !lost(&ps[i]) {
			out = append(out, ps[i])
		}
	}
	return out
}

// DropRange leaves out the packets of a side that carry octets of [from, to).
// It returns what is left, and the hole that it makes.
func DropRange(ps []Packet, side int, from, to int64) (out []Packet, hole [2]int64) {
	hole = [2]int64{-1, -1}
	out = Drop(ps, func(p *Packet) bool {
		end := p.Off + int64(len(p.Data))
		if p.Side != side || len(p.Data) == 0 || p.Off >= to || end <= from {
			return false
		}
		if hole[0] < 0 || p.Off < hole[0] {
			hole[0] = p.Off
		}
		hole[1] = max(hole[1], end)
		return true
	})
	return out, hole
}

// Only leaves the packets of one side.
func Only(ps []Packet, side int) []Packet {
	return Drop(ps, func(p *Packet) bool { return p.Side != side })
}

// Late leaves out the first n packets.
func Late(ps []Packet, n int) []Packet { return ps[min(n, len(ps)):] }

// Unacked takes back all acknowledgements of octets, so that nothing tells that
// a hole will not be filled.
func Unacked(ps []Packet) []Packet {
	ps = clone(ps)
	for i := range ps {
		ps[i].Ack = 0
	}
	return ps
}

// Merge joins packets of a side that follow each other, up to size octets, as
// segmentation offload shows them.
func Merge(ps []Packet, size int) []Packet {
	var out []Packet
	for _, p := range ps {
		if n := len(out); n > 0 && len(p.Data) > 0 {
			l := &out[n-1]
			if l.Side == p.Side && len(l.Data) > 0 && l.Off+int64(len(l.Data)) == p.Off && len(l.Data)+len(p.Data) <= size {
				l.Data = append(slices.Clone(l.Data), p.Data...)
				l.Ack, l.Flags = p.Ack, l.Flags|p.Flags
				continue
			}
		}
		out = append(out, p)
	}
	return out
}
