package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestTraits: findings and verdicts are the same whether the rules that do not speak of a connection
// are left out at its end or asked nevertheless; and so is all that the short ways leave out.
func TestTraits(t *testing.T) {
	for _, s := range tracetest.Some(scenario.Builtin(), 4) {
		fs := framesOf(t, s.Script(false))
		sameSaid(t, s.Name, said(t, fs, 0, 0, false), said(t, fs, 0, 0, true))
	}
}
