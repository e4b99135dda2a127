package conformance_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// told records what the engine says, and between which frames.
type told struct {
	judge
	frame uint64
	early map[string]bool // certain before the last frame
	all   []conformance.Finding
}

func (s *told) Frame(f *pipeline.Frame) { s.frame = f.Number }

func (s *told) finding(f *conformance.Finding) {
	s.all = append(s.all, *f)
	s.early[f.Rule.ID] = s.frame+1 == f.Frame // its own frame is told of behind it
}

// hear runs frames and records findings as they become certain.
func hear(t *testing.T, frames []capture.Frame) *told {
	t.Helper()
	s := &told{early: map[string]bool{}}
	s.Engine = conformance.New(conformance.Options{OnFinding: s.finding}, &s.judge)
	run := pipeline.New(pipeline.Options{}, s)
	if err := run.Read(tracetest.Source(frames)); err != nil {
		t.Fatal(err)
	}
	run.Finish()
	return s
}

// TestOnFinding: what is told while the capture is read is what is found in the
// end, each once, and of a PDU that is at hand nothing waits that need not.
func TestOnFinding(t *testing.T) {
	for _, s := range scenario.Builtin() {
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

// TestOnFinding_When: a finding is told with the frame that shows it, but for
// those that another one may still explain, or that only the end shows.
func TestOnFinding_When(t *testing.T) {
	for _, c := range []struct {
		scenario string
		early    map[string]bool
	}{
		{"DDP-UNTAG-MSN-02", map[string]bool{"DDP-UNTAG-MSN-02": true}},
		{"MPA-CRC-VALUE-01", map[string]bool{"MPA-CRC-VALUE-01": true}},
		{"MPA-C-ON-01", map[string]bool{"MPA-C-ON-01": false}},
		{"RDMAP-READRESP-STAG-01", map[string]bool{"RDMAP-READRESP-STAG-01": true}},
		{"MPA2-IRDORD-02", map[string]bool{"MPA2-IRDORD-02": false}},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			shown := false
			for _, s := range scenario.Builtin() {
				if s.Name != c.scenario {
					continue
				}
				shown = true
				got := hear(t, framesOf(t, s.Script(false)))
				for rule := range got.early {
					if _, ok := c.early[rule]; !ok {
						delete(got.early, rule)
					}
				}
				if d := cmp.Diff(c.early, got.early); d != "" {
					t.Error(d)
				}
			}
			if !shown {
				t.Error("no such scenario")
			}
		})
	}
}

// TestOnFinding_Many: the last finding of a rule that is listed waits for the end,
// and tells how many more there are.
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
