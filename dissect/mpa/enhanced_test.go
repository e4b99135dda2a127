package mpa_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

func TestDecodeEnhanced_Vectors(t *testing.T) {
	const s, w, r = mpa.RTRSend, mpa.RTRWrite, mpa.RTRRead
	for _, tt := range []struct {
		in       string
		want     mpa.Enhanced
		rfc, d01 mpa.RTRSet
	}{
		{"00 04 00 04", mpa.Enhanced{IRD: 4, ORD: 4}, 0, 0},
		{"c0 01 c0 01", mpa.Enhanced{A: true, B: true, C: true, D: true, IRD: 1, ORD: 1}, s | w | r, s | w | r},
		{"80 10 80 10", mpa.Enhanced{A: true, C: true, IRD: 16, ORD: 16}, w, s | r},
		{"80 10 40 10", mpa.Enhanced{A: true, D: true, IRD: 16, ORD: 16}, r, s},
		{"40 10 00 10", mpa.Enhanced{B: true, IRD: 16, ORD: 16}, 0, w},
		{"3f ff 3f ff", mpa.Enhanced{IRD: mpa.DepthNotNegotiated, ORD: mpa.DepthNotNegotiated}, 0, 0},
		{"80 08 00 08", mpa.Enhanced{A: true, IRD: 8, ORD: 8}, 0, s},
	} {
		b := startupHex(t, tt.in)
		got, err := mpa.DecodeEnhanced(b)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
		if out := got.Append(nil); !bytes.Equal(out, b) {
			t.Errorf("%s: Append gives %x", tt.in, out)
		}
		if set := mpa.RTRTypes(got, mpa.LayoutRFC6581); set != tt.rfc {
			t.Errorf("%s by RFC 6581: %s, want %s", tt.in, set, tt.rfc)
		}
		if set := mpa.RTRTypes(got, mpa.LayoutDraft01); set != tt.d01 {
			t.Errorf("%s by draft -01: %s, want %s", tt.in, set, tt.d01)
		}
		if set := mpa.RTRTypes(got, mpa.LayoutRTR2007); set != 0 {
			t.Errorf("%s by the 2007 proposal: %s", tt.in, set)
		}
	}
}

func TestEnhanced_RoundTrip(t *testing.T) {
	r := startupRand()
	for range 5000 {
		want := mpa.Enhanced{
			A: r.IntN(2) == 0, B: r.IntN(2) == 0, C: r.IntN(2) == 0, D: r.IntN(2) == 0,
			IRD: uint16(r.IntN(1 << 14)), ORD: uint16(r.IntN(1 << 14)),
		}
		if got, err := mpa.DecodeEnhanced(want.Append(nil)); err != nil || got != want {
			t.Fatalf("%+v becomes %+v, %v", want, got, err)
		}
	}
	// Too large a depth must not spill into the flags.
	if got := (mpa.Enhanced{IRD: 0xffff, ORD: 0xffff}).Append(nil); !bytes.Equal(got, []byte{0x3f, 0xff, 0x3f, 0xff}) {
		t.Errorf("%x", got)
	}
}

func TestEnhanced_Truncation(t *testing.T) {
	b := mpa.Enhanced{}.Append(nil)
	for n := range b {
		if _, err := mpa.DecodeEnhanced(b[:n:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d octets: %v", n, err)
		}
	}
}

func TestEnhanced_Descriptors(t *testing.T) {
	flag := func(v bool) uint64 {
		if v {
			return 1
		}
		return 0
	}
	claimed := make([]int, 8*mpa.EnhancedLen)
	for i := range mpa.EnhancedHeader.Fields {
		f := &mpa.EnhancedHeader.Fields[i]
		if f.Derived() || f.Width == 0 {
			continue
		}
		for bit := f.Bit; bit < f.Bit+f.Width; bit++ {
			claimed[bit]++
			b := make([]byte, mpa.EnhancedLen)
			b[bit/8] = 0x80 >> (bit % 8)
			e, _ := mpa.DecodeEnhanced(b)
			for name, v := range map[string]uint64{
				"iwarp_mpa.enhanced.a": flag(e.A), "iwarp_mpa.enhanced.b": flag(e.B),
				"iwarp_mpa.enhanced.c": flag(e.C), "iwarp_mpa.enhanced.D": flag(e.D),
				"iwarp_mpa.enhanced.ird": uint64(e.IRD), "iwarp_mpa.enhanced.ord": uint64(e.ORD),
			} {
				want := uint64(0)
				if name == f.Name {
					want = f.Uint(b)
				}
				if v != want || name == f.Name && v == 0 {
					t.Errorf("bit %d of %s makes %s %#x", bit, f.Name, name, v)
				}
			}
		}
	}
	for bit, n := range claimed {
		if n != 1 {
			t.Errorf("bit %d is claimed by %d fields", bit, n)
		}
	}
	ulp := mpa.EnhancedHeader.Field("iwd.mpa.ulp_private_data")
	if got := ulp.Octets([]byte{1, 2, 3, 4, 5, 6}); !bytes.Equal(got, []byte{5, 6}) {
		t.Errorf("the upper layer's data is %x", got)
	}
}

func TestRTRSet(t *testing.T) {
	for set, want := range map[mpa.RTRSet][2]string{
		0:                          {"none", `[]`},
		mpa.RTRSend:                {"send", `["send"]`},
		mpa.RTRWrite:               {"write", `["write"]`},
		mpa.RTRRead:                {"read", `["read"]`},
		mpa.RTRSend | mpa.RTRWrite: {"send|write", `["send","write"]`},
		mpa.RTRSend | mpa.RTRRead:  {"send|read", `["send","read"]`},
		mpa.RTRWrite | mpa.RTRRead: {"write|read", `["write","read"]`},
		mpa.RTRSend | 6:            {"send|write|read", `["send","write","read"]`},
		0xf0:                       {"none", `[]`},
	} {
		if got := [2]string{set.String(), string(set.AppendJSON(nil))}; got != want {
			t.Errorf("%#x: %v, want %v", uint8(set), got, want)
		}
	}
	if s := mpa.RTRSend | mpa.RTRRead; !s.Has(mpa.RTRSend) || s.Has(mpa.RTRWrite) || s.Has(mpa.RTRSend|mpa.RTRWrite) {
		t.Error("Has")
	}
}

func TestLayout_String(t *testing.T) {
	for l, want := range map[mpa.Layout]string{
		mpa.LayoutRFC6581: "rfc6581", mpa.LayoutDraft01: "draft01", mpa.LayoutRTR2007: "rtr2007", 9: "unknown",
	} {
		if got := l.String(); got != want {
			t.Errorf("%d is %q, want %q", l, got, want)
		}
	}
}
