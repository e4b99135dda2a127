package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// Finding is a rule that was broken, by whom, and where.
type Finding struct {
	// Rule is its entry in the catalogue.
	Rule *Entry
	// Severity may differ from that of the rule.
	Severity Severity
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
	// Message says it in a sentence.
	Message string
	// Observed and Expected are the values, in words; Field is the name of the field
	// that has the observed one, if it is a single one (see package dissect).
	Observed, Expected string
	Field              string
	// Related are the numbers of PDUs that it is to be seen with, such as the request
	// of an answer.
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
// listed. It is 0 but for the last one that is.
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
