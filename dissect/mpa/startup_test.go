package mpa_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

const (
	reqKey = "4d 50 41 20 49 44 20 52 65 71 20 46 72 61 6d 65"
	repKey = "4d 50 41 20 49 44 20 52 65 70 20 46 72 61 6d 65"
	rtrKey = "4d 50 41 20 49 44 20 52 74 72 20 46 72 61 6d 65"
	rtRKey = "4d 50 41 20 49 44 20 52 74 52 20 46 72 61 6d 65"
)

// startupHex turns hexadecimal digits, spaced as they like, into octets.
func startupHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// startupRand returns the generator of every test: the same values on every
// run.
func startupRand() *rand.Rand { return rand.New(rand.NewPCG(5044, 6581)) }

func genStartup(r *rand.Rand) mpa.Startup {
	s := mpa.Startup{
		Kind: mpa.StartupKind(r.IntN(4)),
		M:    r.IntN(2) == 0, C: r.IntN(2) == 0, R: r.IntN(2) == 0, S: r.IntN(2) == 0,
		Res: uint8(r.IntN(16)), Rev: uint8(r.Uint32()),
	}
	s.RtRSpelling = s.Kind == mpa.StartupRTR && r.IntN(2) == 0
	if s.Kind == mpa.StartupUnknown {
		for i := range s.Key {
			s.Key[i] = byte(r.Uint32())
		}
	}
	for range r.IntN(2) * r.IntN(40) {
		s.PrivateData = append(s.PrivateData, byte(r.Uint32()))
	}
	s.PDLength = uint16(len(s.PrivateData))
	return s
}

func TestDecodeStartup_Vectors(t *testing.T) {
	word := &mpa.Enhanced{A: true, IRD: 16, C: true, D: true, ORD: 16}
	for _, tt := range []struct {
		name, in string
		want     mpa.Startup
		word     *mpa.Enhanced
		ulp      []byte
	}{
		{"request", reqKey + "40 01 00 00", mpa.Startup{Kind: mpa.StartupRequest, C: true, Rev: 1}, nil, nil},
		{
			"request with private data", reqKey + "c0 01 00 05 01 02 03 04 05",
			mpa.Startup{Kind: mpa.StartupRequest, M: true, C: true, Rev: 1, PDLength: 5, PrivateData: []byte{1, 2, 3, 4, 5}},
			nil, nil,
		},
		{"reply", repKey + "40 01 00 00", mpa.Startup{Kind: mpa.StartupReply, C: true, Rev: 1}, nil, nil},
		{"reject", repKey + "60 01 00 00", mpa.Startup{Kind: mpa.StartupReply, C: true, R: true, Rev: 1}, nil, nil},
		{
			"enhanced request", reqKey + "50 02 00 06 80 10 c0 10 aa bb",
			mpa.Startup{
				Kind: mpa.StartupRequest, C: true, S: true, Rev: 2, PDLength: 6,
				PrivateData: []byte{0x80, 0x10, 0xc0, 0x10, 0xaa, 0xbb},
			},
			word,
			[]byte{0xaa, 0xbb},
		},
		{
			"enhanced reply", repKey + "50 02 00 04 80 10 40 08",
			mpa.Startup{
				Kind: mpa.StartupReply, C: true, S: true, Rev: 2, PDLength: 4,
				PrivateData: []byte{0x80, 0x10, 0x40, 0x08},
			},
			&mpa.Enhanced{A: true, IRD: 16, D: true, ORD: 8},
			[]byte{},
		},
		{"RDMAC request", reqKey + "c0 00 00 00", mpa.Startup{Kind: mpa.StartupRequest, M: true, C: true}, nil, nil},
		{"RDMAC reply", repKey + "c0 00 00 00", mpa.Startup{Kind: mpa.StartupReply, M: true, C: true}, nil, nil},
		{"RTR, as written", rtrKey + "00 01 00 00", mpa.Startup{Kind: mpa.StartupRTR, Rev: 1}, nil, nil},
		{"RTR, as printed", rtRKey + "00 01 00 00", mpa.Startup{Kind: mpa.StartupRTR, RtRSpelling: true, Rev: 1}, nil, nil},
		{
			"a stack's private bit 0x08", reqKey + "58 02 00 00",
			mpa.Startup{Kind: mpa.StartupRequest, C: true, S: true, Res: 8, Rev: 2},
			nil, nil,
		},
		{
			"wrong key", "4d 50 41 20 49 44 20 52 65 71 20 66 72 61 6d 65 40 01 00 00",
			mpa.Startup{Key: [16]byte([]byte("MPA ID Req frame")), C: true, Rev: 1},
			nil, nil,
		},
		{
			"S with three octets", reqKey + "10 02 00 03 01 02 03",
			mpa.Startup{Kind: mpa.StartupRequest, S: true, Rev: 2, PDLength: 3, PrivateData: []byte{1, 2, 3}},
			nil, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frame := startupHex(t, tt.in)
			// What follows is none of the frame's business.
			b := append(bytes.Clone(frame), "more"...)
			got, n, err := mpa.DecodeStartup(b)
			if err != nil || n != len(frame) {
				t.Fatalf("n is %d, %v", n, err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if out := got.Append(nil); !bytes.Equal(out, frame) {
				t.Errorf("Append gives %x, want %x", out, frame)
			}
			e, ulp, ok := got.Word()
			if ok != (tt.word != nil) || ok && e != *tt.word || !bytes.Equal(ulp, tt.ulp) {
				t.Errorf("word %+v, %x, %v", e, ulp, ok)
			}
		})
	}
}

func TestStartup_RoundTrip(t *testing.T) {
	r := startupRand()
	for range 5000 {
		want := genStartup(r)
		b := want.Append(nil)
		if got, n, err := mpa.DecodeStartup(b); err != nil || n != len(b) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v becomes %+v, %d, %v", want, got, n, err)
		}
	}
}

