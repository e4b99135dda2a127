package mpa

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// testGrammar accepts the header bits of DDP and RDMAP as a correct sender
// writes them; the real grammar is tested where it is defined.
var testGrammar = &Grammar{
	Quick: func(c0, c1 byte) bool { return c0&0x3f == 1 && c1&0xf0 == 0x40 },
	Light: func(head []byte, n int) bool {
		return n >= MinULPDU && n <= MaxULPDU && len(head) > 0 && head[0]&0x3f == 1
	},
	Strict: func(head []byte, n int) bool {
		if n < MinULPDU || n > MaxULPDU || len(head) < 2 || head[0]&0x3f != 1 || head[1]&0xf0 != 0x40 {
			return false
		}
		if head[0]&0x80 != 0 {
			return head[1] == 0x40 || head[1] == 0x42
		}
		return len(head) >= 18 && head[1] == 0x43 && binary.BigEndian.Uint32(head[6:]) == 0
	},
	Follows: func([]byte, int, []byte) bool { return true },
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// got is what a test keeps of an FPDU.
type got struct {
	Offset  int64
	Size    int
	CRC     CRCStatus
	ULPDU   string
	Head    string
	Markers []Marker
	Pad     [3]byte
	PadLen  int
}

func collect(d *Decoder, out []got) []got {
	for {
		switch d.Next() {
		case None:
			return out
		case Got:
			f := d.FPDU
			out = append(out, got{
				f.Offset, f.Size, f.CRCStatus, string(f.ULPDU), string(f.Head),
				append([]Marker(nil), f.Markers...), f.Pad, f.PadLen,
			})
		}
	}
}

// split feeds the stream in chunks of n octets, or at random places if n is 0.
func split(d *Decoder, stream []byte, n int, rnd *rand.Rand) []got {
	var out []got
	for len(stream) > 0 {
		k := n
		if n == 0 {
			k = 1 + rnd.IntN(2000)
		}
		k = min(k, len(stream))
		chunk := append([]byte(nil), stream[:k]...)
		d.Write(chunk)
		out = collect(d, out)
		for i := range chunk {
			chunk[i] = 0xee // borrowed octets must not be used any more
		}
		stream = stream[k:]
	}
	d.End()
	return collect(d, out)
}

func write(to uint64, payload []byte) []byte {
	b := []byte{0xc1, 0x40, 0, 0, 0, 1}
	b = binary.BigEndian.AppendUint64(b, to)
	return append(b, payload...)
}

func send(msn uint32, payload []byte) []byte {
	b := []byte{0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, msn)
	b = append(b, 0, 0, 0, 0)
	return append(b, payload...)
}

func randomStream(rnd *rand.Rand, e *Encoder, count int) (stream []byte, ulpdus []string) {
	for i := range count {
		size := rnd.IntN(40)
		switch rnd.IntN(5) {
		case 0:
			size = rnd.IntN(1500)
		case 1:
			size = rnd.IntN(9000)
		case 2:
			if rnd.IntN(8) == 0 {
				size = rnd.IntN(60000)
			}
		}
		p := make([]byte, size)
		for j := range p {
			p[j] = byte(rnd.Uint32())
		}
		u := write(uint64(i)<<20, p)
		if rnd.IntN(2) == 0 {
			u = send(uint32(i+1), p)
		}
		stream = framed(e.Append(stream, u))
		ulpdus = append(ulpdus, string(u))
	}
	return stream, ulpdus
}

// TestRFC5044Figures decodes both printed FPDUs of RFC 5044 section 4.4.
func TestRFC5044Figures(t *testing.T) {
	fig5 := unhex(t, `00 00 00 00 00 2a 41 43 00 00 00 00 00 00 00 00
		00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00
		00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 52 23 99 83`)
	fig6 := unhex(t, `00 2a 41 43 00 00 00 00 00 00 00 00 00 00 00 02
		00 00 00 00 00 00 00 14 00 00 00 00 00 00 00 00
		00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 84 92 58 98`)
	// Between them stand FPDUs up to octet 0x1ec, which the RFC does not print.
	e := Encoder{Markers: true, CRC: true}
	stream := framed(e.Append(nil, send(1, make([]byte, 24))))
	if !bytes.Equal(stream, fig5) {
		t.Fatalf("figure 5: encoded % x", stream)
	}
	fill := 0x1ec - len(stream) - 6
	stream = framed(e.Append(stream, write(0, make([]byte, fill-14))))
	if e.Offset != 0x1ec {
		t.Fatalf("offset %#x", e.Offset)
	}
	second := len(stream)
	stream = framed(e.Append(stream, send(2, make([]byte, 24))))
	if !bytes.Equal(stream[second:], fig6) {
		t.Fatalf("figure 6: encoded % x", stream[second:])
	}
	var d Decoder
	d.Reset(Config{Markers: Yes, CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar}, 0)
	out := split(&d, stream, len(stream), nil)
	if len(out) != 3 {
		t.Fatalf("%d FPDUs", len(out))
	}
	for i, f := range out {
		if f.CRC != CRCGood {
			t.Errorf("FPDU %d: CRC %v", i, f.CRC)
		}
	}
	if m := out[2].Markers; len(m) != 1 || m[0] != (Marker{Offset: 0x200, Pointer: 0x14, Expected: 0x14, Proven: true}) {
		t.Errorf("figure 6 marker: %+v", m)
	}
	if out[2].Offset != 0x1ec || out[2].Size != 0x34 {
		t.Errorf("figure 6 at %#x size %#x", out[2].Offset, out[2].Size)
	}
	// The wrong variants that a checker should know.
	if c := CRC32c(fig5[4:48]); c != 0xb7243ec3 {
		t.Errorf("without the leading marker: %08x", c)
	}
	without := append(append([]byte(nil), fig6[:20]...), fig6[24:48]...)
	if c := CRC32c(without); c != 0x290fbede {
		t.Errorf("without the inner marker: %08x", c)
	}
}

// TestCRCVectors checks RFC 3720 appendix B.4 and the well-known check value.
func TestCRCVectors(t *testing.T) {
	seq := make([]byte, 32)
	rev := make([]byte, 32)
	for i := range seq {
		seq[i], rev[31-i] = byte(i), byte(i)
	}
	iscsi := unhex(t, `01c00000000000000000000000000000 14000000000004000000001400000018 28000000000000000200000000000000`)
	for _, c := range []struct {
		name string
		in   []byte
		want uint32
	}{
		{"empty", nil, 0},
		{"check value", []byte("123456789"), 0x839206e3},
		{"zeros", make([]byte, 32), 0xaa36918a},
		{"ones", bytes.Repeat([]byte{0xff}, 32), 0x43aba862},
		{"rising", seq, 0x4e79dd46},
		{"falling", rev, 0x5cdb3f11},
		{"iSCSI read", iscsi, 0x563a96d9},
		{"one zero octet", []byte{0}, 0x51537d52},
		{"letter a", []byte("a"), 0x3043d0c1},
		{"marker with pointer 0", make([]byte, 4), 0xc74b6748},
	} {
		if g := CRC32c(c.in); g != c.want {
			t.Errorf("%s: %08x, want %08x", c.name, g, c.want)
		}
		// Data with its CRC behind it always gives the same residue.
		if r := crc32.Checksum(binary.BigEndian.AppendUint32(append([]byte(nil), c.in...), CRC32c(c.in)), castagnoli); r != 0x48674bc7 {
			t.Errorf("%s: residue %08x", c.name, r)
		}
	}
}

func pattern(k, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + k)
	}
	return b
}

