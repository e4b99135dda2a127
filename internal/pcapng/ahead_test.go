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
// length: within a block, across its end, longer than the room in front of it,
// and longer than the block.
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

// TestAhead_Same: what is read ahead is what is there.
func TestAhead_Same(t *testing.T) {
	for seed := range uint64(4) {
		for _, format := range []Format{PCAP, PCAPNG} {
			file, n := bigCapture(t, seed, format)
			var src io.Reader = bytes.NewReader(file)
			if seed%2 == 1 {
				src = iotest.HalfReader(src)
			}
			a := NewAhead(src)
			got, err := NewReader(a)
			if err != nil {
				t.Fatal(err)
			}
			want, err := NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			var g, w Record
			for i := range n {
				if err := want.Next(&w); err != nil {
					t.Fatal(err)
				}
				if err := got.Next(&g); err != nil {
					t.Fatalf("record %d: %v", i, err)
				}
				if !bytes.Equal(g.Data, w.Data) || g.Pos != w.Pos || g.Time != w.Time || g.OrigLen != w.OrigLen {
					t.Fatalf("record %d differs: at %d, %d octets; want at %d, %d octets", i, g.Pos, len(g.Data), w.Pos, len(w.Data))
				}
			}
			if err := got.Next(&g); err != io.EOF {
				t.Fatalf("at the end: %v", err)
			}
			a.Close()
		}
	}
}

// TestAhead_Cut: an input that ends or fails in the middle gives all records
// before, and the reason.
func TestAhead_Cut(t *testing.T) {
	file, _ := bigCapture(t, 9, PCAP)
	broken := errors.New("disk on fire")
	for _, at := range []int{3, 24, 30, 100_000, 300_001, len(file) - 1} {
		for _, fail := range []error{io.EOF, broken} {
			read := func(src io.Reader) (n int, last error) {
				r, err := NewReader(src)
				if err != nil {
					return 0, err
				}
				var rec Record
				for {
					if err := r.Next(&rec); err != nil {
						return n, err
					}
					n++
				}
			}
			cut := func() io.Reader { return io.MultiReader(bytes.NewReader(file[:at]), iotest.ErrReader(fail)) }
			a := NewAhead(cut())
			n, err := read(a)
			a.Close()
			wantN, wantErr := read(cut())
			if n != wantN || err.Error() != wantErr.Error() {
				t.Errorf("cut at %d with %v: %d records, %v; want %d, %v", at, fail, n, err, wantN, wantErr)
			}
		}
	}
}

// TestAhead_Close ends the reading at any time, without a goroutine left that
// reads.
func TestAhead_Close(t *testing.T) {
	file, _ := bigCapture(t, 3, PCAP)
	for _, n := range []int{0, 1, 100} {
		src := &closing{Reader: bytes.NewReader(file)}
		a := NewAhead(src)
		r, err := NewReader(a)
		if err != nil {
			t.Fatal(err)
		}
		var rec Record
		for range n {
			if err := r.Next(&rec); err != nil {
				t.Fatal(err)
			}
		}
		a.Close()
		a.Close()
		src.closed = true // the race detector tells if somebody still reads
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Read(b []byte) (int, error) {
	if c.closed {
		panic("read after Close")
	}
	return c.Reader.Read(b)
}

// TestAhead_Read mixes both ways of reading.
func TestAhead_Read(t *testing.T) {
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(i ^ i>>8 ^ i>>16)
	}
	a := NewAhead(bytes.NewReader(data))
	defer a.Close()
	got, err := io.ReadAll(a)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d octets of %d, %v", len(got), len(data), err)
	}
}
