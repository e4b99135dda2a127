package sctp_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// walk takes a packet apart and puts it together again.
func walk(t *testing.T, b []byte) (h sctp.Header, cs []sctp.Chunk) {
	t.Helper()
	h, err := sctp.DecodeHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	out := h.Append(nil)
	for rest := b[sctp.HeaderLen:]; len(rest) > 0; {
		c, n, err := sctp.Next(rest, len(rest))
		if err != nil {
			t.Fatal(err)
		}
		out = c.Append(out)
		cs, rest = append(cs, c), rest[n:]
	}
	if !bytes.Equal(out, b) {
		t.Errorf("%x becomes %x", b, out)
	}
	return h, cs
}

// The packets of the vectors for DDP over SCTP.
func TestPacket_Vectors(t *testing.T) {
	for _, tt := range []struct {
		in     string
		tag    uint32
		tsn    uint32
		ppid   uint32
		octets string
	}{
		{"1389138a1122334463f8bde50007001700000064000200000000001100000001 01020300", 0x11223344, 100, 17, "00000001010203"},
		{"138a1389556677882d60a39f00070014000000c8000200000000001100000002", 0x55667788, 200, 17, "00000002"},
		{
			"1389138a11223344c7de1ef400070027000000650002000000000010 00014143 00000000 00000000 00000001 00000000 61626300",
			0x11223344, 101, 16, "0001414300000000000000000000000100000000616263",
		},
		{"1389138a11223344626465bd0007001400000066000200000000001100020004", 0x11223344, 102, 17, "00020004"},
		{"1389138a11223344ca3d1a25000700180000006400020000000000110000000580104010", 0x11223344, 100, 17, "0000000580104010"},
	} {
		b := unhex(t, tt.in)
		h, cs := walk(t, b)
		if sctp.Check(b, len(b)) != sctp.Good || h.Tag != tt.tag || len(cs) != 1 {
			t.Fatalf("%s: %v, %+v, %d chunks", tt.in, sctp.Check(b, len(b)), h, len(cs))
		}
		d, err := sctp.DecodeData(&cs[0])
		if err != nil || !d.Begin() || !d.End() || !d.Unordered() || d.SID != 2 || d.TSN != tt.tsn || d.PPID != tt.ppid ||
			hex.EncodeToString(d.Octets) != tt.octets {
			t.Errorf("%s: %+v, %v", tt.in, d, err)
		}
		again := d.Chunk().Append(sctp.Header{SrcPort: h.SrcPort, DstPort: h.DstPort, Tag: h.Tag}.Append(nil))
		if sctp.Seal(again); !bytes.Equal(again, b) {
			t.Errorf("%s is written as %x", tt.in, again)
		}
	}
}

