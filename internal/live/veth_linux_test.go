package live

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	nearEnd = "iwdA" // captured on
	farEnd  = "iwdB" // sent from
)

// skip leaves a test out, unless the run was told that everything it needs is
// there: a test that is skipped unseen proves nothing.
func skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("IWDISSECT_LIVE_TESTS") == "required" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// newNamespace puts the test into a network namespace of its own, which goes
// away with it. The thread stays locked for good: it is never used again.
func newNamespace(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "needs root to make a network namespace")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		skip(t, "needs the ip command (iproute2)")
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		skip(t, "cannot make a network namespace: %v", err)
	}
}

func ip(t testing.TB, args string) string {
	t.Helper()
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ip %s: %v: %s", args, err, out)
	}
	return string(out)
}

// newVeth makes a pair of interfaces that are up and silent by themselves.
func newVeth(t testing.TB) {
	t.Helper()
	newNamespace(t)
	// No neighbour discovery. This thread sees the settings of its own
	// namespace; a kernel without IPv6 has none.
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0o644)
	if out, err := exec.Command("ip", "link", "add", nearEnd, "mtu", "9000", "type", "veth",
		"peer", "name", farEnd, "mtu", "9000").CombinedOutput(); err != nil {
		skip(t, "cannot make a veth pair: %v: %s", err, out)
	}
	ip(t, "link set "+nearEnd+" up")
	ip(t, "link set "+farEnd+" up")
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
func sender(t testing.TB) func(frame []byte) { return newSender(t, false) }

// newSender can make the sender a fast one, whose frames are not seen by
// captures on the far end itself.
func newSender(t testing.TB, fast bool) func(frame []byte) {
	t.Helper()
	sock, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(sock) })
	i, err := lookup(farEnd)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(sock, &unix.SockaddrLinklayer{Ifindex: i.Index}); err != nil {
		t.Fatal(err)
	}
	if fast {
		_ = unix.SetsockoptInt(sock, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1)
	}
	return func(frame []byte) {
		for {
			_, err := unix.Write(sock, frame)
			if err == nil {
				return
			}
			if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EAGAIN) {
				t.Errorf("send %d octets: %v", len(frame), err)
				return
			}
		}
	}
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
