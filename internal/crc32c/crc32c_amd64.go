package crc32c

import (
	"hash/crc32"

	"golang.org/x/sys/cpu"
)

// wide processors multiply 64 octets at a time, narrow ones 32.
var (
	wide = cpu.X86.HasSSE42 && cpu.X86.HasBMI2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
		cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VPCLMULQDQ
	narrow = cpu.X86.HasSSE42 && cpu.X86.HasAVX2 && features7()&vpclmulqdq != 0
)

// vpclmulqdq among the features of leaf 7 of CPUID, in ECX. Package cpu tells it of processors
// with AVX-512 only.
const vpclmulqdq = 1 << 10

// features7 are the features of leaf 7 of CPUID in ECX. A processor with AVX2 has that leaf.
//
//go:noescape
func features7() uint32

// fold takes octets, 256 at least, into a register of the CRC. It sums the low and the high halves
// of 64-bit words, too, the last one padded with zeros.
func fold(register uint32, b []byte) (crc uint32, low, high uint64) {
	if wide {
		return fold512(register, b, &by512)
	}
	return fold256(register, b, &by256)
}

//go:noescape
func fold512(register uint32, b []byte, by *[8]factors) (crc uint32, low, high uint64)

//go:noescape
func fold256(register uint32, b []byte, by *[5]factors) (crc uint32, low, high uint64)

// factors are what the two halves of 16 octets are multiplied by, modulo the polynomial,
// when they are added to those that stand a number of bits behind them.
type factors struct{ low, high uint64 }

// by512 are the factors for distances: of 256 octets and what is less of them by 64, and for
// the four parts of 64 octets to be added to the last one.
var by512 = [8]factors{
	distance(2048), distance(1536), distance(1024), distance(512),
	distance(384), distance(256), distance(128),
	{},
}

// by256 are the factors for distances of 128 octets and what is less of them by 32, and for the
// first half of 32 octets to be added to the second one.
var by256 = [5]factors{distance(1024), distance(768), distance(512), distance(256), distance(128)}

// distance are the factors for a distance in bits. The octets of a message stand in a
// register with the highest power in the lowest bit, and so do the factors; the product
// then is a bit too low.
func distance(n int) factors { return factors{mirrored(n + 32), mirrored(n - 32)} }

// mirrored is x to the power of n modulo the polynomial, with the highest power in the
// lowest bit, times x.
func mirrored(n int) uint64 {
	r := uint32(1) << 31
	for range n {
		r = r>>1 ^ crc32.Castagnoli*(r&1)
	}
	return uint64(r) << 1
}
