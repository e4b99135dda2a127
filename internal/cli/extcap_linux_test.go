package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ends waits for the end of a capture.
func ends(t *testing.T, done <-chan int, errs *bytes.Buffer) {
	t.Helper()
	select {
	case code := <-done:
		if code != exitOK || errs.Len() > 0 {
			t.Errorf("exit code %d: %s", code, errs)
		}
	case <-time.After(timeout):
		t.Fatal("the capture does not end")
	}
}

// TestExtcap_FileToPipe: a file gets through a pipe, with comments.
func TestExtcap_FileToPipe(t *testing.T) {
	path := fifo(t)
	var errs bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- Run(&IOStreams{In: bytes.NewReader(nil), Out: io.Discard, Err: &errs}, []string{
			"--capture", "--extcap-interface", "iwdissect.file", "--fifo", path, "--file", "../../testdata/pcaps/term-wbadkey.pcap",
		})
	}()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends(t, done, &errs)
	frames, comments := commented(t, b)
	if len(frames) != 15 || len(comments[11]) < 3 {
		t.Errorf("%d packets, comments %q", len(frames), comments)
	}
}

// TestExtcap_StopsBeforeItBegins: nobody reads from the pipe yet when Wireshark wants no more.
func TestExtcap_StopsBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var errs bytes.Buffer
	done := make(chan int, 1)
	path := fifo(t)
	go func() {
		done <- runContext(ctx, &IOStreams{Out: io.Discard, Err: &errs}, []string{"--capture", "--extcap-interface", "iwdissect.file", "--fifo", path, "--file", "x"})
	}()
	cancel()
	ends(t, done, &errs)
	if r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil { // lets go who still opens it
		r.Close()
	}
}

// TestExtcap_Ends: the capture ends without an error when the reader goes while no packet comes,
// when Wireshark asks for it, and when it does not read what is written.
func TestExtcap_Ends(t *testing.T) {
	_, frames := sample(t)
	for _, tt := range []struct {
		name string
		end  func(reader *os.File, send func([]byte), stop func())
	}{
		{"the reader goes", func(r *os.File, _ func([]byte), _ func()) { r.Close() }},
		{"asked", func(_ *os.File, _ func([]byte), stop func()) { stop() }},
		{"nothing is read", func(_ *os.File, send func([]byte), stop func()) {
			for range 20 { // more than a pipe holds
				sendAll(send, frames)
			}
			time.Sleep(700 * time.Millisecond) // so that they are no longer held back
			stop()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			livetest.Veth(t)
			send := livetest.Sender(t, false)
			path := fifo(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var errs bytes.Buffer
			reading := make(chan *os.File, 1)
			ended := make(chan struct{})
			go func() {
				r, err := os.Open(path)
				if err != nil {
					t.Error(err)
					cancel()
					return
				}
				head := make([]byte, 28)
				if _, err := io.ReadFull(r, head); err != nil {
					t.Errorf("no section header: %v", err)
				}
				reading <- r
				tt.end(r, send, cancel)
			}()
			limit := time.AfterFunc(timeout, func() {
				select {
				case <-ended:
				default:
					t.Error("the capture does not end")
					cancel()
				}
			})
			defer limit.Stop()
			code := runContext(ctx, &IOStreams{Out: io.Discard, Err: &errs}, []string{"--capture", "--extcap-interface", "iwdissect-" + livetest.Near, "--fifo", path})
			close(ended)
			if code != exitOK || errs.Len() > 0 {
				t.Errorf("exit code %d: %s", code, &errs)
			}
			if len(reading) > 0 {
				r := <-reading
				r.Close()
			}
		})
	}
}
