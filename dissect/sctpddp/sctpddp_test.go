package sctpddp_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The user messages of the vectors for DDP over SCTP.
func TestDecodeControl_Vectors(t *testing.T) {
	for _, tt := range []struct {
		in       string
		function sctpddp.Function
		ssn      uint16
		private  string
		word     mpa.Enhanced
		enhanced bool
	}{
		{"0000 0001 010203", sctpddp.Initiate, 0, "010203", mpa.Enhanced{}, false},
		{"0000 0002", sctpddp.Accept, 0, "", mpa.Enhanced{}, false},
		{"0002 0004", sctpddp.Terminate, 2, "", mpa.Enhanced{}, false},
		{"0000 0005 80104010", sctpddp.EnhancedInitiate, 0, "80104010", mpa.Enhanced{A: true, IRD: 16, D: true, ORD: 16}, true},
		{"0000 0006 00040008 6869", sctpddp.EnhancedAccept, 0, "000400086869", mpa.Enhanced{IRD: 4, ORD: 8}, true},
		{"0000 0005 8010", sctpddp.EnhancedInitiate, 0, "8010", mpa.Enhanced{}, false},
		{"0000 0007 00040008", sctpddp.EnhancedReject, 0, "00040008", mpa.Enhanced{}, false},
		{"ffff 0100", 0x0100, 0xffff, "", mpa.Enhanced{}, false},
	} {
		b := unhex(t, tt.in)
		c, err := sctpddp.DecodeControl(b)
		if err != nil {
			t.Fatal(err)
		}
		if c.Function != tt.function || c.SSN != tt.ssn || hex.EncodeToString(c.PrivateData) != tt.private {
			t.Errorf("%s: %+v", tt.in, c)
		}
		w, ulp, ok := c.Word()
		if w != tt.word || ok != tt.enhanced || ok && len(ulp) != len(c.PrivateData)-mpa.EnhancedLen || !ok && !bytes.Equal(ulp, c.PrivateData) {
			t.Errorf("%s: word %+v, %x, %v", tt.in, w, ulp, ok)
		}
		if got := c.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("%s becomes %x", tt.in, got)
		}
	}
}

func TestDecodeSegment_Vector(t *testing.T) {
	b := unhex(t, "0001 4143 00000000 00000000 00000001 00000000 616263")
	s, err := sctpddp.DecodeSegment(b)
	if err != nil || s.SSN != 1 || !bytes.Equal(s.Append(nil), b) {
		t.Fatalf("%+v, %v", s, err)
	}
	d, err := ddp.Decode(s.Segment)
	if err != nil || d.MSN != 1 || string(s.Segment[d.HeaderLen:]) != "abc" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5043, 1))
	for range 3000 {
		b := make([]byte, rnd.IntN(40))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		c, err := sctpddp.DecodeControl(b)
		if (err == nil) != (len(b) >= sctpddp.ControlLen) || err == nil && !bytes.Equal(c.Append([]byte("x")), append([]byte("x"), b...)) {
			t.Fatalf("%x: %+v, %v", b, c, err)
		}
		s, err := sctpddp.DecodeSegment(b)
		if (err == nil) != (len(b) >= sctpddp.SegmentLen) || err == nil && !bytes.Equal(s.Append(nil), b) {
			t.Fatalf("%x: %+v, %v", b, s, err)
		}
	}
}

func TestTruncation(t *testing.T) {
	for n := range sctpddp.ControlLen {
		_, err := sctpddp.DecodeControl(make([]byte, n))
		var e *dissect.Error
		if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Layer != dissect.LayerSCTPDDP || e.Offset != n {
			t.Errorf("%d octets: %v", n, err)
		}
	}
	if _, err := sctpddp.DecodeSegment([]byte{1}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// Each description names the octets that the decoder reads.
func TestDescriptors(t *testing.T) {
	for _, h := range sctpddp.Headers {
		for i := range h.Fields {
			f := &h.Fields[i]
			if f.Derived() || f.Width == 0 {
				continue
			}
			b := make([]byte, 8)
			f.Set(b, 1<<f.Width-1)
			c, _ := sctpddp.DecodeControl(b)
			got := map[string]uint64{"iwd.sctp.ssn": uint64(c.SSN)}
			if h == &sctpddp.ControlHeader {
				got["iwd.sctp.function"] = uint64(c.Function)
			}
			for name, v := range got {
				if want := map[bool]uint64{true: 0xffff}[name == f.Name]; v != want {
					t.Errorf("%s: the bits of %s make %s %#x", h.Name, f.Name, name, v)
				}
			}
		}
	}
	if f := sctpddp.ControlHeader.Field("iwd.sctp.private_data"); string(f.Octets([]byte("1234private"))) != "private" {
		t.Error("private data is described elsewhere")
	}
}

func TestFunction_String(t *testing.T) {
	names := map[string]bool{}
	for f := range sctpddp.Function(10) {
		names[f.String()] = true
	}
	if len(names) != 10 || sctpddp.Experimental.String() != "Experimental" || sctpddp.Function(0x100).String() != "Function 0x0100" {
		t.Errorf("%v", names)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sctpddp.Control{SSN: 1, Function: sctpddp.EnhancedInitiate, PrivateData: []byte{0x80, 0x10, 0x40, 0x10}}.Append(nil))
	f.Add(sctpddp.Segment{SSN: 9, Segment: []byte{0x41, 0x43}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := sctpddp.DecodeControl(b); err == nil {
			c.Word()
			if !bytes.Equal(c.Append(nil), b) {
				t.Errorf("%x becomes %x", b, c.Append(nil))
			}
		}
		if s, err := sctpddp.DecodeSegment(b); err == nil && !bytes.Equal(s.Append(nil), b) {
			t.Errorf("%x becomes %x", b, s.Append(nil))
		}
	})
}
