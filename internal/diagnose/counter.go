package diagnose

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/trace"
)

// oneCounter diagnoses a side that counts the messages of queues 0 and 1 together (RFC 5041 section 4.3): each wrong MSN is
// the next one of the other queue. One alone may be chance.
func oneCounter(a *about) {
	for d := range a.Flow {
		dir := trace.Dir(d)
		wrong := func(f *conformance.Finding) bool {
			return f.HasDir && f.Dir == dir && (f.Rule.ID == firstMSN || f.Rule.ID == nextMSN)
		}
		n, others := 0, 0
		for i := range a.findings {
			switch f := &a.findings[i]; {
			case !wrong(f):
			case strings.Contains(f.Message, goesOnAs):
				n += 1 + f.Further()
			default:
				others++
			}
		}
		if n < 2 || others > 0 {
			continue
		}
		found := a.explainIf(wrong)
		if len(found) == 0 {
			continue
		}
		who, f := dir.Sender(), found[0]
		a.add(Diagnosis{
			Kind: Rule, Severity: conformance.Error, Dir: dir, HasDir: true, Frames: framesOf(found), PDUs: pdusOf(found), Rules: rulesOf(found),
			Title: "one MSN counter for queues 0 and 1", same: "one counter",
			Text: fmt.Sprintf("The %s uses one MSN counter for queues 0 and 1, and each queue has to have its own: from frame %d on %s had the next MSN of the other queue.",
				who, f.Frame, Counted(uint64(n), "message", "messages")), //nolint:gosec // a count
			Advice: fmt.Sprintf("this is a fault of the DDP implementation of the %s: report it there.", who),
		})
	}
}

// The rules on the MSN of the first message of a queue, and on those behind it; and what their findings say of one that fits the
// other queue.
const (
	firstMSN = "DDP-UNTAG-MSN-01"
	nextMSN  = "DDP-UNTAG-MSN-02"
	goesOnAs = ", and goes on where queue "
)
