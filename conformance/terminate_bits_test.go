package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// TestTerminate_Bits: a Terminate without a header is worth a note where it concerns a segment that can be quoted: RFC 5040
// section 4.8 has it included "if possible", the whole of it.
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

// TestTerminate_BitsOfShort: where the segment in error, or its Read Request, is too short to be quoted, nobody is accused of quoting too
// little.
func TestTerminate_BitsOfShort(t *testing.T) {
	const note, warning = "RDMAP-TERM-HDRCT-01 note", "RDMAP-TERM-HDRCT-01 warning"
	for _, tt := range []struct {
		name, segment, terminate string
		want                     []string
	}{
		{"no whole header", "41 43 00000000 00000000 00000001 000000", "0/2/06", nil},
		{"one octet", "41", "0/2/05", nil},
		{"a whole header", "41 43 00000000 00000000 00000002 00000000", "0/2/06", []string{note}},
		{"a short Read Request", "41 41 00000000 00000001 00000001 00000000 0000", "0/1/FF, quote: last", nil},
		{"a whole Read Request", "41 41 00000000 00000001 00000001 00000000 00000001 0000000000000000 00000010 00000002 0000000000000000", "0/1/FF, quote: last", []string{warning}},
	} {
		src := "timeline:\n  - connect\n  - send 16\n  - {segment: {hex: \"" + tt.segment + "\"}}\n  - wait 1ms\n" +
			"  - {terminate: " + tt.terminate + ", from: server}\nfaults:\n  - {by: both, ignores: [errors]}\n"
		if len(tt.want) > 0 && strings.Contains(tt.terminate, "quote") {
			src += "  - {at: terminate1, set: {iwarp_rdma.hdrct_r: 0}, cut: -28}\n"
		}
		for _, transport := range []string{"tcp", "sctp"} {
			if got := shown(t, pipeline.Options{}, "RDMAP-TERM-HDRCT-01", "transport: "+transport+"\n"+src); !slices.Equal(got, tt.want) {
				t.Errorf("%s over %s: %v, want %v", tt.name, transport, got, tt.want)
			}
		}
	}
}