func TestCheck(t *testing.T) {
	good := unhex(t, "138a1389556677882d60a39f00070014000000c8000200000000001100000002")
	for want, change := range map[sctp.Verdict]func(b []byte){
		sctp.Good:     func([]byte) {},
		sctp.Bad:      func(b []byte) { b[20] ^= 1 },
		sctp.Zero:     func(b []byte) { copy(b[8:12], "\x00\x00\x00\x00") },
		sctp.Reversed: func(b []byte) { b[8], b[9], b[10], b[11] = b[11], b[10], b[9], b[8] },
	} {
		b := bytes.Clone(good)
		change(b)
		if got := sctp.Check(b, len(b)); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := sctp.Check(good[:20], len(good)); got != sctp.Unverifiable {
		t.Errorf("cut: %v", got)
	}
}

// A bundle: INIT ACK with parameters, SACK, two DATA, I-DATA, and a chunk that
// nobody knows.
func TestChunks_Bundle(t *testing.T) {
	ini := sctp.Init{Tag: 1, Window: 2, Out: 10, In: 4, TSN: 5}
	ini.Params = sctp.Param{Type: sctp.ParamIPv4, Value: []byte{10, 0, 0, 9}}.Append(nil)
	ini.Params = sctp.Param{Type: sctp.ParamCookie, Value: []byte("cookie")}.Append(ini.Params)
	ini.Params = sctp.Param{Type: sctp.ParamIPv6, Value: netip.MustParseAddr("fd00::9").AsSlice()}.Append(ini.Params)
	ini.Params = append(ini.Params, unhex(t, "c006 0008 00000001")...)
	sack := sctp.Sack{TSN: 7, Window: 8, Blocks: []sctp.Block{{2, 3}, {5, 9}}, Duplicates: []uint32{6, 7}}
	data := sctp.Data{Flags: sctp.FlagBegin | sctp.FlagEnd, TSN: 9, SID: 1, SSN: 3, PPID: 16, Octets: []byte("abc")}
	first := sctp.Data{I: true, Flags: sctp.FlagBegin | sctp.FlagUnordered, TSN: 10, SID: 1, MID: 77, PPID: 17, Octets: []byte("abcde")}
	next := sctp.Data{I: true, Flags: sctp.FlagEnd, TSN: 11, SID: 1, MID: 77, FSN: 1, Octets: []byte("f")}
	chunks := []sctp.Chunk{ini.Chunk(true), sack.Chunk(), data.Chunk(), first.Chunk(), next.Chunk(), sctp.New(200, 9, []byte{1, 2, 3})}
	b := sctp.Header{SrcPort: 1, DstPort: 2, Tag: 3}.Append(nil)
	for _, c := range chunks {
		b = c.Append(b)
	}
	sctp.Seal(b)
	_, cs := walk(t, b)
	if len(cs) != len(chunks) {
		t.Fatalf("%d chunks", len(cs))
	}
	gotInit, err := sctp.DecodeInit(cs[0])
	if err != nil || !reflect.DeepEqual(gotInit, ini) {
		t.Errorf("%+v, %v", gotInit, err)
	}
	if a, ok := gotInit.Adaptation(); !ok || a != 1 {
		t.Errorf("adaptation %d, %v", a, ok)
	}
	want := []netip.Addr{netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("fd00::9")}
	if got := gotInit.Addresses(nil); !reflect.DeepEqual(got, want) {
		t.Errorf("addresses %v", got)
	}
	gotSack, err := sctp.DecodeSack(cs[1])
	if err != nil || !reflect.DeepEqual(gotSack, sack) {
		t.Errorf("%+v, %v", gotSack, err)
	}
	for i, want := range []sctp.Data{data, first, next} {
		if got, err := sctp.DecodeData(&cs[2+i]); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v, %v", got, want, err)
		}
	}
	if tsn, err := sctp.DecodeTSN(sctp.New(sctp.TypeShutdown, 0, []byte{0, 0, 1, 2})); err != nil || tsn != 258 {
		t.Errorf("%d, %v", tsn, err)
	}
}

// Lengths that cannot be end the walk, with a code and a place.
func TestNext_Hostile(t *testing.T) {
	for _, tt := range []struct {
		name, in, code string
		wire           int
	}{
		{"shorter than its header", "00030003 00000000", "chunk_length", 8},
		{"zero", "00030000 00000000", "chunk_length", 8},
		{"beyond the packet", "00030020 00000000", "chunk_length", 8},
		{"three octets", "000300", "trailing_octets", 3},
		{"nothing captured", "", "chunk_not_captured", 8},
	} {
		_, _, err := sctp.Next(unhex(t, tt.in), tt.wire)
		var e *sctp.Error
		if !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	c, n, err := sctp.Next(unhex(t, "00030020 00000000"), 40)
	if err != nil || !c.Cut || n != 32 || len(c.Value) != 4 {
		t.Errorf("cut: %+v, %d, %v", c, n, err)
	}
	if _, err := sctp.DecodeData(&c); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut DATA: %v", err)
	}
	// The last chunk may lack its pad.
	c, n, err = sctp.Next(unhex(t, "0003001100000000000000000000000041"), 17)
	if err != nil || n != 17 || len(c.Pad) != 0 || c.Cut {
		t.Errorf("no pad: %+v, %d, %v", c, n, err)
	}
	if _, err := sctp.DecodeSack(sctp.New(sctp.TypeSack, 0, unhex(t, "00000001 00000002 ffff ffff"))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a SACK with too many blocks: %v", err)
	}
	if _, _, _, err := sctp.NextParam(unhex(t, "c0060002")); err == nil {
		t.Error("a parameter shorter than its header is taken")
	}
}

func TestType_String(t *testing.T) {
	seen := map[string]bool{}
	for i := range 256 {
		seen[sctp.Type(i).String()] = true
	}
	if len(seen) != 256 || sctp.Type(7).String() != "SHUTDOWN" || sctp.Type(200).String() != "chunk 200" {
		t.Errorf("%d names", len(seen))
	}
}

