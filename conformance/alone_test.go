package conformance_test

import (
	"fmt"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
	"github.com/iwdissect/iwdissect/internal/tracetest/tracerun"
	"github.com/iwdissect/iwdissect/trace"
)

// eachAlone are captures of either direction alone.
var eachAlone = []tracetest.Alone{tracetest.Alone(trace.I2R), tracetest.Alone(trace.R2I)}

// TestAlone_Captures: neither direction alone is accused of anything if both together are not.
func TestAlone_Captures(t *testing.T) {
	check := func(name string, fs []capture.Frame) { aloneOf(t, name, pipeline.Options{}, fs) }
	tracerun.Captures(t, "..", check)
	tracerun.Outside(t, check)
}

// TestAlone_Scenarios is the same for the legal traces of the scenarios: all in the campaign, some of them
// otherwise.
func TestAlone_Scenarios(t *testing.T) {
	tracerun.LegalScenarios(t, 8, func(name string, fs []capture.Frame) { aloneOf(t, name, optionsOf(name), fs) })
}

func aloneOf(t *testing.T, name string, opt pipeline.Options, fs []capture.Frame) {
	t.Helper()
	if whole, _ := alarms(t, opt, fs); len(whole) == 0 {
		noMore(t, name, opt, fs, eachAlone, "ADV-")
	}
}

// TestAlone_Faults: what the direction of a fault shows by itself is found without the other one.
func TestAlone_Faults(t *testing.T) {
	const least = 0.4
	all, kept := 0, 0
	for _, s := range tracetest.Some(scenario.Builtin(), 4) {
		fs := framesOf(t, s.Script(false))
		whole, _ := alarms(t, optionsOf(s.Name), fs)
		if !s.HasFaults() || whole[s.Name] == 0 {
			continue
		}
		all++
		for _, a := range eachAlone {
			if found, _ := alarms(t, optionsOf(s.Name), a.Of(fs)); found[s.Name] > 0 {
				kept++
				break
			}
		}
	}
	if t.Logf("%d of %d are found", kept, all); all < 40 || float64(kept) < least*float64(all) {
		t.Errorf("only %d of %d faults are found", kept, all)
	}
}

// TestAlone_CRC: C=1 in the one startup frame that was captured enables CRCs, and wrong ones are found where there
// are no markers. C=0 in the Request does not say whether there are any; a server repeats C=1.
func TestAlone_CRC(t *testing.T) {
	const sends = "timeline: [connect, send 600, server send 600, send 600, server send 600, send 24, server send 24, close]\n"
	for _, c := range []struct {
		who   string
		alone tracetest.Alone
	}{{"client", eachAlone[0]}, {"server", eachAlone[1]}} {
		for _, markers := range []bool{false, true} {
			for _, crc := range []string{"own", "other", "both"} {
				other := map[string]string{"client": "server", "server": "client"}[c.who]
				yaml := fmt.Sprintf("summary: a trace\nboth: {mpa: {markers: %t}}\n%s: {mpa: {crc: %t}}\n%s: {mpa: {crc: %t}}\n%s",
					markers, c.who, crc != "other", other, crc != "own", sends)
				want := 1
				if markers || c.who == "client" && crc == "other" {
					want = 0
				}
				t.Run(fmt.Sprintf("%s, markers %t, C=1 of %s", c.who, markers, crc), func(t *testing.T) {
					judgeAlone(t, yaml, c.alone, 0)
					nth := map[string]string{"client": "send3", "server": "send4"}[c.who]
					judgeAlone(t, yaml+fmt.Sprintf("faults: [{at: %s, crc: bad}, {by: %s, ignores: [errors]}]\n", nth, other), c.alone, want)
				})
			}
		}
	}
}

// judgeAlone judges one direction of a trace, in which that many CRCs and nothing else have to be found wrong.
func judgeAlone(t *testing.T, yaml string, a tracetest.Alone, want int) {
	t.Helper()
	s, err := scenario.Parse("alone", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	fs := framesOf(t, s.Script(false))
	found, j := alarms(t, pipeline.Options{}, a.Of(fs))
	if found["MPA-CRC-VALUE-01"] != want || len(found) > want {
		t.Errorf("%s\n%v: %v\n\t%s", yaml, a, found, text(j.findings))
	}
}
