package rdmap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

func TestDecodeTerminate_Vectors(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		code     rdmap.TermCode
		error    string
		quoted   *ddp.Segment
		read     *rdmap.ReadRequest
		length   uint16
	}{
		{
			"MPA CRC", "20020000",
			rdmap.TermCode{Layer: 2, Code: 2},
			"MPA: CRC error", nil, nil, 0,
		},
		{
			"insufficient IRD", "20060000",
			rdmap.TermCode{Layer: 2, Code: 6},
			"MPA: Insufficient IRD resources", nil, nil, 0,
		},
		{
			"no matching RTR", "20070000",
			rdmap.TermCode{Layer: 2, Code: 7},
			"MPA: No matching RTR option", nil, nil, 0,
		},
		{
			"unexpected opcode, quoting Immediate Data",
			"0206c000 001a 4148 00000000 00000000 00000005 00000000",
			rdmap.TermCode{EType: 2, Code: 6, M: true, D: true},
			"RDMAP/remote operation: Unexpected opcode",
			&ddp.Segment{Last: true, DV: 1, RsvdULP: 0x48, MSN: 5, HeaderLen: 18}, nil, 26,
		},
		{
			"invalid STag, quoting a Write",
			"1100c000 0013 c140 00000100 0000000000001000",
			rdmap.TermCode{Layer: 1, EType: 1, M: true, D: true},
			"DDP/tagged: Invalid STag",
			&ddp.Segment{Tagged: true, Last: true, DV: 1, RsvdULP: 0x40, STag: 0x100, TO: 0x1000, HeaderLen: 14}, nil, 19,
		},
		{
			"invalid MO, quoting a Send",
			"1204c000 0015 4143 00000000 00000000 00000001 00000009",
			rdmap.TermCode{Layer: 1, EType: 2, Code: 4, M: true, D: true},
			"DDP/untagged: Invalid MO",
			&ddp.Segment{Last: true, DV: 1, RsvdULP: 0x43, MSN: 1, MO: 9, HeaderLen: 18}, nil, 21,
		},
		{
			"bounds, quoting a Read Request",
			"0101e000 002e 4141 00000000 00000001 00000001 00000000 00000200 0000000000002000 00000500 00000300 0000000000003000",
			rdmap.TermCode{EType: 1, Code: 1, M: true, D: true, R: true},
			"RDMAP/remote protection: Base or bounds violation",
			&ddp.Segment{Last: true, DV: 1, RsvdULP: 0x41, QN: 1, MSN: 1, HeaderLen: 18},
			&rdmap.ReadRequest{SinkSTag: 0x200, SinkTO: 0x2000, Size: 0x500, SrcSTag: 0x300, SrcTO: 0x3000}, 46,
		},
		{
			"quoted Read Request, advanced by 800h octets",
			"0101e000 002e 4141 00000000 00000001 00000001 00000000 00000200 0000000000002800 00000800 00000300 0000000000003800",
			rdmap.TermCode{EType: 1, Code: 1, M: true, D: true, R: true},
			"RDMAP/remote protection: Base or bounds violation",
			&ddp.Segment{Last: true, DV: 1, RsvdULP: 0x41, QN: 1, MSN: 1, HeaderLen: 18},
			&rdmap.ReadRequest{SinkSTag: 0x200, SinkTO: 0x2800, Size: 0x800, SrcSTag: 0x300, SrcTO: 0x3800}, 46,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.in)
			got, err := rdmap.DecodeTerminate(b)
			if err != nil {
				t.Fatal(err)
			}
			if got.Straight() != tt.code || got.Name() != tt.error || !got.Assigned() {
				t.Errorf("got %+v %q, want %+v %q", got.Straight(), got.Name(), tt.code, tt.error)
			}
			if s, ok := got.Segment(); ok != (tt.quoted != nil) || ok && s != *tt.quoted {
				t.Errorf("quoted segment %+v, %v", s, ok)
			}
			if r, ok := got.ReadRequest(); ok != (tt.read != nil) || ok && r != *tt.read {
				t.Errorf("quoted Read Request %+v, %v", r, ok)
			}
			if got.SegLength != tt.length || got.HasSegLength != (tt.length != 0) || got.Rsvd != 0 || got.Trailing != nil {
				t.Errorf("%+v", got)
			}
			if out := got.Append(nil); !bytes.Equal(out, b) {
				t.Errorf("Append gives %x, want %x", out, b)
			}
			if c, ok := got.Swapped(false); ok {
				t.Errorf("read as swapped: %+v", c)
			}
		})
	}
}

