package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestOvertaking: an Atomic Response with the identifier of another open request overtook the response to an earlier one, if that comes
// or the connection ends; if a response repeats the identifier instead, it was wrong in the first.
func TestOvertaking(t *testing.T) {
	const three = "{together: [{fetch_add: 1, id: 1}, {fetch_add: 1, id: 2}, {fetch_add: 1, id: 3}]}"
	const again = "{together: [{fetch_add: 1, id: 1}, {fetch_add: 1, id: 2}]}, {fetch_add: 1, id: 2}"
	const wrong, overtakes = "RDMAX-ARESP-ID-01", "RDMAX-ORDER-01"
	for _, tt := range []struct {
		name, steps string
		ids         []int // of the responses
		want        string
		right       string // the identifier that must be there
	}{
		{"legal", three, []int{1, 2, 3}, "", ""},
		{"legal, an identifier that is used again", again, []int{1, 2, 2}, "", ""},
		{"that of the next one", three, []int{2, 2, 3}, wrong, " 0x1"},
		{"that of the next but one", three, []int{3, 2, 3}, wrong, " 0x1"},
		{"that of the last one, in the middle", three, []int{1, 3, 3}, wrong, " 0x2"},
		{"that of the next one, which is used again", again, []int{2, 2, 2}, wrong, " 0x1"},
		{"that of none", three, []int{9, 2, 3}, wrong, " 0x1"},
		{"in another order", three, []int{2, 1, 3}, overtakes, ""},
		{"in another order, and one is used again", again, []int{2, 1, 2}, overtakes, ""},
	} {
		for _, transport := range []string{"tcp", "sctp"} {
			src := fmt.Sprintf("transport: %s\nboth: {%s: {bundle: false}}\ntimeline: [connect, %s, wait 1s, end, close]\nfaults:\n", transport, transport, tt.steps)
			if transport == "tcp" {
				src = fmt.Sprintf("timeline: [connect, %s, close]\nfaults:\n", tt.steps)
			}
			for i, id := range tt.ids {
				if old := i + 1; tt.steps == again && i == 2 && id == 2 || id == old {
					continue
				}
				src += fmt.Sprintf("  - {at: fetch_add%d.response, set: {iwarp_rdma.atomic.original_request_identifier: %d}}\n", i+1, id)
			}
			src = strings.TrimSuffix(src, "faults:\n")
			j := judged(t, framesOf(t, parsed(t, src)))
			var found []string
			for _, f := range j.findings {
				switch {
				case f.Rule.ID == wrong:
					found = append(found, wrong+" "+f.Expected)
				case strings.HasPrefix(f.Rule.ID, "RDMAX-"):
					found = append(found, f.Rule.ID)
				}
			}
			var want []string
			if tt.want != "" {
				want = []string{tt.want + tt.right}
			}
			if !slices.Equal(found, want) {
				t.Errorf("%s, %s: %q, want %q\n\t%s", tt.name, transport, found, want, text(j.findings))
			}
		}
	}
}

// TestOvertaking_end: where nothing follows a response to a later request, it overtook the other one.
func TestOvertaking_end(t *testing.T) {
	fs := framesOf(t, parsed(t, `timeline: [connect, {together: [{fetch_add: 1, id: 1}, {fetch_add: 1, id: 2}]}, close]
faults:
  - {at: fetch_add1.response, set: {iwarp_rdma.atomic.original_request_identifier: 2}}
`))
	const first = 8 // the frame of the first response
	j := judged(t, fs[:first])
	if len(j.findings) != 1 || j.findings[0].Rule.ID != "RDMAX-ORDER-01" || j.findings[0].Frame != first {
		t.Errorf("found: %s", text(j.findings))
	}
}
