package report

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDepth_Lost: whichever packet is missing from the capture, no more Reads wait in the picture than ever did.
func TestDepth_Lost(t *testing.T) {
	whole, err := os.ReadFile(captures + "rping-rev2-crc.pcap")
	if err != nil {
		t.Fatal(err)
	}
	const fileHeader, recordHeader = 24, 16
	for at := fileHeader; at < len(whole); {
		next := at + recordHeader + int(binary.LittleEndian.Uint32(whole[at+8:]))
		file := filepath.Join(t.TempDir(), "lacking.pcap")
		if err := os.WriteFile(file, slices.Concat(whole[:at], whole[next:]), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, d := range captured(t, 0, file, 1).Details {
			for _, x := range d.Depths {
				if x.Top > 1 || slices.Max(x.Most) > 1 {
					t.Errorf("without octets %d to %d: %+v", at, next, x)
				}
			}
		}
		at = next
	}
}
