package mpa

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// cutAtFPDUs cuts a stream of FPDUs as a TCP sender may: mostly at the end of each one,
// at times elsewhere.
func cutAtFPDUs(rnd *rand.Rand, sizes []int, total int) (cuts []int) {
	at := 0
	for _, n := range sizes {
		at += n
		switch rnd.IntN(12) {
		case 0: // the next one is in the same segment
		case 1:
			cuts = append(cuts, at-1-rnd.IntN(n-1))
		default:
			cuts = append(cuts, at)
		}
	}
	return append(cuts, total)
}

// TestWhole: with the short way and without it the same FPDUs come out, also where
// markers, CRCs and lengths are damaged and octets are missing.
func TestWhole(t *testing.T) {
	t.Parallel()
	short := 0
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		e := Encoder{Markers: seed&1 != 0, CRC: true}
		var stream []byte
		var sizes []int
		for i := range 40 {
			was := len(stream)
			stream = e.Append(stream, write(uint64(i)<<20, make([]byte, rnd.IntN(1600))))
			sizes = append(sizes, len(stream)-was)
		}
		cuts := cutAtFPDUs(rnd, sizes, len(stream))
		if seed%4 >= 2 {
			for range 1 + rnd.IntN(3) {
				stream[rnd.IntN(len(stream))] ^= 1 << rnd.IntN(8)
			}
		}
		gap := -1
		if seed%8 >= 4 {
			gap = rnd.IntN(len(cuts))
		}
		cfg := Config{Markers: TriOf(e.Markers), CRC: Yes, Start: true, Trusted: true, Gather: seed%3 == 0, Grammar: testGrammar}
		run := func(whole bool) (out []string) {
			var d Decoder
			var f FPDU
			d.Reset(cfg, 0)
			from := 0
			for i, to := range cuts {
				if to <= from {
					continue
				}
				b := append([]byte(nil), stream[from:to]...)
				from = to
				switch {
				case i == gap:
					d.Missing(int64(len(b)), true)
				case whole && d.Whole(b, &f):
					out = append(out, fmt.Sprintf("%+v", f))
					short++
				default:
					d.Write(b)
				}
				out = said(&d, out)
			}
			d.End()
			return said(&d, out)
		}
		want, got := run(false), run(true)
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				t.Fatalf("seed %d: %d and %d FPDUs, from number %d on they differ", seed, len(want), len(got), i)
			}
		}
	}
	if short < 5000 {
		t.Errorf("the short way was taken %d times", short)
	}
}

// said lists what a decoder has.
func said(d *Decoder, out []string) []string {
	for {
		switch d.Next() {
		case None:
			return out
		case Got:
			out = append(out, fmt.Sprintf("%+v", *d.FPDU))
		case Unframed:
			out = append(out, fmt.Sprintf("unframed %d to %d, gap %v", d.From, d.To, d.AfterGap))
		case Hopeless:
			out = append(out, "hopeless")
		}
	}
}

// TestDeferred_Markers: a wrong marker under a right CRC is found out later.
func TestDeferred_Markers(t *testing.T) {
	t.Parallel()
	for _, wrong := range []bool{false, true} {
		q := NewDeferred()
		var d Decoder
		d.Reset(Config{Markers: Yes, CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar, Deferred: q}, 0)
		e := Encoder{Markers: true, CRC: true}
		q.On = true
		short := 0
		for i := range 20 {
			b := e.Append(nil, write(uint64(i)<<20, make([]byte, 1400)))
			if wrong && i == 12 {
				b[d.toMarker(d.off)+3] ^= 4
				n := len(b) - crcSize
				binary.LittleEndian.PutUint32(b[n:], crc32.Checksum(b[:n], castagnoli))
			}
			var f FPDU
			if d.Whole(b, &f) {
				short++
				continue
			}
			d.Write(b)
			for d.Next() != None {
			}
		}
		q.Take()()
		if q.Bad() != wrong || short < 15 {
			t.Errorf("a wrong marker: %v, found out: %v; the short way was taken %d times", wrong, q.Bad(), short)
		}
	}
}
