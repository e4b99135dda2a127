package readahead

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// file writes a capture of some megabytes, whose records are of every length: many are
// longer than a buffer.
func file(t *testing.T, seed uint64, format pcapng.Format) (path string, octets []byte) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Format: format, Link: pcapng.Ethernet, SnapLen: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; out.Len() < 8<<20; n++ {
		size := rnd.IntN(1600)
		if rnd.IntN(30) == 0 {
			size = rnd.IntN(900 << 10)
		}
		data := make([]byte, size)
		for i := 0; i < size; i += 1 + size/64 {
			data[i] = byte(rnd.Uint32())
		}
		if err := w.WritePacket(&pcapng.Record{Data: data, Time: int64(n) * 1e6, Link: pcapng.Ethernet}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return save(t, out.Bytes()), out.Bytes()
}

func save(t *testing.T, octets []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "capture")
	if err := os.WriteFile(path, octets, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func line(f *capture.Frame) string {
	return fmt.Sprintf("%d at %d, %d: %d of %d octets, %x", f.Number, f.Pos, f.Time, len(f.Data), f.OrigLen, f.Data[:min(len(f.Data), 64)])
}

// direct reads a source without a goroutine.
func direct(src capture.Source) (out []string) {
	for {
		var f capture.Frame
		err := src.Next(&f)
		if err == nil {
			out = append(out, line(&f))
			continue
		}
		if out = append(out, err.Error()); final(err) {
			return out
		}
	}
}

// ahead reads it ahead.
func ahead(t *testing.T, src Source) (out []string) {
	t.Helper()
	r := Start(src, Options{Always: true})
	defer r.Close()
	var next *Batch // that was looked at
	for b := r.Next(); b != nil; b = r.Next() {
		if next != nil && b != next {
			t.Fatalf("the batch from frame %d on follows, and that from %d on was to", b.First(), next.First())
		}
		if next = nil; b.First()%3 > 0 {
			if next = r.Peek(); next != nil && (next != r.Peek() || next.Len() > 0 && next.First() < b.First()+uint64(b.Len())) {
				t.Fatalf("behind %d frames from %d on comes the batch from %d on", b.Len(), b.First(), next.First())
			}
		}
		for i := range b.Len() {
			if n := b.First() + uint64(i); b.Frame(i).Number != n {
				t.Fatalf("frame %d is said to have number %d", b.Frame(i).Number, n)
			}
			out = append(out, line(b.Frame(i)))
		}
		if b.Err != nil {
			out = append(out, b.Err.Error())
		}
	}
	return out
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%d and %d events, from number %d on they differ", len(got), len(want), i)
		}
	}
}

func open(t *testing.T, path string) *capture.File {
	t.Helper()
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestReader: what is read ahead is what is there: with records longer than a buffer, with
// damage, cut in the middle, and several files as one.
func TestReader(t *testing.T) {
	for seed := range uint64(2) {
		for _, format := range []pcapng.Format{pcapng.PCAP, pcapng.PCAPNG} {
			path, octets := file(t, seed, format)
			paths := []string{path}
			for _, change := range []func([]byte) []byte{
				func(b []byte) []byte { return b[:len(b)-7] },
				func(b []byte) []byte {
					rnd := rand.New(rand.NewPCG(seed, 5))
					for range 2000 {
						b[rnd.IntN(len(b)-400)+400] ^= 0xff
					}
					return b
				},
			} {
				paths = append(paths, save(t, change(bytes.Clone(octets))))
			}
			for _, p := range paths {
				compare(t, ahead(t, open(t, p)), direct(open(t, p)))
			}
			paths = append(paths, paths[0], filepath.Join(t.TempDir(), "none"))
			join := func() *capture.Joined {
				j := capture.Join(paths, nil)
				t.Cleanup(func() { j.Close() })
				return j
			}
			compare(t, ahead(t, join()), direct(join()))
		}
	}
}

// TestReader_Close ends the reading at any time.
func TestReader_Close(t *testing.T) {
	path, _ := file(t, 3, pcapng.PCAP)
	for _, n := range []int{0, 1, 5} {
		f := open(t, path)
		r := Start(f, Options{})
		for range n {
			if r.Next() == nil {
				t.Fatal("there is no batch")
			}
		}
		r.Close()
		r.Close()
		if err := f.Close(); err != nil { // the race detector tells if somebody still reads
			t.Fatal(err)
		}
	}
}

// TestReader_Memory: whatever lengths a file has, few buffers are larger than others.
func TestReader_Memory(t *testing.T) {
	const size = 4 << 20
	var out bytes.Buffer
	w, err := pcapng.NewWriter(&out, pcapng.WriterOptions{Link: pcapng.Ethernet, SnapLen: size})
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, size)
	for range 40 {
		if err := w.WritePacket(&pcapng.Record{Data: data, Time: 1e9, Link: pcapng.Ethernet}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	f := open(t, save(t, out.Bytes()))
	out = bytes.Buffer{}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, frames := heap(), uint64(0), 0
	r := Start(f, Options{})
	defer r.Close()
	for b := r.Next(); b != nil; b = r.Next() {
		frames += b.Len()
		if now := heap(); now > before {
			most = max(most, now-before)
		}
	}
	if frames != 40 || most > 6*size {
		t.Errorf("%d frames, at most %d octets", frames, most)
	}
}

// failing is a source that fails.
type failing struct{ capture.Source }

var errFailing = errors.New("disk on fire")

func (failing) Next(*capture.Frame) error     { return errFailing }
func (failing) Lend(func(done []byte) []byte) {}

func TestReader_Error(t *testing.T) {
	r := Start(failing{}, Options{})
	defer r.Close()
	if b := r.Next(); b == nil || b.Len() != 0 || !errors.Is(b.Err, errFailing) {
		t.Errorf("%+v", b)
	}
	if b := r.Next(); b != nil {
		t.Error("something comes behind the error")
	}
}

// faulty is a source that panics with its third frame.
type faulty struct{ *capture.File }

func (s faulty) Next(f *capture.Frame) error {
	err := s.File.Next(f)
	if f.Number == 3 {
		panic("a fault of the source")
	}
	return err
}

// TestReader_Panic: a panic of the source is one of who takes the frames, who may have to put
// something in order.
func TestReader_Panic(t *testing.T) {
	path, _ := file(t, 1, pcapng.PCAP)
	f, err := capture.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := Start(faulty{f}, Options{})
	defer r.Close()
	defer func() {
		if p := recover(); !strings.HasPrefix(fmt.Sprint(p), "a fault of the source\n") {
			t.Errorf("panic %v", p)
		}
	}()
	for r.Next() != nil { // until it panics
	}
	t.Error("the reading has an end")
}
