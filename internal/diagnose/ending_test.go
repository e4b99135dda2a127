package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestEndings_Cause compares what is said of an end behind octets that are no FPDU: one problem, the cause first; and of
// one that came before what it might be for.
func TestEndings_Cause(t *testing.T) {
	const octets = "faults: [{at: send2, before: {hex: aabbcc}}]\n"
	var b strings.Builder
	for _, tt := range []struct{ name, src string }{
		{"close", "timeline: [connect, send 100 x3, read 4KiB, send 100, read 4KiB, close]\n" + octets},
		{"reset", "timeline: [connect, send 100 x3, read 4KiB, send 100, read 4KiB, server reset]\n" + octets},
		{"closed before the request", "timeline: [open, server close, start]\nfaults: [{by: client, ignores: [close]}]\n"},
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
