package pipeline_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// TestRun_HopefulFragments: a packet that was put together from fragments of IP does
// not stay where it is, so nothing of it is verified later.
func TestRun_HopefulFragments(t *testing.T) {
	for _, overSCTP := range []bool{false, true} {
		t.Run(fmt.Sprintf("SCTP %v", overSCTP), func(t *testing.T) {
			s := scenario.Load(scenario.Shape{Size: 3 << 20, Flows: 4, Seed: 1, Mix: scenario.Bulk, SCTP: overSCTP})
			s.Link.Fragment = 1000
			var b bytes.Buffer
			if _, err := synth.Run(&b, s); err != nil {
				t.Fatal(err)
			}
			f := onDisk(t, filepath.Join(t.TempDir(), "fragments.pcapng"), b.Bytes())
			defer f.Close()
			r := pipeline.New(pipeline.Options{Hopeful: true, Sums: true}, nil)
			if err := r.Read(f); err != nil {
				t.Fatal(err)
			}
			if r.Finish(); r.Totals().IP.Datagrams == 0 {
				t.Fatal("there were no fragments")
			}
		})
	}
}
