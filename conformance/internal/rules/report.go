package rules

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
)

// Report is a case that is being judged.
type Report struct{ Case }

// Violation is what a rule reports, and where.
type Violation struct {
	model.Place
	// Severity is that of the entry if it is None.
	Severity catalogue.Severity
	// Message describes the violation in a sentence; Observed and Expected are the values.
	Message, Observed, Expected string
	// Field that holds the observed value, if it is not that of the rule.
	Field string
	// Soon: what explains it, if anything does, comes with the next FPDU of its
	// direction at the latest.
	Soon bool
	// Dropped: it is no more than a note if the PDU, an FPDU with a wrong CRC, came again with a right one
	// before its receiver acknowledged it.
	Dropped bool
	// Stands: nothing explains it, although others of its rule may be explained later.
	Stands bool
	// Variant is which of the ways to break its rule it is, where that matters beyond the message.
	Variant catalogue.Variant
	// Explains are the rules whose findings it explains, as advice does.
	Explains []string
}

// Report reports a violation.
func (r *Report) Report(v Violation) { r.desk.Violated(v) }

// ReportUnlessLost reports a violation at the end of the connection, unless some of
// it turns out to be missing by then: what is missing may explain it, so that the
// rule cannot be judged for lack of [ReadSync], or of [Contig] if it does not need that.
func (r *Report) ReportUnlessLost(v Violation) { r.desk.ViolatedUnlessLost(v) }

// ReportUnlessUnseen reports a violation at the end of the connection, unless packets of
// its association turn out to be missing by then: the acknowledgement that excuses it may
// be among them.
func (r *Report) ReportUnlessUnseen(v Violation) { r.desk.ViolatedUnlessUnseen(v) }

// On reports a violation by an event.
func (r *Report) On(at model.Placed, message, observed, expected string) {
	r.Report(Violation{Place: at.Where(), Message: message, Observed: observed, Expected: expected})
}

// OnAs is On with another severity than that of the entry.
func (r *Report) OnAs(s catalogue.Severity, at model.Placed, message, observed, expected string) {
	r.Report(Violation{Place: at.Where(), Severity: s, Message: message, Observed: observed, Expected: expected})
}

// Unproven records that the rule cannot be judged after all, because this evidence is
// missing.
func (r *Report) Unproven(g catalogue.Gate) { r.desk.Unproven(g) }
