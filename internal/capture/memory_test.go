package capture

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// repeating gives a capture that never ends, up to n octets.
type repeating struct {
	head, rest []byte
	n, i       int
}

func (r *repeating) Read(b []byte) (int, error) {
	if len(r.head) != 0 {
		n := copy(b, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if r.i == len(r.rest) {
		r.i = 0
		if r.n -= len(r.rest); r.n <= 0 {
			return 0, io.EOF
		}
	}
	n := copy(b, r.rest[r.i:])
	r.i += n
	return n, nil
}

// bomb is 64 MiB of equal frames, compressed.
func bomb(tb testing.TB, via func(io.Writer) io.WriteCloser) []byte {
	var one bytes.Buffer
	w, err := pcapng.NewWriter(&one, pcapng.WriterOptions{Link: pcapng.Ethernet})
	if err != nil {
		tb.Fatal(err)
	}
	for range 100 {
		if err := w.WritePacket(&pcapng.Record{Data: make([]byte, 1000), Link: pcapng.Ethernet, Time: 1e9}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	z := via(&out)
	if _, err := io.Copy(z, &repeating{head: one.Bytes()[:24], rest: one.Bytes()[24:], n: 64 << 20}); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// TestFile_BombDoesNotGrow: what is allocated for a file that decompresses to
// a hundred times its size stays a small part of that.
func TestFile_BombDoesNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for _, c := range compressors[1:bzip2At] { // bzip2 has a test of its own
		packed := bomb(t, c.via)
		if len(packed) > 1<<20 {
			t.Fatal(c.name, "is no bomb:", len(packed))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Open(stdinName, bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var fr Frame
		for ; err == nil; n++ {
			err = f.Next(&fr)
		}
		runtime.ReadMemStats(&after)
		if err != io.EOF || n < 60_000 {
			t.Error(c.name, n, err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 20<<20 {
			t.Errorf("%s: %d octets allocated", c.name, got)
		}
		f.Close()
	}
}

func TestFile_NoAllocations(t *testing.T) {
	file := captureFile(t, pcapng.PCAP, 100)
	f, err := Open(stdinName, &repeating{head: file[:24], rest: file[24:], n: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	var fr Frame
	if n := testing.AllocsPerRun(10_000, func() {
		if err := f.Next(&fr); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

// TestFile_ProgressFromElsewhere is for the race detector.
func TestFile_ProgressFromElsewhere(t *testing.T) {
	a := save(t, "a.pcap", captureFile(t, pcapng.PCAP, 1000))
	j := Join([]string{a, a, a}, nil)
	defer j.Close()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if done, total := j.Progress(); done > total {
					t.Error(done, total)
				}
			}
		}
	})
	drain(t, j, frames(1000))
	close(stop)
	wg.Wait()
}

// FuzzOpen throws anything at the decompressors and what is behind them.
func FuzzOpen(f *testing.F) {
	for _, c := range compressors {
		f.Add(compress(f, c.via, captureFile(f, pcapng.PCAP, 3)))
		f.Add(compress(f, c.via, captureFile(f, pcapng.PCAPNG, 3)))
	}
	f.Fuzz(func(_ *testing.T, in []byte) {
		file, err := Open(stdinName, bytes.NewReader(in))
		if err != nil {
			return
		}
		defer file.Close()
		var fr Frame
		for range 100_000 {
			err := file.Next(&fr)
			if err == io.EOF {
				return
			}
			if err != nil && !err.(*Error).Resume {
				return
			}
		}
	})
}

func BenchmarkFile(b *testing.B) {
	for _, c := range compressors {
		b.Run(c.name, func(b *testing.B) {
			const n = 20_000
			file := captureFile(b, pcapng.PCAP, n)
			packed := compress(b, c.via, file)
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				f, err := Open(stdinName, bytes.NewReader(packed))
				if err != nil {
					b.Fatal(err)
				}
				var fr Frame
				for err == nil {
					err = f.Next(&fr)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				f.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/frame")
		})
	}
}

// TestFile_ClaimedWindow: zstd frames that ask for a large window and hold next
// to nothing. The decoder takes the window at once, so the limit is the bound.
func TestFile_ClaimedWindow(t *testing.T) {
	file := captureFile(t, pcapng.PCAP, 1)
	frame := func(log byte) []byte {
		in := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3}
		in = append(in, byte(len(file)<<3|1), byte(len(file)>>5), 0) // last block, raw
		return append(in, file...)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := Open(stdinName, bytes.NewReader(frame(27)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, errs := drain(t, f, frames(1)); n != 1 || len(errs) != 0 {
		t.Error(n, errs)
	}
	for log := byte(28); log < 42; log++ {
		_, err = Open(stdinName, bytes.NewReader(frame(log)))
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeDecompress {
			t.Error(log, err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > zstdWindow+32<<20 {
		t.Errorf("%d octets allocated", got)
	}
}
