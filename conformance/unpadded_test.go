package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestUnpadded: FPDUs without pads are told once, where the first one begins that lacks its pad, and all messages are there. One alone among
// others is not proven to be that: without CRCs, it is not known what is wrong, and with markers only that an FPDU lacks its end. Pads that
// come again where they were missing lose the framing without CRCs.
func TestUnpadded(t *testing.T) {
	for _, tt := range []struct {
		name      string
		sizes     []int
		lacking   []int // messages
		want      []string
		withCRC   []string // if others are
		marked    []string // the same with markers, without CRCs
		unaligned bool     // FPDUs follow each other in segments
	}{
		{"all", []int{25, 33, 41, 26, 27, 28, 29, 101}, []int{1, 2, 3, 4, 5, 6, 7, 8}, []string{"MPA-FPDU-PAD-02 i2r 6"}, nil, nil, false},
		{"all, in a stream", []int{25, 333, 41, 2601, 27, 28, 29, 101}, []int{1, 2, 3, 4, 5, 6, 7, 8}, []string{"MPA-FPDU-PAD-02 i2r 6"}, nil, nil, true},
		{"large ones", []int{1001, 1001, 1001, 1001}, []int{1, 2, 3, 4}, []string{"MPA-FPDU-PAD-02 i2r 6"}, nil, nil, false},
		{"behind some that need no pad", []int{24, 24, 25, 33, 41}, []int{3, 4, 5}, []string{"MPA-FPDU-PAD-02 i2r 9"}, nil, nil, false},
		{"up to the end", []int{24, 25, 25}, []int{2, 3}, []string{"MPA-FPDU-PAD-02 i2r 7"}, nil, nil, false},
		{"one", []int{24, 25, 24, 24, 24, 24}, []int{2}, []string{"MPA-FPDU-FMT-01 i2r 7"}, []string{"MPA-FPDU-PAD-02 i2r 7"}, []string{"TCP-FIN-FPDU-01 i2r 15"}, false},
		{"with pads again", []int{25, 25, 25, 25, 25, 25}, []int{1, 2, 3}, []string{"MPA-FPDU-PAD-02 i2r 6", "MPA-FPDU-FMT-01 i2r 10"}, []string{"MPA-FPDU-PAD-02 i2r 6"}, nil, false},
		{"none", []int{25, 33, 41, 26, 27, 28, 29, 101}, nil, nil, nil, nil, false},
	} {
		for _, markers := range []bool{false, true} {
			for _, crc := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/markers %t/CRC %t", tt.name, markers, crc), func(t *testing.T) {
					want := tt.want
					switch {
					case crc && tt.withCRC != nil:
						want = tt.withCRC
					case markers && !crc && tt.marked != nil:
						want = tt.marked
					}
					var sends, faults strings.Builder
					for _, n := range tt.sizes {
						fmt.Fprintf(&sends, "send %d, ", n)
					}
					for _, n := range tt.lacking {
						fmt.Fprintf(&faults, "{at: send%d, pad: {hex: ''}}, ", n)
					}
					packing := "aligned"
					if tt.unaligned {
						packing = "stream"
					}
					s, err := scenario.Parse("t.yaml", fmt.Appendf(nil, "summary: a trace\nboth: {mpa: {crc: %t, markers: %t}, tcp: {packing: %s}}\n"+
						"timeline: [connect, %sclose]\nfaults: [%s{by: server, ignores: [errors]}]\n", crc, markers, packing, &sends, &faults))
					if err != nil {
						t.Fatal(err)
					}
					j := judged(t, framesOf(t, s.Script(false)))
					var got []string
					for _, f := range j.findings {
						if f.Severity > conformance.Note && !f.Rule.Advice {
							got = append(got, fmt.Sprintf("%s %v %d", f.Rule.ID, f.Dir, f.Frame))
						}
					}
					if !slices.Equal(got, want) {
						t.Errorf("%q, want %q\n\t%s", got, want, text(j.findings))
					}
				})
			}
		}
	}
}
