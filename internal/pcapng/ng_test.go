package pcapng

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNg_TimeResolution(t *testing.T) {
	const sec = uint64(1_700_000_000)
	for _, c := range []struct {
		name   string
		resol  byte
		offset int64
		ticks  uint64
		want   int64
	}{
		{"seconds", 0, 0, sec, 1_700_000_000e9},
		{"milliseconds", 3, 0, 1234, 1_234_000_000},
		{"microseconds", 6, 0, sec*1e6 + 5, 1_700_000_000e9 + 5000},
		{"nanoseconds", 9, 0, sec*1e9 + 5, 1_700_000_000e9 + 5},
		{"picoseconds", 12, 0, 5_999, 5},
		{"10^-28", 28, 0, math.MaxUint64, 1},
		{"10^-127", 127, 0, 1 << 63, 0},
		{"2^0", 0x80, 0, 3, 3e9},
		{"2^-1", 0x81, 0, 3, 1_500_000_000},
		{"2^-32", 0x80 | 32, 0, sec<<32 | 1<<31, 1_700_000_000e9 + 5e8},
		{"2^-64", 0x80 | 64, 0, 1 << 63, 5e8},
		{"2^-65", 0x80 | 65, 0, 1 << 63, 25e7},
		{"2^-127", 0xff, 0, math.MaxUint64, 0},
		{"offset", 6, 3600, 1, 3600e9 + 1000},
		{"negative offset", 6, -3600, 1, -3600e9 + 1000},
		{"saturated seconds", 0, 0, math.MaxUint64, math.MaxInt64},
		{"saturated microseconds", 6, 0, math.MaxUint64, math.MaxInt64},
		{"saturated nanoseconds", 9, 0, math.MaxUint64, math.MaxInt64},
		{"saturated 2^0", 0x80, 0, math.MaxUint64, math.MaxInt64},
		{"saturated offset", 9, math.MaxInt64, 1, math.MaxInt64},
		{"saturated negative offset", 9, math.MinInt64, 1, math.MinInt64},
		{"negative offset that takes it out of range", 9, -9_223_372_037, 5, math.MinInt64},
		{"negative offset out of range that does not", 9, -9_223_372_037, 1e9, -9_223_372_036e9},
		{"offset that takes it out of range", 9, 10, math.MaxInt64, math.MaxInt64},
		{"offset that brings it into range", 9, -9_223_372_036, 1<<63 + 5, 1<<63 + 5 - 9_223_372_036e9},
	} {
		for _, n := range []*ng{littleNg(), bigNg()} {
			t.Run(fmt.Sprint(c.name, n.ByteOrder), func(t *testing.T) {
				var off [8]byte
				n.PutUint64(off[:], uint64(c.offset))
				n.section().iface(Ethernet, 0, n.option(ifTsResol, string([]byte{c.resol})), n.option(ifTsOffset, string(off[:])), n.option(optEnd, ""))
				recs, errs := readAll(bytes.NewReader(n.epb(0, c.ticks, "x").out), false)
				if len(errs) != 0 || len(recs) != 1 || recs[0].Time != c.want {
					t.Errorf("got %v %v, want %d", recs, errs, c.want)
				}
			})
		}
	}
}

// TestNg_Sections: interfaces and byte order belong to a section.
func TestNg_Sections(t *testing.T) {
	a := littleNg().section().iface(Ethernet, 4).iface(Raw, 0).epb(1, 7, "one").block(blockSimple, uint32(9), "fourxxxxx"[:4])
	b := bigNg().section().block(blockNames, "skip").iface(IPv6, 0).
		block(blockPacket, uint16(0), uint16(3), uint32(0), uint32(8), uint32(2), uint32(60), "2x").
		block(0x7777, "unknown").block(blockStatistics, make([]byte, 12)).epb(0, 9, "three")
	recs, errs := readAll(bytes.NewReader(append(a.out, b.out...)), false)
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	want := []Record{
		{Data: []byte("one"), OrigLen: 3, Time: 7000, Link: Raw, Interface: 1, Number: 1, Pos: 68},
		{Data: []byte("four"), OrigLen: 9, NoTime: true, Link: Ethernet, Interface: 0, Number: 2, Pos: 104},
		{Data: []byte("2x"), OrigLen: 60, Time: 8000, Link: IPv6, Section: 1, Number: 3, Pos: 124 + 28 + 16 + 20},
		{Data: []byte("three"), OrigLen: 5, Time: 9000, Link: IPv6, Section: 1, Number: 4, Pos: 124 + 28 + 16 + 20 + 36 + 20 + 24},
	}
	if d := cmp.Diff(want, recs); d != "" {
		t.Error(d)
	}
}

