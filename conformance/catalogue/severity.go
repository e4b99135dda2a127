package catalogue

// Severity of a finding.
type Severity uint8

// The severities.
const (
	// None is below all of them.
	None Severity = iota
	// Note: legal but worth knowing.
	Note
	// Warning: a SHOULD, or a MUST whose violation is likely and cannot be proven
	// from outside.
	Warning
	// Error: a MUST or a rule of the format is proven violated.
	Error
)

// String returns the severity as the records spell it.
func (s Severity) String() string {
	return [...]string{"none", "note", "warning", "error"}[s]
}

// ParseSeverity reads what String writes of the severities above None; ok is false for
// anything else.
func ParseSeverity(s string) (severity Severity, ok bool) {
	for v := Note; v <= Error; v++ {
		if s == v.String() {
			return v, true
		}
	}
	return None, false
}
