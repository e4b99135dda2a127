package rdmap

import "fmt"

// AOpCode says which atomic operation is asked for (RFC 7306 section 5.2.1 and
// registry 10.1). It has four bits.
type AOpCode uint8

// The atomic operations.
const (
	FetchAddOp AOpCode = 0x0
	// ReservedOp was an unmasked swap in drafts; the RFC reserves it.
	ReservedOp AOpCode = 0x1
	CmpSwapOp  AOpCode = 0x2
)

// String returns the name of the operation.
func (o AOpCode) String() string {
	switch o {
	case FetchAddOp:
		return "FetchAdd"
	case ReservedOp:
		return "Reserved 0x1"
	case CmpSwapOp:
		return "CmpSwap"
	}
	return fmt.Sprintf("Unknown atomic opcode %#x", uint8(o))
}

// Assigned reports whether the operation is defined by RFC 7306.
func (o AOpCode) Assigned() bool { return o == FetchAddOp || o == CmpSwapOp }

// FetchAdd returns what the memory holds after a FetchAdd (RFC 7306 section
// 5.1.1). A bit of mask marks the top of a field; the carry out of it is lost.
// With mask 0 the whole is one field of 64 bits.
func FetchAdd(old, add, mask uint64) uint64 {
	// With the top bits of the fields cleared no sum can carry out of its
	// field; the top bits are then added without carry.
	return (old&^mask + add&^mask) ^ (old^add)&mask
}

// CmpSwap returns what the memory holds after a CmpSwap (RFC 7306 section
// 5.1.2): bits of swapMask are replaced if all bits of cmpMask agree.
func CmpSwap(old, swap, swapMask, cmp, cmpMask uint64) uint64 {
	if (cmp^old)&cmpMask != 0 {
		return old
	}
	return old&^swapMask | swap&swapMask
}
