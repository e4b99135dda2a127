package conformance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// distortions remove evidence, or disturb the path of packets. None of them makes a side
// violate a rule.
func distortions() map[string]func(*synth.Script) {
	out := map[string]func(*synth.Script){
		"one side":       func(s *synth.Script) { s.Capture.Only = link.FromClient },
		"the other side": func(s *synth.Script) { s.Capture.Only = link.FromServer },
	}
	for _, n := range []int{1, 3, 4, 5, 6, 8, 11} {
		out[fmt.Sprintf("without the first %d", n)] = func(s *synth.Script) { s.Capture.Skip = n }
	}
	for _, n := range []int{54, 70, 96, 130} {
		out[fmt.Sprintf("snap length %d", n)] = func(s *synth.Script) { s.Capture.Snaplen = n }
	}
	for seed := range uint64(6) {
		out[fmt.Sprintf("capture drops, seed %d", seed)] = func(s *synth.Script) { s.Capture.Drop, s.Capture.Seed = 0.1, seed }
		out[fmt.Sprintf("bad link, seed %d", seed)] = func(s *synth.Script) {
			for side := range 2 {
				for _, l := range []*link.Line{&s.Link.Before[side], &s.Link.After[side]} {
					l.Loss, l.Duplicate, l.Reorder = 0.05, 0.05, 0.1
				}
			}
			s.Link.Seed = seed
		}
	}
	return out
}

// TestNoFalseAlarm: however little of a legal connection was captured, and
// however it was disturbed, nothing is found but what is found on the whole of it.
// The campaign takes 4,500 captures, and 9,000 with IWDISSECT_CAMPAIGN=all; the plain run has each scenario
// distorted in a few ways, and each distortion applied to many scenarios.
func TestNoFalseAlarm(t *testing.T) {
	runs, few := 0, tracetest.Count(16, 2, 1)
	all := distortions()
	names := slices.Sorted(maps.Keys(all))
	for k, s := range scenario.Builtin() {
		opt := optionsOf(s.Name)
		whole := framesOf(t, s.Script(true))
		known := ids(judgedWith(t, opt, whole).findings, "")
		for i, what := range names {
			if len(whole) > 1000 && i%6 > 0 {
				continue // some of them do for a long one
			}
			if (i+k)%few > 0 {
				continue
			}
			script := s.Script(true)
			all[what](script)
			j := judgedWith(t, opt, framesOf(t, script))
			runs++
			for i := range j.findings {
				f := &j.findings[i]
				if f.Severity > conformance.Note && !slices.Contains(known, f.Rule.ID) {
					t.Errorf("%s, %s: %s", s.Name, what, strings.TrimSpace(text(j.findings[i:i+1])))
				}
			}
		}
	}
	t.Logf("%d captures", runs)
}
