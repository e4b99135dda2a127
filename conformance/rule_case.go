package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// Case is what a rule may look at: the facts about the connection, and what was found
// on it so far. It is borrowed.
type Case struct {
	*conn
	rule   *Rule
	entry  *Entry
	found  *[]ruleFinding
	before []ruleFinding
	have   Gate
	desk   Recorder
}

// Recorder takes down what becomes of the rule at hand on a connection.
type Recorder interface {
	// Judged takes down that the rule applies, and that the evidence is there.
	Judged()
	// Violated takes down a violation.
	Violated(v Violation)
	// ViolatedUnlessLost takes down a violation that something that is missing may
	// explain, as it turns out at the end of the connection.
	ViolatedUnlessLost(v Violation)
	// Unproven takes down that the rule cannot be judged for lack of evidence.
	Unproven(g Gate)
	// Count is how often the rule was violated on the connection so far.
	Count() int
}

// ruleFinding is a violation with the entry of the rule that reported it.
type ruleFinding struct {
	Violation
	Rule *Entry
	By   *Rule // that reported it
	standing
}

// standing is what the engine has decided about a finding. It is no business of rules.
type standing struct {
	further int // how many more of the rule there were on the connection
	// waits: a finding that explains it may still come.
	waits bool
	// counts: it tells how many more there are, which only the end does.
	counts bool
	// settled: it was decided whether it stands; withdrawn: it does not; told: it was
	// handed on.
	settled, withdrawn, told bool
}

// Begin readies a case for the rules on a connection.
func (c *Case) Begin(of *conn, found *[]ruleFinding, before []ruleFinding, have Gate, desk Recorder) {
	*c = Case{conn: of, found: found, before: before, have: have, desk: desk}
}

// Has reports whether evidence is there.
func (c *Case) Has(g Gate) bool { return c.have&g == g }

// Evidence is what is there for the event at hand.
func (c *Case) Evidence() Gate { return c.have }

// Found are the findings on the connection so far, in the order in which they were
// reported, those of the rule itself included. They are borrowed.
func (c *Case) Found() []ruleFinding { return *c.found }

// FoundBy returns the first finding of a rule on the connection so far, in a direction
// if one is named; nil: there is none. It is borrowed.
func (c *Case) FoundBy(id string, dir ...trace.Dir) *ruleFinding {
	for i := range c.Found() {
		if f := &c.Found()[i]; f.Rule.ID == id && (len(dir) == 0 || f.HasDir && f.Dir == dir[0]) {
			return f
		}
	}
	return nil
}

// Entry is that of the rule at hand.
func (c *Case) Entry() *Entry { return c.entry }

// Reported reports whether the rule at hand has reported something in a direction.
func (c *Case) Reported(h *half) bool {
	for i := range c.Found() {
		if f := &c.Found()[i]; f.Rule == c.entry && f.HasDir && f.Dir == h.dir {
			return true
		}
	}
	return false
}

// Count is how often the rule at hand was violated on the connection so far.
func (c *Case) Count() int { return c.desk.Count() }

// Blamed reports whether another rule than the one at hand has reported a PDU: the
// rule that is named, or, where none is, any one but those listed, above a note.
func (c *Case) Blamed(pdu uint64, rule string, but ...string) bool {
	return slices.ContainsFunc(c.Found(), func(f ruleFinding) bool { return c.blames(&f, pdu, rule, but...) })
}

// blames reports whether a finding is one that [Case.Blamed] looks for.
func (c *Case) blames(f *ruleFinding, pdu uint64, rule string, but ...string) bool {
	if !f.HasPDU || f.PDU != pdu || f.Rule == c.entry {
		return false
	}
	return f.Rule.ID == rule || rule == "" && f.Severity > Note && !slices.Contains(but, f.Rule.ID)
}

// BlamedByRule reports whether a rule, which is no advice, has reported a PDU.
func (c *Case) BlamedByRule(pdu uint64) bool { return blamedByRule(c.Found(), pdu) }

// BlamedBefore is BlamedByRule for a rule that is asked at the end of the capture: it
// looks at what was reported while the connection was under way.
func (c *Case) BlamedBefore(pdu uint64) bool { return blamedByRule(c.before, pdu) }

func blamedByRule(all []ruleFinding, pdu uint64) bool {
	return slices.ContainsFunc(all, func(f ruleFinding) bool { return f.HasPDU && f.PDU == pdu && !f.Rule.Advice })
}

// Field is the record's name of the field that the rule at hand speaks of.
func (c *Case) Field() string { return c.rule.Field }

// FramingLost reports whether a rule has reported that, in a direction, a length, a pad
// or a missing CRC field leads to a place where no FPDU begins.
func (c *Case) FramingLost(h *half) bool {
	for i := range c.Found() {
		f := &c.Found()[i]
		if !f.HasDir || f.Dir != h.dir {
			continue
		}
		switch f.Rule.ID {
		case "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-C-FIELD-01", "MPA-FPDU-FMT-01":
			return true
		}
	}
	return false
}

