package pcapng

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// TestReader_Map: the records of a mapped file are those of the file, however much of it becomes
// readable at a time, also if the file has grown, and none of them lies in what may be given back.
func TestReader_Map(t *testing.T) {
	for seed := range uint64(4) {
		for _, format := range []Format{PCAP, PCAPNG} {
			file, _ := bigCapture(t, seed, format)
			rnd := rand.New(rand.NewPCG(seed, 2))
			if seed == 3 {
				file = file[:len(file)-11]
			}
			size := len(file)
			if seed%2 == 1 {
				size -= rnd.IntN(size / 2) // the rest was written later
			}
			want, err := NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			front := &io.LimitedReader{R: bytes.NewReader(file), N: 1 << 16}
			got, err := NewReader(io.MultiReader(front, bytes.NewReader(file[size:])))
			if err != nil {
				t.Fatal(err)
			}
			front.N = 0
			given, to := 0, 0
			got.Map(file[:size], func(done, need int) int {
				if done < given || need <= to || need > size || done > need {
					t.Fatalf("up to %d is done with, after %d; up to %d is needed, after %d of %d", done, given, need, to, size)
				}
				given = done
				to = need + rnd.IntN(1<<uint(rnd.IntN(21)))
				return to
			})
			for {
				var g, w Record
				wrong, failed := want.Next(&w), got.Next(&g)
				if said(failed) != said(wrong) {
					t.Fatalf("%v, want %v", failed, wrong)
				}
				if wrong != nil {
					break
				}
				if !bytes.Equal(g.Data, w.Data) || g.Pos != w.Pos || g.Time != w.Time || g.OrigLen != w.OrigLen || g.Number != w.Number {
					t.Fatalf("record %d differs: at %d, %d octets; want at %d, %d octets", w.Number, g.Pos, len(g.Data), w.Pos, len(w.Data))
				}
				if g.Pos < int64(given) {
					t.Fatalf("record %d at %d is in what was given back, up to %d", g.Number, g.Pos, given)
				}
			}
			if to < size {
				t.Errorf("%d of %d octets were made readable", to, size)
			}
		}
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestReader_MapStops: the input ends where no more is made readable.
func TestReader_MapStops(t *testing.T) {
	file, _ := bigCapture(t, 5, PCAP)
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	r.Map(file, func(_, need int) int {
		if need > len(file)/2 {
			return 0
		}
		return need
	})
	var rec Record
	for err == nil {
		err = r.Next(&rec)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) || rec.Pos < int64(len(file)/4) || rec.Pos > int64(len(file)/2) {
		t.Errorf("%v, the last record at %d of %d", err, rec.Pos, len(file))
	}
}
