package conformance_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// told records the findings of the engine, and between which frames they came.
type told struct {
	judge
	frame uint64
	over  bool
	when  map[string]string // when each rule was reported
	all   []conformance.Finding
}

func (s *told) Frame(f *pipeline.Frame) { s.frame = f.Number }

func (s *told) finding(f *conformance.Finding) {
	s.all = append(s.all, *f)
	switch {
	case s.over:
		s.when[f.Rule.ID] = "at the end"
	case s.frame+1 == f.Frame: // a frame is reported after its findings
		s.when[f.Rule.ID] = "at once"
	default:
		s.when[f.Rule.ID] = "later"
	}
}

// hear runs frames and records findings as they become certain.
func hear(t *testing.T, frames []capture.Frame) *told {
	t.Helper()
	s := &told{when: map[string]string{}}
	s.Engine = conformance.New(conformance.Options{OnFinding: s.finding}, &s.judge)
	run := pipeline.New(pipeline.Options{}, s)
	if err := run.Read(tracetest.Source(frames)); err != nil {
		t.Fatal(err)
	}
	s.over = true
	run.Finish()
	return s
}

// TestOnFinding: the findings reported while the capture is read are those found in the
// end, each once, and findings on the current PDU wait only if they must.
func TestOnFinding(t *testing.T) {
	for _, s := range tracetest.Some(scenario.Builtin(), 3) {
		got := hear(t, framesOf(t, s.Script(false)))
		count := map[string]int{}
		for i := range got.all {
			count[text(got.all[i:i+1])]++
		}
		for i := range got.findings {
			count[text(got.findings[i:i+1])]--
		}
		for f, n := range count {
			if n != 0 {
				t.Errorf("%s: told %+d times more than found: %s", s.Name, n, f)
			}
		}
	}
}

// TestOnFinding_When: a finding is reported with the frame that shows it, except those
// that another one may still explain, or that only the end shows.
func TestOnFinding_When(t *testing.T) {
	for _, c := range []struct {
		rule, when string // the name of its scenario as well
	}{
		{"DDP-UNTAG-MSN-02", "at once"},
		{"MPA-CRC-VALUE-01", "at the end"}, // no FPDU follows that would show another cause
		{"RDMAP-READRESP-STAG-01", "at once"},
		{"MPA-C-ON-01", "later"},          // with the third
		{"DDP-UNTAG-MO-01", "at the end"}, // no message follows that would show it
		{"MPA2-IRDORD-02", "later"},       // with what the initiator sends first
		{"MPA-M-REQ-01", "at the end"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			shown := false
			for _, s := range scenario.Builtin() {
				if s.Name != c.rule {
					continue
				}
				shown = true
				if got := hear(t, framesOf(t, s.Script(false))).when[c.rule]; got != c.when {
					t.Errorf("told %s, want %s", got, c.when)
				}
			}
			if !shown {
				t.Error("no such scenario")
			}
		})
	}
}

// TestOnFinding_Many: the last finding of a rule that is listed waits for the end, and
// says how many more there are.
func TestOnFinding_Many(t *testing.T) {
	d := tracetest.NewDialog(tracetest.Setup{Rev: 1, CRC: true})
	d.Request()
	d.Reply()
	for msn := range uint32(130) {
		u := tracetest.Send(rdmap.OpSend, 0, msn+1, 0, true, []byte("ping"))
		u[0] |= 0x04 // a reserved bit of DDP
		d.FPDU(0, u)
	}
	got := hear(t, tracetest.Net{}.Frames(tracetest.Connection(d, 0)))
	n, further := 0, 0
	for i := range got.all {
		f := &got.all[i]
		if f.Rule.ID == "DDP-RSVD-01" {
			n++
			if further > 0 {
				t.Error("one comes behind the last")
			}
			further = f.Further()
		}
	}
	if n != 100 || further != 30 {
		t.Errorf("%d findings, and %d further ones; want 100 and 30", n, further)
	}
}
