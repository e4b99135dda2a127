package pipeline

// NoteAlways has every frame noted that is read ahead, whoever has less to do.
func (r *Run) NoteAlways() { r.ahead.Always = true }

// Known is how many connections were found by number, at most.
func (r *Run) Known() int { return len(r.flows.known) }

// SetMaxNumbers is for tests of the bound.
func (r *Run) SetMaxNumbers(n int) { r.ahead.MaxNumbers = n }
