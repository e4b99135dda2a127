package diagnose

// Once knows what was told of the place where a capture was taken, where the diagnoses of connections are shown one by one: that is the
// same for each of them. The zero value is ready for use.
type Once struct{ told map[string]bool }

// maxTold bounds the sentences that it knows.
const maxTold = 1000

// Again reports whether a diagnosis says nothing but what was told already.
func (o *Once) Again(d *Diagnosis) bool {
	switch {
	case d.Kind != Offload:
		return false
	case o.told[d.Text]:
		return true
	case o.told == nil:
		o.told = map[string]bool{}
	}
	if len(o.told) < maxTold {
		o.told[d.Text] = true
	}
	return false
}
