package pipeline

// LookAlways has packets decoded early wherever that can be.
func (r *Run) LookAlways() { r.always = true }

// Known is how many connections were found by what was decoded early, at most.
func (r *Run) Known() int { return len(r.flows.known) }

// SetMaxTuples is for tests of the bound.
func (r *Run) SetMaxTuples(n int) { r.maxTuples = n }
