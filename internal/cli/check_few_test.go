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
	_, errs, code = ran("", "check", "--conn", "70", "--min-connections", "1", "../../testdata/pcaps/lo-rping-crc.pcap", "../../testdata/pcaps/term-wbadkey.pcap")
	if code != 2 || !strings.Contains(errs, "check: there is no connection 70, only 0\n") {
		t.Errorf("of several captures: %d: %s", code, errs)
	}
}