// What correct senders write survives reading and writing.
func TestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9260, 1))
	for range 5000 {
		d := sctp.Data{
			I: rnd.IntN(2) == 0, Flags: uint8(rnd.IntN(16)), TSN: rnd.Uint32(), SID: uint16(rnd.Uint32()),
			Octets: make([]byte, 1+rnd.IntN(50)),
		}
		switch {
		case !d.I:
			d.SSN, d.PPID = uint16(rnd.Uint32()), rnd.Uint32()
		case d.Begin():
			d.MID, d.PPID = rnd.Uint32(), rnd.Uint32()
		default:
			d.MID, d.FSN = rnd.Uint32(), rnd.Uint32()
		}
		c, n, err := sctp.Next(d.Chunk().Append(nil), 1<<16)
		if err != nil || n%4 != 0 {
			t.Fatal(n, err)
		}
		if got, err := sctp.DecodeData(&c); err != nil || !reflect.DeepEqual(got, d) {
			t.Fatalf("%+v becomes %+v, %v", d, got, err)
		}
	}
}

func FuzzPacket(f *testing.F) {
	f.Add(unhex(f, "1389138a1122334463f8bde5000700170000006400020000000000110000000101020300"), 0)
	i := sctp.Init{Tag: 1, Out: 1, In: 1, Params: unhex(f, "c0060008000000010005000801020304")}
	f.Add(i.Chunk(true).Append(sctp.Header{}.Append(nil)), 3)
	s := sctp.Sack{TSN: 1, Blocks: []sctp.Block{{1, 2}}, Duplicates: []uint32{1}}
	f.Add(s.Chunk().Append(sctp.Header{}.Append(nil)), 0)
	f.Fuzz(func(t *testing.T, b []byte, more int) {
		wire := len(b) + max(more, 0)%2000
		sctp.Check(b, wire)
		if _, err := sctp.DecodeHeader(b); err != nil {
			return
		}
		rest, left := b[sctp.HeaderLen:], wire-sctp.HeaderLen
		for left > 0 {
			c, n, err := sctp.Next(rest, left)
			if err != nil {
				break
			}
			if n < 4 || n > left {
				t.Fatalf("a chunk of %d octets of %d", n, left)
			}
			if whole := c.Append(nil); !c.Cut && !bytes.HasPrefix(rest, whole) {
				t.Fatalf("%x is written as %x", rest[:n], whole)
			}
			_, _ = sctp.DecodeData(&c)
			if i, err := sctp.DecodeInit(c); err == nil {
				i.Adaptation()
				i.Addresses(nil)
			}
			if s, err := sctp.DecodeSack(c); err == nil && len(s.Blocks)+len(s.Duplicates) > len(c.Value)/4 {
				t.Fatal("more blocks than octets")
			}
			_, _ = sctp.DecodeTSN(c)
			rest, left = rest[min(n, len(rest)):], left-n
		}
	})
}

// TestCheckContent: what a chunk of control announces and does not hold is told,
// with the place.
func TestCheckContent(t *testing.T) {
	tests := []struct {
		name  string
		chunk sctp.Chunk
		code  string
		at    int
	}{
		{"HEARTBEAT", sctp.New(sctp.TypeHeartbeat, 0, []byte{0, 1, 0, 8, 1, 2, 3, 4}), "", 0},
		{"HEARTBEAT, parameter too long", sctp.New(sctp.TypeHeartbeat, 0, []byte{0, 1, 0, 9, 1, 2, 3, 4}), "parameter_length", 6},
		{"ABORT without causes", sctp.New(sctp.TypeAbort, 0, nil), "", 0},
		{"ERROR, second cause short", sctp.New(sctp.TypeError, 0, []byte{0, 1, 0, 4, 0, 2}), "short_parameter", 10},
		{"RE-CONFIG, parameter shorter than its header", sctp.New(sctp.TypeReconfig, 0, []byte{0, 13, 0, 3}), "parameter_length", 6},
		{"SACK", (&sctp.Sack{TSN: 1, Blocks: []sctp.Block{{Start: 2, End: 3}}, Duplicates: []uint32{1}}).Chunk(), "", 0},
		{"SACK of blocks that are not there", sctp.New(sctp.TypeSack, 0, []byte{0, 0, 0, 1, 0, 0, 0, 1, 0, 9, 0, 0}), "short_sack", 16},
		{"something else", sctp.New(sctp.TypeCookieEcho, 0, []byte{1}), "", 0},
	}
	for _, tt := range tests {
		err := sctp.CheckContent(&tt.chunk)
		var e *sctp.Error
		switch {
		case tt.code == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.code != "" && (!errors.As(err, &e) || e.Code != tt.code || e.Offset != tt.at):
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
