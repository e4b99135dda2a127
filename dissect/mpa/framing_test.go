package mpa

import (
	"math/rand/v2"
	"testing"
)

// offsets are where FPDUs were found.
func offsets(out []got) (at []int64) {
	for _, g := range out {
		at = append(at, g.Offset)
	}
	return at
}

// TestFraming_KeptBehindHole has markers that nobody announced: the first FPDU
// shows them. Behind a hole stands a small FPDU without a marker in it, which
// fits both ways of framing; it must not lead to the other way.
func TestFraming_KeptBehindHole(t *testing.T) {
	for _, markers := range []bool{false, true} {
		for _, crc := range []bool{false, true} {
			e := Encoder{Markers: markers, CRC: crc}
			var stream []byte
			var ends []int64
			for i, n := range []int{20, 600, 300, 30, 20, 40, 30, 700, 20, 500, 600, 30, 40} {
				stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(i, n))))
				ends = append(ends, e.Offset)
			}
			var d Decoder
			d.Reset(Config{CRC: TriOf(crc), Start: true, Trusted: true, Grammar: testGrammar}, 0)
			from, to := ends[1]+1, ends[2] // the third FPDU, its length too
			d.Write(stream[:from])
			out := collect(&d, nil)
			d.Missing(to-from, true)
			out = collect(&d, out)
			d.Write(stream[to:])
			out = collect(&d, out)
			d.End()
			out = collect(&d, out)
			if len(out) != len(ends)-1 {
				t.Errorf("markers %t, CRC %t: %d FPDUs at %v", markers, crc, len(out), offsets(out))
			}
			for _, g := range out {
				if crc && g.CRC != CRCGood {
					t.Errorf("markers %t: FPDU at %d: CRC %v", markers, g.Offset, g.CRC)
				}
			}
		}
	}
}

// TestFraming_AgainstNegotiationBehindHole has a hole in a stream that is not
// framed as negotiated.
func TestFraming_AgainstNegotiationBehindHole(t *testing.T) {
	for _, markers := range []bool{false, true} {
		for _, crc := range []bool{false, true} {
			rnd := rand.New(rand.NewPCG(5, 9))
			e := Encoder{Markers: markers, CRC: crc}
			stream, ulpdus := randomStream(rnd, &e, 40)
			var d Decoder
			d.Reset(Config{Markers: TriOf(!markers), CRC: TriOf(crc), Start: true, Trusted: true, Grammar: testGrammar}, 0)
			d.Write(stream[:len(stream)/2])
			out := collect(&d, nil)
			d.Missing(100, true)
			out = collect(&d, out)
			d.Write(stream[len(stream)/2+100:])
			out = collect(&d, out)
			d.End()
			if out = collect(&d, out); len(out) < len(ulpdus)-2 {
				t.Errorf("markers %t, CRC %t: %d FPDUs of %d", markers, crc, len(out), len(ulpdus))
			}
		}
	}
}

// TestFraming_NumberThatLooksLikeAMarker starts late in a stream without markers
// and CRCs. The MSN of a Send stands 12 octets behind the start of its FPDU: the
// twelfth one looks like a marker there.
func TestFraming_NumberThatLooksLikeAMarker(t *testing.T) {
	for _, chunk := range []int{1, 24, 100, 4000} {
		var e Encoder
		var stream []byte
		const count = 40
		for i := range count {
			stream = framed(e.Append(stream, send(uint32(i+1), pattern(i, 4*i))))
		}
		var d Decoder
		d.Reset(Config{Grammar: testGrammar, Trusted: true}, 0)
		out := split(&d, stream, chunk, nil)
		if len(out) != count || d.Markers() {
			t.Errorf("chunks of %d: %d FPDUs, markers %t", chunk, len(out), d.Markers())
		}
	}
}

// TestFraming_LateMarkers starts late in a stream with markers. FPDUs too small
// to hold one come first, so that it seems to have none.
func TestFraming_LateMarkers(t *testing.T) {
	for _, crc := range []bool{false, true} {
		for _, chunk := range []int{1, 100, 1448} {
			e := Encoder{Markers: true, CRC: crc, Offset: 512*7 + 4}
			var stream []byte
			var at []int64
			for i, n := range []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 700, 30, 40} {
				at = append(at, e.Offset)
				stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(i, n))))
			}
			var d Decoder
			d.Reset(Config{Grammar: testGrammar, Trusted: true}, 512*7+4)
			out := split(&d, stream, chunk, nil)
			if len(out) != len(at) || !d.Markers() {
				t.Errorf("CRC %t, chunks of %d: %d FPDUs, markers %t", crc, chunk, len(out), d.Markers())
			}
			for _, g := range out {
				if crc && g.CRC != CRCGood {
					t.Errorf("chunks of %d: FPDU at %d: CRC %v", chunk, g.Offset, g.CRC)
				}
			}
		}
	}
}

// feed hands over a stream of which octets [from, to) are missing.
func feed(d *Decoder, stream []byte, from, to int) []got {
	d.Write(stream[:from])
	out := collect(d, nil)
	d.Missing(int64(to-from), true)
	out = collect(d, out)
	d.Write(stream[to:])
	out = collect(d, out)
	d.End()
	return collect(d, out)
}

