package livetest

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// The interfaces of [Veth].
const (
	Near = "iwdA" // captured on
	Far  = "iwdB" // sent from
)

// Skip leaves a test out, unless the run was told that everything it needs is
// there: a test that is skipped unseen proves nothing.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("IWDISSECT_LIVE_TESTS") == "required" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Namespace puts the test into a network namespace of its own, which goes away
// with it. The thread stays locked for good: it is never used again. Sockets
// must be made, and interfaces looked up, by the goroutine of the test. A plain go test makes none.
func Namespace(t testing.TB) {
	t.Helper()
	if !tracetest.Asked("IWDISSECT_LIVE_TESTS") {
		t.Skip("live capture is tested in a campaign, or with IWDISSECT_LIVE_TESTS=required")
	}
	if os.Geteuid() != 0 {
		Skip(t, "needs root to make a network namespace")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		Skip(t, "needs the ip command (iproute2)")
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		Skip(t, "cannot make a network namespace: %v", err)
	}
}

// IP runs the ip command in the namespace of the test.
func IP(t testing.TB, args string) string {
	t.Helper()
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ip %s: %v: %s", args, err, out)
	}
	return string(out)
}

// Veth makes a namespace with a pair of interfaces, [Near] and [Far], that are
// up and silent by themselves.
func Veth(t testing.TB) {
	t.Helper()
	Namespace(t)
	// No neighbour discovery. This thread sees the settings of its own
	// namespace; a kernel without IPv6 has none.
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0o644)
	if out, err := exec.Command("ip", "link", "add", Near, "mtu", "9000", "type", "veth",
		"peer", "name", Far, "mtu", "9000").CombinedOutput(); err != nil {
		Skip(t, "cannot make a veth pair: %v: %s", err, out)
	}
	IP(t, "link set "+Near+" up")
	IP(t, "link set "+Far+" up")
}

// Sender returns a function that sends a frame from [Far]. It may be called
// from any goroutine. A fast sender's frames are not seen by captures on Far
// itself.
func Sender(t testing.TB, fast bool) func(frame []byte) {
	t.Helper()
	return SenderOn(t, Far, fast)
}

// SenderOn is [Sender] on another interface.
func SenderOn(t testing.TB, name string, fast bool) func(frame []byte) {
	t.Helper()
	sock, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(sock) })
	i, err := net.InterfaceByName(name)
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
