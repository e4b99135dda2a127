package iser_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/internal/dissecttest"
)

func codecs() []dissecttest.Codec {
	all := []dissecttest.Codec{
		dissecttest.Of("private", iser.PrivateLen, iser.DecodePrivate, iser.Private.Append),
		dissecttest.Of("bhs", iser.BHSLen, iser.DecodeBHS, iser.BHS.Append),
	}
	for _, l := range []iser.Layout{iser.RFC7145, iser.RFC5046} {
		all = append(all,
			dissecttest.Of("control", l.Len(),
				func(b []byte) (iser.Control, error) { return iser.DecodeControl(b, l) },
				func(c iser.Control, dst []byte) []byte { return c.Append(dst, l) }),
			dissecttest.Of("hello", l.Len(),
				func(b []byte) (iser.Hello, error) { return iser.DecodeHello(b, l) },
				func(h iser.Hello, dst []byte) []byte { return h.Append(dst, l) }))
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	dissecttest.RoundTrip(t, rand.New(rand.NewPCG(7145, 1)), codecs())
}

func TestTruncation(t *testing.T) { dissecttest.Truncation(t, dissect.LayerISER, codecs()) }

// proof says which values the decoders read for the fields of a header.
type proof struct {
	h    *dissect.Header
	view func(b []byte) map[string]uint64
}

func proofs(t *testing.T) []proof {
	hello := func(b []byte) iser.Hello {
		h, err := iser.DecodeHello(append(b, make([]byte, 24)...), iser.RFC7145)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	control := func(l iser.Layout) func(b []byte) map[string]uint64 {
		return func(b []byte) map[string]uint64 {
			c, err := iser.DecodeControl(b, l)
			if err != nil {
				t.Fatal(err)
			}
			return map[string]uint64{
				"iser.flags.opcode": uint64(c.Opcode), "iser.flags.wsv": dissecttest.Flag(c.WSV), "iser.flags.rsv": dissecttest.Flag(c.RSV), "iwd.iser.reserved": uint64(c.Reserved),
				"iser.write_stag": uint64(c.WriteSTag), "iser.write_base_offset": c.WriteBase, "iser.read_stag": uint64(c.ReadSTag), "iser.read_base_offset": c.ReadBase,
			}
		}
	}
	return []proof{
		{&iser.ControlHeader, control(iser.RFC7145)},
		{&iser.OldControlHeader, control(iser.RFC5046)},
		{&iser.HelloHeader, func(b []byte) map[string]uint64 {
			h := hello(b)
			return map[string]uint64{
				"iser.flags.opcode": uint64(h.Opcode), "iwd.iser.hello_reserved": uint64(h.Rsvd)<<1 | dissecttest.Flag(h.Reject),
				"iwd.iser.maxver": uint64(h.MaxVer), "iwd.iser.minver": uint64(h.MinVer), "iser.ird": uint64(h.Depth),
			}
		}},
		{&iser.HelloReplyHeader, func(b []byte) map[string]uint64 {
			h := hello(b)
			return map[string]uint64{
				"iser.flags.opcode": uint64(h.Opcode), "iwd.iser.helloreply_reserved": uint64(h.Rsvd), "iser.flags.rej": dissecttest.Flag(h.Reject),
				"iwd.iser.maxver": uint64(h.MaxVer), "iwd.iser.curver": uint64(h.MinVer), "iser.ord": uint64(h.Depth),
			}
		}},
		{&iser.PrivateHeader, func(b []byte) map[string]uint64 {
			p, err := iser.DecodePrivate(b)
			if err != nil {
				t.Fatal(err)
			}
			return map[string]uint64{
				"iwd.iser.private.no_zbva": dissecttest.Flag(p.NoZeroBased), "iwd.iser.private.no_invalidate": dissecttest.Flag(p.NoInvalidate), "iwd.iser.private.reserved": uint64(p.Reserved),
			}
		}},
		{&iser.BHSHeader, func(b []byte) map[string]uint64 {
			h, err := iser.DecodeBHS(b)
			if err != nil {
				t.Fatal(err)
			}
			return map[string]uint64{
				"iscsi.X": dissecttest.Flag(h.X), "iscsi.I": dissecttest.Flag(h.Immediate), "iscsi.opcode": uint64(h.Opcode), "iscsi.totalahslength": uint64(h.AHSLength),
				"iscsi.datasegmentlength": uint64(h.DataLength), "iscsi.initiatortasktag": uint64(h.ITT),
			}
		}},
	}
}

// TestDescriptors: the descriptions read the same as the decoders.
func TestDescriptors(t *testing.T) {
	r := rand.New(rand.NewPCG(7145, 2))
	for _, p := range proofs(t) {
		for range 500 {
			b := dissecttest.Octets(r, p.h.Size)
			want := p.view(b)
			for i := range p.h.Fields {
				f := &p.h.Fields[i]
				if v, ok := want[f.Name]; !ok || f.Uint(b) != v {
					t.Fatalf("%s of % x: %#x, decoded %#x, %v", f.Name, b, f.Uint(b), v, ok)
				}
			}
		}
	}
	for _, h := range iser.Headers {
		claimed := make([]int, 8*h.Size)
		for _, f := range h.Fields {
			for i := range f.Width * int(dissecttest.Flag(!f.Derived())) {
				claimed[f.Bit+i]++
			}
			if !f.Derived() && f.Bit+f.Width > 8*h.Size {
				t.Errorf("%s: %s lies outside", h.Name, f.Name)
			}
		}
		for bit, n := range claimed {
			cdb := h == &iser.SCSICommandHeader && bit/8 == 32 // the opcode is a part of the CDB
			if n > 1 && !cdb || n == 0 && h.Size < 48 {
				t.Errorf("%s: bit %d is claimed by %d fields", h.Name, bit, n)
			}
		}
	}
}

// TestPDUs: the description of each PDU is one of Headers, and is that of a known opcode.
func TestPDUs(t *testing.T) {
	for o := range 256 {
		p := iser.PDU(o)
		if h := p.Header(); h != nil && (!p.Known() || p.String() == "unknown PDU") {
			t.Errorf("%#x has a header and no name", o)
		}
	}
	if !iser.LoginResponse.FromTarget() || iser.LoginRequest.FromTarget() {
		t.Error("targets answer")
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		cdb    []byte
		lba    uint64
		blocks uint32
		ok     bool
	}{
		{[]byte{0x28, 0, 1, 2, 3, 4, 0, 5, 6, 0}, 0x01020304, 0x0506, true},
		{[]byte{0xaa, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0}, 0x01020304, 0x05060708, true},
		{[]byte{0x88, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0}, 0x0102030405060708, 0x090a0b0c, true},
		{[]byte{0x12, 0, 0, 0, 36, 0}, 0, 0, false},
	} {
		b := make([]byte, iser.BHSLen)
		copy(b[32:], c.cdb)
		h, err := iser.DecodeBHS(b)
		if err != nil {
			t.Fatal(err)
		}
		if lba, blocks, ok := h.Blocks(); lba != c.lba || blocks != c.blocks || ok != c.ok {
			t.Errorf("% x: %#x, %#x, %v", c.cdb, lba, blocks, ok)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{iser.LoginStatusName(0x0201), "authentication failure"},
		{iser.LoginStatusName(0x0302), "out of resources"},
		{iser.LoginStatusName(0x0300), "target error"},
		{iser.LoginStatusName(0x0900), "unknown"},
		{iser.SCSIStatusName(2), "CHECK CONDITION"},
		{iser.TaskName(1), "Abort Task"},
		{iser.TaskName(0), "unknown"},
		{iser.StageName(3), "FullFeaturePhase"},
		{iser.AsyncName(1), "target requests logout"},
		{iser.RejectName(9), "invalid PDU field"},
		{iser.LoginRequest.String(), "Login Request"},
		{iser.PDU(0x11).String(), "unknown PDU"},
		{iser.OpHello.String(), "Hello"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if name, ok := iser.SCSIName(0x28); name != "Read(10)" || !ok {
		t.Error(name)
	}
	if name, ok := iser.SCSIName(0xff); name != "SCSI command" || ok {
		t.Error(name)
	}
	dissecttest.Printable(t, iser.Headers)
}

// TestVectors are octets as Linux sends them.
func TestVectors(t *testing.T) {
	b := []byte{
		0x18, 0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	}
	c, err := iser.DecodeControl(b, iser.RFC7145)
	if d := cmp.Diff(iser.Control{Opcode: iser.OpControl, WSV: true, WriteSTag: 0x12345678, WriteBase: 0x1000}, c); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	p, err := iser.DecodePrivate([]byte{0xc0, 0, 0, 0})
	if d := cmp.Diff(iser.Private{NoZeroBased: true, NoInvalidate: true}, p); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

// FuzzDecode: whatever is decoded encodes to the octets that it was.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(7145, 3))
	all := codecs()
	for _, c := range all {
		f.Add(dissecttest.Octets(r, c.Size))
	}
	f.Fuzz(func(t *testing.T, b []byte) { dissecttest.Fuzz(t, b, all) })
}