// TestHole_InLeadingMarker loses octets of a marker in front of an FPDU: the
// FPDU is there and begins with the marker.
func TestHole_InLeadingMarker(t *testing.T) {
	for _, crc := range []bool{false, true} {
		for from := range 4 {
			e := Encoder{Markers: true, CRC: crc}
			var stream []byte
			for i := range 8 {
				stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(i, 50))))
			}
			var d Decoder
			d.Reset(Config{Markers: Yes, CRC: TriOf(crc), Start: true, Trusted: true, Grammar: testGrammar}, 0)
			out := feed(&d, stream, from, 4)
			if len(out) != 8 || out[0].Offset != 0 || out[0].Size != 76 {
				t.Errorf("CRC %t, octets from %d: %d FPDUs at %v", crc, from, len(out), offsets(out))
			}
		}
	}
}

// TestHole_CRCFieldsOfZeros has CRC fields that nobody filled in: they look like
// markers in front of the FPDUs behind them, but are none.
func TestHole_CRCFieldsOfZeros(t *testing.T) {
	var e Encoder
	var stream []byte
	for i := range 6 {
		stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(i, 30))))
	}
	size := len(stream) / 6
	var d Decoder
	d.Reset(Config{Markers: Unknown, Trusted: true, AfterGap: true, Grammar: testGrammar}, 100)
	for _, g := range feed(&d, stream[20:], 3*size, 3*size+10) {
		if at := int(g.Offset) - 100 + 20; at%size != 0 || g.Size != size {
			t.Errorf("FPDU of %d octets at %d", g.Size, at)
		}
	}
}

// TestHole_AtTheEnd has a hole with nothing behind it, as an open window of the
// search.
func TestHole_AtTheEnd(t *testing.T) {
	for n := range 40 {
		var d Decoder
		d.Reset(Config{Markers: Yes, CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar}, 0)
		d.Write([]byte{0, 0, 0, 0, 0})
		collect(&d, nil)
		d.Missing(int64(500+n), true)
		collect(&d, nil)
		d.End()
		if out := collect(&d, nil); len(out) > 0 {
			t.Errorf("hole of %d: FPDUs at %v", 500+n, offsets(out))
		}
	}
}

// TestHole_ImpossibleLength has a hole just behind an ULPDU_Length that cannot
// be: no FPDU, not even a partial one.
func TestHole_ImpossibleLength(t *testing.T) {
	e := Encoder{CRC: true}
	stream := framed(e.Append(nil, write(1, pattern(1, 30))))
	first := len(stream)
	stream = append(stream, 0, 3, 9, 9)
	hole := len(stream)
	stream = append(stream, make([]byte, 60)...)
	behind := len(stream)
	e.Offset = int64(behind)
	for i := range 3 {
		stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(i, 30))))
	}
	var d Decoder
	d.Reset(Config{Markers: No, CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar}, 0)
	out := feed(&d, stream, hole, behind)
	if at := offsets(out); len(at) != 4 || at[0] != 0 || at[1] != int64(behind) {
		t.Errorf("FPDUs at %v, the hole ends at %d, the first at %d", at, behind, first)
	}
}

// TestFraming_ShownByFirstFPDU: the first FPDU has no marker, so there is none in
// a hole that covers a place of the grid.
func TestFraming_ShownByFirstFPDU(t *testing.T) {
	e := Encoder{CRC: true}
	var stream []byte
	for i, n := range []int{394, 32, 4, 4, 16, 16} {
		stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(0, n))))
	}
	for _, crc := range []Tri{Unknown, Yes} {
		var d Decoder
		d.Reset(Config{CRC: crc, Start: true, Trusted: true, Grammar: testGrammar}, 0)
		if at := offsets(feed(&d, stream, 468, 516)); len(at) != 4 || at[2] != 516 {
			t.Errorf("FPDUs at %v", at)
		}
	}
}

// TestSearch_Steps has octets made to be searched for long: headers of large FPDUs use up what
// may be spent on CRCs, and the small ones behind them, whose CRCs nobody looks at any more,
// make chains of thousands. The work stays in proportion to the octets, and a good FPDU after
// them is found.
func TestSearch_Steps(t *testing.T) {
	var stream []byte
	for len(stream) < 64<<10 { // a large FPDU seems to begin every 16 octets
		stream = append(stream, 0xea, 0x60, 0xc1, 0x40)
		stream = append(stream, make([]byte, 12)...)
	}
	small := framed((&Encoder{}).Append(nil, write(0, nil))) // its CRC field is zero
	for len(stream) < 2<<20 {
		stream = append(stream, small...)
	}
	bad := int64(len(stream))
	good := Encoder{CRC: true, Offset: bad}
	for i := range 200 {
		stream = framed(good.Append(stream, write(uint64(i), pattern(i, 1000))))
	}
	var d Decoder
	d.Reset(Config{CRC: Yes, Markers: No, AfterGap: true, Trusted: true, Grammar: testGrammar}, 0)
	var out []got
	for rest := stream; len(rest) > 0; rest = rest[min(1448, len(rest)):] {
		d.Write(rest[:min(1448, len(rest))])
		out = collect(&d, out)
	}
	d.End()
	out = collect(&d, out)
	if most := stepFloor + stepFactor*int64(len(stream)); d.seldom().steps > most {
		t.Errorf("%d headers followed, at most %d", d.seldom().steps, most)
	}
	found := 0
	for _, g := range out {
		if g.Offset >= bad && g.CRC == CRCGood {
			found++
		}
	}
	if found < 100 {
		t.Errorf("%d of 200 good FPDUs found", found)
	}
}