// RFC 5040 section 4.8 and test vector 6: sizes by header control bits.
func TestTerminate_Lengths(t *testing.T) {
	q := func(tagged bool) []byte { return ddp.Segment{Tagged: tagged}.Append(nil) }
	rr := rdmap.ReadRequest{}.Append(nil)
	for _, tt := range []struct {
		name string
		t    rdmap.Terminate
		want int
	}{
		{"none", rdmap.Terminate{}, 4},
		{"tagged", rdmap.Terminate{TermQuote: rdmap.TermQuote{HasSegLength: true, DDPHeader: q(true)}}, 20},
		{"untagged", rdmap.Terminate{TermQuote: rdmap.TermQuote{HasSegLength: true, DDPHeader: q(false)}}, 24},
		{"read request", rdmap.Terminate{TermQuote: rdmap.TermQuote{HasSegLength: true, DDPHeader: q(false), RDMAHeader: rr}}, rdmap.TerminateMaxLen},
	} {
		if got := len(tt.t.Append(nil)); got != tt.want {
			t.Errorf("%s: %d octets, want %d", tt.name, got, tt.want)
		}
	}
	if rdmap.TerminateMaxLen != 52 {
		t.Errorf("longest is %d octets", rdmap.TerminateMaxLen)
	}
}

func TestTerminate_RoundTrip(t *testing.T) {
	r := newRand()
	for range 5000 {
		want := genTerminate(r)
		if got, err := rdmap.DecodeTerminate(want.Append(nil)); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v becomes %+v, %v", want, got, err)
		}
		if got, err := rdmap.DecodeTerminateSwapped(want.AppendSwapped(nil)); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("swapped: %+v becomes %+v, %v", want, got, err)
		}
	}
}

// A message cut anywhere still gives the control word and the whole parts.
func TestTerminate_Truncation(t *testing.T) {
	r := newRand()
	for range 200 {
		full := genTerminate(r)
		full.Trailing = nil
		b := full.Append(nil)
		for n := range b {
			got, err := rdmap.DecodeTerminate(b[:n:n])
			var e *dissect.Error
			if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Code != "short_terminate" || e.Offset != n || e.Field == "" {
				t.Fatalf("%x: %v", b[:n], err)
			}
			if n < rdmap.TerminateLen {
				continue
			}
			if got.TermCode != full.TermCode || got.Rsvd != full.Rsvd {
				t.Fatalf("%x: %+v", b[:n], got)
			}
			if got.HasSegLength != (full.HasSegLength && n >= 6) || got.HasSegLength && got.SegLength != full.SegLength {
				t.Fatalf("%x: %+v", b[:n], got)
			}
			if got.DDPHeader != nil && !bytes.Equal(got.DDPHeader, full.DDPHeader) {
				t.Fatalf("%x: %+v", b[:n], got)
			}
			if (got.DDPHeader != nil) != (full.DDPHeader != nil && n >= 6+len(full.DDPHeader)) || got.RDMAHeader != nil {
				t.Fatalf("%x: %+v", b[:n], got)
			}
			if out := got.Append(nil); !bytes.Equal(out, b[:n]) {
				t.Fatalf("%x becomes %x", b[:n], out)
			}
		}
	}
}

