package dissect

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// TestField_SetUint writes and reads fields at every place: what was written is
// read, and no other bit changes.
func TestField_SetUint(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for bit := range 24 {
		for width := 1; width <= 64; width++ {
			if width > 57 && bit%8 != 0 {
				continue
			}
			f := Field{Bit: bit, Width: width, LittleEndian: rnd.Uint32()&1 != 0}
			b := make([]byte, 12)
			for i := range b {
				b[i] = byte(rnd.Uint32())
			}
			before := append([]byte(nil), b...)
			v := rnd.Uint64()
			if width < 64 {
				v &= 1<<width - 1
			}
			f.Set(b, v)
			if got := f.Uint(b); got != v {
				t.Fatalf("bit %d width %d: wrote %#x, read %#x", bit, width, v, got)
			}
			for i := range 8 * len(b) {
				if i >= bit && i < bit+width {
					continue
				}
				mask := byte(0x80) >> (i % 8)
				if f.LittleEndian {
					mask = 1 << (i % 8)
				}
				if (b[i/8]^before[i/8])&mask != 0 {
					t.Fatalf("bit %d width %d: bit %d changed", bit, width, i)
				}
			}
		}
	}
}

// TestField_LittleEndian: the octets of a little-endian number come in the other order.
func TestField_LittleEndian(t *testing.T) {
	b := []byte{0xee, 0x12, 0x34, 0x56, 0x78, 0xee}
	f := Field{Kind: Hex, Bit: 8, Width: 32, LittleEndian: true}
	if got := f.Uint(b); got != 0x78563412 {
		t.Errorf("read %#x", got)
	}
	if got := string(f.AppendJSON(nil, b)); got != `"0x78563412"` {
		t.Errorf("as JSON %s", got)
	}
	f.Set(b, 0x01020304)
	if want := [...]byte{0xee, 4, 3, 2, 1, 0xee}; [6]byte(b) != want {
		t.Errorf("wrote % x", b)
	}
}

func TestField_AppendJSON(t *testing.T) {
	b := []byte{0x12, 0x34, 0xab, 0xcd, 0xff}
	for _, c := range []struct {
		f    Field
		want string
	}{
		{Field{Kind: Dec, Bit: 0, Width: 16}, "4660"},
		{Field{Kind: Hex, Bit: 0, Width: 4}, `"0x01"`},
		{Field{Kind: Hex, Bit: 8, Width: 13}, `"0x0695"`},
		{Field{Kind: Hex, Bit: 0, Width: 32}, `"0x1234abcd"`},
		{Field{Kind: Hex, Bit: 4, Width: 8, LittleEndian: true}, `"0x41"`},
		{Field{Kind: Hex, Bit: 0, Width: 40}, `"0x0000001234abcdff"`},
		{Field{Kind: Bool, Bit: 3, Width: 1}, "true"},
		{Field{Kind: Bool, Bit: 4, Width: 1}, "false"},
		{Field{Kind: Bytes, Bit: 8, Width: 16}, `"34ab"`},
		{Field{Kind: Bytes, Bit: 24}, `"cdff"`},
	} {
		if got := string(c.f.AppendJSON(nil, b)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.f, got, c.want)
		}
	}
}

func TestField_In(t *testing.T) {
	f := Field{Bit: 4, Width: 12}
	if f.In(make([]byte, 1)) || !f.In(make([]byte, 2)) {
		t.Error("a field is in its octets when all its bits are")
	}
	if d := (Field{Bit: -1}); d.In(make([]byte, 8)) || !d.Derived() {
		t.Error("a derived field is in no octets")
	}
}

func TestError(t *testing.T) {
	err := Short(LayerDDP, "short_header", 7)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("short input is io.ErrUnexpectedEOF")
	}
	if s := err.Error(); s != "ddp: short_header, offset 7: unexpected EOF" {
		t.Errorf("%q", s)
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal("not an *Error")
	}
	e.Field = "iwarp_ddp.stag"
	if s := err.Error(); s != "ddp: short_header at iwarp_ddp.stag, offset 7: unexpected EOF" {
		t.Errorf("%q", s)
	}
}

func TestHeader_Field(t *testing.T) {
	h := Header{Fields: []Field{{Name: "a"}, {Name: "b"}}}
	if h.Field("b") != &h.Fields[1] || h.Field("c") != nil {
		t.Error("a field is found by its name")
	}
}

func TestAppendHex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 16; n++ {
		for range 1000 {
			v := rnd.Uint64() >> rnd.IntN(64)
			want := fmt.Sprintf("x0x%0*x", n, v&(1<<(4*n)-1))
			if got := string(AppendHex([]byte("x"), v, n)); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	}
}
