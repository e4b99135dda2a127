package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestDamaged_SCTP compares what is said of wrong checksums of SCTP: among right ones, a few are damage on the way;
// more of them, and those that show what the sender did, are its faults.
func TestDamaged_SCTP(t *testing.T) {
	const plain = "transport: sctp\ntimeline: [connect, send 1000 x20, send 10, server send 1000 x20, end, close]\n"
	var b strings.Builder
	for _, tt := range []struct{ name, faults string }{
		{"clean", ""},
		{"one", "{at: send1#5, crc: bad}"},
		{"both sides", "{at: send1#5, crc: bad}, {at: send3#3, crc: bad}, {at: send3#5, crc: bad}"},
		{"too many", "{at: send1, crc: bad}"},
		{"the other order", "{at: send1#5, crc: reversed}"},
		{"left out", "{at: send1#5, crc: zero}"},
	} {
		fs, err := tracetest.ReadFile(generate(t, plain+"faults: ["+tt.faults+"]\n", false))
		if err != nil {
			t.Fatal(err)
		}
		said := text(diagnosed(t, tracetest.Source(fs)))
		if tt.name == "clean" && said != "" {
			t.Errorf("clean: %s", said)
		}
		fmt.Fprintf(&b, "== %s\n%s", tt.name, said)
	}
	golden(t, "damaged.txt", b.String())
}
