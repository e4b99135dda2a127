package conformance

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
