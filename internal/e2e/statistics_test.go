package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// sharedStatistics are the arguments of -z that tshark has too. No field of frame is among them: it
// would make frame the topmost protocol of io,phs in tshark.
var sharedStatistics = []string{
	"conv,eth", "conv,ip", "conv,ipv6", "conv,tcp", "conv,sctp", "conv,udp",
	"endpoints,eth", "endpoints,ip", "endpoints,ipv6", "endpoints,tcp", "endpoints,sctp", "endpoints,udp",
	"io,stat,0", "io,stat,1", "io,stat,0.1", "io,stat,0.01", "io,stat,0.1,tcp,SUM(tcp.len)tcp.len,MAX(ip.len)ip.len,COUNT(ip.src)ip.src",
	"io,phs",
}

// statisticsDiffer are the statistics that differ from those of tshark, by captures, and why.
// A star stands for any name.
var statisticsDiffer = []struct{ statistics, captures, why string }{
	{"*,eth", "tunnel-*", "tshark counts an Ethernet header in a tunnel once more"},
	{"*,udp", "tunnel-*", "tshark counts the UDP header below a tunnel"},
	{"*,udp", "sctp-udp*", "tshark counts the UDP header below SCTP"},
	{"*,ipv6", "tunnel-vxlan-fragments*", "tshark counts IPv6 fragments only once they are whole"},
	{"*,sctp", "sctp-snaplen*", "tshark gives up on packets that were cut"},
	{"conv,tcp", "two-interfaces*", "frames of one connection from two interfaces, the times mixed up"},
	{"io,stat,*", "pt-mtu9000-bw-crc*", "tshark counts a frame whose time steps back in the latest interval"},
	{"io,stat,*", "two-interfaces*", "the same"},
	{"io,stat,*", "clock-step*", "the same"},
	{"io,stat,*,*", "tunnel-vxlan-fragments*", "fields of headers in a datagram that was assembled of fragments are not read"},
	{"io,phs", "tunnel-mpls-ethernet*", "the control word of a pseudowire is a protocol in tshark"},
}

// TestStatistics compares statistics with those of tshark: conversations and endpoints octet
// for octet, io,stat but for its blanks, and io,phs above what iWARP and others carry. The
// plain run takes every tenth capture.
func TestStatistics(t *testing.T) {
	for i, path := range allCaptures(t) {
		if i%tracetest.EveryNth(10) > 0 {
			continue
		}
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			theirs := sections(string(tsharkStatistics(t, path)))
			args := []string{"dissect", "-q", "--no-findings", path}
			for _, z := range sharedStatistics {
				args = append(args, "-z", z)
			}
			code, out, errs := iwdissect(nil, args...)
			if code != 0 && code != 3 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			ours := sections(string(out))
			if len(ours) != len(sharedStatistics) || len(theirs) != len(ours) {
				t.Fatalf("%d statistics, and %d of tshark", len(ours), len(theirs))
			}
			for i, z := range sharedStatistics {
				if differs(z, name) {
					continue
				}
				if d := cmp.Diff(alike(z, theirs[i]), alike(z, ours[i])); d != "" {
					t.Errorf("-z %s (-tshark +iwdissect):\n%s", z, d)
				}
			}
		})
	}
}

// allCaptures are those of the project and, if they are there, the further ones.
func allCaptures(t *testing.T) []string {
	t.Helper()
	all := small(t)
	if dir := os.Getenv("IWDISSECT_CAPTURES"); dir != "" {
		for _, path := range glob(t, dir) {
			if !slices.ContainsFunc(all, func(have string) bool { return filepath.Base(have) == filepath.Base(path) }) {
				all = append(all, path)
			}
		}
	}
	return all
}

// differs reports whether a statistic of a capture is known to differ.
func differs(statistic, capture string) bool {
	for _, d := range statisticsDiffer {
		one, _ := filepath.Match(d.statistics, statistic)
		other, _ := filepath.Match(d.captures, capture)
		if one && other {
			return true
		}
	}
	return false
}

// tsharkStatistics runs tshark. It shows the last statistic first.
func tsharkStatistics(t *testing.T, path string) []byte {
	t.Helper()
	program := tracetest.Tshark(t)
	args := []string{"-n", "-q", "-r", path}
	for _, z := range slices.Backward(sharedStatistics) {
		args = append(args, "-z", z)
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, _ := cmd.Output() // it fails for captures that were cut off
	return out
}

// sections takes statistics apart: each begins and ends with a line of =.
func sections(out string) (all []string) {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(out) {
		b.WriteString(line)
		if strings.HasPrefix(line, "=====") {
			if inside = !inside; !inside {
				all = append(all, b.String())
				b.Reset()
			}
		}
	}
	return all
}

var (
	// durationOf has the blanks that tshark has for zeros.
	durationOf = regexp.MustCompile(`Duration: (\d+)\.( +)(\d+) secs`)
	// lower are the protocols that both dissect in their own way, or not at all.
	lower = regexp.MustCompile(`^ *(\.\.\.)?(iwarp_|iwd\.|data |_ws\.|tcp\.segments|pweth|nvme|rpc|smb|iser)`)
)

// alike leaves out of a statistic what has to differ.
func alike(z, text string) string {
	switch {
	case z == "io,phs":
		return hierarchyAbove(text)
	case strings.HasPrefix(z, "io,stat"):
		text = durationOf.ReplaceAllStringFunc(text, func(s string) string {
			m := durationOf.FindStringSubmatch(s)
			return "Duration: " + m[1] + "." + strings.Repeat("0", len(m[2])) + m[3] + " secs"
		})
		var b strings.Builder
		for line := range strings.Lines(text) {
			line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '|' || r == '=' || r == '-' || r == '\n' }), " ")
			if line != "" {
				b.WriteString(line + "\n")
			}
		}
		return b.String()
	}
	return text
}

// hierarchyAbove are the lines of a hierarchy down to what iWARP and others carry, without the note on PDUs whose place
// became known late, which tshark does not have.
func hierarchyAbove(text string) string {
	var b strings.Builder
	cut := -1 // the indent of what was left out
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "Note: The place of ") {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if cut >= 0 && indent > cut {
			continue
		}
		cut = -1
		if lower.MatchString(line) {
			cut = indent
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
