package pipeline

import (
	"math/bits"
	"sort"
)

// pdus are the frames of PDUs, in the order in which a run found them: what it takes to tell how
// many were found in frames before another one. A bit for each frame, 0, and one for each PDU, 1: a PDU
// stands behind its frame, so that the number of zeros before it is the number of that frame.
type pdus struct {
	words []uint64
	n     uint64 // bits in use
	frame uint64 // zeros so far
	count uint64 // ones so far
	// before is the number of ones before each piece of so many words.
	before []uint64
}

const (
	pdusPiece = 8 // words
	pieceBits = 64 * pdusPiece
)

// add notes more PDUs in a frame, which is not before the last one.
func (p *pdus) add(frame, more uint64) {
	for ; p.frame < frame; p.frame++ {
		if p.n%64 == 0 && frame-p.frame >= 64 {
			p.grow()
			p.n += 64
			p.frame += 63
			continue
		}
		p.push(0)
	}
	for range more {
		p.push(1)
	}
	p.count += more
}

func (p *pdus) push(bit uint64) {
	if p.n%64 == 0 {
		p.grow()
	}
	p.words[p.n/64] |= bit << (p.n % 64)
	p.n++
}

// grow makes room for another word. What is before a piece is known when it begins, but for the PDUs of the
// frame at hand.
func (p *pdus) grow() {
	if len(p.words)%pdusPiece == 0 {
		p.before = append(p.before, p.n-p.frame)
	}
	p.words = append(p.words, 0)
}

// piece is the last one that is not behind something; those behind it are at the end. What is asked for is mostly of
// the latest frames, so it is looked for from there.
func (p *pdus) piece(behind func(int) bool) int {
	from, to := len(p.before)-1, len(p.before)
	for step := 1; from > 0 && behind(from); step *= 2 {
		from, to = max(from-step, 0), from
	}
	return from + sort.Search(to-from, func(i int) bool { return behind(from + i) }) - 1
}

// frameOf is the frame of the nth PDU, from 0.
func (p *pdus) frameOf(n uint64) uint64 {
	piece := p.piece(func(i int) bool { return p.before[i] > n })
	n -= p.before[piece]
	for i := piece * pdusPiece; ; i++ {
		if c := uint64(bits.OnesCount64(p.words[i])); n >= c { //nolint:gosec // not negative
			n -= c
			continue
		}
		at := uint64(i)*64 + uint64(nth(p.words[i], n)) //nolint:gosec // not negative
		return at - p.ones(at)
	}
}

// ones is the number of PDUs before a bit.
func (p *pdus) ones(at uint64) uint64 {
	piece := at / pieceBits
	n := p.before[piece]
	for i := piece * pdusPiece; i < at/64; i++ {
		n += uint64(bits.OnesCount64(p.words[i])) //nolint:gosec // not negative
	}
	return n + uint64(bits.OnesCount64(p.words[at/64]&(1<<(at%64)-1))) //nolint:gosec // not negative
}

// until is the number of PDUs in frames before one.
func (p *pdus) until(frame uint64) uint64 {
	if frame > p.frame {
		return p.count
	}
	if frame == 0 {
		return 0
	}
	// The bit of the frame is the first one with so many zeros up to it.
	zeros := func(i int) uint64 { return uint64(i)*pieceBits - p.before[i] } //nolint:gosec // not negative
	piece := p.piece(func(i int) bool { return zeros(i) >= frame })
	left := frame - zeros(piece)
	for i := piece * pdusPiece; ; i++ {
		if c := uint64(bits.OnesCount64(^p.words[i])); left > c { //nolint:gosec // not negative
			left -= c
			continue
		}
		at := uint64(i)*64 + uint64(nth(^p.words[i], left-1)) //nolint:gosec // not negative
		return at - (frame - 1)
	}
}

// nth is the place of the nth bit that is set, from 0.
func nth(w, n uint64) int {
	for range n {
		w &= w - 1
	}
	return bits.TrailingZeros64(w)
}
