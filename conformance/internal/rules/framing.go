package rules

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/conformance/internal/model"
)

// FramingLost reports whether a rule has reported that, in a direction, a length, a pad
// or a missing CRC field leads to a place where no FPDU begins.
func (c *Case) FramingLost(h *model.Direction) bool {
	for i := range c.Found() {
		f := &c.Found()[i]
		if !f.HasDir || f.Dir != h.Dir {
			continue
		}
		switch f.Rule.ID {
		case "MPA-FPDU-LEN-01", "MPA-FPDU-PAD-02", "MPA-C-FIELD-01", "MPA-FPDU-FMT-01":
			return true
		}
	}
	return false
}

// AllFPDUs is the scope, at the end, of rules on all FPDUs or segments of a direction that
// has any. Only the evidence of that direction counts.
func (c *Case) AllFPDUs(h *model.Direction) Scope {
	if h.Count == 0 {
		return OutOfScope
	}
	scope := InScope.Given(c.Gates(h) | c.EndGates())
	if c.FramingLost(h) {
		return scope.Without(catalogue.Sync)
	}
	return scope
}
