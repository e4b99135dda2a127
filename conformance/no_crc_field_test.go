package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestNoCRCField: of FPDUs without a CRC field the first one is named, in the frame in which it was sent.
func TestNoCRCField(t *testing.T) {
	const none = "{at: send2, crc: none}, {at: send3, crc: none}, {at: send4, crc: none}, {at: send5, crc: none}, {by: server, ignores: [errors]}]\n"
	for _, tt := range []struct {
		name, faults string
		want         []string
	}{
		{"from the first FPDU on", "[{at: send1, crc: none}, " + none, []string{"error i2r 6"}},
		{"from the second FPDU on", "[" + none, []string{"error i2r 7"}},
		{"none", "[]", nil},
	} {
		s, err := scenario.Parse(tt.name, []byte("summary: a trace\nboth: {mpa: {crc: false}}\ntimeline: [connect, send 24, send 100, send 24, send 24, send 24, close]\nfaults: "+tt.faults))
		if err != nil {
			t.Fatal(err)
		}
		j := judged(t, framesOf(t, s.Script(false)))
		if got := foundBy(j, "MPA-C-FIELD-01"); !slices.Equal(got, tt.want) || len(j.findings) != len(tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(j.findings))
		}
	}
}
