package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestDisorder: of a capture of packets out of order that lacks the SYNs no more is said to be lost for
// certain than with them.
func TestDisorder(t *testing.T) {
	octets, err := os.ReadFile(find(t, "net-loss2-reorder-dup-crc.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := tracetest.ReadFile(octets)
	if err != nil {
		t.Fatal(err)
	}
	cut := whole[:0:0]
	for _, f := range whole {
		const flags, syn = 14 + 20 + 13, 2 // behind Ethernet and IPv4 without options
		if f.Data[flags]&syn == 0 {
			cut = append(cut, f)
		}
	}
	titles := func(path string) (out []string) {
		_, b, _ := iwdissect(nil, "analyze", "--brief", "--width", "200", path)
		for line := range strings.Lines(string(b)) {
			if i := strings.Index(line, " of the packets "); i > 0 {
				words := strings.Split(strings.TrimSpace(line), "  ")
				out = append(out, strings.TrimSpace(words[len(words)-1]))
			}
		}
		return out
	}
	dir := t.TempDir()
	if d := cmp.Diff([]string{
		"32 % of the packets out of order", "32 % of the packets out of order", "1.3 % of the packets lost",
	}, titles(saved(t, filepath.Join(dir, "whole.pcap"), whole))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{
		"up to 30 % of the packets lost", "up to 40 % of the packets lost", "18 % of the packets out of order", "1.3 % of the packets lost",
	}, titles(saved(t, filepath.Join(dir, "cut.pcap"), cut))); d != "" {
		t.Error(d)
	}
}