func TestStartup_Truncation(t *testing.T) {
	want := mpa.Startup{
		Kind: mpa.StartupReply, C: true, S: true, Rev: 2, PDLength: 6,
		PrivateData: []byte{0x80, 0x10, 0x40, 0x08, 1, 2},
	}
	b := want.Append(nil)
	for n := range b {
		got, used, err := mpa.DecodeStartup(b[:n:n])
		var e *dissect.Error
		if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Layer != dissect.LayerMPA || e.Offset != n {
			t.Fatalf("cut to %d octets: %v", n, err)
		}
		if n < mpa.StartupLen {
			if used != 0 || e.Code != "short_startup" || !reflect.DeepEqual(got, mpa.Startup{}) {
				t.Errorf("cut to %d octets: %+v, %d, %v", n, got, used, err)
			}
			continue
		}
		part := want
		part.PrivateData = nil
		if n > mpa.StartupLen {
			part.PrivateData = want.PrivateData[:n-mpa.StartupLen]
		}
		if used != n || e.Code != "short_private_data" || !reflect.DeepEqual(got, part) {
			t.Errorf("cut to %d octets: %+v, %d, %v", n, got, used, err)
		}
		if _, _, ok := got.Word(); ok != (n >= mpa.StartupLen+mpa.EnhancedLen) {
			t.Errorf("cut to %d octets: word is %v", n, ok)
		}
	}
}

