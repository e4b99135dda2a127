package conformance

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
)

import (
	"github.com/iwdissect/iwdissect/trace"
)

// Finding is a rule that was broken, by whom, and where.
type Finding struct {
	Rule     *catalogue.Entry
	Severity catalogue.Severity
	Conn     *trace.Connection
	// Dir is the direction of what is wrong, if HasDir.
	Dir    trace.Dir
	HasDir bool
	// Frame in which it became known; PDU is what is wrong, if HasPDU, at Offset
	// of the stream, if HasOffset.
	Frame     uint64
	PDU       uint64
	HasPDU    bool
	Offset    int64
	HasOffset bool
	// Message says it in a sentence; Observed and Expected are the values, and Field
	// is that of the PDU which has the observed one, if it is a single one.
	Message            string
	Observed, Expected string
	Field              string
	// Related are PDUs that it is to be seen with, such as the request of an
	// answer.
	Related []uint64

	further int // how many more of the rule there were on the connection
}

// Further is how many more findings of the rule the connection has that are not
// listed.
func (f *Finding) Further() int { return f.further }

// publicFinding is a finding as others see it.
func publicFinding(f *rules.Finding, conn *trace.Connection) Finding {
	return Finding{
		Rule: f.Rule, Severity: f.Severity, Conn: conn, Dir: f.Dir, HasDir: f.HasDir, Frame: f.Frame, PDU: f.PDU, HasPDU: f.HasPDU,
		Offset: f.Offset, HasOffset: f.HasOffset, Message: f.Message, Observed: f.Observed, Expected: f.Expected, Field: f.Field,
		Related: f.Related, further: f.Further,
	}
}

// Verdict of a rule on a connection.
type Verdict uint8

// The verdicts.
const (
	// NotApplicable: nothing there that the rule speaks of.
	NotApplicable Verdict = iota
	// Pass: it was kept wherever it applies.
	Pass
	// Fail: it was broken.
	Fail
	// NotJudged: evidence is missing.
	NotJudged
)

// String returns the verdict as the records spell it.
func (v Verdict) String() string {
	return [...]string{"not-applicable", "pass", "fail", "not-judged"}[v]
}

// Judgement is the verdict of a rule on a connection; Gate is what was missing.
type Judgement struct {
	Rule    *catalogue.Entry
	Verdict Verdict
	Gate    catalogue.Gate
}
