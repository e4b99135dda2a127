package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/tcp"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// made is a trace that was generated.
type made struct {
	name   string
	script *synth.Script
	// legal: no fault is in it.
	legal  bool
	frames []capture.Frame
	// first is the number of its first frame in the file that has all.
	first int
}

// all returns copies of the traces of all scenarios, with and without their
// faults, and of random scripts, whose frames are shared. Each has addresses of
// its own, so that they can lie in one file.
func all(t *testing.T) []*made {
	t.Helper()
	tracetest.Tshark(t) // all are compared with it
	ms, err := makeAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*made, len(ms))
	for i, m := range ms {
		c := *m
		out[i] = &c
	}
	return out
}

// makeAll makes them, once for all tests.
var makeAll = sync.OnceValues(func() (out []*made, failed error) {
	add := func(name string, legal bool, s *synth.Script) {
		n := len(out)
		for i := range s.Connections {
			for side := range s.Connections[i].Hosts {
				a := &s.Connections[i].Hosts[side].Addr
				*a = netip.AddrPortFrom(address(a.Addr().Is4(), n, side), a.Port())
			}
		}
		s.Capture.Format, s.Capture.PerSide = pcapng.PCAPNG, false
		var b bytes.Buffer
		if _, err := synth.Run(&b, s); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
		fs, err := tracetest.ReadFile(b.Bytes())
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
		out = append(out, &made{name: name, script: s, legal: legal, frames: fs})
	}
	for _, s := range scenario.Builtin() {
		add(s.Name+".clean", true, s.Script(true))
		if s.HasFaults() {
			add(s.Name, false, s.Script(false))
		}
	}
	for seed := range uint64(200) {
		add(fmt.Sprintf("random %d", seed), true, scripts.Random(seed))
	}
	for seed := range uint64(100) {
		add(fmt.Sprintf("random sctp %d", seed), true, scripts.RandomSCTP(seed))
	}
	return out, failed
})

func address(v4 bool, n, side int) netip.Addr {
	if v4 {
		return netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), byte(side + 1)})
	}
	return netip.AddrFrom16([16]byte{0: 0xfd, 4: byte(n >> 8), 5: byte(n), 15: byte(side + 1)})
}

// files writes the traces of each link type into one file.
func files(t *testing.T, ms []*made) map[string][]*made {
	t.Helper()
	byLink := map[uint16][]*made{}
	for _, m := range ms {
		byLink[m.script.Capture.Link] = append(byLink[m.script.Capture.Link], m)
	}
	out := map[string][]*made{}
	for l, ms := range byLink {
		var all []capture.Frame
		for _, m := range ms {
			m.first = len(all) + 1
			all = append(all, m.frames...)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("link-%d.pcap", l))
		if err := os.WriteFile(path, tracetest.PCAP(all), 0o600); err != nil {
			t.Fatal(err)
		}
		out[path] = ms
	}
	return out
}

// tool runs a program that comes with tshark or tcpdump, and skips the test if
// it is not there and need not be.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), tracetest.Program(t, name, "IWDISSECT_TSHARK"), args...)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, told.Bytes())
	}
	return out.String()
}

// spoilt reports whether a trace has checksums that are wrong on purpose.
func (m *made) spoilt() bool {
	for side := range 2 {
		if m.script.Capture.Offload[side] {
			return true
		}
		if !m.legal && m.script.Connections[0].Association != "" {
			return true // the fault is of a chunk
		}
		for i := range m.script.Connections {
			for _, w := range m.script.Connections[i].Wire[side] {
				if w.Orders.BadChecksum {
					return true
				}
			}
		}
	}
	return false
}

// cut reports whether the snap length cuts frames.
func (m *made) cut() bool { return m.script.Capture.Snaplen > 0 }

// numbered is a line of tcpdump that begins a packet.
var numbered = regexp.MustCompile(`^ *(\d+)  \d\d:\d\d:`)

// TestAccepted_Packets: tcpdump, capinfos and tshark find nothing wrong with the
// packets of any trace, and every checksum right that is not wrong on purpose.
func TestAccepted_Packets(t *testing.T) {
	for path, ms := range files(t, all(t)) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			of := func(frame int) *made {
				var found *made
				for _, m := range ms {
					if m.first <= frame {
						found = m
					}
				}
				return found
			}
			count := 0
			for _, m := range ms {
				count += len(m.frames)
			}
			info := tool(t, "capinfos", "-M", "-c", path)
			if !strings.Contains(info, "Number of packets:   "+strconv.Itoa(count)+"\n") {
				t.Errorf("capinfos does not count %d packets: %s", count, info)
			}
			dump := tool(t, "tcpdump", "-nn", "-v", "-#", "-r", path)
			at := 0
			for _, line := range strings.Split(dump, "\n") {
				if x := numbered.FindStringSubmatch(line); x != nil {
					at, _ = strconv.Atoi(x[1]) // digits
				}
				for _, bad := range []string{"incorrect", "bad cksum", "bad hdr", "[|", "truncated", "bad length"} {
					// Of a first fragment tcpdump would like to have the rest.
					fragment := bad == "[|" && strings.Contains(line, "[|sctp]") && of(at).script.Link.Fragment > 0
					if m := of(at); strings.Contains(line, bad) && !m.spoilt() && !m.cut() && !fragment {
						t.Errorf("%s, frame %d: tcpdump says %s", m.name, at-m.first+1, strings.TrimSpace(line))
					}
				}
			}
			if at != count {
				t.Errorf("tcpdump reads %d packets of %d", at, count)
			}
			sums := tool(t, "tshark", "-n", "-r", path, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
				"--disable-protocol", "iwarp_mpa", "--disable-protocol", "iwarp_ddp_rdmap",
				"-T", "fields", "-e", "frame.number", "-e", "ip.checksum.status", "-e", "tcp.checksum.status", "-e", "_ws.malformed", "-e", "tcp.len")
			seen := 0
			for _, line := range strings.Split(strings.TrimRight(sums, "\n"), "\n") {
				f := strings.Split(line, "\t")
				n, err := strconv.Atoi(f[0])
				if err != nil {
					t.Fatal(line)
				}
				seen++
				m := of(n)
				switch {
				case strings.Contains(f[1], "0"):
					t.Errorf("%s, frame %d: tshark finds the IP checksum wrong", m.name, n-m.first+1)
				case strings.Contains(f[2], "0") && !m.spoilt():
					t.Errorf("%s, frame %d: tshark finds the TCP checksum wrong", m.name, n-m.first+1)
				case f[3] != "" && !m.cut():
					t.Errorf("%s, frame %d: tshark finds it malformed", m.name, n-m.first+1)
				}
			}
			if seen != count {
				t.Errorf("tshark reads %d packets of %d", seen, count)
			}
		})
	}
}