// TestSixFPDUs has every place at which a marker can stand (test vectors 3.1).
func TestSixFPDUs(t *testing.T) {
	e := Encoder{Markers: true, CRC: true}
	var s []byte
	s = framed(e.Append(s, send(1, pattern(0, 24))))
	s = framed(e.Append(s, send(2, pattern(1, 439))))
	s = framed(e.Append(s, send(3, pattern(2, 480))))
	w := append([]byte{0xc1, 0x40, 0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0, 0, 0, 0x10, 0}, pattern(3, 1086)...)
	s = framed(e.Append(s, w))
	s = framed(e.Append(s, unhex(t, `4141 00000000 00000001 00000001 00000000 00000055 0000000000002000 00001000 00000066 0000000000003000`)))
	s = framed(e.Append(s, send(4, nil)))
	if sum := sha256.Sum256(s); hex.EncodeToString(sum[:]) != "fcd0e74b6fa86fc5d776018cc40172adda5fdba2287b3162bde8784391ee5cb8" || len(s) != 2220 {
		t.Fatalf("encoded %d octets, %x", len(s), sum)
	}
	want := []struct {
		off     int64
		size    int
		crc     uint32
		pad     int
		markers []Marker
	}{
		{0, 52, 0x2948de2e, 0, []Marker{{0, 0, 0, 0, true}}},
		{52, 468, 0x03136b53, 1, []Marker{{512, 0, 460, 460, true}}},
		{520, 504, 0xfdde22a6, 0, nil},
		{1024, 1120, 0x48f9bb0d, 2, []Marker{{1024, 0, 0, 0, true}, {1536, 0, 508, 508, true}, {2048, 0, 1020, 1020, true}}},
		{2144, 52, 0xd462ea1d, 0, nil},
		{2196, 24, 0x44aabc1c, 0, nil},
	}
	grammar := *testGrammar
	grammar.Strict = func([]byte, int) bool { return true }
	for _, n := range []int{1, 2, 3, 4, 5, 7, 511, 512, 513, 1448, 2220} {
		for _, gather := range []bool{false, true} {
			var d Decoder
			d.Reset(Config{Markers: Yes, CRC: Yes, Start: true, Trusted: true, Gather: gather, Grammar: &grammar}, 0)
			out := split(&d, s, n, nil)
			if len(out) != len(want) {
				t.Fatalf("chunks of %d: %d FPDUs", n, len(out))
			}
			for i, w := range want {
				g := out[i]
				if g.Offset != w.off || g.Size != w.size || g.PadLen != w.pad || g.CRC != CRCGood ||
					fmt.Sprint(g.Markers) != fmt.Sprint(append([]Marker{}, w.markers...)) || g.Pad != [3]byte{} {
					t.Errorf("chunks of %d, FPDU %d: %+v, want %+v", n, i, g, w)
				}
				if crc := binary.BigEndian.Uint32(s[w.off+int64(w.size)-4:]); crc != w.crc {
					t.Errorf("FPDU %d: CRC %08x", i, crc)
				}
			}
		}
	}
}

