package iwdissect_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// TestTotals_NotRead: what was not read, or not decoded, is among the warnings.
func TestTotals_NotRead(t *testing.T) {
	whole, err := os.ReadFile("testdata/pcaps/rping-p2p-write-crc.pcap")
	if err != nil {
		t.Fatal(err)
	}
	const linkType = 20 // its place in the header of a pcap file
	other := slices.Clone(whole)
	other[linkType] = 105
	for _, tt := range []struct {
		name, warning string
		octets        []byte
	}{
		{"whole", "", whole},
		{"cut", "the capture was not read to its end", whole[:len(whole)-1]},
		{"other link type", "93 frames are of a link type that cannot be decoded", other},
	} {
		path := filepath.Join(t.TempDir(), "a.pcap")
		write(t, path, tt.octets)
		c, err := iwdissect.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for range c.PDUs() {
		}
		if got := strings.Join(c.Totals().Warnings(), "; "); got != tt.warning {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.warning)
		}
	}
}

// TestPDU_HasControl: an opcode is there for what has an RDMAP control octet alone, and the octets
// that ULPDU returns do not reach behind what was captured.
func TestPDU_HasControl(t *testing.T) {
	files, err := filepath.Glob("testdata/pcaps/*.pcap*")
	if err != nil {
		t.Fatal(err)
	}
	with, without, longer := 0, 0, 0
	for _, path := range files {
		c, err := iwdissect.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for p, err := range c.PDUs() {
			if err != nil {
				continue
			}
			switch {
			case !p.HasControl:
				without++
				if p.Control != (rdmap.Control{}) || p.Segment != nil {
					t.Errorf("%s, frame %d: %+v", path, p.Frame, p.Control)
				}
			case p.Kind != trace.KindFPDU && p.Kind != trace.KindSCTPSegment:
				t.Errorf("%s, frame %d: %v has a control octet", path, p.Frame, p.Kind)
			default:
				with++
			}
			head, length, whole := p.ULPDU()
			if cap(head) != len(head) || len(head) > length {
				t.Errorf("%s, frame %d: %d octets, %d in the slice, of %d", path, p.Frame, len(head), cap(head), length)
			}
			if whole && len(head) < length {
				longer++
			}
		}
	}
	if with < 1000 || without < 50 || longer == 0 {
		t.Error(with, without, longer)
	}
}
