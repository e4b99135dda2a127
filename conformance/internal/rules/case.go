package rules

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
	"github.com/iwdissect/iwdissect/trace"
)

// Case is what a rule may look at: the facts about the connection, and what was found
// on it so far. It is borrowed.
type Case struct {
	*model.Conn
	rule   *Rule
	entry  *catalogue.Entry
	before []Finding
	have   catalogue.Gate
	lacks  catalogue.Gate // what is not there for any event
	desk   Recorder
}

// Recorder records the outcome of the current rule on a connection.
type Recorder interface {
	// Judged takes down that the rule applies, and that the evidence is there.
	Judged()
	// Violated takes down a violation.
	Violated(v Violation)
	// ViolatedUnlessLost takes down a violation that something that is missing may
	// explain, as it turns out at the end of the connection.
	ViolatedUnlessLost(v Violation)
	// ViolatedUnlessUnseen is the same for packets of an SCTP association.
	ViolatedUnlessUnseen(v Violation)
	// Holds reports whether such a violation of the current rule waits for the end, in a
	// direction.
	Holds(d trace.Dir) bool
	// Unproven takes down that the rule cannot be judged for lack of evidence.
	Unproven(g catalogue.Gate)
	// Count is how often the rule was violated on the connection so far.
	Count() int
	// Found are the findings on the connection so far.
	Found() []Finding
}

// Begin readies a case for the rules on a connection.
func (c *Case) Begin(of *model.Conn, before []Finding, have catalogue.Gate, desk Recorder) {
	c.Conn, c.before, c.have, c.desk = of, before, have, desk // one by one: a copy of all takes longer
	c.rule, c.entry = nil, nil
}

// Has reports whether evidence is there.
func (c *Case) Has(g catalogue.Gate) bool { return c.have&g == g }

// Evidence is the evidence for the current event.
func (c *Case) Evidence() catalogue.Gate { return c.have }

// Found are the findings on the connection so far, in the order in which they were
// reported, including those of the current rule. They are borrowed. It is nil for a rule
// that does not declare [Rule.Weighs].
func (c *Case) Found() []Finding {
	if !c.rule.Weighs {
		return nil
	}
	return c.desk.Found()
}

// FoundBy returns the first finding of a rule on the connection so far, in a direction if
// one is given; nil if there is none. It is borrowed.
func (c *Case) FoundBy(id string, dir ...trace.Dir) *Finding { return FirstBy(c.Found(), id, dir...) }

// FirstBy is [Case.FoundBy] of some findings.
func FirstBy(found []Finding, id string, dir ...trace.Dir) *Finding {
	for i := range found {
		if f := &found[i]; f.Rule.ID == id && (len(dir) == 0 || f.HasDir && f.Dir == dir[0]) {
			return f
		}
	}
	return nil
}

// Entry is the catalogue entry of the current rule.
func (c *Case) Entry() *catalogue.Entry { return c.entry }

// Reported reports whether the current rule has reported something in a direction.
func (c *Case) Reported(h *model.Direction) bool {
	found := c.desk.Found()
	for i := range found {
		if f := &found[i]; f.Rule == c.entry && f.HasDir && f.Dir == h.Dir {
			return true
		}
	}
	return false
}

// ReportedPDU reports whether the current rule has reported a PDU.
func (c *Case) ReportedPDU(number uint64) bool {
	return AnyFinding(c.desk.Found(), func(f *Finding) bool { return f.Rule == c.entry && f.HasPDU && f.PDU == number })
}

// ReportedMessage reports whether the current rule has reported a segment of the untagged message
// at a place.
func (c *Case) ReportedMessage(at model.Placed) bool {
	p := at.Where()
	return p.HasMSN && AnyFinding(c.desk.Found(), func(f *Finding) bool {
		return f.Rule == c.entry && f.HasDir && f.Dir == p.Dir && f.HasMSN && f.QN == p.QN && f.MSN == p.MSN
	})
}

// Holds reports whether a violation of the current rule in a direction waits for the end.
func (c *Case) Holds(h *model.Direction) bool { return c.desk.Holds(h.Dir) }

// Count is how often the current rule was violated on the connection so far.
func (c *Case) Count() int { return c.desk.Count() }

// Blamed reports whether a rule other than the current one has reported a PDU: the given
// rule or, if none is given, any rule above a note except those listed.
func (c *Case) Blamed(pdu uint64, rule string, but ...string) bool {
	return AnyFinding(c.Found(), func(f *Finding) bool { return c.Blames(f, pdu, rule, but...) })
}

// Blames reports whether a finding is one that [Case.Blamed] looks for.
func (c *Case) Blames(f *Finding, pdu uint64, rule string, but ...string) bool {
	if !f.HasPDU || f.PDU != pdu || f.Rule == c.entry {
		return false
	}
	return f.Rule.ID == rule || rule == "" && f.Severity > catalogue.Note && !slices.Contains(but, f.Rule.ID)
}

// BlamedByRule reports whether a rule other than advice has reported a PDU.
func (c *Case) BlamedByRule(pdu uint64) bool { return blamedByRule(c.Found(), pdu) }

// BlamedBefore is BlamedByRule for a rule that judges at the end of the capture: it
// considers what was reported before the connection ended.
func (c *Case) BlamedBefore(pdu uint64) bool { return blamedByRule(c.before, pdu) }

func blamedByRule(all []Finding, pdu uint64) bool {
	return AnyFinding(all, func(f *Finding) bool { return f.HasPDU && f.PDU == pdu && !f.Rule.Advice })
}

// Field is the name, in records, of the field that the current rule judges.
func (c *Case) Field() string { return c.rule.Field }

// EitherSide reports whether the current rule is advice that may explain what the other
// side did.
func (c *Case) EitherSide() bool { return c.rule.EitherSide }

// Before are the findings that were reported before the connection ended, for rules that
// judge at the end of the capture. They are borrowed.
func (c *Case) Before() []Finding { return c.before }

// Ended are the connections of the capture that are over.
func (c *Case) Ended() *model.CaptureState { return c.Capture }

// Now is the time up to which the capture is known, in nanoseconds since 1970.
func (c *Case) Now() int64 { return max(c.Trace.LastTime, c.Trace.Until, c.Capture.Latest) }
