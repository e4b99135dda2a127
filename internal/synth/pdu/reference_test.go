package pdu_test

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// This is MPA once more, slow and obvious: RFC 5044 sections 4.1 to 4.4 word by
// word, sharing nothing with the encoder.

// slowCRC is the CRC32c of b as it stands on the wire, one bit at a time: the
// polynomial 0x1EDC6F41, most significant power first, the bits of each octet
// taken from the least significant on.
func slowCRC(b []byte) []byte {
	reg := uint32(0xffffffff)
	for _, o := range b {
		for bit := range 8 {
			in := uint32(o>>bit) & 1
			top := reg >> 31
			reg <<= 1
			if in != top {
				reg ^= 0x1EDC6F41
			}
		}
	}
	reg = ^reg
	// The power of x^31 is the least significant bit of the first octet.
	out := make([]byte, 4)
	for i := range 32 {
		if reg>>(31-i)&1 != 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// slowStream frames ULPDUs octet by octet.
func slowStream(ulpdus [][]byte, markers, crc bool) (stream []byte, ends []int) {
	for _, u := range ulpdus {
		start := len(stream)
		length := -1 // place of ULPDU_Length
		put := func(o byte) {
			if markers && len(stream)%512 == 0 {
				back := 0
				if length >= 0 {
					back = len(stream) - length
				}
				stream = append(stream, 0, 0, byte(back>>8), byte(back))
			}
			if length < 0 {
				length = len(stream)
			}
			stream = append(stream, o)
		}
		put(byte(len(u) >> 8))
		put(byte(len(u)))
		for _, o := range u {
			put(o)
		}
		for n := 2 + len(u); n%4 != 0; n++ {
			put(0)
		}
		if markers && len(stream)%512 == 0 {
			back := len(stream) - length
			stream = append(stream, 0, 0, byte(back>>8), byte(back))
		}
		if crc {
			stream = append(stream, slowCRC(stream[start:])...)
		} else {
			stream = append(stream, 0, 0, 0, 0)
		}
		ends = append(ends, len(stream))
	}
	return stream, ends
}

func TestSlowCRC_Vectors(t *testing.T) {
	for in, want := range map[string]string{
		"": "00000000", "123456789": "839206e3",
		strings.Repeat("\x00", 32): "aa36918a", strings.Repeat("\xff", 32): "43aba862",
	} {
		if got := hex.EncodeToString(slowCRC([]byte(in))); got != want {
			t.Errorf("CRC of %q is %s, want %s", in, got, want)
		}
	}
}

func ulpdus(rnd *rand.Rand) [][]byte {
	sizes := []int{14, 15, 16, 17, 18, 46, 490, 498, 500, 502, 504, 506, 508, 512, 1000, 1442, 2000}
	out := make([][]byte, 1+rnd.IntN(30))
	for i := range out {
		n := sizes[rnd.IntN(len(sizes))]
		switch rnd.IntN(20) {
		case 0:
			n = mpa.MaxULPDU
		case 1, 2, 3, 4, 5, 6, 7:
			n = 14 + rnd.IntN(3000)
		}
		out[i] = make([]byte, n)
		for j := range out[i] {
			out[i][j] = byte(rnd.Uint32())
		}
	}
	return out
}

// TestFramer_AgainstTheObvious compares the framer and the encoder with the
// slow implementation, for thousands of ULPDUs of all sizes.
func TestFramer_AgainstTheObvious(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	leads, inner, tails := 0, 0, 0
	for range 300 {
		us := ulpdus(rnd)
		markers, crc := rnd.IntN(3) > 0, rnd.IntN(3) > 0
		want, ends := slowStream(us, markers, crc)
		f, err := pdu.NewFramer(nil)
		if err != nil {
			t.Fatal(err)
		}
		f.Full(markers, crc)
		enc := mpa.Encoder{Markers: markers, CRC: crc}
		var got, encoded []byte
		from := 0
		for i, u := range us {
			for _, unit := range f.Append(nil, pdu.PDU{Kind: pdu.Segment, Octets: u}) {
				got = append(got, unit.Data...)
			}
			encoded = tracetest.Framed(enc.Append(encoded, u))
			if !bytes.Equal(got[from:], want[from:ends[i]]) || !bytes.Equal(encoded[from:], want[from:ends[i]]) {
				t.Fatalf("ULPDU %d of %d octets at %d (markers %v, CRC %v) is framed otherwise", i, len(u), from, markers, crc)
			}
			if markers {
				leads += btoi(from%512 == 0)
				inner += btoi(from/512 != (ends[i]-1)/512)
				tails += btoi((ends[i]-4)%512 == 4 && ends[i]-8 > from)
			}
			from = ends[i]
		}
	}
	if leads == 0 || inner == 0 || tails == 0 {
		t.Errorf("%d markers before ULPDU_Length, %d inside, %d between pad and CRC: all should occur", leads, inner, tails)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// RFC 5044 figures 5 and 6: the first FPDU of a stream, and one with a marker
// inside.
func TestFramer_FiguresOfRFC5044(t *testing.T) {
	first, err := hex.DecodeString("4143" + strings.Repeat("00", 40))
	if err != nil {
		t.Fatal(err)
	}
	first[13] = 1 // MSN 1
	want := "00000000002a4143000000000000000000000001" + strings.Repeat("00", 28) + "52239983"
	f, _ := pdu.NewFramer(nil)
	f.Full(true, true)
	u := f.Append(nil, pdu.PDU{Kind: pdu.Segment, Octets: first})
	if got := hex.EncodeToString(u[0].Data); got != want {
		t.Errorf("figure 5:\n got %s\nwant %s", got, want)
	}
	slow, _ := slowStream([][]byte{first}, true, true)
	if got := hex.EncodeToString(slow); got != want {
		t.Errorf("figure 5, slowly:\n got %s\nwant %s", got, want)
	}
	second := append([]byte(nil), first...)
	second[13] = 2 // MSN 2
	f, _ = pdu.NewFramer(nil)
	f.Full(true, true)
	us := f.Append(nil, pdu.PDU{Kind: pdu.Segment, Octets: make([]byte, 482)})
	us = f.Append(us, pdu.PDU{Kind: pdu.Segment, Octets: second})
	want = "002a41430000000000000000000000020000000000000014" + strings.Repeat("00", 24) + "84925898"
	if got := hex.EncodeToString(us[1].Data); len(us[0].Data) != 0x1ec || got != want {
		t.Errorf("figure 6, at %#x:\n got %s\nwant %s", len(us[0].Data), got, want)
	}
}
