package tracetest

import (
	"math/rand/v2"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Setups returns every combination of markers each way, CRC and revision; the
// initiator changes sides from one to the next.
func Setups() []Setup {
	var out []Setup
	for i := range 16 {
		s := Setup{
			Initiator: (i ^ i>>1 ^ i>>3) & 1, Rev: 1, CRC: i&1 != 0,
			Markers: [2]bool{i&2 != 0, i&4 != 0},
			Private: [2][]byte{Octets(uint64(i), i*7), Octets(uint64(i)+99, i*3)},
		}
		if i&8 != 0 {
			s.Rev, s.Enhanced = 2, true
			s.Words = [2]mpa.Enhanced{
				{A: true, C: true, D: true, IRD: 16, ORD: 16}, {A: true, C: true, IRD: 16, ORD: 8},
			}
		}
		out = append(out, s)
	}
	return out
}

// Octets are n octets that the seed makes.
func Octets(seed uint64, n int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 77))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32()) //nolint:gosec // the low octet
	}
	return b
}

// Work says count operations of all kinds, from both sides, with messages of at
// most most octets in segments of at most size.
func (d *Dialog) Work(rnd *rand.Rand, count, most, size int) {
	to := [2]uint64{1 << 40, 1 << 41}
	for i := range count {
		side := d.Initiator ^ rnd.IntN(2)
		if i == 0 {
			side = d.Initiator // it goes first (RFC 5044 section 7.1.2)
		}
		n := rnd.IntN(most + 1)
		if rnd.IntN(6) == 0 {
			n = rnd.IntN(4)
		}
		payload := Octets(rnd.Uint64(), n)
		stag := rnd.Uint32()
		to[side] += uint64(most) //nolint:gosec // not negative
		switch rnd.IntN(9) {
		case 0, 1:
			d.Tagged(side, rdmap.OpWrite, stag, to[side], payload, size)
		case 2, 3:
			d.Message(side, rdmap.OpSend, payload, size)
		case 4:
			d.Message(side, rdmap.OpSendSE, payload, size)
		case 5:
			d.FPDU(side, Immediate(rdmap.OpImmediate, d.Next(side, 0), [8]byte{byte(i)}))
		case 6:
			d.Atomic(side, uint32(i))
			d.Answer(1-side, uint32(i))
		default:
			// Several reads stand out at once.
			k := 1 + rnd.IntN(3)
			for j := range k {
				d.Read(side, stag+uint32(j), to[side], uint32(n)) //nolint:gosec // small
			}
			for j := range k {
				d.Tagged(1-side, rdmap.OpReadResponse, stag+uint32(j), to[side], payload, size)
			}
		}
	}
}