// TestNg_Damage: one damaged block never hides the others.
func TestNg_Damage(t *testing.T) {
	type edit func(*ng)
	big := strings.Repeat("p", 100)
	for _, c := range []struct {
		name string
		bad  edit
		code string
		took uint64 // record numbers the damage took
	}{
		{"unknown interface", func(n *ng) { n.epb(7, 0, big) }, CodeInterface, 1},
		{"packet longer than its block", func(n *ng) { n.block(blockEnhanced, uint32(0), uint64(0), uint32(200), uint32(200), big) }, CodeBlock, 1},
		{"packet of 4 GiB", func(n *ng) {
			n.block(blockEnhanced, uint32(0), uint64(0), uint32(math.MaxUint32), uint32(200), big)
		}, CodeBlock, 1},
		{"enhanced block too short", func(n *ng) { n.block(blockEnhanced, uint64(0)) }, CodeBlock, 1},
		{"obsolete block too short", func(n *ng) { n.block(blockPacket, uint64(0)) }, CodeBlock, 1},
		{"simple block too short", func(n *ng) { n.block(blockSimple) }, CodeBlock, 1},
		{"simple packet longer than its block", func(n *ng) { n.block(blockSimple, uint32(101), big) }, CodeBlock, 1},
		{"interface too short", func(n *ng) { n.block(blockInterface, uint32(1)) }, CodeBlock, 0},
		{"interface options", func(n *ng) { n.iface(Ethernet, 0, uint16(2), uint16(400)) }, CodeOptions, 0},
		{"time resolution of two octets", func(n *ng) { n.iface(Ethernet, 0, n.option(ifTsResol, "ab")) }, CodeOptions, 0},
		{"time offset of four octets", func(n *ng) { n.iface(Ethernet, 0, n.option(ifTsOffset, "abcd")) }, CodeOptions, 0},
		{"block of 4 GiB", func(n *ng) { n.raw(blockEnhanced, math.MaxUint32, []byte(big), 112) }, CodeLength, 1},
		{"block of 1 MiB, file ends", func(n *ng) { n.raw(blockEnhanced, 1<<20, []byte(big), 112) }, CodeLength, 1},
		{"block not a multiple of 4", func(n *ng) { n.raw(blockEnhanced, 111, []byte(big), 112) }, CodeLength, 1},
		{"block of 0", func(n *ng) { n.raw(blockEnhanced, 0, []byte(big), 112) }, CodeLength, 1},
		{"lengths differ", func(n *ng) { n.raw(blockEnhanced, 112, []byte(big), 116) }, CodeLength, 1},
		{"head length too short", func(n *ng) { n.raw(blockEnhanced, 80, []byte(big), 112) }, CodeLength, 1},
		{"unknown block, length damaged", func(n *ng) { n.raw(0x4711, 1<<31, []byte(big), 112) }, CodeLength, 0},
	} {
		for _, n := range []*ng{littleNg(), bigNg()} {
			t.Run(fmt.Sprint(c.name, n.ByteOrder), func(t *testing.T) {
				n.section().iface(Ethernet, 0).epb(0, 1, "before")
				at := int64(len(n.out))
				c.bad(n)
				n.epb(0, 2, "after").epb(0, 3, "last")
				recs, errs := readAll(bytes.NewReader(n.out), false)
				var e *Error
				if len(errs) != 1 || !errors.As(errs[0], &e) || e.Code != c.code || !e.Resume || e.Pos != at || e.Frame != 2 {
					t.Fatalf("got %+v", errs)
				}
				if len(recs) != 3 || string(recs[1].Data) != "after" || recs[1].Number != 2+c.took || string(recs[2].Data) != "last" {
					t.Errorf("got %+v", recs)
				}
			})
		}
	}
}

// TestNg_DamagedOptions: the packet is sound, the error follows it.
func TestNg_DamagedOptions(t *testing.T) {
	n := littleNg()
	n.section().iface(Ethernet, 0).
		epb(0, 1, "good", n.option(optComment, "first"), uint16(1), uint16(50)).
		epb(0, 2, "next", n.option(optComment, "second"), n.option(2988, "other"), n.option(optComment, ""))
	for _, comments := range []bool{false, true} {
		recs, errs := readAll(bytes.NewReader(n.out), comments)
		var e *Error
		if len(recs) != 2 || len(errs) != 1 || !errors.As(errs[0], &e) || e.Code != CodeOptions || e.Frame != 1 {
			t.Fatal(recs, errs)
		}
		var first, second []string
		if comments {
			first, second = []string{"first"}, []string{"second", ""}
		}
		if d := cmp.Diff([][]string{first, second}, [][]string{recs[0].Comments, recs[1].Comments}); d != "" {
			t.Error(d)
		}
	}
}

