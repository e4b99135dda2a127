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
	ng, err := os.ReadFile("testdata/pcaps/generated/enhanced.pcapng")
	if err != nil {
		t.Fatal(err)
	}
	// An Interface Statistics Block: the operating system dropped 3 packets.
	lost := append(ng, "\x05\x00\x00\x00\x24\x00\x00\x00"+"\x00\x00\x00\x00"+"\x00\x00\x00\x00\x00\x00\x00\x00"+
		"\x07\x00\x08\x00\x03\x00\x00\x00\x00\x00\x00\x00"+"\x24\x00\x00\x00"...)
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
		{"lost packets", "the capture lost 3 packets before they were written, as it says", lost},
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

// TestTotals_Stopped: a pass that ended because it was asked to says so.
func TestTotals_Stopped(t *testing.T) {
	const path = "testdata/pcaps/rping-p2p-write-crc.pcap"
	for _, tt := range []struct {
		name    string
		limit   uint64
		leave   bool
		warning string
	}{
		{"all", 0, false, ""},
		{"one frame", 1, false, "reading ended after 1 frame, as asked"},
		{"ten frames", 10, false, "reading ended after 10 frames, as asked"},
		{"more than there are", 1000, false, ""},
		{"left", 0, true, "reading ended after 5 frames, as asked"},
	} {
		c, err := iwdissect.Open(path, iwdissect.WithLimits(iwdissect.Limits{Frames: tt.limit}))
		if err != nil {
			t.Fatal(err)
		}
		for range c.Events(iwdissect.PDUs | iwdissect.Connections) {
			if tt.leave {
				break
			}
		}
		total := c.Totals()
		if got := strings.Join(total.Warnings(), "; "); got != tt.warning || total.Incomplete || total.Stopped != (tt.warning != "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.warning)
		}
	}
}

// TestTotals_Unopened: a file of several that could not be opened is no damage of another one.
func TestTotals_Unopened(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pcap")
	write(t, empty, nil)
	for _, tt := range []struct {
		name, warning string
		files         []string
	}{
		{"one", "the capture was not read to its end; 1 file could not be opened, or is no capture", []string{"missing.pcap"}},
		{"two", "the capture was not read to its end; 2 files could not be opened, or are no captures", []string{"missing.pcap", empty}},
	} {
		for _, open := range []func([]string, ...iwdissect.Option) (*iwdissect.Capture, error){iwdissect.Join, iwdissect.JoinGiven, iwdissect.Merge} {
			c, err := open(append(tt.files, "testdata/pcaps/rping-p2p-write-crc.pcap"))
			if err != nil {
				t.Fatal(err)
			}
			for range c.PDUs() {
			}
			total := c.Totals()
			if got := strings.Join(total.Warnings(), "; "); got != tt.warning || !total.Incomplete || total.PDUs == 0 {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.warning)
			}
		}
	}
	if got := (iwdissect.Totals{Errors: 1, Cut: 1}).Warnings(); !slices.Equal(got, []string{"1 damaged place of the capture was skipped", "1 frame was cut by the snap length"}) {
		t.Error(got)
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