// TestRoundTrip decodes what the encoder wrote, in any split, with every
// combination of markers and CRC.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		e := Encoder{Markers: seed&1 != 0, CRC: seed&2 != 0}
		stream, ulpdus := randomStream(rnd, &e, 40)
		cfg := Config{Markers: TriOf(e.Markers), CRC: TriOf(e.CRC), Start: true, Trusted: true, Gather: seed&4 != 0, Grammar: testGrammar}
		for _, n := range []int{0, 1, 3, 511, 1448, len(stream)} {
			var d Decoder
			d.Reset(cfg, 0)
			out := split(&d, stream, n, rnd)
			if len(out) != len(ulpdus) {
				t.Fatalf("seed %d chunks of %d: %d FPDUs of %d", seed, n, len(out), len(ulpdus))
			}
			for i, u := range ulpdus {
				if cfg.Gather && out[i].ULPDU != u || out[i].Head != u[:min(len(u), headSize)] {
					t.Fatalf("seed %d chunks of %d: ULPDU %d differs", seed, n, i)
				}
				if e.CRC != (out[i].CRC == CRCGood) || out[i].CRC == CRCBad {
					t.Fatalf("seed %d chunks of %d: CRC %d %v", seed, n, i, out[i].CRC)
				}
				for _, m := range out[i].Markers {
					if m.Status() != MarkerOK {
						t.Fatalf("seed %d: marker %+v", seed, m)
					}
				}
			}
		}
	}
}

// TestResync takes octets out of the stream and expects every FPDU behind the
// hole again.
func TestResync(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		e := Encoder{Markers: seed&1 != 0, CRC: seed&2 != 0}
		stream, ulpdus := randomStream(rnd, &e, 60)
		from := rnd.IntN(len(stream) / 2)
		to := from + 1 + rnd.IntN(len(stream)/4)
		var d Decoder
		d.Reset(Config{Markers: TriOf(e.Markers), CRC: TriOf(e.CRC), Start: true, Trusted: true, Gather: true, Grammar: testGrammar}, 0)
		var out []got
		d.Write(stream[:from])
		out = collect(&d, out)
		d.Missing(int64(to-from), true)
		out = collect(&d, out)
		d.Write(stream[to:])
		out = collect(&d, out)
		d.End()
		out = collect(&d, out)
		found := map[int64]string{}
		for _, g := range out {
			found[g.Offset] = g.ULPDU
		}
		check := Encoder{Markers: e.Markers, CRC: e.CRC}
		lostBehind := 0
		for i, u := range ulpdus {
			at := check.Offset
			check.Append(nil, []byte(u))
			switch g, ok := found[at]; {
			case check.Offset <= int64(from) || at >= int64(to):
				if !ok || g != u {
					if at >= int64(to) && !e.CRC {
						lostBehind++ // a chain needs several FPDUs to prove itself
						continue
					}
					t.Fatalf("seed %d: FPDU %d at %d not found (hole %d to %d)", seed, i, at, from, to)
				}
			}
			delete(found, at)
		}
		for at := range found {
			t.Errorf("seed %d: invented an FPDU at %d (hole %d to %d)", seed, at, from, to)
		}
		if lostBehind > 0 {
			t.Errorf("seed %d: %d FPDUs behind the hole not found", seed, lostBehind)
		}
	}
}

