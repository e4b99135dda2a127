package ddp_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
)

func TestDecode_Vectors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		in      string // the ULPDU, its payload included
		want    ddp.Segment
		payload int // octets
	}{
		{
			"write, 5 octets", "c140 00000100 0000000000001000 68656c6c6f",
			ddp.Segment{Tagged: true, Last: true, DV: 1, RsvdULP: 0x40, STag: 0x100, TO: 0x1000, HeaderLen: 14},
			5,
		},
		{
			"write, zero length", "c140 00000001 0000000000000000",
			ddp.Segment{Tagged: true, Last: true, DV: 1, RsvdULP: 0x40, STag: 1, HeaderLen: 14},
			0,
		},
		{
			"write, segment 1 of 2", "8140 00000100 0000000000001000 61626364",
			ddp.Segment{Tagged: true, DV: 1, RsvdULP: 0x40, STag: 0x100, TO: 0x1000, HeaderLen: 14},
			4,
		},
		{
			"read request", "4141 00000000 00000001 00000001 00000000" + strings.Repeat("00", 28),
			ddp.Segment{Last: true, DV: 1, RsvdULP: 0x41, QN: 1, MSN: 1, HeaderLen: 18},
			28,
		},
		{
			"read response, 5 octets", "c142 00000200 0000000000002000 776f726c64",
			ddp.Segment{Tagged: true, Last: true, DV: 1, RsvdULP: 0x42, STag: 0x200, TO: 0x2000, HeaderLen: 14},
			5,
		},
		{
			"read response, zero length", "c142 00000000 0000000000000000",
			ddp.Segment{Tagged: true, Last: true, DV: 1, RsvdULP: 0x42, HeaderLen: 14},
			0,
		},
		{
			"send, 3 octets", "4143 00000000 00000000 00000001 00000000 616263",
			ddp.Segment{Last: true, DV: 1, RsvdULP: 0x43, MSN: 1, HeaderLen: 18},
			3,
		},
		{
			"send with invalidate", "4144 12345678 00000000 00000002 00000000 6869",
			ddp.Segment{Last: true, DV: 1, RsvdULP: 0x44, RsvdULP32: 0x12345678, MSN: 2, HeaderLen: 18},
			2,
		},
		{
			"send with SE and invalidate", "4146 12345678 00000000 00000004 00000000",
			ddp.Segment{Last: true, DV: 1, RsvdULP: 0x46, RsvdULP32: 0x12345678, MSN: 4, HeaderLen: 18},
			0,
		},
		{
			"atomic response", "414b 00000000 00000003 00000001 00000000 00000007 0000000000000041",
			ddp.Segment{Last: true, DV: 1, RsvdULP: 0x4b, QN: 3, MSN: 1, HeaderLen: 18},
			12,
		},
		{
			"terminate", "4147 00000000 00000002 00000001 00000000 20020000",
			ddp.Segment{Last: true, DV: 1, RsvdULP: 0x47, QN: 2, MSN: 1, HeaderLen: 18},
			4,
		},
		{
			"quoted send with MO 9", "4143 00000000 00000000 00000001 00000009",
			ddp.Segment{Last: true, DV: 1, RsvdULP: 0x43, MSN: 1, MO: 9, HeaderLen: 18},
			0,
		},
		{
			"RDMAC send", "4003 00000000 00000000 00000001 00000000 616263",
			ddp.Segment{Last: true, RsvdULP: 0x03, MSN: 1, HeaderLen: 18},
			3,
		},
		{
			"every bit set", strings.Repeat("ff", 14),
			ddp.Segment{
				Tagged: true, Last: true, Rsvd: 15, DV: 3, RsvdULP: 0xff,
				STag: 0xffffffff, TO: 0xffffffffffffffff, HeaderLen: 14,
			},
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.in)
			got, err := ddp.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if n := len(b[got.HeaderLen:]); n != tt.payload {
				t.Errorf("payload of %d octets, want %d", n, tt.payload)
			}
			if out := got.Append(nil); !bytes.Equal(out, b[:got.HeaderLen]) {
				t.Errorf("Append gives %x, want %x", out, b[:got.HeaderLen])
			}
		})
	}
}

