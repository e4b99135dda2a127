package mpa

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
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

// TestWhole: with the fast path and without it, with CRCs verified before and without,
// the same FPDUs come out, also where
// markers, CRCs and lengths are damaged and octets are missing.
func TestWhole(t *testing.T) {
	t.Parallel()
	short, verified, seeds := 0, 0, 24
	if os.Getenv("IWDISSECT_CAMPAIGN") != "" { // tracetest knows, but imports this package
		seeds = 120
	}
	for seed := range uint64(seeds) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		e := Encoder{Markers: seed&1 != 0, CRC: true}
		var stream []byte
		var sizes []int
		for i := range 40 {
			was, n := len(stream), rnd.IntN(1600)
			switch rnd.IntN(5) {
			case 0: // the next one begins with a marker
				n = untilMarker(e, was, n, 0)
			case 1: // a marker lies in front of the CRC
				n = untilMarker(e, was, n, MarkerSize+crcSize)
			}
			stream = framed(e.Append(stream, write(uint64(i)<<20, make([]byte, n))))
			fillPad(stream, was, n, e.Markers, byte(rnd.IntN(256)))
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
		run := func(whole, verify, byEnds bool) (out []string) {
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
				var v Verified
				if verify {
					v = Verify(b)
				}
				if v != 0 {
					verified++
				}
				var ends *Ends
				if byEnds && v != 0 {
					ends = new(Ends)
					ends.Copy(b)
				}
				switch {
				case i == gap:
					d.Missing(int64(len(b)), true)
				case whole && d.Whole(b, v, ends, &f):
					out = append(out, fmt.Sprintf("%+v", f))
					short++
				default:
					d.WriteVerified(b, v)
				}
				out = said(&d, out)
			}
			d.End()
			return said(&d, out)
		}
		want := run(false, false, false)
		for _, how := range [][3]bool{{true, false, false}, {false, true, false}, {true, true, false}, {true, true, true}} {
			got := run(how[0], how[1], how[2])
			for i := range max(len(want), len(got)) {
				if i >= len(want) || i >= len(got) || want[i] != got[i] {
					t.Fatalf("seed %d, %v: %d and %d FPDUs, from number %d on they differ", seed, how, len(want), len(got), i)
				}
			}
		}
	}
	if short < 25*seeds || verified < 25*seeds {
		t.Errorf("the short way was taken %d times, CRCs were verified before in %d segments", short, verified)
	}
}

// untilMarker returns how long the payload of a Write is, at least n octets, so that a marker is due so many octets
// before its FPDU ends.
func untilMarker(e Encoder, at, n, before int) int {
	for ; ; n++ {
		own := e
		if (at+len(framed(own.Append(nil, write(0, make([]byte, n)))))-before)%MarkerInterval == 0 {
			return n
		}
	}
}

// fillPad sets the pad of the last FPDU, which begins at a place, to an octet, and its CRC.
func fillPad(stream []byte, from, payload int, markers bool, with byte) {
	crc := len(stream) - crcSize
	end := crc
	if markers && (end-MarkerSize)%MarkerInterval == 0 {
		end -= MarkerSize
	}
	for i := range PadLen(len(write(0, make([]byte, payload)))) {
		stream[end-1-i] = with
	}
	binary.BigEndian.PutUint32(stream[crc:], CRC32c(stream[from:crc]))
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
			out = append(out, fmt.Sprintf("unframed %d to %d, gap %v", d.Loose().From, d.Loose().To, d.Loose().AfterGap))
		case Hopeless:
			out = append(out, "hopeless")
		}
	}
}
