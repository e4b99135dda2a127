package diagnose

import (
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// counters diagnoses a side whose MSNs are wrong in one way throughout (RFC 5041 section 4.3).
func counters(a *about) {
	for d := range a.Flow {
		a.wrongCount(trace.Dir(d))
	}
}

// wrongCount diagnoses MSNs with swapped octets, and a side that counts the messages of queues 0 and 1 together: each wrong MSN is
// the next one of the other queue. One alone of those may be chance.
func (a *about) wrongCount(dir trace.Dir) {
	wrong := func(f *conformance.Finding) bool {
		return f.HasDir && f.Dir == dir && (f.Rule.ID == firstMSN || f.Rule.ID == nextMSN)
	}
	n, other, swapped := 0, 0, 0
	for i := range a.findings {
		f := &a.findings[i]
		if !wrong(f) {
			continue
		}
		n += 1 + f.Further()
		switch f.Variant() {
		case conformance.OtherQueue:
			other += 1 + f.Further()
		case conformance.SwappedOctets:
			swapped += 1 + f.Further()
		default:
		}
	}
	if n == 0 || swapped < n && (other < n || n < 2) {
		return
	}
	found := a.explainIf(wrong)
	if len(found) == 0 {
		return
	}
	who, f := dir.Sender(), found[0]
	d := Diagnosis{
		Kind: Rule, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdusOf(found), Rules: rulesOf(found),
		Title: "one MSN counter for queues 0 and 1", same: "one counter",
		Text: fmt.Sprintf("The %s uses one MSN counter for queues 0 and 1, but each queue needs its own: from frame %d on, %s had the next MSN of the other queue.",
			who, f.Frame, Counted(uint64(n), "message", "messages")),
		Advice: atFault("DDP", who),
	}
	if swapped == n {
		d.Title, d.same = "MSNs with swapped octets", "swapped"
		d.Text = fmt.Sprintf("The %s writes its MSNs with their octets swapped: observed %s, expected %s in frame %d%s.", who, f.Observed, f.Expected, f.Frame, times(n))
		d.Advice = atFault("DDP", who) + " It has to write the fields of DDP in network byte order."
	}
	a.add(d)
}

// The rules on the MSN of the first message of a queue, and on those behind it.
const firstMSN, nextMSN = "DDP-UNTAG-MSN-01", "DDP-UNTAG-MSN-02"
