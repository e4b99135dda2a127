package conformance_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/scenario"
)

// TestTraits: findings and verdicts are the same whether the rules that do not speak of a connection
// are left out at its end or asked nevertheless; and so is all that the short ways leave out.
func TestTraits(t *testing.T) {
	for _, s := range scenario.Builtin() {
		fs := framesOf(t, s.Script(false))
		quick, long := said(t, fs, 0, 0, false), said(t, fs, 0, 0, true)
		if quick == long {
			continue
		}
		a, b := strings.Split(quick, "\n"), strings.Split(long, "\n")
		i := 0
		for i < min(len(a), len(b))-1 && a[i] == b[i] {
			i++
		}
		t.Errorf("%s: %d lines, the long way %d; the first that differ:\n%s\n%s", s.Name, len(a), len(b), a[i], b[i])
	}
}