// TestLateStart begins in the middle, with nothing known.
func TestLateStart(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		e := Encoder{Markers: seed&1 != 0, CRC: seed&2 != 0}
		stream, _ := randomStream(rnd, &e, 60)
		from := rnd.IntN(len(stream) / 2)
		var d Decoder
		d.Reset(Config{Trusted: seed&4 != 0, Grammar: testGrammar}, int64(from))
		out := split(&d, stream[from:], 1448, rnd)
		if e.CRC && d.CRC() == false {
			t.Errorf("seed %d: CRC not noticed", seed)
		}
		starts := map[int64]bool{}
		check := Encoder{Markers: e.Markers}
		want := 0
		rnd = rand.New(rand.NewPCG(seed, 3))
		_, ulpdus := randomStream(rnd, &Encoder{}, 60)
		for _, u := range ulpdus {
			if check.Offset >= int64(from) {
				starts[check.Offset] = true
				want++
			}
			check.Append(nil, []byte(u))
		}
		if e.Markers && !e.CRC {
			// Without CRCs only markers inside FPDUs tell where the grid lies,
			// and two of them must agree before anything is believed.
			want /= 2
		}
		if len(out) < want-1 {
			t.Errorf("seed %d markers %v crc %v: %d FPDUs of %d", seed, e.Markers, e.CRC, len(out), want)
		}
		for _, g := range out {
			if !starts[g.Offset] {
				t.Errorf("seed %d: invented an FPDU at %d", seed, g.Offset)
			}
		}
	}
}

// TestDamagedLength changes the length of one FPDU: it is reported once, and
// all others are found.
func TestDamagedLength(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		e := Encoder{Markers: seed&1 != 0, CRC: true}
		var stream []byte
		var at []int64
		for i := range 40 {
			at = append(at, e.Offset)
			stream = framed(e.Append(stream, write(uint64(i)<<20, pattern(i, rnd.IntN(1400)))))
		}
		k := rnd.IntN(len(at))
		p := at[k]
		if e.Markers && p%512 == 0 {
			p += 4
		}
		was := binary.BigEndian.Uint16(stream[p:])
		now := was + uint16(4*(1+rnd.IntN(10)))
		if rnd.IntN(4) == 0 {
			now = uint16(rnd.Uint32())
		}
		if now == was {
			continue
		}
		binary.BigEndian.PutUint16(stream[p:], now)
		var d Decoder
		d.Reset(Config{Markers: TriOf(e.Markers), CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar}, 0)
		out := split(&d, stream, 0, rnd)
		good := map[int64]bool{}
		for _, g := range out {
			if g.CRC == CRCGood {
				good[g.Offset] = true
			}
		}
		for i, a := range at {
			if i != k && !good[a] {
				t.Fatalf("seed %d: FPDU %d at %d not found (length of %d: %d, was %d); have %d", seed, i, a, k, now, was, len(out))
			}
		}
		if len(good) != len(at)-1 {
			t.Fatalf("seed %d: %d good FPDUs", seed, len(good))
		}
	}
}

// TestMarkersAgainstNegotiation decodes a stream that does not do what was
// agreed, and says so.
func TestMarkersAgainstNegotiation(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		e := Encoder{Markers: seed&1 != 0, CRC: seed&2 != 0}
		stream, ulpdus := randomStream(rnd, &e, 20)
		var d Decoder
		d.Reset(Config{Markers: TriOf(!e.Markers), CRC: TriOf(e.CRC), Start: true, Trusted: true, Grammar: testGrammar}, 0)
		out := split(&d, stream, 1448, rnd)
		if d.Markers() != e.Markers || len(out) != len(ulpdus) {
			t.Errorf("seed %d: markers %v, %d FPDUs of %d", seed, d.Markers(), len(out), len(ulpdus))
		}
	}
}

func TestNothingInvented(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 6))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	for name, b := range map[string][]byte{
		"random": noise, "zeros": make([]byte, 1<<20),
		"pattern c140": bytes.Repeat([]byte{0xc1, 0x40}, 1<<19), "pattern 41": bytes.Repeat([]byte{0x41}, 1<<20),
	} {
		for _, trusted := range []bool{false, true} {
			g := *testGrammar
			g.Follows = func(a []byte, _ int, b []byte) bool { return !bytes.Equal(a[:14], b[:14]) }
			var d Decoder
			d.Reset(Config{Trusted: trusted, Grammar: &g}, 0)
			if out := split(&d, b, 1448, rnd); len(out) > 0 {
				t.Errorf("%s: %d FPDUs", name, len(out))
			}
		}
	}
}
