package conformance

import (
	"time"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/rules"
	"github.com/iwdissect/iwdissect/trace"
)

// Finding is a violation of a rule: by which side, and where.
type Finding struct {
	// Rule is its entry in the catalogue.
	Rule *catalogue.Entry
	// Severity may differ from that of the rule.
	Severity catalogue.Severity
	// Conn is the connection that it is about.
	Conn *trace.Connection
	// Dir is the direction of what is wrong, if HasDir: its sender broke the rule.
	Dir    trace.Dir
	HasDir bool
	// Frame is the number of the frame in which it became known, from 1.
	Frame uint64
	// PDU is the number of the PDU that is wrong, see [trace.PDU.Number], if HasPDU.
	PDU    uint64
	HasPDU bool
	// Offset is where the PDU, or the marker in it that is wrong, begins in full
	// operation, in octets as [trace.PDU.Offset] counts them, if HasOffset.
	Offset    int64
	HasOffset bool
	// Message describes the violation in a sentence.
	Message string
	// Observed and Expected are the values, in words; Field is the name of the field
	// that has the observed one, if it is a single one (see package dissect).
	Observed, Expected string
	Field              string
	// Related are the numbers of PDUs that it is to be seen with, such as the request
	// of an answer.
	Related []uint64

	further int // how many more of the rule there were on the connection
	variant Variant
	// explains are the rules whose findings it explains.
	explains []string
	// time is when the frame was captured, end where what is wrong ends in the TCP stream; refusable says that a receiver may have to refuse it.
	time, end int64
	refusable bool
}

// Further is how many more findings of the rule the connection has that are not
// listed. It is 0 but for the last one that is.
func (f *Finding) Further() int { return f.further }

// Variant is which of the ways to break its rule the finding is, where that matters beyond its message; 0 for any other.
func (f *Finding) Variant() Variant { return f.variant }

// Explains are the rules that were broken because of what advice speaks of, as its message says; nil for any other finding.
func (f *Finding) Explains() []string { return f.explains }

// reaction is the longest delay of a close that counts as a reaction.
const reaction = int64(time.Second)

// Before reports whether the close of the other side, over SCTP its ABORT, may be a reaction to what the finding is about: that side has
// to refuse it by a rule of DDP or RDMAP, or because it fits no pattern of a session, had got it, and closed soon after. If the times are
// not known, nothing may have been sent in between.
func (f *Finding) Before(k *trace.Closing) bool {
	onSCTP := f.Conn.Transport == trace.SCTP
	got := k.Acked >= f.end || k.Acked < 0 && k.Frame > f.Frame
	if !f.refusable || !f.HasDir || f.end <= 0 && !onSCTP || !got {
		return false
	}
	if f.time == 0 || k.Time == 0 {
		return !onSCTP && f.Conn.Flow[f.Dir].Sent <= f.end
	}
	return k.Time >= f.time && k.Time-f.time <= reaction
}

// publicFinding is a finding as others see it.
func publicFinding(f *rules.Finding, conn *trace.Connection) Finding {
	return Finding{
		Rule: f.Rule, Severity: f.Severity, Conn: conn, Dir: f.Dir, HasDir: f.HasDir, Frame: f.Frame, PDU: f.PDU, HasPDU: f.HasPDU,
		Offset: f.Offset, HasOffset: f.HasOffset, Message: f.Message, Observed: f.Observed, Expected: f.Expected, Field: f.Field,
		Related: f.Related, further: f.Further, variant: f.Variant, explains: f.Explains,
		time: f.Time, end: f.End, refusable: f.RefusableBySome() && !f.WentOn,
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
	// Fail: it was violated.
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
