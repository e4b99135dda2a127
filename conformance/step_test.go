package conformance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// alarms counts the errors and warnings on frames, by rule.
func alarms(t *testing.T, opt pipeline.Options, fs []capture.Frame) (map[string]int, *judge) {
	t.Helper()
	j, found := judgedWith(t, opt, fs), map[string]int{}
	for i := range j.findings {
		if f := &j.findings[i]; f.Severity > conformance.Note {
			found[f.Rule.ID]++
		}
	}
	return found, j
}

// way is how a capture of a trace comes about.
type way interface {
	fmt.Stringer
	Of([]capture.Frame) []capture.Frame
}

// noMore judges captures of a trace that came about in several ways: nothing may be found that is not
// found on the trace as it was, but for rules whose names begin with what is spared.
func noMore[W way](t *testing.T, name string, opt pipeline.Options, fs []capture.Frame, ways []W, spared ...string) {
	t.Helper()
	whole, _ := alarms(t, opt, fs)
	for _, w := range ways {
		found, j := alarms(t, opt, w.Of(fs))
		for id, n := range found {
			if n <= whole[id] || slices.ContainsFunc(spared, func(prefix string) bool { return strings.HasPrefix(id, prefix) }) {
				continue
			}
			for i := range j.findings {
				if f := &j.findings[i]; f.Rule.ID == id {
					t.Errorf("%s, %v: %d times %s, on the whole %d times\n\t%s", name, w, n, id, whole[id], text(j.findings[i:i+1]))
					break
				}
			}
		}
	}
}

// TestOutOfStep_Captures: no capture whose directions are out of step is accused of anything that
// it is not accused of in step.
func TestOutOfStep_Captures(t *testing.T) {
	check := func(name string, fs []capture.Frame) { noMore(t, name, pipeline.Options{}, fs, tracetest.Steps()) }
	tracerun.Captures(t, "..", check)
	tracerun.Outside(t, check)
}

// TestOutOfStep_Scenarios is the same for the legal traces of the scenarios: all in the campaign,
// some of them otherwise.
func TestOutOfStep_Scenarios(t *testing.T) {
	tracerun.LegalScenarios(t, 8, func(name string, fs []capture.Frame) {
		noMore(t, name, optionsOf(name), fs, tracetest.Steps())
	})
}

// TestOutOfStep_Faults: a fault is found with the directions out of step as well, but for those
// traces that prove nothing any more.
func TestOutOfStep_Faults(t *testing.T) {
	const least = 0.95
	all, kept, missed := 0, 0, map[string]int{}
	for _, s := range tracetest.Some(scenario.Builtin(), 4) {
		fs := framesOf(t, s.Script(false))
		whole, _ := alarms(t, optionsOf(s.Name), fs)
		if !s.HasFaults() || whole[s.Name] == 0 {
			continue
		}
		for _, step := range tracetest.Steps() {
			found, _ := alarms(t, optionsOf(s.Name), step.Of(fs))
			if all++; found[s.Name] > 0 {
				kept++
			} else {
				missed[s.Name]++
			}
		}
	}
	t.Logf("%d of %d are found, the others are of %v", kept, all, missed)
	if all < 500 || float64(kept) < least*float64(all) {
		t.Errorf("only %d of %d faults are found", kept, all)
	}
}

// TestOutOfStep_Answers: the answer to a Read that stands before its request is judged as the
// answer that it is: a wrong one is found, and once.
func TestOutOfStep_Answers(t *testing.T) {
	for _, id := range []string{"RDMAP-READRESP-LEN-01", "RDMAP-READRESP-ORDER-01", "RDMAX-ARESP-ID-01", "RDMAP-READRESP-TO-01"} {
		s, ok := scenario.Find(id)
		if !ok {
			t.Fatalf("there is no scenario %s", id)
		}
		fs := framesOf(t, s.Script(false))
		for _, step := range tracetest.Steps() {
			if found, j := alarms(t, pipeline.Options{}, step.Of(fs)); found[id] != 1 {
				t.Errorf("%s, %v: found %d times\n\t%s", id, step, found[id], text(j.findings))
			}
		}
	}
}

