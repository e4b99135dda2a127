package capture_test

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/capture"
)

// TestOpen_WidensPipe: a pipe that is read holds more than the kernel gives by itself, if it
// gives more.
func TestOpen_WidensPipe(t *testing.T) {
	t.Parallel()
	size := func(f *os.File) int {
		n, err := unix.FcntlInt(f.Fd(), unix.F_GETPIPE_SZ, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	probe, _ := pipe(t)
	if _, err := unix.FcntlInt(probe.Fd(), unix.F_SETPIPE_SZ, 1<<20); err != nil {
		t.Skip("the kernel gives no more:", err)
	}
	r, w := pipe(t)
	was := size(r)
	go func() {
		if data, err := os.ReadFile("../../testdata/pcaps/abort-client-exit.pcap"); err == nil {
			_, _ = w.Write(data)
		}
		_ = w.Close()
	}()
	f, err := capture.Open("-", r)
	if err != nil {
		t.Fatal(err)
	}
	if now := size(r); now <= was || now < 1<<20 {
		t.Errorf("the pipe holds %d octets, and %d before", now, was)
	}
	var frame capture.Frame
	n := 0
	for err = f.Next(&frame); err == nil; err = f.Next(&frame) {
		n++
	}
	if err != io.EOF || n == 0 {
		t.Errorf("%d frames, then %v", n, err)
	}
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}
