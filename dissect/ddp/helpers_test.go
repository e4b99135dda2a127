package ddp_test

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
)

// unhex turns hexadecimal digits, spaced as they like, into octets.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// newRand returns the generator of every test: the same values on every run.
func newRand() *rand.Rand { return rand.New(rand.NewPCG(5041, 4)) }

func genControl(r *rand.Rand) ddp.Control {
	return ddp.Control{
		Tagged: r.IntN(2) == 0, Last: r.IntN(2) == 0,
		Rsvd: uint8(r.IntN(16)), DV: uint8(r.IntN(4)),
	}
}

func genTagged(r *rand.Rand) ddp.Tagged {
	return ddp.Tagged{Control: genControl(r), RsvdULP: uint8(r.Uint32()), STag: r.Uint32(), TO: r.Uint64()}
}

func genUntagged(r *rand.Rand) ddp.Untagged {
	return ddp.Untagged{
		Control: genControl(r), RsvdULP: uint8(r.Uint32()), RsvdULP32: r.Uint32(),
		QN: r.Uint32(), MSN: r.Uint32(), MO: r.Uint32(),
	}
}

func genSegment(r *rand.Rand) ddp.Segment {
	c := genControl(r)
	s := ddp.Segment{Tagged: c.Tagged, Last: c.Last, Rsvd: c.Rsvd, DV: c.DV, RsvdULP: uint8(r.Uint32())}
	if s.Tagged {
		s.STag, s.TO, s.HeaderLen = r.Uint32(), r.Uint64(), ddp.TaggedLen
	} else {
		s.RsvdULP32, s.QN, s.MSN, s.MO = r.Uint32(), r.Uint32(), r.Uint32(), r.Uint32()
		s.HeaderLen = ddp.UntaggedLen
	}
	return s
}

// proveDescriptors sets, one described field after the other, only the bits the
// description claims, and expects exactly the decoded part of that name to
// change. view decodes the octets and returns the parts by field name.
func proveDescriptors(t *testing.T, h *dissect.Header, view func(b []byte) map[string]uint64) {
	t.Helper()
	zero := view(make([]byte, h.Size))
	claimed := make([]int, 8*h.Size)
	for i := range h.Fields {
		f := &h.Fields[i]
		if f.Derived() {
			continue
		}
		if _, ok := zero[f.Name]; !ok {
			t.Errorf("%s: the proof has no value for it", f.Name)
			continue
		}
		for bit := f.Bit; bit < f.Bit+f.Width; bit++ {
			claimed[bit]++
			b := make([]byte, h.Size)
			b[bit/8] = 0x80 >> (bit % 8)
			for name, v := range view(b) {
				switch {
				case name == f.Name && v != 1<<(f.Bit+f.Width-1-bit):
					t.Errorf("%s: bit %d decodes to %#x", name, bit, v)
				case name != f.Name && v != 0:
					t.Errorf("bit %d belongs to %s but changes %s", bit, f.Name, name)
				}
			}
			if f.Width <= 64 && f.Uint(b) != 1<<(f.Bit+f.Width-1-bit) {
				t.Errorf("%s: Uint reads %#x for bit %d", f.Name, f.Uint(b), bit)
			}
		}
	}
	for bit, n := range claimed {
		if n != 1 {
			t.Errorf("%s: bit %d is claimed by %d fields", h.Name, bit, n)
		}
	}
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
