package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFollow_Unsent: of a message in the middle of which its side closes, octets were not sent, and not missed by the capture.
func TestFollow_Unsent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.pcapng")
	if _, errs, code := ran("", "generate", "-q", "TCP-FIN-FPDU-01", "-o", file); code != exitOK {
		t.Fatal(errs)
	}
	out, errs, _ := ran("", "follow", file)
	if !strings.Contains(out, "Send msn 2, 100 octets [the stream ends 84 octets short]\n") || strings.Contains(out, "not captured") {
		t.Errorf("%s%s", out, errs)
	}
}
