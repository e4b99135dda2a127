package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/scripts"
)

// FuzzJudge edits the traces of random scripts at every layer and has them judged. No rule may
// panic. A rule fails on a connection if there is a finding, and only then; the findings and
// verdicts of a capture are the same each time.
func FuzzJudge(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, seed%2 == 1, []byte(nil))
		for op := range byte(11) {
			f.Add(seed, seed%2 == 0, []byte{op, byte(5 + seed), 2 * op, 0x41, op, byte(20 * seed), 19, 0x80})
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, sctp bool, edits []byte) {
		if len(edits) > 40*tracetest.EditSize {
			return
		}
		script := scripts.Random(seed)
		if sctp {
			script = scripts.RandomSCTP(seed)
		}
		fs := framesOf(t, script)
		if len(fs) > 3000 {
			return
		}
		fs = tracetest.Edit(fs, edits)
		first := judgedWith(t, pipeline.Options{}, fs)
		last := map[uint64]int{} // rules that compare connections come at the end
		for i, c := range first.conns {
			last[c.Number] = i
		}
		for i, c := range first.conns {
			if last[c.Number] != i {
				continue
			}
			for i := range c.verdicts {
				v := &c.verdicts[i]
				found := slices.ContainsFunc(first.findings, func(g conformance.Finding) bool { return g.Conn.Number == c.Number && g.Rule.ID == v.Rule.ID })
				if failed := v.Verdict == conformance.Fail; failed != found && v.Rule.Severity != conformance.Note {
					t.Errorf("conn %d, %s: %v, and a finding: %t", c.Number, v.Rule.ID, v.Verdict, found)
				}
			}
		}
		second := judgedWith(t, pipeline.Options{}, fs)
		if a, b := linesOf(first), linesOf(second); !slices.Equal(a, b) {
			t.Errorf("%s", tracetest.Diff(a, b))
		}
	})
}

// linesOf are all findings and verdicts.
func linesOf(j *judge) (out []string) {
	for i := range j.findings {
		f := &j.findings[i]
		out = append(out, fmt.Sprint(f.Rule.ID, f.Severity, f.Conn.Number, f.Dir, f.Frame, f.PDU, f.Offset, f.Message, f.Observed, f.Expected, f.Related))
	}
	for _, c := range j.conns {
		for _, v := range c.verdicts {
			out = append(out, fmt.Sprint(c.Number, v.Rule.ID, v.Verdict, v.Gate))
		}
	}
	return out
}
