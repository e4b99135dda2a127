package readahead_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/readahead"
)

// TestReader_Waits: what came on a pipe is handed over before the reader waits for more,
// and nothing is lost or changed.
func TestReader_Waits(t *testing.T) {
	t.Parallel()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	header := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	header = append(header, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0)
	chunks := make(chan []byte, 2)
	go func() {
		defer func() { _ = out.Close() }()
		for b := range chunks {
			if _, err := out.Write(b); err != nil {
				t.Error(err)
			}
		}
	}()
	record := func(n int) []byte {
		b := make([]byte, 8, 16+n)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		return append(b, bytes.Repeat([]byte{byte(n)}, n)...)
	}
	chunks <- header
	f, err := capture.Open("-", in)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Waits() || f.Large() {
		t.Errorf("a pipe waits: %v, is large: %v", f.Waits(), f.Large())
	}
	r := readahead.Start(f, readahead.Options{Waits: true})
	got := 0
	next := func() (b *readahead.Batch) {
		done := make(chan struct{})
		go func() { b = r.Next(); close(done) }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("%d frames came, and the next ones are held back", got)
		}
		for i := range b.Len() {
			fr := b.Frame(i)
			if n := len(fr.Data); n != int(fr.OrigLen) || n > 0 && fr.Data[0] != byte(n) || n > 0 && fr.Data[n-1] != byte(n) {
				t.Errorf("frame %d has %d octets of %d, and they are others", fr.Number, n, fr.OrigLen)
			}
			got++
		}
		return b
	}
	want := 0
	for turn := range 400 { // some write more than a buffer takes, and some end within a record
		var b []byte
		for range 1 + turn%50 {
			b = append(b, record(1+want%1500)...)
			want++
		}
		cut := 0
		if turn%3 == 0 {
			cut = 9
		}
		chunks <- b[:len(b)-cut]
		for got < want-min(cut, 1) {
			next()
		}
		if cut > 0 {
			chunks <- b[len(b)-cut:]
			for got < want {
				next()
			}
		}
	}
	close(chunks)
	for b := next(); b.Err == nil; b = next() {
	}
	if r.Close(); got != want {
		t.Errorf("%d frames came of %d", got, want)
	}
}