// TestNg_DamagedInterfaceKeepsItsPlace: later interfaces keep their numbers,
// and packets of the damaged one are refused.
func TestNg_DamagedInterfaceKeepsItsPlace(t *testing.T) {
	n := littleNg().section().block(blockInterface, uint32(1)).iface(Raw, 0).
		epb(0, 1, "refused").block(blockSimple, uint32(4), "also").epb(1, 1, "taken")
	recs, errs := readAll(bytes.NewReader(n.out), false)
	if len(recs) != 1 || recs[0].Link != Raw || recs[0].Number != 3 || len(errs) != 3 {
		t.Error(recs, errs)
	}
}

// TestNg_CaptureInACapture: a cut packet that carries a capture file is a cut
// packet.
func TestNg_CaptureInACapture(t *testing.T) {
	inner := littleNg().section().iface(Ethernet, 0).epb(0, 1, "inner").epb(0, 2, "inner")
	n := littleNg().section().iface(Ethernet, 0).epb(0, 1, string(inner.out)+strings.Repeat("x", 100))
	recs, errs := readAll(bytes.NewReader(n.out[:len(n.out)-104]), false)
	if len(recs) != 0 || len(errs) != 1 {
		t.Error(recs, errs)
	}

	// And one whose last length is damaged is one packet lost.
	n = littleNg().section().iface(Ethernet, 0).epb(0, 1, string(inner.out))
	n.out[len(n.out)-4]++
	n.epb(0, 2, "outer")
	recs, errs = readAll(bytes.NewReader(n.out), false)
	if len(recs) != 1 || string(recs[0].Data) != "outer" || len(errs) != 1 {
		t.Error(recs, errs)
	}
}

func TestNg_BadSectionIsFinal(t *testing.T) {
	good := littleNg().section().iface(Ethernet, 0).epb(0, 1, "good").out
	for name, bad := range map[string][]byte{
		"order":   littleNg().block(blockSection, uint32(7), make([]byte, 12)).out,
		"version": littleNg().block(blockSection, uint32(orderMagic), uint32(9), int64(-1)).out,
		"length":  littleNg().raw(blockSection, 27, binary.LittleEndian.AppendUint32(nil, orderMagic), 99).out,
		"lengths": littleNg().raw(blockSection, 28, append(binary.LittleEndian.AppendUint32(nil, orderMagic), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 99).out,
	} {
		recs, errs := readAll(bytes.NewReader(append(bytes.Clone(good), append(bad, good...)...)), false)
		var e *Error
		if len(recs) != 1 || len(errs) != 1 || !errors.As(errs[0], &e) || e.Resume || e.Pos != int64(len(good)) {
			t.Error(name, recs, errs)
		}
	}
}

func TestNg_TooManyInterfaces(t *testing.T) {
	n := littleNg().section()
	one := littleNg().iface(Ethernet, 0).out
	n.out = append(n.out, bytes.Repeat(one, maxInterfaces+1)...)
	recs, errs := readAll(bytes.NewReader(n.epb(maxInterfaces-1, 1, "last").out), false)
	if len(recs) != 1 || recs[0].Interface != maxInterfaces-1 || len(errs) != 1 {
		t.Error(recs, errs)
	}
}

// TestNg_PlainPacketAgrees: the fast path and the general way give the same.
func TestNg_PlainPacketAgrees(t *testing.T) {
	for _, n := range []*ng{littleNg(), bigNg()} {
		n.section().iface(Ethernet, 0).iface(Raw, 0, n.option(ifTsResol, "\x09")).iface(Raw, 0, n.option(ifTsResol, "\x00"))
		for i := range uint64(300) {
			n.epb(uint32(i%4), math.MaxUint64>>(i%64), strings.Repeat("x", int(i)))
			if i%7 == 0 {
				n.epb(uint32(i%4), i, "four", n.option(optComment, "c"))
			}
		}
		short, err := NewReader(bytes.NewReader(n.out))
		if err != nil {
			t.Fatal(err)
		}
		general, err := NewReader(bytes.NewReader(n.out))
		if err != nil {
			t.Fatal(err)
		}
		var a, b Record
		for {
			for i := range general.scales {
				general.scales[i].plain = false
			}
			errA, errB := short.Next(&a), general.Next(&b)
			if errA == io.EOF && errB == io.EOF {
				break
			}
			if fmt.Sprint(errA) != fmt.Sprint(errB) || errA == nil && !cmp.Equal(a, b) {
				t.Fatalf("%v %v\n%s", errA, errB, cmp.Diff(a, b))
			}
		}
	}
}
