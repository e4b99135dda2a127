package onesum

import "golang.org/x/sys/cpu"

var fast = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2

// halves sums the low and the high halves of 64-bit words, the last one padded with zeros.
//
//go:noescape
func halves(b []byte) (low, high uint64)
