package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

// capturer is a program whose highest rate without a loss is measured.
type capturer struct {
	name  string
	args  []string
	ready string         // what it says when it captures
	kept  *regexp.Regexp // what it says of the frames it captured
	drops *regexp.Regexp // and of those that it did not
}

// TestLive_Rate measures the highest rate at which iwdissect and tcpdump lose no frame, in the
// same place: iWARP at MTU 1500 on a veth pair, sent by this test, on new connections all the
// time. bench/live.sh runs it. Where live tests are required, it tries each program once, at a rate
// that says nothing, so that the measurement keeps working.
func TestLive_Rate(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("IWDISSECT_RATE"))
	measures := err == nil
	if !measures && os.Getenv("IWDISSECT_LIVE_TESTS") != "required" {
		t.Skip("IWDISSECT_RATE=4s measures for so long at each rate")
	}
	folder := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "iwdissect-rate"); err == nil { //nolint:usetesting // in memory
		t.Cleanup(func() { _ = os.RemoveAll(shm) })
		folder = shm // the disk is not what is measured
	}
	bin, pgo := filepath.Join(folder, "iwdissect"), "-pgo=off" // quick to build
	if measures {
		pgo = "-pgo=auto"
	}
	if out, err := exec.Command("go", "build", pgo, "-o", bin, "../../cmd/iwdissect").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	trace := filepath.Join(folder, "load.pcap")
	results(t, "generate", "--size", "20MB", "--flows", "16", "-q", "-o", trace)
	frames := readFrames(t, trace)
	livetest.Veth(t)
	tcpdump := func(name string, args ...string) capturer {
		return capturer{
			name, append([]string{"tcpdump", "-n", "-i", livetest.Near, "-w", filepath.Join(folder, "out.pcap")}, args...),
			"listening on", regexp.MustCompile(`(\d+) packets? captured`), regexp.MustCompile(`(\d+) packets? dropped by kernel`),
		}
	}
	ours := func(name string, args ...string) capturer {
		return capturer{
			name, append([]string{bin, "live", livetest.Near}, args...),
			"capturing on", regexp.MustCompile(`(\d+) frames captured`), regexp.MustCompile(`(\d+) dropped by the kernel`),
		}
	}
	out := filepath.Join(folder, "out.pcap")
	for _, c := range []capturer{
		tcpdump("tcpdump -w FILE", "tcp"),
		tcpdump("tcpdump -B 65536 -w FILE", "-B", "65536", "tcp"),
		ours("iwdissect live --summary-only --no-findings -w FILE", "--summary-only", "--no-findings", "-w", out, "tcp"),
		ours("iwdissect live --summary-only -w FILE", "--summary-only", "-w", out, "tcp"),
		ours("iwdissect live --summary-only", "--summary-only", "tcp"),
		ours("iwdissect live --lines >/dev/null", "--lines", "tcp"),
	} {
		var sum int
		for _, f := range frames {
			sum += len(f.Data)
		}
		if !measures {
			if lost, sent := c.attempt(t, frames, 1000, 200*time.Millisecond); sent == 0 || lost == sent {
				t.Errorf("%s: %d of %d frames lost", c.name, lost, sent)
			}
			continue
		}
		best := highest(t, &c, frames, d)
		t.Logf("| `%s` | %d | %.2f |", c.name, best, float64(best)*float64(sum)/float64(len(frames))*8/1e9)
	}
}

// highest tries rates in frames a second: doubled while nothing is lost, then halving the
// rest. A rate counts that two runs of three bear.
func highest(t *testing.T, c *capturer, frames []capture.Frame, d time.Duration) int {
	t.Helper()
	bears := func(rate int) bool {
		good := 0
		for try := range 3 {
			if lost, sent := c.attempt(t, frames, rate, d); lost == 0 && sent == int(float64(rate)*d.Seconds()) {
				good++
			}
			if good == 2 || try-good == 1 {
				break
			}
		}
		return good == 2
	}
	low, high := 0, 40_000
	for high <= 2_000_000 && bears(high) {
		low, high = high, 2*high
	}
	for high-low > low/12+2000 {
		if mid := (low + high) / 2; bears(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// attempt sends at a rate while the program captures, and returns what it missed.
func (c *capturer) attempt(t *testing.T, frames []capture.Frame, rate int, d time.Duration) (lost, sent int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*d+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	errs := newOutput()
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !errs.waitFor(func(s string) bool { return strings.Contains(s, c.ready) }) {
		t.Fatalf("%s: %s", c.name, errs)
	}
	sent = play(t, frames, rate, d)
	time.Sleep(2500 * time.Millisecond) // tcpdump does not empty its buffer at the end, which it reads each second
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // what it says counts
	number := func(r *regexp.Regexp) int {
		m := r.FindStringSubmatch(errs.String())
		if m == nil {
			t.Fatalf("%s: %s", c.name, errs)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	lost = max(sent-number(c.kept), number(c.drops))
	t.Logf("%s: %d frames/s for %v: %d sent, %d lost", c.name, rate, d, sent, lost)
	return lost, sent
}

// play sends frames at a rate, a millisecond's worth at once. Each time it begins again with
// other addresses, so that all connections are new.
func play(t *testing.T, frames []capture.Frame, rate int, d time.Duration) (sent int) {
	t.Helper()
	send := livetest.Sender(t, true)
	start := time.Now()
	var buf bytes.Buffer
	total := int(float64(rate) * d.Seconds())
	for sent < total {
		due := min(int(time.Since(start).Seconds()*float64(rate)), total)
		if time.Since(start) > d+d/10 {
			return sent // the sender is slower than the rate
		}
		for ; sent < due; sent++ {
			buf.Reset()
			buf.Write(frames[sent%len(frames)].Data)
			renumber(buf.Bytes(), uint16(sent/len(frames)))
			send(buf.Bytes())
		}
		time.Sleep(time.Millisecond)
	}
	return sent
}

// renumber changes the second octets of both addresses of an IPv4 packet, and the checksums
// with them.
func renumber(frame []byte, by uint16) {
	const ip, tcp = 14, 34
	for _, at := range []int{ip + 12, ip + 16} {
		old := binary.BigEndian.Uint16(frame[at:])
		now := old ^ by<<8 ^ by>>8
		binary.BigEndian.PutUint16(frame[at:], now)
		for _, sum := range []int{ip + 10, tcp + 16} {
			s := uint32(^binary.BigEndian.Uint16(frame[sum:])) + uint32(^old) + uint32(now)
			s = s&0xffff + s>>16
			s = s&0xffff + s>>16
			binary.BigEndian.PutUint16(frame[sum:], ^uint16(s))
		}
	}
}
