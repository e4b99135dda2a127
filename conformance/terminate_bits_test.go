package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// TestTerminate_Bits: a Terminate without a header is worth a note where it concerns a segment that can be quoted.
func TestTerminate_Bits(t *testing.T) {
	for code, want := range map[string][]string{
		"0/2/06": {"RDMAP-TERM-HDRCT-01 note"},
		"0/2/07": nil,
		"0/2/08": nil,
	} {
		src := "timeline: [connect, send 16, {terminate: " + code + ", from: server}]\n"
		if got := shown(t, pipeline.Options{}, "RDMAP-TERM-HDRCT-01", src); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}
