package pipeline_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestRun_Epoch: in a capture that counts its time from its first frame, what begins with that takes as long as elsewhere.
func TestRun_Epoch(t *testing.T) {
	t.Parallel()
	for _, begins := range []int64{0, 1_000_000} {
		fs := tracetest.Join(tracetest.Net{}.Frames(tracetest.Connection(small(0), 0))[3:])
		shift := fs[0].Time - begins
		for i := range fs {
			fs[i].Time -= shift
		}
		r := pipeline.New(pipeline.Options{Brief: true}, nil)
		if err := r.Read(tracetest.Source(fs)); err != nil {
			t.Fatal(err)
		}
		for c := range r.Finish().All() {
			if want := fs[1].Time - fs[0].Time; c.StartupLatency != want {
				t.Errorf("from %d: the startup took %d ns, want %d", begins, c.StartupLatency, want)
			}
		}
	}
}