// RFC 5041 section 5.2: a message of 2048 octets at a MULPDU of 1500.
func TestSegmentation_RFC5041(t *testing.T) {
	type part struct {
		at  uint64 // MO or TO
		n   int    // octets of payload
		end bool
	}
	for _, tt := range []struct {
		name  string
		first ddp.Segment
		want  []part
	}{
		{
			"untagged",
			ddp.Segment{DV: 1, RsvdULP: 0x43, MSN: 1, HeaderLen: ddp.UntaggedLen},
			[]part{{0, 1482, false}, {1482, 566, true}},
		},
		{
			"tagged",
			ddp.Segment{Tagged: true, DV: 1, RsvdULP: 0x40, TO: 16384, HeaderLen: ddp.TaggedLen},
			[]part{{16384, 1486, false}, {17870, 562, true}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, left := tt.first, 2048
			for i, want := range tt.want {
				n := min(left, 1500-s.HeaderLen)
				left -= n
				s.Last = left == 0
				got, err := ddp.Decode(s.Append(nil))
				if err != nil {
					t.Fatal(err)
				}
				if p := (part{got.TO + uint64(got.MO), n, got.Last}); p != want {
					t.Errorf("segment %d is %+v, want %+v", i, p, want)
				}
				if s.Tagged {
					s.TO += uint64(n)
				} else {
					s.MO += uint32(n)
				}
			}
			if left != 0 {
				t.Errorf("%d octets left", left)
			}
		})
	}
}

func TestMSN_Wrap(t *testing.T) {
	h := ddp.Untagged{MSN: 0xfffffffe}
	for _, want := range []uint32{0xfffffffe, 0xffffffff, 0, 1} {
		got, err := ddp.DecodeUntagged(h.Append(nil))
		if err != nil || got.MSN != want {
			t.Errorf("MSN %#x, %v; want %#x", got.MSN, err, want)
		}
		h.MSN++
	}
}

func TestRoundTrip(t *testing.T) {
	r := newRand()
	for range 5000 {
		tag, untag, seg, c := genTagged(r), genUntagged(r), genSegment(r), genControl(r)
		if got, err := ddp.DecodeTagged(tag.Append(nil)); err != nil || got != tag {
			t.Fatalf("%+v becomes %+v, %v", tag, got, err)
		}
		if got, err := ddp.DecodeUntagged(untag.Append(nil)); err != nil || got != untag {
			t.Fatalf("%+v becomes %+v, %v", untag, got, err)
		}
		if got, err := ddp.Decode(seg.Append(nil)); err != nil || got != seg {
			t.Fatalf("%+v becomes %+v, %v", seg, got, err)
		}
		if got, err := ddp.DecodeControl(c.Append(nil)); err != nil || got != c {
			t.Fatalf("%+v becomes %+v, %v", c, got, err)
		}
	}
}

func TestControl_EveryOctet(t *testing.T) {
	for o := range 256 {
		if got := ddp.ControlOf(uint8(o)).Octet(); got != uint8(o) {
			t.Errorf("%#02x becomes %#02x", o, got)
		}
	}
	// Too wide a value must not spill into the neighbours.
	if got := (ddp.Control{Rsvd: 0xff, DV: 0xff}).Octet(); got != 0x3f {
		t.Errorf("wide values give %#02x", got)
	}
}

func TestAppend_KeepsPrefix(t *testing.T) {
	got := genSegment(newRand()).Append([]byte("head"))
	if !bytes.HasPrefix(got, []byte("head")) {
		t.Errorf("%x", got)
	}
}

