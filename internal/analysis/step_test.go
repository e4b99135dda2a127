package analysis_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// seen is what is found of a connection, apart from when it was captured.
type seen struct {
	pdus, transactions []string
}

// seenIn is what is found in frames, by the endpoints of the connections. Where nothing tells who
// opened a connection, the direction is that of the first frame, so the sender is named in its
// place.
func seenIn(t *testing.T, fs []capture.Frame) (map[string]seen, *tracerun.Result) {
	t.Helper()
	r, out := tracerun.Run(t, pipeline.Options{}, fs), map[string]seen{}
	for _, c := range r.Conns {
		s := out[ends(c)]
		dirs := []trace.Dir{trace.I2R, trace.R2I}
		slices.SortFunc(dirs, func(a, b trace.Dir) int { return c.Side[a].Addr.Compare(c.Side[b].Addr) })
		for _, d := range dirs {
			from := c.Side[d].Addr
			if c.RolesKnown {
				s.pdus = append(s.pdus, fmt.Sprintf("%v is %v", from, d))
			}
			for _, p := range r.Of(c.Number, d) {
				line := fmt.Sprintf("%v %v %d+%d", from, p.Kind, p.From, p.Length)
				if p.Segment != nil {
					line += fmt.Sprintf(" %v last %t", p.Control.Opcode, p.Segment.Last)
				}
				s.pdus = append(s.pdus, line)
			}
		}
		s.pdus = append(s.pdus, fmt.Sprint(c.Outcome))
		s.transactions = append(s.transactions, r.Answers(c.Number)...)
		s.transactions = append(s.transactions, fmt.Sprintf("unmatched %d %d", c.Flow[dirs[0]].Rare().Unmatched, c.Flow[dirs[1]].Rare().Unmatched))
		out[ends(c)] = s
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
	late := map[string]bool{}
	for i := range whole.Conns {
		// Sessions of SCTP begin with chunks, which then are of another session.
		if c := whole.Conns[i]; c.Transport == trace.SCTP {
			delete(want, ends(c))
		} else if !c.RolesKnown {
			late[ends(c)] = true
		}
	}
	for _, s := range tracetest.Steps() {
		got, r := seenIn(t, s.Of(fs))
		for conn := range want {
			if d := tracetest.Diff(got[conn].pdus, want[conn].pdus); d != "" {
				t.Errorf("%s, %v: %s: %s", name, s, conn, d)
			}
			// Without a beginning a whole direction may be captured before anything of the
			// other: nothing tells then that answers have a request.
			if late[conn] && (s.Frames > 8 || s.By > time.Millisecond) {
				continue
			}
			if d := tracetest.Diff(got[conn].transactions, want[conn].transactions); d != "" {
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
	check := func(name string, fs []capture.Frame) { checkSteps(t, name, fs) }
	tracerun.Captures(t, "../..", check)
	tracerun.Outside(t, check)
	tracerun.LegalScenarios(t, 16, check)
	for i, setup := range tracetest.Setups() {
		d := tracetest.NewDialog(setup)
		d.Request()
		d.Reply()
		d.Work(random(uint64(i)), 60, 4000, 1440)
		checkSteps(t, fmt.Sprintf("setup %d", i), tracetest.Net{Link: packet.LinkEthernet}.Frames(tracetest.Connection(d, 1448)))
	}
}

// loaded are the frames of a load.
func loaded(t *testing.T, l scenario.Shape) []capture.Frame {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Run(&b, scenario.Load(l)); err != nil {
		t.Fatal(err)
	}
	fs, err := tracetest.ReadFile(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestDisorder: after a few holes that were given up too early, those of a direction in great disorder wait longer, so
// that nearly all of it is read.
func TestDisorder(t *testing.T) {
	const latest = 5 * time.Millisecond
	fs, rnd := loaded(t, scenario.Shape{Size: 6 << 20, Flows: 1, Seed: 7}), random(7)
	whole := len(tracerun.Run(t, pipeline.Options{}, fs).PDUs)
	for i := range fs {
		fs[i].Time += rnd.Int64N(int64(latest))
	}
	slices.SortStableFunc(fs, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
	if n := len(tracerun.Run(t, pipeline.Options{}, tracetest.Number(fs)).PDUs); n < whole*4/5 {
		t.Errorf("%d PDUs, %d in order", n, whole)
	}
}

// TestOutOfStep_Loss: where packets were lost and sent again, and the capture has all of them, it has no gap, however far
// its directions are out of step. Acknowledgements come before what they acknowledge, and so long
// before what was sent again.
func TestOutOfStep_Loss(t *testing.T) {
	for _, sctp := range []bool{false, true} {
		fs := loaded(t, scenario.Shape{Size: 2 << 20, Flows: 3, Seed: 7, Loss: .01, Reorder: .01, SCTP: sctp})
		if !sctp {
			checkSteps(t, "loss", fs)
		}
		for _, early := range []trace.Dir{trace.I2R, trace.R2I} {
			for _, by := range []time.Duration{50, 200, 1000, 5000} {
				s := tracetest.Step{Early: early, By: by * time.Microsecond}
				for _, c := range tracerun.Run(t, pipeline.Options{}, s.Of(fs)).Conns {
					for d := range c.Flow {
						if n := c.Flow[d].Rare().Gaps; n > 0 {
							t.Errorf("SCTP %t, %v: %d gaps %v in connection %d", sctp, s, n, trace.Dir(d), c.Number)
						}
					}
				}
			}
		}
	}
}
