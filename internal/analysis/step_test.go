package analysis_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// seenIn is what is found in frames, apart from when it was captured: the PDUs and the
// transactions of each connection, by its endpoints.
func seenIn(t *testing.T, fs []capture.Frame) (out map[string][]string, times *tracerun.Result) {
	t.Helper()
	r := tracerun.Run(t, pipeline.Options{}, fs)
	out = map[string][]string{}
	for _, c := range r.Conns {
		name := ends(c)
		var lines []string
		for _, d := range []trace.Dir{trace.I2R, trace.R2I} {
			for _, p := range r.Of(c.Number, d) {
				line := fmt.Sprintf("%v %v %d+%d", p.Dir, p.Kind, p.From, p.Length)
				if p.Segment != nil {
					line += fmt.Sprintf(" %v last %t", p.Control.Opcode, p.Segment.Last)
				}
				lines = append(lines, line)
			}
		}
		lines = append(lines, r.Answers(c.Number)...)
		lines = append(lines, fmt.Sprintf("%v, unmatched %d %d", c.Outcome, c.Flow[0].Unmatched, c.Flow[1].Unmatched))
		out[name] = append(out[name], lines...)
	}
	return out, r
}

// ends are the endpoints of a connection, whoever opened it.
func ends(c *trace.Connection) string {
	sides := []string{c.Side[0].Addr.String(), c.Side[1].Addr.String()}
	slices.Sort(sides)
	return fmt.Sprint(sides)
}

// checkSteps compares a trace with itself, its directions out of step.
func checkSteps(t *testing.T, name string, fs []capture.Frame) {
	t.Helper()
	want, whole := seenIn(t, fs)
	for i := range whole.Conns {
		// Sessions of SCTP begin with chunks, which then are of another session. Without
		// a startup frame the direction is that of the first frame.
		if c := whole.Conns[i]; c.Transport == trace.SCTP || !c.RolesKnown {
			delete(want, ends(c))
		}
	}
	for _, s := range tracetest.Steps() {
		got, r := seenIn(t, s.Of(fs))
		for conn := range want {
			if d := tracetest.Diff(got[conn], want[conn]); d != "" {
				t.Errorf("%s, %v: %s: %s", name, s, conn, d)
			}
		}
		for _, x := range r.Transactions {
			if x.First < -1 || x.Last < -1 || x.Last < x.First {
				t.Errorf("%s, %v: latency %d and %d", name, s, x.First, x.Last)
			}
		}
	}
}

// TestOutOfStep_PDUs: directions that are out of step have the PDUs and the transactions that they
// have in step, and no latency is less than nothing.
func TestOutOfStep_PDUs(t *testing.T) {
	for _, f := range tracetest.Captures(t, "../..") {
		if filepath.Base(filepath.Dir(f)) == "generated" {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fs, err := tracetest.ReadFile(b)
		if err != nil {
			t.Fatal(err)
		}
		checkSteps(t, filepath.Base(f), fs)
	}
	for i, s := range scenario.Builtin() {
		if !tracetest.Campaign() && i%8 > 0 {
			continue
		}
		var b bytes.Buffer
		if _, err := synth.Run(&b, s.Script(true)); err != nil {
			t.Fatal(err)
		}
		fs, err := tracetest.ReadFile(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		checkSteps(t, s.Name, fs)
	}
	for i, setup := range tracetest.Setups() {
		d := tracetest.NewDialog(setup)
		d.Request()
		d.Reply()
		d.Work(random(uint64(i)), 60, 4000, 1440)
		checkSteps(t, fmt.Sprintf("setup %d", i), tracetest.Net{Link: packet.LinkEthernet}.Frames(tracetest.Connection(d, 1448)))
	}
}