// AllFPDUs is the scope, at the end, of rules on all FPDUs or segments of a direction
// that has some. It takes the evidence of that direction alone.
func (c *Case) AllFPDUs(h *half) Scope {
	if h.count == 0 {
		return OutOfScope
	}
	scope := InScope.Given(c.gates(h) | c.endGates())
	if c.FramingLost(h) {
		return scope.Without(Sync)
	}
	return scope
}

// Before are the findings that were reported while the connection was under way, for
// rules that are asked at the end of the capture. They are borrowed.
func (c *Case) Before() []ruleFinding { return c.before }

// Ended are the connections of the capture that are over.
func (c *Case) Ended() *captureState { return c.capture }

// Now is the time up to which the capture is known, in nanoseconds since 1970.
func (c *Case) Now() int64 { return max(c.t.LastTime, c.capture.latest) }

// Report is a case that is being judged.
type Report struct{ Case }

// Violation is what a rule reports, and where.
type Violation struct {
	Place
	// Severity is that of the entry if it is None.
	Severity Severity
	// Message says it in a sentence; Observed and Expected are the values.
	Message, Observed, Expected string
	// Field that holds the observed value, if it is not that of the rule.
	Field string
	// Soon: what explains it, if anything does, comes with the next FPDU of its
	// direction at the latest.
	Soon bool
}

// Report reports a violation.
func (r *Report) Report(v Violation) { r.desk.Violated(v) }

// ReportUnlessLost reports a violation at the end of the connection, unless some of
// it turns out to be missing by then: what is missing may explain it, so that the
// rule cannot be judged for lack of [ReadSync].
func (r *Report) ReportUnlessLost(v Violation) { r.desk.ViolatedUnlessLost(v) }

// On reports a violation by an event.
func (r *Report) On(at Placed, message, observed, expected string) {
	r.Report(Violation{Place: at.where(), Message: message, Observed: observed, Expected: expected})
}

// OnAs is On with another severity than that of the entry.
func (r *Report) OnAs(s Severity, at Placed, message, observed, expected string) {
	r.Report(Violation{Place: at.where(), Severity: s, Message: message, Observed: observed, Expected: expected})
}

// Unproven says that the rule cannot be judged after all, for lack of this evidence.
func (r *Report) Unproven(g Gate) { r.desk.Unproven(g) }

// Ask asks a rule about an event. The case has begun. What it lacks is told to the
// recorder, and that it is judged before it judges.
func (o *On[E]) Ask(k *Report, r *Rule, entry *Entry, e E) {
	k.rule, k.entry = r, entry
	have := k.have
	s := InScope
	if o.Applies != nil {
		s = o.Applies(&k.Case, e)
	}
	if !s.applies {
		return
	}
	if s.only {
		k.have = 0
	}
	k.have = (k.have | s.given) &^ s.lacks
	if lack := (r.Needs | s.needs | s.lacks) &^ k.have; lack != 0 {
		k.desk.Unproven(lack)
	} else {
		k.desk.Judged()
		if o.Judge != nil {
			o.Judge(k, e)
		}
	}
	k.have = have
}

// AskAtEnd asks a rule at the end of the connection, or as soon as its startup is over.
func (r *Rule) AskAtEnd(k *Report, entry *Entry) {
	askEach(k, r, entry, r.End, r.EndFrame, r.EndDirection)
	if r.EndPair == nil {
		return
	}
	request, reply := k.pair()
	for _, f := range [...]*frame{request, reply} {
		if f != nil {
			r.EndPair.Ask(k, r, entry, f)
		}
	}
}

// AskAdvice asks a rule for its advice, once it is known which findings stand.
func (r *Rule) AskAdvice(k *Report, entry *Entry) {
	askEach(k, r, entry, r.Advice, r.AdviceFrame, r.AdviceDirection)
}

// AskAtCaptureEnd asks a rule about a connection beside the others of the capture.
func (r *Rule) AskAtCaptureEnd(k *Report, entry *Entry, p *endedConnection) {
	if r.Capture != nil {
		r.Capture.Ask(k, r, entry, p)
	}
	if r.CaptureSide == nil {
		return
	}
	for s := range p.sides {
		r.CaptureSide.Ask(k, r, entry, s)
	}
}

// askEach asks a rule about the connection, its startup frames and its directions.
func askEach(k *Report, r *Rule, entry *Entry, once *On[*conn], frames *On[*frame], directions *On[*half]) {
	if once != nil {
		once.Ask(k, r, entry, k.conn)
	}
	if frames != nil {
		for _, f := range [...]*frame{k.request, k.reply} {
			if f != nil {
				frames.Ask(k, r, entry, f)
			}
		}
	}
	if directions != nil {
		for i := range k.half {
			directions.Ask(k, r, entry, &k.half[i])
		}
	}
}

// AtEnd reports whether the rule is asked at the end of the connection.
func (r *Rule) AtEnd() bool {
	return r.End != nil || r.EndFrame != nil || r.EndPair != nil || r.EndDirection != nil
}

// Advises reports whether the rule is asked for advice.
func (r *Rule) Advises() bool {
	return r.Advice != nil || r.AdviceFrame != nil || r.AdviceDirection != nil
}

// Compares reports whether the rule is asked at the end of the capture.
func (r *Rule) Compares() bool { return r.Capture != nil || r.CaptureSide != nil }
