package diagnose_test

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/trace"
)

// parsed is a scenario of a test.
func parsed(t *testing.T, src string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("t.yaml", []byte("summary: a test\n"+src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ignoring has the server ignore what it should refuse.
const ignoring = ", {by: server, ignores: [errors]}]\n"

// TestRefusedByEnd: an end right behind what the receiver has to refuse is told with it, as one problem. An end long after it, behind
// more that the receiver sent, or of the side at fault itself, is not.
func TestRefusedByEnd(t *testing.T) {
	const sctp = "transport: sctp\n"
	const talk, wrong = "timeline: [connect, send 40, server send 40, send 41, ", "]\nfaults: [{at: send3, set: {iwarp_ddp.msn: 4}}" + ignoring
	for _, c := range []struct{ name, src, want, not string }{
		{"reset", talk + "server reset" + wrong, "error reset initiator", "warning reset"},
		{"close", talk + "server close" + wrong, "error silent-close initiator", ""},
		{"queue", talk + "server reset]\nfaults: [{at: send3, set: {iwarp_ddp.qn: 5}}" + ignoring, "reset, perhaps for DDP-UNTAG-QN-02", "warning reset"},
		{"opcode", talk + "server reset]\nfaults: [{at: send3, set: {iwarp_rdma.opcode: 15}}" + ignoring, "warning reset initiator", "note rule"},
		{"late", talk + "wait 10s, server reset" + wrong, "warning reset responder", "perhaps for"},
		{"went on", talk + "wait 100ms, server send 42, wait 100ms, server reset" + wrong, "warning reset responder", "perhaps for"},
		{"own reset", talk + "reset" + wrong, "error reset initiator", "perhaps for"},
		{"no fault", talk + "server reset]\n", "warning reset responder", "perhaps for"},
		{"abort", sctp + talk + "server reset" + wrong, "error reset initiator", "warning reset"},
		{"late abort", sctp + talk + "wait 10s, server reset" + wrong, "warning reset responder", "perhaps for"},
		{"went on, and aborted", sctp + talk + "wait 100ms, server send 42, wait 100ms, server reset" + wrong, "warning reset responder", "perhaps for"},
		{"own abort", sctp + talk + "reset" + wrong, "warning reset initiator", "perhaps for"},
		{"abort without a fault", sctp + talk + "server reset]\n", "warning reset responder", "perhaps for"},
		{
			"abort of a session", sctp + "both: {session: {enhanced: false}}\ntimeline: [connect, send 40, wait 1s, {control: accept}, wait 1ms, server reset]\nfaults: [{by: server, ignores: [errors, phase]}]\n",
			"aborted, perhaps for SCTP-DDP-SEQ-01", "warning reset",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ds := diagnosed(t, written(t, parsed(t, c.src), false))
			said := text(ds)
			if !strings.Contains(said, c.want) || c.not != "" && strings.Contains(said, c.not) {
				t.Errorf("it says\n%s, not %q, or %q", said, c.want, c.not)
			}
			if strings.Contains(said, "perhaps for") && (len(ds) != 1 || len(ds[0].Frames) != 2) {
				t.Errorf("it is not one problem:\n%s", said)
			}
		})
	}
}

// deciding diagnoses connections about whose findings somebody decided.
type deciding struct {
	*diagnose.Summary
	decides func(*conformance.Finding) bool
}

func (d deciding) Connection(c *trace.Connection, fs []conformance.Finding, vs []conformance.Judgement) {
	decided := make([]bool, len(fs))
	for i := range fs {
		decided[i] = d.decides(&fs[i])
	}
	d.Decided(c, fs, vs, decided)
}

// TestDecided: what somebody decided about changes no problem, and tells only which ones are known.
func TestDecided(t *testing.T) {
	for _, src := range []string{
		"timeline: [connect, send 40, server send 40, send 41, server reset]\nfaults: [{at: send3, crc: bad}" + ignoring,
		"timeline: [connect, send 40, send 17, wait 5s, send 24, close]\nfaults: [{at: send2, pad: {hex: ''}}" + ignoring,
		"timeline: [connect, send 40, server send 40, send 41, server reset]\nfaults: [{at: send3, set: {iwarp_ddp.msn: 4}}" + ignoring,
	} {
		s := parsed(t, src)
		list := func(decides func(*conformance.Finding) bool) []*diagnose.Diagnosis {
			var to diagnose.Summary
			run := pipeline.New(pipeline.Options{Sums: true, Brief: true}, engine{conformance.New(conformance.Options{}, deciding{&to, decides})})
			if err := run.Read(written(t, s, false)); err != nil {
				t.Fatal(err)
			}
			run.Finish()
			return to.List()
		}
		open := list(func(*conformance.Finding) bool { return false })
		known := list(func(*conformance.Finding) bool { return true })
		if len(open) == 0 || len(open) != len(known) {
			t.Fatalf("%s:\n%s\n%s", src, text(open), text(known))
		}
		first := ""
		for i, d := range known {
			o := open[i]
			if d.Title != o.Title || d.Sentences() != o.Sentences() || d.Severity != o.Severity || d.AllDecided != (len(o.BrokenRules()) > 0) || len(d.BrokenRules()) > 0 {
				t.Errorf("%s:\n%s\n%s", src, text(open), text(known))
			}
			if first == "" && len(d.Decided) > 1 {
				first = d.Decided[0]
			}
		}
		if first == "" {
			continue
		}
		for _, d := range list(func(f *conformance.Finding) bool { return f.Rule.ID == first }) {
			if d.AllDecided && len(d.BrokenRules()) > 0 {
				t.Errorf("%s: known with only %s decided:\n%s", src, first, text([]*diagnose.Diagnosis{d}))
			}
		}
	}
}
