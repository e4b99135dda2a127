package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestEndings_BehindOctets compares what is said of an end behind octets that are no FPDU: one problem, the cause first.
func TestEndings_BehindOctets(t *testing.T) {
	const octets = "faults: [{at: send2, before: {hex: aabbcc}}]\n"
	var b strings.Builder
	for _, tt := range []struct{ name, src string }{
		{"close", "timeline: [connect, send 100 x3, read 4KiB, send 100, read 4KiB, close]\n" + octets},
		{"reset", "timeline: [connect, send 100 x3, read 4KiB, send 100, read 4KiB, server reset]\n" + octets},
		{"nothing waits", "timeline: [connect, send 100 x3, read 4KiB, send 100, close]\n" + octets},
	} {
		fs, err := tracetest.ReadFile(generate(t, tt.src, false))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, text(diagnosed(t, tracetest.Source(fs))))
	}
	golden(t, "endings.txt", b.String())
}
