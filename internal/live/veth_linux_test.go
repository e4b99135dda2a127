package live

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

const (
	nearEnd = livetest.Near // captured on
	farEnd  = livetest.Far  // sent from
)

func newVeth(t testing.TB) {
	t.Helper()
	livetest.Veth(t)
}

func ip(t testing.TB, args string) string {
	t.Helper()
	return livetest.IP(t, args)
}

func open(t testing.TB, opts Options) *Handle {
	t.Helper()
	h, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Release(); err != nil {
			t.Errorf("release: %v", err)
		}
	})
	return h
}

// sender returns a function that sends a frame from the far end.
func sender(t testing.TB) func(frame []byte) {
	t.Helper()
	return livetest.Sender(t, false)
}

// drain closes the handle and returns everything it still has, as copies.
func drain(t testing.TB, h *Handle) []Packet {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	return readAll(t, h)
}

// readAll reads until the end of the capture.
func readAll(t testing.TB, h *Handle) []Packet {
	t.Helper()
	var out []Packet
	var p Packet
	for {
		ok, err := h.Next(&p, 5*time.Second)
		switch {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		case !ok:
			t.Fatal("no end of the capture within 5 s")
		}
		p.Data = append([]byte(nil), p.Data...)
		out = append(out, p)
	}
}
