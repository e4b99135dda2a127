package conformance_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/scenario"
)

// untagged is a segment of a Send of the client as a step of a scenario.
func untagged(msn, mo uint32, last bool, payload []byte) string {
	s := ddp.Segment{Last: last, DV: 1, RsvdULP: rdmap.Control{RV: 1, Opcode: rdmap.OpSend}.Octet(), MSN: msn, MO: mo}
	return fmt.Sprintf("  - {segment: {hex: \"%x\"}, from: client}\n", append(s.Append(nil), payload...))
}

// frameWith is the index of the frame that holds octets.
func frameWith(t *testing.T, frames []capture.Frame, octets []byte) int {
	t.Helper()
	i := slices.IndexFunc(frames, func(f capture.Frame) bool { return bytes.Contains(f.Data, octets) })
	if i < 0 {
		t.Fatalf("no frame holds %q", octets)
	}
	return i
}

// wantFaults is wantFindings for rules, without notes.
func wantFaults(t *testing.T, frames []capture.Frame, want []string) {
	t.Helper()
	j := judged(t, frames)
	j.findings = slices.DeleteFunc(j.findings, func(f conformance.Finding) bool { return f.Severity <= conformance.Note })
	if got := ids(j.findings, ""); !slices.Equal(got, want) {
		t.Errorf("%v, want %v\n\t%s", got, want, text(j.findings))
	}
}

// TestRelearned: behind a hole in the capture, and where its start was not captured, what a
// queue or flow holds is known again from the end of a message on.
func TestRelearned(t *testing.T) {
	hundred := bytes.Repeat([]byte{'x'}, 100)
	send := func(msn, second uint32) string {
		return untagged(msn, 0, false, hundred) + untagged(msn, second, true, hundred)
	}
	write := func(stag uint32, to uint64) string {
		return tagged(rdmap.OpWrite, 0x100, 0, false, hundred) + tagged(rdmap.OpWrite, stag, to, true, hundred) + untagged(3, 0, true, hundred)
	}
	region := "  - {region: {name: a, of: client, stag: 0x100, to: 0, size: 64KiB}}\n"
	lostSend, lostWrite := []byte("a Send that is lost"), []byte("a Write that is lost")
	for _, c := range []struct {
		name, steps string
		want        []string
	}{
		{"a right Send", send(3, 100), nil},
		{"MO that leaves a gap", send(3, 104), []string{"DDP-UNTAG-MO-02"}},
		{"no MO 0", untagged(3, 8, false, hundred) + untagged(3, 108, true, hundred), []string{"DDP-UNTAG-MO-01"}},
		{"another MSN", untagged(3, 0, false, hundred) + untagged(4, 100, true, hundred), []string{"DDP-UNTAG-MSN-04"}},
		{"no L", untagged(3, 0, false, hundred), []string{"DDP-L-01"}},
		{"the MSN before again", untagged(2, 0, true, lostSend) + untagged(3, 0, true, hundred), []string{"DDP-UNTAG-MSN-02"}},
		{"the second half first", untagged(3, 100, false, hundred) + untagged(3, 0, true, hundred), []string{"DDP-L-04"}},
		{"a right Write", write(0x100, 100), nil},
		{"TO that leaves a gap", write(0x100, 104), []string{"DDP-TO-01"}},
		{"another STag", write(0x101, 100), []string{"DDP-STAG-01"}},
	} {
		yaml := "summary: a trace\ntimeline:\n  - connect\n" + region + untagged(1, 0, true, lostSend) + tagged(rdmap.OpWrite, 0x100, 0, true, lostWrite) +
			untagged(2, 0, true, hundred) + "  - {write: 100, from: server, to: {stag: 0x100, to: 0}}\n" +
			c.steps + untagged(4, 0, true, hundred) + "  - {write: 100, from: server, to: {stag: 0x100, to: 0}}\n" +
			"  - wait 1s\n  - close\nfaults:\n  - {by: both, ignores: [errors, requests]}\n"
		s, err := scenario.Parse(c.name, []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		frames := framesOf(t, s.Script(false))
		first, second := frameWith(t, frames, lostSend), frameWith(t, frames, lostWrite)
		t.Run(c.name, func(t *testing.T) { wantFaults(t, frames, c.want) })
		t.Run(c.name+", with a hole", func(t *testing.T) {
			wantFaults(t, slices.Concat(frames[:first], frames[first+1:second], frames[second+1:]), c.want)
		})
		t.Run(c.name+", without the start", func(t *testing.T) { wantFaults(t, frames[second+1:], c.want) })
	}
}
