package pipeline_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// TestRun_ReadAheadFragments: a packet that was assembled from fragments of IP outlives
// the buffers that they were read into.
func TestRun_ReadAheadFragments(t *testing.T) {
	for _, overSCTP := range []bool{false, true} {
		t.Run(fmt.Sprintf("SCTP %v", overSCTP), func(t *testing.T) {
			s := scenario.Load(scenario.Shape{Size: 3 << 20, Flows: 4, Seed: 1, Mix: scenario.Bulk, SCTP: overSCTP})
			s.Link.Fragment = 1000
			var b bytes.Buffer
			if _, err := synth.Run(&b, s); err != nil {
				t.Fatal(err)
			}
			want := read(t, b.Bytes(), pipeline.Options{Sums: true})
			if got := read(t, b.Bytes(), pipeline.Options{Sums: true, ReadAhead: true}); got != want {
				t.Errorf("the records are\n%.600s\nwant\n%.600s", got, want)
			}
			if strings.Contains(want, " Fragments:0 ") {
				t.Fatalf("there were no fragments: %.300s", want)
			}
		})
	}
}
