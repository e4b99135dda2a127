package fields

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// edited writes a capture of frames again, without one of them, and with the time of another
// one at the frame in front of it; frames count from 1.
func edited(t *testing.T, path string, without, moved int) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const fileHeader, recordHeader = 24, 16
	out, b := bytes.Clone(b[:fileHeader]), b[fileHeader:]
	last := bytes.Clone(b[:8])
	for n := 1; len(b) > 0; n++ {
		size := recordHeader + int(binary.LittleEndian.Uint32(b[8:]))
		if n == moved {
			copy(b, last)
		}
		if copy(last, b); n != without {
			out = append(out, b[:size]...)
		}
		b = b[size:]
	}
	to := filepath.Join(t.TempDir(), "edited.pcap")
	if err := os.WriteFile(to, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// having are the frames in which a field has a value, with that.
func having(t *testing.T, path, name string) map[int]string {
	t.Helper()
	for _, f := range LayerFields() {
		if f.Name != name {
			continue
		}
		got := map[int]string{}
		for n, c := range ourColumns(t, path, []*Field{f}) {
			if c[0] != "" {
				got[n+1] = c[0]
			}
		}
		return got
	}
	t.Fatalf("no field %s", name)
	return nil
}

// TestAnalysis_AckLost: what acknowledges a missing segment is flagged once, as by tshark 4.0.
func TestAnalysis_AckLost(t *testing.T) {
	const rping = "../../testdata/pcaps/rping-rev2-crc.pcap"
	for without, want := range map[int]map[int]string{20: {20: "1", 24: "1"}, 30: {30: "1", 33: "1"}} {
		if diff := cmp.Diff(want, having(t, edited(t, rping, without, 0), "tcp.analysis.ack_lost_segment")); diff != "" {
			t.Errorf("without frame %d: (-want +got)\n%s", without, diff)
		}
	}
}

// TestAnalysis_NoTime: two frames with one time measure no RTT, as for tshark.
func TestAnalysis_NoTime(t *testing.T) {
	const rping = "../../testdata/pcaps/rping-rev2-crc.pcap"
	acks, all := having(t, rping, "tcp.analysis.acks_frame"), having(t, rping, "tcp.analysis.ack_rtt")
	for n := 2; n < 30; n++ {
		if all[n] == "" || acks[n] == "" {
			continue
		}
		changed := edited(t, rping, 0, n)
		if got := having(t, changed, "tcp.analysis.ack_rtt")[n]; got == "0.000000000" {
			t.Errorf("frame %d: %s", n, got)
		}
		if having(t, changed, "tcp.analysis.acks_frame")[n] == "" {
			t.Errorf("frame %d acknowledges none", n)
		}
	}
}

// TestSacked: octets that several blocks name are taken off once, and only those on their way.
func TestSacked(t *testing.T) {
	type block = [2]uint32
	for name, x := range map[string]struct {
		blocks []block
		want   uint64
	}{
		"none":                         {nil, 1000},
		"two":                          {[]block{{600, 700}, {200, 300}}, 800},
		"acknowledged before":          {[]block{{0, 50}, {200, 300}}, 900},
		"a D-SACK within the next":     {[]block{{300, 400}, {150, 1100}}, 50},
		"a D-SACK at the front":        {[]block{{150, 400}, {150, 1100}}, 50},
		"all, twice":                   {[]block{{100, 1100}, {100, 1100}}, 0},
		"blocks that overlap":          {[]block{{200, 400}, {300, 500}, {450, 600}, {900, 1000}}, 500},
		"beyond what was sent":         {[]block{{200, 1101}}, 1000},
		"from before what is missing":  {[]block{{50, 200}}, 1000},
		"backwards":                    {[]block{{300, 200}}, 1000},
		"nothing":                      {[]block{{300, 300}}, 1000},
		"half of all numbers and more": {[]block{{200, 1<<31 + 150}, {1<<31 + 50, 90}}, 1000},
	} {
		for _, base := range []uint32{0, 1<<31 - 500, 1<<32 - 500} {
			own, peer := new(tcpAnalysis), new(tcpAnalysis)
			own.send(sentSegment{seq: base + 100, end: base + 1100})
			for i, b := range x.blocks {
				peer.sacks[i] = sentSegment{seq: base + b[0], end: base + b[1]}
			}
			s := tcpSegment{flight: own, sacks: peer}
			if got := s.inFlight(); got != x.want {
				t.Errorf("%s, from %d: %d octets in flight, not %d", name, base, got, x.want)
			}
		}
	}
}