func TestTruncation(t *testing.T) {
	r := newRand()
	decode := map[string]func([]byte) error{
		"segment":  func(b []byte) error { _, err := ddp.Decode(b); return err },
		"tagged":   func(b []byte) error { _, err := ddp.DecodeTagged(b); return err },
		"untagged": func(b []byte) error { _, err := ddp.DecodeUntagged(b); return err },
		"control":  func(b []byte) error { _, err := ddp.DecodeControl(b); return err },
	}
	seg := genSegment(r)
	for name, full := range map[string][]byte{
		"segment": seg.Append(nil), "tagged": genTagged(r).Append(nil),
		"untagged": genUntagged(r).Append(nil), "control": genControl(r).Append(nil),
	} {
		for n := range len(full) {
			err := decode[name](full[:n:n])
			var e *dissect.Error
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) {
				t.Errorf("%s cut to %d octets: %v", name, n, err)
				continue
			}
			if e.Layer != dissect.LayerDDP || e.Offset != n || !strings.HasPrefix(e.Code, "short_") {
				t.Errorf("%s cut to %d octets: %+v", name, n, e)
			}
		}
	}
}

func TestDescriptors(t *testing.T) {
	control := func(c ddp.Control) map[string]uint64 {
		return map[string]uint64{
			"iwarp_ddp.tagged_flag": bit(c.Tagged), "iwarp_ddp.last_flag": bit(c.Last),
			"iwarp_ddp.rsvd": uint64(c.Rsvd), "iwarp_ddp.dv": uint64(c.DV),
		}
	}
	proveDescriptors(t, &ddp.ControlHeader, func(b []byte) map[string]uint64 {
		c, _ := ddp.DecodeControl(b)
		return control(c)
	})
	proveDescriptors(t, &ddp.TaggedHeader, func(b []byte) map[string]uint64 {
		h, _ := ddp.DecodeTagged(b)
		m := control(h.Control)
		m["iwarp_ddp.rsvdulp"] = uint64(h.RsvdULP)
		m["iwarp_ddp.stag"] = uint64(h.STag)
		m["iwarp_ddp.tagged_offset"] = h.TO
		return m
	})
	proveDescriptors(t, &ddp.UntaggedHeader, func(b []byte) map[string]uint64 {
		h, _ := ddp.DecodeUntagged(b)
		m := control(h.Control)
		m["iwarp_ddp.rsvdulp"] = uint64(h.RsvdULP)<<32 | uint64(h.RsvdULP32)
		m["iwarp_ddp.qn"] = uint64(h.QN)
		m["iwarp_ddp.msn"] = uint64(h.MSN)
		m["iwarp_ddp.mo"] = uint64(h.MO)
		return m
	})
}

func TestSegment_Header(t *testing.T) {
	r := newRand()
	for range 10 {
		s := genSegment(r)
		if h := s.Header(); h.Size != s.HeaderLen || h.Size != ddp.HeaderLen(s.Append(nil)[0]) {
			t.Errorf("%+v is described by %s", s, h.Name)
		}
	}
}

func TestDecode_NoAllocations(t *testing.T) {
	for _, b := range [][]byte{make([]byte, 18), bytes.Repeat([]byte{0xff}, 14)} {
		if n := testing.AllocsPerRun(100, func() {
			_, _ = ddp.Decode(b)
			_, _ = ddp.DecodeTagged(b)
			_, _ = ddp.DecodeControl(b)
			if len(b) >= ddp.UntaggedLen {
				_, _ = ddp.DecodeUntagged(b)
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	r := newRand()
	for range 8 {
		f.Add(genSegment(r).Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ddp.Decode(b)
		if err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			return
		}
		if out := s.Append(nil); !bytes.Equal(out, b[:s.HeaderLen]) {
			t.Fatalf("%x becomes %x", b[:s.HeaderLen], out)
		}
		if s.Tagged {
			h, err := ddp.DecodeTagged(b)
			if err != nil || !bytes.Equal(h.Append(nil), b[:s.HeaderLen]) {
				t.Fatalf("%+v, %v", h, err)
			}
			return
		}
		h, err := ddp.DecodeUntagged(b)
		if err != nil || !bytes.Equal(h.Append(nil), b[:s.HeaderLen]) {
			t.Fatalf("%+v, %v", h, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	in := genTagged(newRand()).Append(nil)
	in[0] |= 0x80
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ddp.Decode(in); err != nil {
			b.Fatal(err)
		}
	}
}
