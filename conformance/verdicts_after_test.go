package conformance_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// endless is a judge of several captures.
type endless struct{ *judge }

// Finish would have the rules that compare connections judge all of them.
func (endless) Finish() {}

// TestVerdicts_After: the verdicts on a connection do not depend on the connections before
// it: the same one without the fault, and others.
func TestVerdicts_After(t *testing.T) {
	t.Parallel()
	quick, long := &judge{}, &judge{}
	quick.Engine, long.Engine = conformance.New(conformance.Options{}, quick), conformance.New(conformance.Options{}, long)
	long.Engine.GoLong()
	const one = 4
	n := 0
	for _, s := range tracetest.Some(scenario.Builtin(), one) {
		for _, clean := range []bool{true, true, false, true} {
			fs := framesOf(t, s.Script(clean))
			for _, j := range []*judge{quick, long} {
				r := pipeline.New(pipeline.Options{Brief: true}, endless{j})
				if err := r.Read(tracetest.Source(fs)); err != nil {
					t.Fatal(err)
				}
				r.Finish()
			}
			for ; n < len(quick.conns); n++ {
				if a, b := fmt.Sprint(quick.conns[n].verdicts), fmt.Sprint(long.conns[n].verdicts); a != b {
					t.Fatalf("%s, clean %t: the verdicts on connection %d are\n%s\nwant\n%s", s.Name, clean, quick.conns[n].Number, a, b)
				}
			}
		}
	}
	if n < tracetest.Least(1000, one) {
		t.Errorf("%d connections were judged", n)
	}
}