// The longest length is laid out, whether it is legal or not.
func TestStartup_LengthTooLarge(t *testing.T) {
	b := append(startupHex(t, reqKey+"00 01 ff ff"), make([]byte, 70000)...)
	s, n, err := mpa.DecodeStartup(b)
	if err != nil || n != 20+65535 || len(s.PrivateData) != 65535 || cap(s.PrivateData) != 65535 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestStartup_Descriptors(t *testing.T) {
	// res overlaps the enhanced flag; both are proven, one after the other.
	for _, kind := range []mpa.StartupKind{mpa.StartupRequest, mpa.StartupReply, mpa.StartupRTR} {
		key := mpa.KeyField(kind)
		if key == nil || key.Bit != 0 || key.Width != 8*mpa.KeyLen || key.Kind != dissect.Bytes {
			t.Fatalf("%s: %+v", kind, key)
		}
	}
	if f := mpa.KeyField(mpa.StartupUnknown); f != nil {
		t.Errorf("an unknown key is %s", f.Name)
	}
	h := &mpa.StartupHeader
	bit := func(v bool) uint64 {
		if v {
			return 1
		}
		return 0
	}
	for i := range h.Fields {
		f := &h.Fields[i]
		if f.Kind == dissect.Bytes {
			continue
		}
		for j := range f.Width {
			b := startupHex(t, reqKey+"00 00 00 00")
			want := uint64(1) << j
			f.Set(b, want)
			s, _, _ := mpa.DecodeStartup(b)
			got := map[string]uint64{
				"iwarp_mpa.marker_flag": bit(s.M), "iwarp_mpa.crc_flag": bit(s.C), "iwarp_mpa.rej_flag": bit(s.R),
				"iwarp_mpa.res": bit(s.S)<<4 | uint64(s.Res), "iwarp_mpa.enhanced_flag": bit(s.S),
				"iwarp_mpa.rev": uint64(s.Rev), "iwarp_mpa.pdlength": uint64(s.PDLength),
			}
			if got[f.Name] != want || f.Uint(b) != want {
				t.Errorf("%s: %#x decodes to %#x", f.Name, want, got[f.Name])
			}
			if s.S {
				delete(got, "iwarp_mpa.enhanced_flag")
				delete(got, "iwarp_mpa.res")
			}
			delete(got, f.Name)
			for name, v := range got {
				if v != 0 {
					t.Errorf("%s: %#x changes %s", f.Name, want, name)
				}
			}
		}
	}
}

func TestStartup_AppendFields(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     map[string]string
	}{
		{
			"request", reqKey + "c0 01 00 02 aabb",
			map[string]string{
				"iwarp_mpa.key.req": `"4d504120494420526571204672616d65"`, "iwarp_mpa.marker_flag": "true",
				"iwarp_mpa.crc_flag": "true", "iwarp_mpa.rej_flag": "false", "iwarp_mpa.res": `"0x00"`,
				"iwarp_mpa.rev": "1", "iwarp_mpa.pdlength": "2", "iwarp_mpa.privatedata": `"aabb"`,
			},
		},
		{
			"enhanced reply", repKey + "71 02 00 00",
			map[string]string{
				"iwarp_mpa.key.rep": `"4d504120494420526570204672616d65"`, "iwarp_mpa.marker_flag": "false",
				"iwarp_mpa.crc_flag": "true", "iwarp_mpa.rej_flag": "true", "iwarp_mpa.res": `"0x11"`,
				"iwarp_mpa.enhanced_flag": "true", "iwarp_mpa.rev": "2", "iwarp_mpa.pdlength": "0",
			},
		},
		{
			"RTR", rtRKey + "10 01 00 00",
			map[string]string{
				"iwd.mpa.key.rtr": `"4d504120494420527452204672616d65"`, "iwarp_mpa.marker_flag": "false",
				"iwarp_mpa.crc_flag": "false", "iwarp_mpa.rej_flag": "false", "iwarp_mpa.res": `"0x10"`,
				"iwarp_mpa.rev": "1", "iwarp_mpa.pdlength": "0",
			},
		},
		{
			"wrong key", strings.Repeat("00", 20),
			map[string]string{
				"iwarp_mpa.marker_flag": "false", "iwarp_mpa.crc_flag": "false", "iwarp_mpa.rej_flag": "false",
				"iwarp_mpa.res": `"0x00"`, "iwarp_mpa.rev": "0", "iwarp_mpa.pdlength": "0",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := startupHex(t, tt.in)
			s, n, err := mpa.DecodeStartup(b)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range s.AppendFields(nil) {
				got[f.Name] = string(f.AppendJSON(nil, b[:n]))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, tt := range []struct {
		hex, text string
		kind      mpa.StartupKind
		name      string
	}{
		{reqKey, mpa.RequestKey, mpa.StartupRequest, "mpa_request"},
		{repKey, mpa.ReplyKey, mpa.StartupReply, "mpa_reply"},
		{rtrKey, mpa.RTRKey, mpa.StartupRTR, "mpa_rtr"},
		{rtRKey, mpa.RtRKey, mpa.StartupRTR, "mpa_rtr"},
	} {
		b := startupHex(t, tt.hex)
		if string(b) != tt.text {
			t.Errorf("%q, want %q", tt.text, b)
		}
		if k, ok := mpa.KeyKind(append(b, 1, 2, 3)); !ok || k != tt.kind || k.String() != tt.name {
			t.Errorf("%q is %s, %v", b, k, ok)
		}
		for n := range b {
			if k, ok := mpa.KeyKind(b[:n]); ok || k != mpa.StartupUnknown {
				t.Errorf("%q is %s, %v", b[:n], k, ok)
			}
		}
	}
	if got := mpa.StartupUnknown.String(); got != "mpa_unknown" {
		t.Errorf("%q", got)
	}
}

func TestFindKey(t *testing.T) {
	for _, tt := range []struct {
		in    string
		at    int
		whole bool
	}{
		{"", 0, false},
		{"nothing here", 12, false},
		{mpa.RequestKey, 0, true},
		{"HTTP/1.1 101\r\n\r\n" + mpa.ReplyKey + "@\x01\x00\x00", 16, true},
		{"xx" + mpa.RtRKey, 2, true},
		{"xx" + mpa.RTRKey + mpa.RequestKey, 2, true},
		{"xxMPA ID Re", 2, false},
		{"xxMPA ID R", 2, false},
		{"xxMPA ID ", 2, false},
		{"xxM", 2, false},
		{"MPA MPA", 4, false},
		{"MMM", 2, false},
		{"MPA ID Rxx", 10, false},
		{"MPA ID Rex Frame and more", 25, false},
		{"MPA ID Req frame", 16, false},
		{"MPA ID RM", 8, false},
		{"MPA ID RMPA ID Req Frame", 8, true},
		{"MPA ID Req FrMPA ID Rep Frame", 13, true},
		{"MPA ID Req FrMPA ID Rep", 13, false},
		{"MPA ID RMPA ID RMPA ID R", 16, false},
	} {
		if at, whole := mpa.FindKey([]byte(tt.in)); at != tt.at || whole != tt.whole {
			t.Errorf("%q: %d, %v; want %d, %v", tt.in, at, whole, tt.at, tt.whole)
		}
	}
}

// A key is found whatever the input is cut into, if the rest is kept each time.
func TestFindKey_AnySplit(t *testing.T) {
	stream := []byte("GET / MPA ID R\r\nMPA " + mpa.RequestKey + "rest")
	want := bytes.Index(stream, []byte(mpa.RequestKey))
	for step := 1; step <= len(stream); step++ {
		var kept []byte
		dropped, found := 0, -1
		for i := 0; i < len(stream) && found < 0; i += step {
			kept = append(kept, stream[i:min(i+step, len(stream))]...)
			at, whole := mpa.FindKey(kept)
			dropped += at
			kept = kept[at:]
			if whole {
				found = dropped
			} else if len(kept) >= mpa.KeyLen {
				t.Fatalf("steps of %d: %d octets are kept", step, len(kept))
			}
		}
		if found != want {
			t.Errorf("steps of %d: found at %d, want %d", step, found, want)
		}
	}
}

func TestDecodeStartup_NoAllocations(t *testing.T) {
	b := startupHex(t, reqKey+"50 02 00 06 80 10 c0 10 aa bb")
	other := bytes.Repeat([]byte("MPA ID x"), 64)
	if n := testing.AllocsPerRun(100, func() {
		s, _, _ := mpa.DecodeStartup(b)
		e, _, _ := s.Word()
		_, _ = mpa.DecodeEnhanced(s.PrivateData)
		_ = mpa.RTRTypes(e, mpa.LayoutRFC6581).String()
		_, _ = mpa.KeyKind(b)
		_, _ = mpa.FindKey(b)
		_, _ = mpa.FindKey(other)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecodeStartup(f *testing.F) {
	r := startupRand()
	for range 16 {
		f.Add(genStartup(r).Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, n, err := mpa.DecodeStartup(b)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		if (err == nil) != (len(b) >= mpa.StartupLen+int(s.PDLength)) || n > len(b) {
			t.Fatalf("%d of %d octets, %v", n, len(b), err)
		}
		if n > 0 {
			if out := s.Append(nil); !bytes.Equal(out, b[:n]) {
				t.Fatalf("%x becomes %x", b[:n], out)
			}
			for _, fd := range s.AppendFields(nil) {
				if !fd.In(b[:n]) {
					t.Fatalf("%s does not lie in %x", fd.Name, b[:n])
				}
			}
		}
		if e, ulp, ok := s.Word(); ok && !bytes.Equal(append(e.Append(nil), ulp...), s.PrivateData) {
			t.Fatalf("%+v, %x of %x", e, ulp, s.PrivateData)
		}

		at, whole := mpa.FindKey(b)
		if at > len(b) {
			t.Fatalf("a key at %d of %d octets", at, len(b))
		}
		_, isKey := mpa.KeyKind(b[at:])
		if isKey != whole || !whole && len(b)-at >= mpa.KeyLen {
			t.Fatalf("a key at %d, whole %v", at, whole)
		}
		for i := range at {
			if _, ok := mpa.KeyKind(b[i:]); ok {
				t.Fatalf("a key at %d, not at %d", i, at)
			}
		}
	})
}

func ExampleDecodeStartup() {
	frame := append([]byte(mpa.RequestKey), 0x50, 2, 0, 4, 0x80, 0x10, 0xc0, 0x10)

	s, _, err := mpa.DecodeStartup(frame)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, revision %d, CRC %v\n", s.Kind, s.Rev, s.C)
	if e, _, ok := s.Word(); ok && s.Rev >= 2 {
		fmt.Printf("IRD %d, ORD %d, RTR %s\n", e.IRD, e.ORD, mpa.RTRTypes(e, mpa.LayoutRFC6581))
	}
	// Output:
	// mpa_request, revision 2, CRC true
	// IRD 16, ORD 16, RTR write|read
}

func BenchmarkFindKey(b *testing.B) {
	in := make([]byte, 64<<10)
	r := startupRand()
	for i := range in {
		in[i] = byte(r.Uint32())
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, whole := mpa.FindKey(in); whole {
			b.Fatal("found in noise")
		}
	}
}

func TestNearKey(t *testing.T) {
	turned := func(key string, by int) string {
		b := []byte(key)
		for i := 0; i < len(b); i += by {
			slices.Reverse(b[i : i+by])
		}
		return string(b)
	}
	for key, want := range map[string]bool{
		mpa.RequestKey: false, mpa.ReplyKey: false, mpa.RTRKey: false, "MPA ID Req Frame"[:15]: false,
		"MPA ID Req frame": true, "MPA ID Res Frame": true, "mpa ID Req Frame": true, "mpa id req frame": false,
		turned(mpa.RequestKey, 2): true, turned(mpa.ReplyKey, 4): true, turned(mpa.ReplyKey, 8): false, "GET / HTTP/1.1\r\n": false,
	} {
		if got := mpa.NearKey([]byte(key)); got != want {
			t.Errorf("%q: %v", key, got)
		}
	}
}
