package cli

import (
	"strings"
	"testing"
)

// TestCheckFew_Absent: a connection that a capture does not have is named wrongly, and is no lack of the capture.
func TestCheckFew_Absent(t *testing.T) {
	_, errs, code := ran("", "check", "--conn", "70", "--min-connections", "1", "../../testdata/pcaps/lo-rping-crc.pcap")
	if code != 2 || strings.Contains(errs, "could be read") || strings.Contains(errs, "min-connections") {
		t.Errorf("%d: %s", code, errs)
	}
}
