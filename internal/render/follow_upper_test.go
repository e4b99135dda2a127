package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// TestFollow_Failed: an answer that tells of an error of the upper layer is not among those that are left out because they
// repeat others that succeeded. Answers that fail one after the other repeat each other.
func TestFollow_Failed(t *testing.T) {
	for _, x := range []struct {
		failed func(n uint64) bool
		lines  int // besides the first ones and those that say how often they repeat
		shown  []int
	}{
		{func(uint64) bool { return false }, 2, nil},
		{func(n uint64) bool { return n == 21 }, 5, []int{21}},
		{func(n uint64) bool { return n >= 21 }, 4, []int{21}},
	} {
		var out strings.Builder
		f := NewFollow(&out, FollowOptions{Times: NoTime})
		c := &trace.Connection{IsMPA: true, SYN: true}
		for n := range uint64(40) {
			info, errors := "response Read success", 0
			if x.failed(n) {
				info, errors = fmt.Sprintf("response Read %d FAILED", n), 1
			}
			p := pduOf(n, c, trace.R2I, rdmap.OpSend, ddp.Segment{DV: 1, MSN: uint32(n + 1), Last: true}, 16, trace.Message{Segments: 1, Done: true, StartKnown: true})
			p.Upper = &trace.Upper{Protocol: "NVMe/RDMA", Info: []byte(info), HasOperation: true, Operation: trace.UpperOperation{Name: "Read"}, Answers: 1, Errors: errors}
			f.PDU(p)
			f.Frame(frameOf(n+1, c, trace.R2I))
		}
		f.Connections(slices.Values([]*trace.Connection{c}))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for _, n := range x.shown {
			if !strings.Contains(out.String(), fmt.Sprintf("Read %d FAILED", n)) {
				t.Errorf("answer %d is not shown:\n%s", n, out.String())
			}
		}
		if n := strings.Count(out.String(), "<-- Send") + strings.Count(out.String(), "…\n"); n > x.lines+2 {
			t.Errorf("%d lines, want no more than %d:\n%s", n, x.lines+2, out.String())
		}
	}
}
