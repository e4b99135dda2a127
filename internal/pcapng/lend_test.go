package pcapng

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// bigCapture makes a capture of some megabytes whose records are of every
// length: within a buffer, across its end, longer than what is left free in front,
// and longer than the buffer.
func bigCapture(t *testing.T, seed uint64, format Format) ([]byte, int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var file bytes.Buffer
	w, err := NewWriter(&file, WriterOptions{Format: format, Link: Ethernet, SnapLen: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for file.Len() < 6<<20 {
		size := rnd.IntN(1600)
		switch rnd.IntN(50) {
		case 0:
			size = rnd.IntN(100 << 10)
		case 1:
			size = rnd.IntN(900 << 10)
		}
		data := make([]byte, size)
		for i := 0; i < size; i += 1 + size/64 {
			data[i] = byte(rnd.Uint32())
		}
		if err := w.WritePacket(&Record{Data: data, Time: int64(n) * 1e6, Link: Ethernet}); err != nil {
			t.Fatal(err)
		}
		n++
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes(), n
}

// lender lends buffers, and takes one back only when a number of others are out.
type lender struct {
	out   [][]byte
	spare [][]byte
	keep  int
	lent  int
}

func (l *lender) lend(done []byte) []byte {
	l.lent++
	l.out = append(l.out, done)
	if len(l.out) > l.keep {
		b := l.out[0]
		l.out = l.out[1:]
		for i := range b {
			b[i] = 0xee // whoever still reads there finds out
		}
		if len(b) == LentSize {
			l.spare = append(l.spare, b)
		}
	}
	if n := len(l.spare); n > 0 {
		b := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return b
	}
	return make([]byte, LentSize)
}

// TestReader_Lend: with buffers that are lent the records are the same, and stay as they
// are until their buffer is used again.
func TestReader_Lend(t *testing.T) {
	for seed := range uint64(4) {
		for _, format := range []Format{PCAP, PCAPNG} {
			file, n := bigCapture(t, seed, format)
			var src io.Reader = bytes.NewReader(file)
			if seed%2 == 1 {
				src = iotest.HalfReader(src)
			}
			got, err := NewReader(src)
			if err != nil {
				t.Fatal(err)
			}
			l := &lender{keep: 2}
			got.Lend(l.lend)
			want, err := NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			var before []Record // those of the buffer at hand
			var data [][]byte
			for i := range n {
				var g, w Record
				if err := want.Next(&w); err != nil {
					t.Fatal(err)
				}
				was := l.lent
				if err := got.Next(&g); err != nil {
					t.Fatalf("record %d: %v", i, err)
				}
				if !bytes.Equal(g.Data, w.Data) || g.Pos != w.Pos || g.Time != w.Time || g.OrigLen != w.OrigLen {
					t.Fatalf("record %d differs: at %d, %d octets; want at %d, %d octets", i, g.Pos, len(g.Data), w.Pos, len(w.Data))
				}
				if l.lent != was {
					for j := range before {
						if !bytes.Equal(before[j].Data, data[j]) {
							t.Fatalf("octets of record %d changed while its buffer was out", before[j].Number)
						}
					}
					before, data = nil, nil
				}
				before, data = append(before, g), append(data, bytes.Clone(w.Data))
			}
			var g Record
			if err := got.Next(&g); err != io.EOF {
				t.Fatalf("at the end: %v", err)
			}
			if l.lent < 10 {
				t.Errorf("%d buffers were lent", l.lent)
			}
		}
	}
}

// TestReader_LendCut: an input that ends or fails in the middle gives all records
// before, and the reason.
func TestReader_LendCut(t *testing.T) {
	file, _ := bigCapture(t, 9, PCAP)
	broken := errors.New("disk on fire")
	for _, at := range []int{3, 24, 30, 100_000, 300_001, len(file) - 1} {
		for _, fail := range []error{io.EOF, broken} {
			read := func(lend bool) (n int, last error) {
				r, err := NewReader(io.MultiReader(bytes.NewReader(file[:at]), iotest.ErrReader(fail)))
				if err != nil {
					return 0, err
				}
				if lend {
					r.Lend((&lender{keep: 1}).lend)
				}
				var rec Record
				for {
					if err := r.Next(&rec); err != nil {
						return n, err
					}
					n++
				}
			}
			n, err := read(true)
			wantN, wantErr := read(false)
			if n != wantN || err.Error() != wantErr.Error() {
				t.Errorf("cut at %d with %v: %d records, %v; want %d, %v", at, fail, n, err, wantN, wantErr)
			}
		}
	}
}
