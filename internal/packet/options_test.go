package packet

import (
	"fmt"
	"testing"
)

func TestOptions_RoundTrip(t *testing.T) {
	o := AppendMSS(nil, 1460)
	o = AppendSACKPermitted(o)
	o = AppendTimestamps(o, 0x01020304, 0x05060708)
	o = append(o, OptNop)
	o = AppendWindowScale(o, 7)
	o = AppendSACK(o, [2]uint32{10, 20}, [2]uint32{0xfffffff0, 5})
	if v, ok := MSS(o); !ok || v != 1460 {
		t.Errorf("MSS %d, %v", v, ok)
	}
	if v, ok := WindowScale(o); !ok || v != 7 {
		t.Errorf("WindowScale %d, %v", v, ok)
	}
	if val, ecr, ok := Timestamps(o); !ok || val != 0x01020304 || ecr != 0x05060708 {
		t.Errorf("Timestamps %#x, %#x, %v", val, ecr, ok)
	}
	if !SACKPermitted(o) {
		t.Error("SACKPermitted is false")
	}
	var got [][2]uint32
	blocks := SACK(o)
	for {
		l, r, rest, ok := NextSACK(blocks)
		if !ok {
			break
		}
		got, blocks = append(got, [2]uint32{l, r}), rest
	}
	if len(got) != 2 || got[0] != [2]uint32{10, 20} || got[1] != [2]uint32{0xfffffff0, 5} {
		t.Errorf("SACK %v", got)
	}
	n := testing.AllocsPerRun(10, func() {
		_, _ = MSS(o)
		for b := SACK(o); ; {
			_, _, rest, ok := NextSACK(b)
			if !ok {
				return
			}
			b = rest
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOptions_Malformed(t *testing.T) {
	for _, o := range [][]byte{
		nil,
		{OptEnd, OptMSS, 4, 1, 2},
		{OptMSS},
		{OptMSS, 0},
		{OptMSS, 1, 2, 3},
		{OptMSS, 4, 5},
		{OptMSS, 3, 5},
		{77, 0, OptMSS, 4, 1, 2},
		{OptNop, OptNop},
	} {
		if v, ok := MSS(o); ok {
			t.Errorf("MSS(% x) = %d", o, v)
		}
		if SACK(o) != nil {
			t.Errorf("SACK(% x)", o)
		}
	}
	// An option of the wrong size is passed over, a block cut short not shown.
	if v, ok := MSS([]byte{OptMSS, 3, 9, OptMSS, 4, 0, 9}); !ok || v != 9 {
		t.Errorf("MSS %d, %v", v, ok)
	}
	if _, _, _, ok := NextSACK(make([]byte, 7)); ok {
		t.Error("NextSACK of seven octets")
	}
}

func TestStrings_AreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []interface{ String() string }{
		ProtoNone, ProtoICMP, ProtoTCP, ProtoUDP, ProtoICMPv6, ProtoSCTP, Proto(47),
		OK, Fragment, NotIP, OtherTransport, Truncated, Malformed, UnknownLink, Status(99),
		ChecksumUnknown, ChecksumOK, ChecksumBad,
	} {
		if s.String() == "" || seen[fmt.Sprintf("%T %v", s, s)] {
			t.Errorf("%T %v again", s, s)
		}
		seen[fmt.Sprintf("%T %v", s, s)] = true
	}
}
