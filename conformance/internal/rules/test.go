package rules

// Test is what the tests of a rule have to know about its scenario. The mutation tests
// take the fault of a scenario and commit it elsewhere, in random scripts that are
// legal (docs/mutation.md).
type Test struct {
	// Needs is what the fault needs beside what its scenario sets, so that it is the
	// same fault at another place.
	Needs Terms
	// Bound: the fault cannot be put elsewhere, for this reason.
	Bound string
	// Related are rules that may be found in place of this one: at some places the fault
	// is theirs. The rules that this one yields to need not stand here.
	Related []string
	// NotDetected says why a mutant may be missed.
	NotDetected string
	// EachDirection: the scenario violates it once in each direction.
	EachDirection bool
	// Draft01: the scenario is read with the layout of draft -01 forced. What violates the
	// rule makes the establishment word look like that of RFC 6581.
	Draft01 bool
}

// Terms are what a fault needs at another place.
type Terms uint8

const (
	// KeepsSteps says that at a message of another script it is no fault, or another one, so the
	// steps of its scenario go along.
	KeepsSteps Terms = 1 << iota
	// ComesFirst says that nothing comes before it on the connection.
	ComesFirst
	// ComesLast says that nothing comes after it.
	ComesLast
	// SameSizes says that it depends on the sizes of segments.
	SameSizes
	// NoSmaller says that the message is no smaller than that of the scenario.
	NoSmaller
	// SameMarkers says that there are markers if, and only if, the scenario has them.
	SameMarkers
	// SameCRC says that there are CRCs if, and only if, the scenario has them.
	SameCRC
	// OnlyStream says that its association has no other stream.
	OnlyStream
)
