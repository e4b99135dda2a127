package mpa_test

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

func octets(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// anything is a grammar for streams whose FPDUs need no help to be found.
var anything = mpa.Grammar{
	Quick:   func(byte, byte) bool { return true },
	Light:   func([]byte, int) bool { return true },
	Strict:  func([]byte, int) bool { return true },
	Follows: func([]byte, int, []byte) bool { return true },
}

// vectors are FPDUs without markers, CRC on, one for each message.
var vectors = []struct {
	name   string
	ulpdu  int
	octets string
}{
	{"Write, 5 octets \"hello\"", 19, "0013c14000000100000000000000100068656c6c6f00000051bd3616"},
	{"Write, zero length (RTR)", 14, "000ec140000000010000000000000000ebd34c5f"},
	{"Write, segment 1 of 2 (L=0), 4 octets", 18, "00128140000001000000000000001000616263641f10002b"},
	{"Read Request", 46, "002e4141000000000000000100000001000000000000020000000000000020000000000500000300000000000000300011cc8e65"},
	{"Read Request, size 0 (RTR)", 46, "002e41410000000000000001000000010000000000000000000000000000000000000000000000000000000000000000f2c6dd3d"},
	{"Read Response, 5 octets", 19, "0013c142000002000000000000002000776f726c64000000c0b58171"},
	{"Read Response, zero length", 14, "000ec1420000000000000000000000006975d6ca"},
	{"Send, 3 octets", 21, "001541430000000000000000000000010000000061626300447065aa"},
	{"Send, zero length (RTR)", 18, "0012414300000000000000000000000100000000587be8c4"},
	{"Send with Invalidate 0x12345678, 2 octets", 20, "00144144123456780000000000000002000000006869000090009ffb"},
	{"Send with SE, 1 octet", 19, "001341450000000000000000000000030000000078000000162c9d4f"},
	{"Send with SE and Invalidate", 18, "00124146123456780000000000000004000000000e982990"},
	{"Immediate Data 0102030405060708", 26, "001a4148000000000000000000000005000000000102030405060708922360c6"},
	{"Immediate Data with SE", 26, "001a4149000000000000000000000006000000000000000000000000ab0d8373"},
	{"Atomic Request FetchAdd +1, id 7, STag 300, TO 1000", 70, "0046414a000000000000000100000002000000000000000000000007000003000000000000001000000000000000000100000000000000000000000000000000ffffffffffffffffe2426c94"},
	{"Atomic Request CmpSwap, id 8, swap 2, compare 1, masks all ones", 70, "0046414a0000000000000001000000030000000000000002000000080000030000000000000010000000000000000002ffffffffffffffff0000000000000001ffffffffffffffff323250af"},
	{"Atomic Response id 7, original 41h", 30, "001e414b000000000000000300000001000000000000000700000000000000411420b003"},
	{"Terminate 2/0/02 (MPA CRC), HdrCt 000", 22, "0016414700000000000000020000000100000000200200007fe42585"},
	{"Terminate 2/0/06 (insufficient IRD)", 22, "0016414700000000000000020000000100000000200600006540fb1b"},
	{"Terminate 2/0/07 (no matching RTR)", 22, "0016414700000000000000020000000100000000200700001bd2babe"},
	{"Terminate 0/2/06 M D, quoting an Immediate Data header", 42, "002a4147000000000000000200000001000000000206c000001a4148000000000000000000000005000000002e183242"},
	{"Terminate 1/1/00 M D, quoting the 5-octet Write", 38, "00264147000000000000000200000001000000001100c0000013c140000001000000000000001000e693c1d1"},
	{"Terminate 1/2/04 M D, quoting a Send with MO 9", 42, "002a4147000000000000000200000001000000001204c00000154143000000000000000000000001000000090945095a"},
	{"Terminate 0/1/01 M D R, quoting the Read Request", 70, "00464147000000000000000200000001000000000101e000002e414100000000000000010000000100000000000002000000000000002000000000050000030000000000000030006ee72b45"},
	{"RDMAC Send (DV 0, RV 0), 3 octets", 21, "001540030000000000000000000000010000000061626300a37edbba"},
}

// TestVectors_FPDU decodes each vector and encodes it again.
func TestVectors_FPDU(t *testing.T) {
	for _, v := range vectors {
		b := octets(t, v.octets)
		var d mpa.Decoder
		d.Reset(mpa.Config{Markers: mpa.No, CRC: mpa.Yes, Start: true, Trusted: true, Grammar: &anything}, 0)
		d.Write(b)
		if d.Next() != mpa.Got {
			t.Errorf("%s: no FPDU", v.name)
			continue
		}
		f := d.FPDU
		if int(f.ULPDULength) != v.ulpdu || f.CRCStatus != mpa.CRCGood || f.Size != len(b) || !f.PadZero() || f.PadLen != mpa.PadLen(v.ulpdu) {
			t.Errorf("%s: %+v", v.name, f)
		}
		if string(f.ULPDU) != string(b[2:2+v.ulpdu]) {
			t.Errorf("%s: ULPDU % x", v.name, f.ULPDU)
		}
		e := mpa.Encoder{CRC: true}
		if got := hex.EncodeToString(tracetest.Framed(e.Append(nil, f.ULPDU))); got != v.octets {
			t.Errorf("%s: encoded %s", v.name, got)
		}
	}
}

// TestVectors_Pad is the table of pad lengths (RFC 5044 section 4.1).
func TestVectors_Pad(t *testing.T) {
	for n, want := range map[int]int{14: 0, 15: 3, 16: 2, 17: 1, 18: 0, 26: 0, 30: 0, 42: 0, 46: 0, 70: 0} {
		if got := mpa.PadLen(n); got != want {
			t.Errorf("ULPDU of %d octets: pad %d, want %d", n, got, want)
		}
	}
}

// TestVectors_Figure4: a marker twelve octets behind ULPDU_Length (RFC 5044
// figure 4): pointer 12, pad 2.
func TestVectors_Figure4(t *testing.T) {
	e := mpa.Encoder{Markers: true, CRC: true, Offset: 500}
	b := tracetest.Framed(e.Append(nil, make([]byte, 16)))
	if hex.EncodeToString(b[:2]) != "0010" || hex.EncodeToString(b[12:16]) != "0000000c" || len(b) != 2+16+2+4+4 {
		t.Errorf("% x", b)
	}
}

// TestVectors_MarkerPositions: markers stand at the start of the stream and
// every 512 octets, whatever the sequence numbers do (RFC 5044 section 4.3).
func TestVectors_MarkerPositions(t *testing.T) {
	for _, c := range []struct {
		start uint32
		at    []uint32
	}{
		{11, []uint32{11, 523, 1035}},
		{0xffffff00, []uint32{0xffffff00, 0x100, 0x300, 0x500}},
		{1, []uint32{1, 0x201}},
	} {
		e := mpa.Encoder{Markers: true, CRC: true}
		b := tracetest.Framed(e.Append(nil, make([]byte, 3000)))
		var d mpa.Decoder
		d.Reset(mpa.Config{Markers: mpa.Yes, CRC: mpa.Yes, Start: true, Trusted: true, Grammar: &anything}, 0)
		d.Write(b)
		if d.Next() != mpa.Got {
			t.Fatal("no FPDU")
		}
		for i, want := range c.at {
			if got := c.start + uint32(d.FPDU.Markers[i].Offset); got != want {
				t.Errorf("stream from %#x: marker %d at %#x, want %#x", c.start, i, got, want)
			}
		}
	}
}

// TestVectors_SCTP: the same CRC32c, in the same order of octets, protects SCTP
// packets (RFC 9260 appendix A); the field counts as zero.
func TestVectors_SCTP(t *testing.T) {
	for _, s := range []string{
		"1389138a1122334463f8bde5000700170000006400020000000000110000000101020300",
		"138a1389556677882d60a39f00070014000000c8000200000000001100000002",
		"1389138a11223344c7de1ef400070027000000650002000000000010000141430000000000000000000000010000000061626300",
		"1389138a11223344626465bd0007001400000066000200000000001100020004",
		"1389138a11223344ca3d1a25000700180000006400020000000000110000000580104010",
	} {
		b := octets(t, s)
		want := binary.BigEndian.Uint32(b[8:])
		clear(b[8:12])
		if got := mpa.CRC32c(b); got != want {
			t.Errorf("%s: %08x, want %08x", s, got, want)
		}
	}
}
