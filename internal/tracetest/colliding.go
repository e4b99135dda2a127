package tracetest

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// Colliding are the ith endpoints that have a hash, see [packet.Endpoints.Hash]: the last word
// of them is what makes it so.
func Colliding(i, hash uint64) (e packet.Endpoints) {
	binary.BigEndian.PutUint64(e.A[:], 0x20010db8<<32|i)
	binary.BigEndian.PutUint64(e.B[:], 0xfd<<56)
	e.PortA, e.PortB = 1, 2
	const m1, m2 = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f
	h := uint64(e.PortA)<<16 | uint64(e.PortB)
	h = (h ^ binary.BigEndian.Uint64(e.A[:])) * m1
	h ^= h >> 29
	h *= m2
	h ^= h >> 32
	h = (h ^ binary.BigEndian.Uint64(e.B[:])) * m1
	h ^= h >> 29
	before := (hash ^ hash>>32) * inverse(m2)
	binary.BigEndian.PutUint64(e.B[8:], before^h)
	return e
}

// inverse is that of an odd number, modulo 2 to the 64: each step of Newton doubles the bits
// that are right.
func inverse(m uint64) uint64 {
	x := m
	for range 6 {
		x *= 2 - m*x
	}
	return x
}
