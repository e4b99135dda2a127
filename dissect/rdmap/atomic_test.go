package rdmap_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

const ones = 0xffffffffffffffff

func TestAtomicRequest_Apply(t *testing.T) {
	const add, swap = rdmap.FetchAddOp, rdmap.CmpSwapOp
	for _, tt := range []struct {
		op                                      rdmap.AOpCode
		old, data, mask, cmpData, cmpMask, want uint64
	}{
		{add, 5, 1, 0, 0, ones, 6},
		{add, ones, 1, 0, 0, ones, 0},
		{add, 0x00000000ffffffff, 1, 0x80000000, 0, ones, 0},
		{add, 0x00000000ffffffff, 0x0000000100000001, 0x8000000080000000, 0, ones, 0x0000000100000000},
		{add, 0x7f7f, 0x0101, 0x8080, 0, ones, 0x8080},
		{swap, 5, 9, ones, 5, ones, 9},
		{swap, 5, 9, ones, 4, ones, 5},
		{swap, 0x1234, 0xff00, 0xff00, 0x34, 0xff, 0xff34},
		{swap, 0x1234, 0xff00, 0xff00, 0x35, 0xff, 0x1234},
	} {
		r := rdmap.AtomicRequest{AOpCode: tt.op, Data: tt.data, Mask: tt.mask, CompareData: tt.cmpData, CompareMask: tt.cmpMask}
		if got, ok := r.Apply(tt.old); !ok || got != tt.want {
			t.Errorf("%s of %+v on %#x: %#x, %v; want %#x", tt.op, r, tt.old, got, ok, tt.want)
		}
	}
	if got, ok := (rdmap.AtomicRequest{AOpCode: rdmap.ReservedOp}).Apply(7); ok || got != 7 {
		t.Errorf("the reserved operation gives %d, %v", got, ok)
	}
}

// fetchAddBitwise goes bit by bit, the way RFC 7306 section 5.1.1 tells it.
func fetchAddBitwise(old, add, mask uint64) (sum uint64) {
	carry := uint64(0)
	for i := range 64 {
		s := old>>i&1 + add>>i&1 + carry
		sum |= s & 1 << i
		carry = s >> 1 &^ (mask >> i)
	}
	return sum
}

func TestFetchAdd_AgainstPseudocode(t *testing.T) {
	r := newRand()
	for range 20000 {
		old, add := r.Uint64(), r.Uint64()
		// Few and many field boundaries.
		for _, mask := range []uint64{0, ones, r.Uint64(), r.Uint64() & r.Uint64() & r.Uint64(), 1 << 63, 1} {
			if got, want := rdmap.FetchAdd(old, add, mask), fetchAddBitwise(old, add, mask); got != want {
				t.Fatalf("%#x + %#x with mask %#x: %#x, want %#x", old, add, mask, got, want)
			}
		}
	}
}

func TestAOpCode_String(t *testing.T) {
	for o, want := range map[rdmap.AOpCode]string{
		0: "FetchAdd", 1: "Reserved 0x1", 2: "CmpSwap", 3: "Unknown atomic opcode 0x3", 15: "Unknown atomic opcode 0xf",
	} {
		if got := o.String(); got != want {
			t.Errorf("%d is %q, want %q", o, got, want)
		}
		if o.Assigned() != (o == 0 || o == 2) {
			t.Errorf("%s: assigned is %v", want, o.Assigned())
		}
	}
}