func TestTerminate_Trailing(t *testing.T) {
	// RFC 5040 section 7.1 sets absent parts to zero rather than leaving them
	// out; such octets are kept.
	got, err := rdmap.DecodeTerminate(append(unhex(t, "20020000"), make([]byte, 48)...))
	if err != nil || len(got.Trailing) != 48 || got.HasSegLength {
		t.Errorf("%+v, %v", got, err)
	}
	// R alone: nothing but the Read Request header follows.
	got, err = rdmap.DecodeTerminate(append(unhex(t, "01002000"), make([]byte, 28)...))
	if err != nil || len(got.RDMAHeader) != 28 || got.HasSegLength || got.Trailing != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTerminate_Swapped(t *testing.T) {
	const (
		write   = "c140 95a01a00 00007f7d94d2d000"
		send    = "4143 00000000 00000000 00000001 00000000"
		readReq = "4141 00000000 00000001 00001388 00000000 84d21300 00007fb6c0a65000 00001388 75664100 007fcbac87a000bf"
	)
	for _, tt := range []struct {
		name, in   string
		seenBefore bool
		chosen     bool
		want       string // the name of the swapped reading, if it is chosen
	}{
		// Messages of siw, Linux 6.1.
		{"write, bad key", "11000300 0594" + write, false, true, "DDP/tagged: Invalid STag"},
		{"read, bad key", "10000700 0000" + readReq, false, true, "RDMAP/remote protection: Invalid STag"},
		{"send, no receive", "21020300 0010" + send, false, true, "DDP/untagged: Invalid MSN, no buffer available"},
		{"invalid MSN", "21030300 0010" + send, false, true, "DDP/untagged: Invalid MSN, range not valid"},
		{"invalid QN", "21010300 0010" + send, false, true, "DDP/untagged: Invalid QN"},
		{"invalid MO", "21040300 0032" + send, false, true, "DDP/untagged: Invalid MO"},
		{"read without IRD", "20070300 0000" + send, false, true, "RDMAP/remote operation: Catastrophic error, localized to RDMAP stream"},
		{"read response", "01000300 0000 c142 deadbe00 0000000000002485", false, true, "DDP: Local catastrophic error"},
		{"MPA CRC", "02020000", false, true, "MPA: CRC error"},
		{"invalid MPA frame is also unassigned straight", "02040000", false, true, "MPA: Invalid MPA Request or Reply frame"},
		// 0/2/05 to 07 and 0/1/00 are good errors straight: only an earlier
		// Terminate of the same sender tells.
		{"0/2/06 or 2/0/06", "02060000", false, false, ""},
		{"2/0/06 after a certain one", "02060000", true, true, "MPA: Insufficient IRD resources"},
		{"2/0/05 or 0/2/05", "20050000", false, false, ""},
		{"0/2/05 after a certain one", "20050000", true, true, "RDMAP/remote operation: Invalid RDMAP version"},
		{"0/1/00 or 1/0/00", "01000000", false, false, ""},
		{"1/0/00 after a certain one", "01000000", true, true, "DDP: Local catastrophic error"},
		// A correct Terminate stays what it is, whatever an earlier one was.
		{"correct, tagged, after a certain one", "1100c000 0013" + write, true, false, ""},
		{"correct, Read Request, after a certain one", "0100e000 002e" + readReq, true, false, ""},
		{"the same in both readings, after a certain one", "00000000", true, false, ""},
		// Each condition alone.
		{"swapped code unassigned", "41000300 0594" + write, false, false, ""},
		{"swapped code unassigned, seen before", "41000300 0594" + write, true, false, ""},
		{"octet 3 set", "11000301 0594" + write, false, false, ""},
		{"octet 2 has other bits", "11000b00 0594" + write, false, false, ""},
		{"straight bits set as well", "1100c300 0594" + write, false, false, ""},
		{"does not fit, too short", "11000300 0594 c140 95a01a00", false, false, ""},
		{"does not fit, too long", "11000300 0594" + write + "01", false, false, ""},
		{"zero octets left over", "11000300 0594" + write + "0000", false, true, "DDP/tagged: Invalid STag"},
		{"word alone, not the lower layer", "21040000", false, false, ""},
		{"nothing wrong with it", "1100c000 0013" + write, false, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.in)
			// Straight bits may announce what does not fit: part of the result is
			// enough.
			x, _ := rdmap.DecodeTerminate(b)
			c, chosen := x.Swapped(tt.seenBefore)
			if chosen != tt.chosen {
				t.Fatalf("chosen is %v, %+v", chosen, c)
			}
			again, err := rdmap.DecodeTerminateSwapped(b)
			if again.TermCode != c {
				t.Errorf("Swapped says %+v, DecodeTerminateSwapped %+v", c, again.TermCode)
			}
			if !chosen {
				return
			}
			if c.Name() != tt.want || err != nil {
				t.Errorf("%q, %v; want %q", c.Name(), err, tt.want)
			}
			if _, ok := again.Segment(); ok != c.D {
				t.Errorf("quoted segment: %v", ok)
			}
			if out := again.AppendSwapped(nil); !bytes.Equal(out, b) {
				t.Errorf("AppendSwapped gives %x, want %x", out, b)
			}
			if straight := x.Straight(); straight.Layer != b[0]>>4 || straight.EType != b[0]&15 {
				t.Errorf("straight %+v", straight)
			}
		})
	}
}

