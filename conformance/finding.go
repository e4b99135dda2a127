package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// Finding is a rule that was broken, by whom, and where.
type Finding struct {
	Rule     *Entry
	Severity Severity
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

	msn     uint32 // of its message, for those that give way
	hasMSN  bool
	further int // how many more of the rule there were on the connection
	// waits: a finding that explains it may still come; shortly: with the next FPDU of
	// its direction at the latest.
	waits, shortly bool
	// counts: it tells how many more there are, which only the end does.
	counts bool
	// settled: it was decided whether it stands; withdrawn: it does not; told: it was
	// handed on.
	settled, withdrawn, told bool
	// end of the PDU in the TCP stream, its time, and the how manieth of its half it is.
	end, time int64
	nth       uint64
}

// Further is how many more findings of the rule the connection has that are not
// listed.
func (f *Finding) Further() int { return f.further }

// relate says with which PDU the findings from an index on are to be seen.
func (c *conn) relate(from int, pdu uint64) {
	for i := range c.findings[from:] {
		if f := &c.findings[from+i]; pdu != f.PDU && !slices.Contains(f.Related, pdu) {
			f.Related = append(f.Related, pdu)
		}
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
	Rule    *Entry
	Verdict Verdict
	Gate    Gate
}
