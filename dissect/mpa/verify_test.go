package mpa

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

// segments are payloads of FPDUs: one or several in each, framed as the encoder does.
func segments(e *Encoder, count, each, size int) (out [][]byte) {
	for i := range count {
		var b []byte
		for range each {
			b = framed(e.Append(b, write(uint64(i)<<20, make([]byte, size))))
		}
		out = append(out, b)
	}
	return out
}

// TestVerify: what is framed as most senders do is verified whole, whatever the pad and
// wherever the markers fall, and no longer once a bit of it is wrong.
func TestVerify(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for size := range 1500 {
		for _, b := range segments(&Encoder{CRC: true}, 1, 1+size%3, size) {
			v, sum, summed := VerifySum(b)
			if int(v) != len(b) {
				t.Fatalf("%d octets: %d of %d are verified", size, v, len(b))
			}
			if single := size%3 == 0; summed != single || summed && sum != onesum.Sum(b) {
				t.Fatalf("%d octets: the sum is %#x, %t, want %#x, %t", size, sum, summed, onesum.Sum(b), single)
			}
			half := b[:len(b)-1-rnd.IntN(len(b)-1)]
			if v := Verify(half); int(v) > len(half) || v&oneFPDU != 0 {
				t.Fatalf("of %d octets %#x are verified", len(half), v)
			}
			at := rnd.IntN(len(b))
			b[at] ^= 1 << rnd.IntN(8)
			v, sum, summed = VerifySum(b)
			if v&oneFPDU != 0 || int(v) > at {
				t.Fatalf("%d octets: %#x are verified although octet %d is wrong", size, v, at)
			}
			if summed && sum != onesum.Sum(b) {
				t.Fatalf("%d octets, octet %d is wrong: the sum is %#x, want %#x", size, at, sum, onesum.Sum(b))
			}
		}
		e := &Encoder{CRC: true, Markers: true, Offset: int64(size) * 4}
		at := e.Offset
		for _, b := range segments(e, 3, 1, size) {
			n := size + len(write(0, nil))
			marked := len(b) > lengthSize+n+PadLen(n)+crcSize
			v, sum, summed := VerifySum(b)
			if marked && !v.markersRight(int(-at)&(MarkerInterval-1)) || !marked && int(v) != len(b) {
				t.Fatalf("%d octets with markers: %#x", size, v)
			}
			if !summed || sum != onesum.Sum(b) {
				t.Fatalf("%d octets with markers: the sum is %#x, %t, want %#x", size, sum, summed, onesum.Sum(b))
			}
			at += int64(len(b))
		}
	}
}

// TestVerify_OtherFraming: octets that are FPDUs with right CRCs in one way of framing are
// no proof in another one. A stream with markers has an FPDU whose front, framed without
// markers, is an FPDU with a right CRC, while the CRC at its end is wrong.
func TestVerify_OtherFraming(t *testing.T) {
	t.Parallel()
	e := &Encoder{CRC: true, Markers: true, Offset: 400}
	b := segments(e, 1, 1, 600)[0]
	n := int(binary.BigEndian.Uint16(b))
	plain := lengthSize + n + PadLen(n) + crcSize
	binary.BigEndian.PutUint32(b[plain-crcSize:], CRC32c(b[:plain-crcSize]))
	v := Verify(b)
	if int(v) != plain {
		t.Fatalf("%#x, want %d", v, plain)
	}
	var d Decoder
	d.Reset(Config{Markers: Yes, CRC: Yes, Start: true, Trusted: true, Grammar: testGrammar}, 0)
	prelude := framed((&Encoder{CRC: true, Markers: true}).Append(nil, write(0, make([]byte, 390-len(write(0, nil))))))
	if len(prelude) != 400 {
		t.Fatalf("the first FPDU has %d octets", len(prelude))
	}
	d.Write(prelude)
	if d.Next() != Got || d.FPDU.CRCStatus != CRCGood {
		t.Fatal("the first FPDU was not found")
	}
	d.Next()
	var f FPDU
	if d.Whole(b, v, nil, &f) {
		t.Fatal("it was taken for right")
	}
	d.WriteVerified(b, v)
	if d.Next() != Got || d.FPDU.CRCStatus != CRCBad {
		t.Fatalf("%+v", d.FPDU)
	}
}

// FuzzVerify: what is said to be verified is.
func FuzzVerify(f *testing.F) {
	f.Add(segments(&Encoder{CRC: true}, 1, 3, 100)[0])
	f.Add(segments(&Encoder{CRC: true, Markers: true}, 1, 1, 1400)[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		v, sum, summed := VerifySum(b)
		if summed && sum != onesum.Sum(b) {
			t.Fatalf("the sum is %#x, want %#x", sum, onesum.Sum(b))
		}
		if v&oneFPDU != 0 {
			n := len(b) - crcSize
			if n < 0 || CRC32c(b[:n]) != binary.BigEndian.Uint32(b[n:]) {
				t.Fatal("the CRC at the end is wrong")
			}
			return
		}
		if int(v) > len(b) {
			t.Fatalf("%d of %d octets", v, len(b))
		}
		for rest := b[:v]; len(rest) > 0; {
			n := int(binary.BigEndian.Uint16(rest))
			size := lengthSize + n + PadLen(n) + crcSize
			if CRC32c(rest[:size-crcSize]) != binary.BigEndian.Uint32(rest[size-crcSize:]) {
				t.Fatal("a CRC is wrong")
			}
			rest = rest[size:]
		}
	})
}