// blind says why tshark 4.0 does not see all FPDUs of a legal trace, or takes
// their CRCs for wrong.
var blind = []struct {
	reason string
	holds  func(m *made, r *tracerun.Result) bool
}{
	{"it does not see a connection that was captured from its middle, in one direction or not whole", func(m *made, _ *tracerun.Result) bool {
		c := &m.script.Capture
		return c.Skip > 0 || c.Only != link.Both || len(c.Missing) > 0 || c.Drop > 0 || c.Snaplen > 0
	}},
	{"it loses the stream when packets are lost, repeated or out of order", func(m *made, _ *tracerun.Result) bool {
		l := &m.script.Link
		for side := range 2 {
			for _, x := range []*link.Line{&l.Before[side], &l.After[side]} {
				if x.Loss > 0 || x.Duplicate > 0 || x.Reorder > 0 {
					return true
				}
			}
		}
		return false
	}},
	{"it takes the markers of one direction for those of both", func(_ *made, r *tracerun.Result) bool {
		for _, c := range r.Conns {
			if c.Markers[0] != c.Markers[1] {
				return true
			}
		}
		return false
	}},
	{"with markers it finds only the FPDUs that begin with a TCP segment", func(m *made, r *tracerun.Result) bool {
		for i, c := range r.Conns {
			if c.Markers[0] == mpa.Yes || c.Markers[1] == mpa.Yes {
				for _, h := range m.script.Connections[i].Hosts {
					if h.TCP.Packing != tcp.Aligned || h.TCP.MaxSegment > 0 {
						return true
					}
				}
			}
		}
		return false
	}},
	{"it counts markers from the third frame of 2007, which it does not know", func(_ *made, r *tracerun.Result) bool {
		for _, p := range r.PDUs {
			if p.Kind == trace.KindRTR && p.Conn.Markers[trace.I2R] == mpa.Yes {
				return true
			}
		}
		return false
	}},
}

// unseen is why tshark does not see all of a trace, or "".
func (m *made) unseen(r *tracerun.Result) string {
	for i := range blind {
		if blind[i].holds(m, r) {
			return blind[i].reason
		}
	}
	return ""
}

var crcLine = regexp.MustCompile(`^Frame (\d+):|\((Good|Bad) CRC32`)

// TestAccepted_FPDUs: tshark finds every FPDU of the legal traces, and each CRC
// right, where it is able to.
func TestAccepted_FPDUs(t *testing.T) {
	var legal []*made
	for _, m := range all(t) {
		if m.legal && m.script.Connections[0].Association == "" {
			legal = append(legal, m)
		}
	}
	compared, fpdus, met := 0, 0, map[string]bool{}
	for path, ms := range files(t, legal) {
		out := tool(t, "tshark", "-n", "-r", path, "-o", "tcp.try_heuristic_first:TRUE", "-o", "tcp.reassemble_out_of_order:TRUE",
			"-V", "-O", "iwarp_mpa")
		good, bad := map[int]int{}, map[int]int{}
		frame := 0
		for _, line := range strings.Split(out, "\n") {
			x := crcLine.FindStringSubmatch(line)
			switch {
			case x == nil:
			case x[1] != "":
				frame, _ = strconv.Atoi(x[1]) // digits
			case x[2] == "Good":
				good[frame]++
			default:
				bad[frame]++
			}
		}
		for _, m := range ms {
			want := 0
			r := tracerun.Run(t, pipeline.Options{}, m.frames)
			for _, p := range r.PDUs {
				if p.Kind == trace.KindFPDU && p.FPDU.CRCStatus == mpa.CRCGood {
					want++
				}
			}
			g, b := 0, 0
			for f := m.first; f < m.first+len(m.frames); f++ {
				g, b = g+good[f], b+bad[f]
			}
			right := g == want && b == 0
			switch why := m.unseen(r); {
			case why != "":
				met[why] = met[why] || !right
				continue
			case !right:
				t.Errorf("%s: tshark finds %d good CRCs and %d bad ones; there are %d", m.name, g, b, want)
			}
			compared++
			fpdus += want
		}
	}
	for i := range blind {
		if !met[blind[i].reason] {
			t.Errorf("that %q shows nowhere: the row is stale", blind[i].reason)
		}
	}
	t.Logf("%d of %d traces compared, %d FPDUs", compared, len(legal), fpdus)
	if compared < len(legal)/2 || fpdus < 1000 {
		t.Errorf("only %d of %d traces compared, %d FPDUs", compared, len(legal), fpdus)
	}
}
