package render

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// TestFound_OnlyOrder: of connections on which a rule was not judged for different reasons the
// first one counts, whether some are left out or none. It was chance, with --worst.
func TestFound_OnlyOrder(t *testing.T) {
	t.Parallel()
	rule := entry("RULE-1")
	for range 20 {
		f := &Found{Each: true}
		for i := range uint64(20) {
			vs := []conformance.Judgement{{Rule: rule, Verdict: conformance.NotJudged, Gate: conformance.Gate(1 + i%5)}}
			f.Connection(conn(i, trace.TCP, 0, "10.0.0.1:40000", "10.0.0.2:5001"), nil, vs)
		}
		f.Only(func(n uint64) bool { return n >= 2 })
		if got := f.tally.Judgements(); len(got) != 1 || got[0].Gate != 3 {
			t.Fatalf("the reason is %v, want that of connection 2", got)
		}
	}
}
