package pdu_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// send is a Send with so many octets of payload.
func send(msn uint32, n int) []byte {
	b := ddp.Segment{Last: true, DV: 1, RsvdULP: 0x43, MSN: msn}.Append(nil)
	for i := range n {
		b = append(b, byte(i))
	}
	return b
}

func at(name string, n int) pdu.Place {
	return pdu.Place{Message: name, Number: 1, Segment: n, Last: true}
}

// framed sends ULPDUs with faults and returns the units.
func framed(t *testing.T, markers bool, faults []pdu.Fault, ps ...pdu.PDU) []pdu.Unit {
	t.Helper()
	f, err := pdu.NewFramer(faults)
	if err != nil {
		t.Fatal(err)
	}
	f.Full(markers, true)
	var us []pdu.Unit
	for _, p := range ps {
		us = f.Append(us, p)
	}
	return f.Flush(us)
}

func segment(name string, b []byte) pdu.PDU {
	return pdu.PDU{Place: at(name, 1), Kind: pdu.Segment, Octets: b}
}

// crcOK reports whether the CRC at the end of an FPDU is right.
func crcOK(b []byte) bool {
	return binary.BigEndian.Uint32(b[len(b)-4:]) == mpa.CRC32c(b[:len(b)-4])
}

func TestFramer_Faults(t *testing.T) {
	x := pdu.Selector{Message: "x"}
	plain := framed(t, false, nil, segment("x", send(1, 17)))[0].Data
	for _, tt := range []struct {
		name  string
		fault pdu.Fault
		want  string // of the FPDU without its CRC, with . for the plain one's
		crc   bool
	}{
		{"field", pdu.Fault{Set: []pdu.Value{{Name: "iwarp_ddp.msn", Number: 9}}}, "0023 4143 00000000 00000000 00000009 00000000", true},
		{"field added to", pdu.Fault{Set: []pdu.Value{{Name: "iwarp_ddp.mo", Number: ^uint64(0), Add: true}}}, "0023 4143 00000000 00000000 00000001 ffffffff", true},
		{"control bits", pdu.Fault{Set: []pdu.Value{{Name: "iwarp_ddp.last_flag"}, {Name: "iwarp_rdma.opcode", Number: 5}, {Name: "iwarp_rdma.rsv", Number: 3}}}, "0023 0175", true},
		{"T bit does not move the others", pdu.Fault{Set: []pdu.Value{{Name: "iwarp_ddp.tagged_flag", Number: 1}, {Name: "iwarp_ddp.msn", Number: 2}}}, "0023 c143 00000000 00000000 00000002", true},
		{"octets of a field", pdu.Fault{Set: []pdu.Value{{Name: "iwarp_rdma.reserved", Octets: []byte{1, 2, 3, 4}}}}, "0023 4143 01020304", true},
		{"length", pdu.Fault{Set: []pdu.Value{{Name: "iwarp_mpa.ulpdulength", Number: 0x2a00}}}, "2a00 4143", true},
		{"payload", pdu.Fault{Payload: []byte("abc")}, "0015 4143 00000000 00000000 00000001 00000000 616263 00", true},
		{"no payload", pdu.Fault{Payload: []byte{}}, "0012 4143 00000000 00000000 00000001 00000000", true},
		{"octets", pdu.Fault{Octets: []byte("xy")}, "0002 7879", true},
		{"cut to", pdu.Fault{Cut: 6}, "0006 4143 00000000", true},
		{"cut off", pdu.Fault{Cut: -29}, "0006 4143 00000000", true},
		{"extend", pdu.Fault{Cut: 2, Extend: []byte("abcd")}, "0006 4143 61626364", true},
		{"pad", pdu.Fault{Cut: 5, Pad: []byte{0xab}}, "0005 4143 000000 ab", true},
		{"no pad", pdu.Fault{Cut: 5, Pad: []byte{}}, "0005 4143 000000", true},
		{"bad CRC", pdu.Fault{CRC: pdu.CRC{Mode: pdu.CRCBad}}, "0023 4143", false},
		{"CRC zero", pdu.Fault{CRC: pdu.CRC{Mode: pdu.CRCZero}}, "0023 4143", false},
		{"CRC reversed", pdu.Fault{CRC: pdu.CRC{Mode: pdu.CRCReversed}}, "0023 4143", false},
		{"CRC given", pdu.Fault{CRC: pdu.CRC{Mode: pdu.CRCValue, Value: 0xdeadbeef}}, "0023 4143", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.fault.At = x
			us := framed(t, false, []pdu.Fault{tt.fault}, segment("x", send(1, 17)), segment("y", send(2, 1)))
			want, err := hex.DecodeString(strings.ReplaceAll(tt.want, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if got := us[0].Data; !bytes.HasPrefix(got, want) || crcOK(got) != tt.crc {
				t.Errorf("got %x, CRC right %v", got, crcOK(got))
			}
			if len(tt.want) > 60 && len(us[0].Data) != len(want)+4 && tt.name == "payload" {
				t.Errorf("%d octets", len(us[0].Data))
			}
			if !crcOK(us[1].Data) || us[1].Data[3] != 0x43 {
				t.Errorf("the next one is not as it should be: %x", us[1].Data)
			}
		})
	}
	if !crcOK(plain) {
		t.Error("without faults the CRC is wrong")
	}
}

func TestFramer_CRCModes(t *testing.T) {
	// The second FPDU has a marker inside, the first one in front.
	a, b := segment("a", send(1, 444)), segment("b", send(2, 100))
	clean := framed(t, true, nil, a, b)
	get := func(name string, m pdu.CRCMode, more pdu.Fault) []byte {
		more.At, more.CRC = pdu.Selector{Message: name}, pdu.CRC{Mode: m}
		us := framed(t, true, []pdu.Fault{more}, a, b)
		return us[map[string]int{"a": 0, "b": 1}[name]].Data
	}
	lead := get("a", pdu.CRCNoLead, pdu.Fault{})
	if got, want := binary.BigEndian.Uint32(lead[len(lead)-4:]), mpa.CRC32c(clean[0].Data[4:len(lead)-4]); got != want {
		t.Errorf("without the leading marker: %#x, want %#x", got, want)
	}
	at := 512 - len(clean[0].Data)
	bare := append(append([]byte(nil), clean[1].Data[:at]...), clean[1].Data[at+4:len(clean[1].Data)-4]...)
	inner := get("b", pdu.CRCNoMarkers, pdu.Fault{})
	if got, want := binary.BigEndian.Uint32(inner[len(inner)-4:]), mpa.CRC32c(bare); got != want {
		t.Errorf("without markers: %#x, want %#x", got, want)
	}
	stale := get("b", pdu.CRCStale, pdu.Fault{Set: []pdu.Value{{Name: "iwarp_ddp.mo", Number: 5}}})
	if !bytes.Equal(stale[len(stale)-4:], clean[1].Data[len(stale)-4:]) || crcOK(stale) {
		t.Errorf("stale CRC: %x", stale[len(stale)-4:])
	}
	none := framed(t, true, []pdu.Fault{{At: pdu.Selector{Message: "a"}, NoCRC: true}}, a)[0].Data
	if !bytes.Equal(none, clean[0].Data[:len(none)]) || len(none) != len(clean[0].Data)-4 {
		t.Error("without CRC field something else changed")
	}
}

// Whatever happens to a marker, those behind it stand where they belong.
func TestFramer_MarkerFaults(t *testing.T) {
	a, b := segment("a", send(1, 1000)), segment("b", send(2, 1000))
	clean := framed(t, true, nil, a)[0].Data
	for _, tt := range []struct {
		name string
		m    pdu.Marker
		want func() []byte // of a, without CRC
	}{
		{"pointer", pdu.Marker{Number: 2, Pointer: 7, SetPointer: true}, func() []byte {
			w := bytes.Clone(clean)
			w[515] = 7
			w[514] = 0
			return w
		}},
		{"reserved", pdu.Marker{Number: 1, Reserved: 0x0102, SetReserved: true}, func() []byte {
			w := bytes.Clone(clean)
			w[0], w[1] = 1, 2
			return w
		}},
		{"drop", pdu.Marker{Number: 2, Drop: true}, func() []byte { return append(bytes.Clone(clean[:512]), clean[516:]...) }},
		{"shift", pdu.Marker{Number: 2, Shift: 4}, func() []byte {
			w := append(bytes.Clone(clean[:512]), clean[516:520]...)
			return append(append(w, clean[512:516]...), clean[520:]...)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			us := framed(t, true, []pdu.Fault{{At: pdu.Selector{Message: "a"}, Markers: []pdu.Marker{tt.m}}}, a, b)
			got, want := us[0].Data, tt.want()
			if !bytes.Equal(got[:len(got)-4], want[:len(want)-4]) {
				t.Error("the FPDU is not as it should be")
			}
			if !crcOK(got) {
				t.Error("the CRC does not cover what is sent")
			}
			// The next FPDU is framed for the place where it really is.
			enc := mpa.Encoder{Markers: true, CRC: true, Offset: int64(len(got))}
			if !bytes.Equal(us[1].Data, tracetest.Framed(enc.Append(nil, b.Octets))) {
				t.Error("the markers of the next FPDU are at wrong places")
			}
		})
	}
}

func TestFramer_Order(t *testing.T) {
	var ps []pdu.PDU
	for i, name := range []string{"a", "b", "c", "d"} {
		ps = append(ps, segment(name, send(uint32(i+1), 0)))
	}
	order := func(faults ...pdu.Fault) (s string) {
		for _, u := range framed(t, false, faults, ps...) {
			s += u.Place.Message
		}
		return s
	}
	b := pdu.Selector{Message: "b"}
	for _, tt := range []struct {
		fault pdu.Fault
		want  string
	}{
		{pdu.Fault{}, "abcd"},
		{pdu.Fault{Skip: true}, "acd"},
		{pdu.Fault{Repeat: 2}, "abbbcd"},
		{pdu.Fault{Hold: 1}, "acbd"},
		{pdu.Fault{Hold: 2}, "acdb"},
		{pdu.Fault{Hold: 9}, "acdb"},
	} {
		if tt.fault.At = b; order(tt.fault) != tt.want {
			t.Errorf("%+v: %s, want %s", tt.fault, order(tt.fault), tt.want)
		}
	}
	joined := framed(t, false, []pdu.Fault{{At: b, Join: true}}, ps...)
	if len(joined) != 3 || binary.BigEndian.Uint16(joined[1].Data) != 36 || !crcOK(joined[1].Data) {
		t.Errorf("joined: %d units, %x", len(joined), joined[1].Data)
	}
	if alone := framed(t, false, []pdu.Fault{{At: pdu.Selector{Message: "d"}, Join: true}}, ps...); len(alone) != 4 {
		t.Errorf("the last one has nothing to join and is not sent: %d units", len(alone))
	}
}

func TestFramer_Around(t *testing.T) {
	x, y := segment("x", send(1, 1000)), segment("y", send(2, 10))
	for _, grid := range []bool{false, true} {
		us := framed(t, true, []pdu.Fault{{At: pdu.Selector{Message: "x"}, Before: []byte("1234"), After: []byte("56"), Grid: grid}}, x, y)
		got := us[0].Data
		if !bytes.HasPrefix(got, []byte("1234")) || !bytes.HasSuffix(got, []byte("56")) {
			t.Errorf("grid %v: %x ... %x", grid, got[:8], got[len(got)-4:])
		}
		start := int64(0)
		if grid {
			start = 4
		}
		enc := mpa.Encoder{Markers: true, CRC: true, Offset: start}
		if !bytes.Equal(got[4:len(got)-2], tracetest.Framed(enc.Append(nil, x.Octets))) {
			t.Errorf("grid %v: the FPDU itself is framed otherwise", grid)
		}
		if grid {
			enc.Offset += 2
		}
		if !bytes.Equal(us[1].Data, tracetest.Framed(enc.Append(nil, y.Octets))) {
			t.Errorf("grid %v: the next FPDU is framed otherwise", grid)
		}
	}
	stopped := framed(t, true, []pdu.Fault{{At: pdu.Selector{Message: "x"}, Stop: 40}}, x, y)
	enc := mpa.Encoder{Markers: true, CRC: true, Offset: 40}
	if len(stopped[0].Data) != 40 || !bytes.Equal(stopped[1].Data, tracetest.Framed(enc.Append(nil, y.Octets))) {
		t.Error("an FPDU that stops early")
	}
}

func TestFramer_Startup(t *testing.T) {
	s := mpa.Startup{Kind: mpa.StartupRequest, Rev: 2, S: true, C: true}
	s.PrivateData = append(mpa.Enhanced{IRD: 4, ORD: 5}.Append(nil), "hello"...)
	s.PDLength = 9
	p := pdu.PDU{Place: at("request", 1), Kind: pdu.Startup, Octets: s.Append(nil)}
	get := func(x pdu.Fault) (mpa.Startup, []byte, pdu.Unit) {
		x.At = pdu.Selector{Message: "request"}
		u := framed(t, true, []pdu.Fault{x}, p)[0]
		got, n, err := mpa.DecodeStartup(u.Data)
		if err != nil {
			n = len(u.Data)
		}
		return got, u.Data[n:], u
	}
	got, _, u := get(pdu.Fault{Set: []pdu.Value{
		{Name: "iwarp_mpa.rev", Number: 9}, {Name: "iwarp_mpa.enhanced.ord", Number: 1, Add: true}, {Name: "iwarp_mpa.enhanced.a", Number: 1},
	}})
	if w, _, _ := got.Word(); got.Rev != 9 || w != (mpa.Enhanced{A: true, IRD: 4, ORD: 6}) || !u.Fresh {
		t.Errorf("%+v, fresh %v", got, u.Fresh)
	}
	if got, _, u := get(pdu.Fault{Payload: make([]byte, 600), Glue: true}); got.PDLength != 604 || u.Fresh {
		t.Errorf("PD_Length %d, fresh %v", got.PDLength, u.Fresh)
	}
	if got, rest, _ := get(pdu.Fault{Set: []pdu.Value{{Name: "iwarp_mpa.pdlength", Number: 4}}}); got.PDLength != 4 || string(rest) != "hello" {
		t.Errorf("PD_Length %d, %q behind it", got.PDLength, rest)
	}
	if got, _, _ := get(pdu.Fault{Set: []pdu.Value{{Name: "iwarp_mpa.key.rep", Octets: []byte(mpa.ReplyKey)}}}); got.Kind != mpa.StartupReply {
		t.Errorf("key of kind %v", got.Kind)
	}
}

func TestNewFramer_Errors(t *testing.T) {
	for _, v := range []pdu.Value{
		{Name: "iwarp_ddp.mns", Number: 1},
		{Name: "iwarp_ddp.dv", Number: 4},
		{Name: "iwarp_mpa.key.req", Number: 4},
		{Name: "iwarp_ddp.msn", Octets: []byte{1, 2}},
		{Name: "iwd.crc.status", Number: 1},
	} {
		if _, err := pdu.NewFramer([]pdu.Fault{{Set: []pdu.Value{v}}}); err == nil {
			t.Errorf("%+v is taken", v)
		}
	}
	if err := pdu.Check(pdu.Value{Name: "iwarp_ddp.stag", Number: 0xffffffff}); err != nil {
		t.Error(err)
	}
	for _, name := range pdu.FieldNames() {
		if strings.TrimSpace(name) == "" {
			t.Error("a field without a name")
		}
	}
}

func TestSelector_Picks(t *testing.T) {
	p := pdu.Place{Message: "m", Number: 2, Segment: 3, Last: true}
	for _, tt := range []struct {
		s    pdu.Selector
		want bool
	}{
		{pdu.Selector{Message: "m"}, true},
		{pdu.Selector{Message: "n"}, false},
		{pdu.Selector{Message: "m", Number: 2}, true},
		{pdu.Selector{Message: "m", Number: 1}, false},
		{pdu.Selector{Message: "m", Segment: 3}, true},
		{pdu.Selector{Message: "m", Segment: 2}, false},
		{pdu.Selector{Message: "m", Segment: -1}, true},
	} {
		if tt.s.Picks(p) != tt.want {
			t.Errorf("%+v picks %v", tt.s, !tt.want)
		}
	}
}

// FuzzFramer: whatever the faults, there is no panic, and the output stays
// within what the faults ask for.
func FuzzFramer(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, send(1, 600), true)
	f.Add([]byte{}, []byte{}, false)
	f.Add([]byte{0xff, 0, 0xff, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, send(3, 14), true)
	names := pdu.FieldNames()
	f.Fuzz(func(t *testing.T, how, ulpdu []byte, markers bool) {
		get := func(i int) int {
			if i < len(how) {
				return int(int8(how[i]))
			}
			return 0
		}
		x := pdu.Fault{
			At: pdu.Selector{Message: "x"}, Hold: max(get(0), 0) % 4, Repeat: max(get(1), 0) % 4, Cut: get(2), Stop: max(get(3), 0),
			Join: get(4) == 1, NoCRC: get(5) == 1, CRC: pdu.CRC{Mode: pdu.CRCMode(uint8(get(6)) % 9)}, Grid: get(7) == 1,
			Markers: []pdu.Marker{{Number: max(get(8), 0) % 5, Drop: get(9) == 1, Shift: 8 * get(10)}},
		}
		if get(11) != 0 {
			x.Pad = make([]byte, uint8(get(11))%9)
		}
		v := pdu.Value{Name: names[uint8(get(12))%uint8(len(names))], Number: uint64(uint8(get(13))), Add: true}
		if pdu.Check(v) == nil {
			x.Set = []pdu.Value{v}
		}
		fr, err := pdu.NewFramer([]pdu.Fault{x})
		if err != nil {
			t.Fatal(err)
		}
		fr.Full(markers, true)
		var us []pdu.Unit
		for _, k := range []pdu.Kind{pdu.Startup, pdu.Segment, pdu.Raw} {
			for _, name := range []string{"x", "y", "x"} {
				us = fr.Append(us, pdu.PDU{Place: at(name, 1), Kind: k, Octets: ulpdu})
			}
		}
		us = fr.Flush(us)
		total := 0
		for _, u := range us {
			total += len(u.Data)
		}
		if bound := 60 * (len(ulpdu) + 600); total > bound {
			t.Errorf("%d octets of ULPDUs of %d", total, len(ulpdu))
		}
	})
}

func BenchmarkFramer(b *testing.B) {
	u := send(1, 1424)
	for _, bb := range []struct {
		name    string
		markers bool
	}{{"plain", false}, {"markers", true}} {
		b.Run(bb.name, func(b *testing.B) {
			f, _ := pdu.NewFramer(nil)
			f.Full(bb.markers, true)
			b.SetBytes(int64(len(u)))
			b.ReportAllocs()
			var us []pdu.Unit
			for b.Loop() {
				us = f.Append(us[:0], pdu.PDU{Kind: pdu.Segment, Octets: u})
			}
		})
	}
}