// TestTerminate_Ambiguous lists all control words without header control bits that have two
// meanings.
func TestTerminate_Ambiguous(t *testing.T) {
	var got []string
	for layer := range 16 {
		for code := range 256 {
			for etype := range 16 {
				x, err := rdmap.DecodeTerminate([]byte{byte(layer<<4 | etype), byte(code), 0, 0})
				if err != nil {
					t.Fatal(err)
				}
				if c, ok := x.Ambiguous(); ok {
					got = append(got, fmt.Sprintf("%d/%d/%02x or %d/%d/%02x", x.Layer, x.EType, x.Code, c.Layer, c.EType, c.Code))
				}
			}
		}
	}
	want := []string{
		"0/1/00 or 1/0/00", "0/2/05 or 2/0/05", "0/2/06 or 2/0/06", "0/2/07 or 2/0/07",
		"1/0/00 or 0/1/00", "2/0/05 or 0/2/05", "2/0/06 or 0/2/06", "2/0/07 or 0/2/07",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, in := range []string{"0206c000", "02060300", "02060001", "02062000"} {
		x, _ := rdmap.DecodeTerminate(unhex(t, in))
		if _, ok := x.Ambiguous(); ok {
			t.Errorf("%s has two meanings", in)
		}
	}
}

func TestErrorName(t *testing.T) {
	want := map[[2]uint8]map[uint8]string{
		{0, 1}: {
			0: "RDMAP/remote protection: Invalid STag", 1: "RDMAP/remote protection: Base or bounds violation",
			2: "RDMAP/remote protection: Access rights violation", 3: "RDMAP/remote protection: STag not associated with RDMAP stream",
			4: "RDMAP/remote protection: TO wrap", 9: "RDMAP/remote protection: STag cannot be invalidated",
			0xff: "RDMAP/remote protection: Unspecified error",
		},
		{0, 2}: {
			5: "RDMAP/remote operation: Invalid RDMAP version", 6: "RDMAP/remote operation: Unexpected opcode",
			7: "RDMAP/remote operation: Catastrophic error, localized to RDMAP stream",
			8: "RDMAP/remote operation: Catastrophic error, global",
			9: "RDMAP/remote operation: STag cannot be invalidated", 0xff: "RDMAP/remote operation: Unspecified error",
		},
		{1, 0}: {0: "DDP: Local catastrophic error"},
		{1, 1}: {
			0: "DDP/tagged: Invalid STag", 1: "DDP/tagged: Base or bounds violation",
			2: "DDP/tagged: STag not associated with DDP stream", 3: "DDP/tagged: TO wrap", 4: "DDP/tagged: Invalid DDP version",
		},
		{1, 2}: {
			1: "DDP/untagged: Invalid QN", 2: "DDP/untagged: Invalid MSN, no buffer available",
			3: "DDP/untagged: Invalid MSN, range not valid", 4: "DDP/untagged: Invalid MO",
			5: "DDP/untagged: Message too long for buffer", 6: "DDP/untagged: Invalid DDP version",
		},
		{2, 0}: {
			1: "MPA: TCP connection closed, terminated or lost", 2: "MPA: CRC error",
			3: "MPA: Marker and ULPDU_Length mismatch", 4: "MPA: Invalid MPA Request or Reply frame",
			5: "MPA: Local catastrophic error", 6: "MPA: Insufficient IRD resources", 7: "MPA: No matching RTR option",
		},
	}
	for layer := range uint8(16) {
		for etype := range uint8(16) {
			for code := range 256 {
				name, assigned := want[[2]uint8{layer, etype}][uint8(code)]
				switch {
				case layer == 0 && etype == 0:
					name, assigned = "RDMAP: Local catastrophic error", true
				case layer == 1 && etype == 3:
					name, assigned = "DDP/lower layer: Reserved", true
				}
				got := rdmap.ErrorName(layer, etype, uint8(code))
				if rdmap.Assigned(layer, etype, uint8(code)) != assigned {
					t.Fatalf("%d/%d/%02x: assigned is %v", layer, etype, code, !assigned)
				}
				if assigned && got != name || !assigned && !strings.Contains(got, ": Unassigned code 0x") {
					t.Fatalf("%d/%d/%02x is %q, want %q", layer, etype, code, got, name)
				}
				if _, after, _ := strings.Cut(got, ": "); rdmap.CodeName(layer, etype, uint8(code)) != after {
					t.Fatalf("%q has the code name %q", got, rdmap.CodeName(layer, etype, uint8(code)))
				}
			}
		}
	}
	for _, tt := range []struct {
		layer, etype, code uint8
		want               string
	}{
		{0, 1, 5, "RDMAP/remote protection: Unassigned code 0x05"},
		{1, 2, 0, "DDP/untagged: Unassigned code 0x00"},
		{1, 4, 1, "DDP/type 0x4: Unassigned code 0x01"},
		{2, 1, 2, "MPA/type 0x1: Unassigned code 0x02"},
		{7, 0, 0xff, "Layer 0x7/type 0x0: Unassigned code 0xff"},
	} {
		if got := rdmap.ErrorName(tt.layer, tt.etype, tt.code); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestETypeName(t *testing.T) {
	for k, want := range map[[2]uint8]string{
		{0, 0}: "Local catastrophic error", {0, 1}: "Remote protection error", {0, 2}: "Remote operation error",
		{1, 0}: "Local catastrophic error", {1, 1}: "Tagged buffer error", {1, 2}: "Untagged buffer error",
		{1, 3}: "Reserved for the lower layer", {2, 0}: "MPA error",
		{0, 3}: "Unassigned type 0x3", {2, 1}: "Unassigned type 0x1", {9, 0}: "Unassigned type 0x0",
	} {
		if got := rdmap.ETypeName(k[0], k[1]); got != want {
			t.Errorf("%v is %q, want %q", k, got, want)
		}
	}
}

// The names were compared with what Wireshark 4.0.17 prints for such messages.
func TestTerminate_FieldNames(t *testing.T) {
	for _, tt := range []struct{ word, etype, code string }{
		{"00050000", "term_etype_rdma", "term_errcode"},
		{"01000000", "term_etype_rdma", "term_errcode_rdma"},
		{"02060000", "term_etype_rdma", "term_errcode_rdma"},
		{"03000000", "term_etype_rdma", "term_errcode_rdma"},
		{"10000000", "term_etype_ddp", "term_errcode"},
		{"11000000", "term_etype_ddp", "term_errcode_ddp_tagged"},
		{"12010000", "term_etype_ddp", "term_errcode_ddp_untagged"},
		{"13000000", "term_etype_ddp", "term_errcode"},
		{"14000000", "term_etype_ddp", "term_errcode"},
		{"20020000", "term_etype_llp", "term_errcode_llp"},
		{"21020000", "term_etype_llp", "term_errcode"},
		{"30000000", "term_etype", "term_errcode"},
	} {
		x, err := rdmap.DecodeTerminate(unhex(t, tt.word))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range x.AppendFields(nil) {
			got = append(got, strings.TrimPrefix(f.Name, "iwarp_rdma."))
		}
		want := []string{"term_layer", tt.etype, tt.code, "term_hdrct_m", "hdrct_d", "hdrct_r", "term_rsvd", "iwd.term.name"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", tt.word, got, want)
		}
	}
}

// Every combination of quoted parts: the descriptions cover the message bit by
// bit and agree with the decoded parts.
func TestTerminate_Descriptors(t *testing.T) {
	word := func(b []byte) map[string]uint64 {
		x, _ := rdmap.DecodeTerminate(b)
		return map[string]uint64{
			"iwarp_rdma.term_layer":    uint64(x.Layer),
			rdmap.ETypeField(0).Name:   uint64(x.EType),
			rdmap.CodeField(0, 0).Name: uint64(x.Code),
			"iwarp_rdma.term_hdrct_m":  bit(x.M),
			"iwarp_rdma.hdrct_d":       bit(x.D),
			"iwarp_rdma.hdrct_r":       bit(x.R),
			"iwarp_rdma.term_rsvd":     uint64(x.Rsvd),
		}
	}
	proveDescriptors(t, "control word", rdmap.TerminateLen, rdmap.Terminate{}.AppendFields(nil), word)

	r := newRand()
	for range 500 {
		x := genTerminate(r)
		b := x.Append(nil)
		claimed := make([]int, 8*(len(b)-len(x.Trailing)))
		for _, f := range x.AppendFields(nil) {
			if f.Derived() {
				continue
			}
			for i := f.Bit; i < f.Bit+f.Width; i++ {
				claimed[i]++
			}
			switch f.Name {
			case "iwarp_rdma.term_ddp_seg_len":
				if f.Uint(b) != uint64(binary.BigEndian.Uint16(b[4:])) || f.Uint(b) != uint64(x.SegLength) {
					t.Fatalf("%s reads %d of %+v", f.Name, f.Uint(b), x)
				}
			case "iwarp_rdma.term_ddp_h":
				if !bytes.Equal(f.Octets(b), x.DDPHeader) {
					t.Fatalf("%s reads %x of %+v", f.Name, f.Octets(b), x)
				}
			case "iwarp_rdma.term_rdma_h":
				if !bytes.Equal(f.Octets(b), x.RDMAHeader) {
					t.Fatalf("%s reads %x of %+v", f.Name, f.Octets(b), x)
				}
			}
		}
		for i, n := range claimed {
			if n != 1 {
				t.Fatalf("bit %d of %x is claimed by %d fields", i, b, n)
			}
		}
	}
}

// The label of the code says the same as the name of the error, whatever the layer and
// the error type.
func TestTerminate_CodeLabel(t *testing.T) {
	for layer := range uint8(16) {
		for etype := range uint8(16) {
			for code := range 256 {
				x, err := rdmap.DecodeTerminate([]byte{layer<<4 | etype, byte(code), 0, 0})
				if err != nil {
					t.Fatal(err)
				}
				f := x.AppendFields(nil)[2]
				_, want, _ := strings.Cut(x.Name(), ": ")
				if f.Names == nil || f.Names(uint64(code)) != want {
					t.Fatalf("%d/%d/%02x: %s has the wrong label, want %q", layer, etype, code, f.Name, want)
				}
			}
		}
	}
	x, _ := rdmap.DecodeTerminate([]byte{0x02, 0x03, 0, 0})
	if got := x.AppendFields(nil)[2].Names(3); got != "Unassigned code 0x03" {
		t.Errorf("0/2/03 is labelled %q", got)
	}
}
