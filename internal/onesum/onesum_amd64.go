package onesum

import "golang.org/x/sys/cpu"

var fast = cpu.X86.HasAVX2

// halves sums the low and the high halves of 64-bit words, of as many octets as a multiple of 32.
//
//go:noescape
func halves(b []byte) (low, high uint64)
