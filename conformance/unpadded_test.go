package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestUnpadded: without CRCs, FPDUs without pads are told once, where the first one begins that lacks its pad, and all messages are
// there. One alone among others is not proven to be that.
func TestUnpadded(t *testing.T) {
	for _, tt := range []struct {
		name    string
		sizes   []int
		lacking []int // messages
		want    []string
	}{
		{"all", []int{25, 33, 41, 26, 27, 28, 29, 101}, []int{1, 2, 3, 4, 5, 6, 7, 8}, []string{"MPA-FPDU-PAD-02 i2r 6"}},
		{"large ones", []int{1001, 1001, 1001, 1001}, []int{1, 2, 3, 4}, []string{"MPA-FPDU-PAD-02 i2r 6"}},
		{"behind some that need no pad", []int{24, 24, 25, 33, 41}, []int{3, 4, 5}, []string{"MPA-FPDU-PAD-02 i2r 9"}},
		{"up to the end", []int{24, 25, 25}, []int{2, 3}, []string{"MPA-FPDU-PAD-02 i2r 7"}},
		{"one", []int{24, 25, 24, 24, 24, 24}, []int{2}, []string{"MPA-FPDU-FMT-01 i2r 7"}},
		{"none", []int{25, 33, 41, 26, 27, 28, 29, 101}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sends, faults strings.Builder
			for _, n := range tt.sizes {
				fmt.Fprintf(&sends, "send %d, ", n)
			}
			for _, n := range tt.lacking {
				fmt.Fprintf(&faults, "{at: send%d, pad: {hex: ''}}, ", n)
			}
			s, err := scenario.Parse("t.yaml", fmt.Appendf(nil, "summary: a trace\nboth: {mpa: {crc: false}}\ntimeline: [connect, %sclose]\nfaults: [%s{by: server, ignores: [errors]}]\n", &sends, &faults))
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
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q\n\t%s", got, tt.want, text(j.findings))
			}
		})
	}
}
