// Package crc32c computes the CRC32c of FPDUs (RFC 5044 section 4.4) and of SCTP packets (RFC
// 9260 appendix A), as hash/crc32 does, and faster where the processor has what it takes.
//
// hash/crc32 asks the processor for the CRC of eight octets at a time, in three lanes of 168
// or 1,344 octets. Of the 1,444 octets of an FPDU that fills an Ethernet frame a third does
// not fit the lanes. Multiplication without carries, which recent processors do to 32 or 64
// octets at a time, has no such lanes, and needs a third of the time for 64.
package crc32c

import (
	"hash/crc32"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Size of a CRC32c in octets.
const Size = 4

// Checksum is the CRC32c of octets, as a number whose least significant octet goes first.
func Checksum(b []byte) uint32 { return Update(0, b) }

// Update is the CRC32c of octets behind others of which it is crc.
func Update(crc uint32, b []byte) uint32 {
	if can() && len(b) >= least {
		register, _, _ := fold(^crc, b)
		return ^register
	}
	return crc32.Update(crc, table, b)
}

// WithSum is the CRC32c of octets and their ones' complement sum, see [onesum.Sum], in one go: it
// takes no longer than the CRC where the processor has what it takes.
func WithSum(b []byte) (crc uint32, sum uint64) {
	if can() && len(b) >= least {
		register, low, high := fold(^uint32(0), b)
		return ^register, onesum.Join(low, high)
	}
	return crc32.Checksum(b, table), onesum.Sum(b)
}

// can reports whether the processor has what fold takes.
func can() bool { return wide || narrow }

// least is the number of octets that fold begins with.
const least = 256