// TestOutOfStep_Far: directions that are out of step by more than is put in order are not
// judged by what each knew of the other, and what waits is bounded.
func TestOutOfStep_Far(t *testing.T) {
	const count = 6000
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for i := range count {
		d.Read(tracetest.Client, uint32(i), 0, 16)
		d.Tagged(tracetest.Server, rdmap.OpReadResponse, uint32(i), 0, make([]byte, 16), 1000)
	}
	fs := tracetest.Net{}.Frames(tracetest.Connection(d, 1460))
	whole, _ := alarms(t, pipeline.Options{}, fs)
	for _, n := range []int{count / 2, 3 * count} {
		found, j := alarms(t, pipeline.Options{}, tracetest.Step{Early: trace.R2I, Frames: n}.Of(fs))
		if !maps.Equal(found, whole) {
			t.Errorf("early by %d frames: %v, in step %v", n, found, whole)
		}
		if got := fmt.Sprint(verdictOf(j, "RDMAP-READRESP-UNSOL-01")); n > count && got == fmt.Sprint(conformance.Pass) {
			t.Errorf("early by %d frames: %s", n, got)
		}
	}
}

// TestOutOfStep_RTR2007: the 2007 RTR frame is recognized however far the directions are out of step, also
// behind the FIN of the responder.
func TestOutOfStep_RTR2007(t *testing.T) {
	s, ok := scenario.Find("rtr-frame-2007")
	if !ok {
		t.Fatal("the scenario is not there")
	}
	fs := framesOf(t, s.Script(false))
	for early := range trace.Dir(2) {
		for n := range len(fs) {
			found, j := alarms(t, pipeline.Options{}, tracetest.Step{Early: early, Frames: n}.Of(fs))
			if v := verdictOf(j, "MPA-RTR07-KEY-01"); len(found) > 0 || fmt.Sprint(v) != fmt.Sprint(conformance.Fail) {
				t.Errorf("%v early by %d frames: the RTR frame: %v\n\t%s", early, n, v, text(j.findings))
			}
		}
	}
}

// TestOutOfStep_LastOctet: the last octet of each request has a frame of its own, behind the
// answer. The acknowledgement of it is not taken for one of a FIN.
func TestOutOfStep_LastOctet(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	d.Message(tracetest.Client, rdmap.OpSend, make([]byte, 10), 1000)
	for i := range uint32(8) {
		d.Read(tracetest.Client, i+1, 0, 8)
		d.Tagged(tracetest.Server, rdmap.OpReadResponse, i+1, 0, make([]byte, 8), 1000)
	}
	fs := tracetest.Net{}.Frames(tracetest.Connection(d, 51))
	late := 0
	for i := 1; i+1 < len(fs); i++ {
		if len(fs[i].Data) == 14+20+20+1 { // an octet behind the headers
			fs[i], fs[i+1] = fs[i+1], fs[i]
			late++
		}
	}
	found, j := alarms(t, pipeline.Options{}, tracetest.Number(fs))
	if late == 0 || len(found) > 0 {
		t.Errorf("%d frames swapped: %v\n\t%s", late, found, text(j.findings))
	}
}

// TestOutOfStep_Holes: what is in a hole of the capture is not judged where its directions are out of
// step, either: neither the answer to a Read in the hole nor those behind it.
func TestOutOfStep_Holes(t *testing.T) {
	const size = 200
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for i := range 8 {
		d.Read(tracetest.Client, 7, uint64(i*size), size)
		d.Break()
		if i%2 == 0 {
			continue // two at once
		}
		for j := i - 1; j <= i; j++ {
			d.Tagged(tracetest.Server, rdmap.OpReadResponse, 7, uint64(j*size), make([]byte, size), size)
			d.Break()
		}
	}
	d.Message(tracetest.Client, rdmap.OpSend, make([]byte, size), size)
	fs := tracetest.Net{}.Frames(tracetest.Connection(d, 0))
	for _, from := range []int{0, 2} { // with the handshake, or without
		for lost := 5; lost < len(fs); lost++ {
			for n := 1; n <= 2 && lost+n <= len(fs); n++ {
				holed := slices.Concat(fs[from:lost], fs[lost+n:])
				for _, s := range tracetest.Steps() {
					if found, j := alarms(t, pipeline.Options{}, s.Of(tracetest.Number(slices.Clone(holed)))); len(found) > 0 {
						t.Fatalf("from frame %d, without %d frames from %d, %v:\n\t%s", from+1, n, lost+1, s, text(j.findings))
					}
				}
			}
		}
	}
}
