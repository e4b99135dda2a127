package pipeline

// NoteAlways has every frame noted that is read ahead, whoever has less to do.
func (r *Run) NoteAlways() { r.ahead.Always = true }

// Eager makes a connection of each SYN at once.
func (r *Run) Eager() { r.eager = true }

// SYNs is how many SYNs wait for an answer.
func (r *Run) SYNs() int { return r.syns.len() }

// Known is how many connections were found by number, at most.
func (r *Run) Known() int { return len(r.flows.known) }

// SetMaxNumbers is for tests of the bound.
func (r *Run) SetMaxNumbers(n int) { r.ahead.MaxNumbers = n }

// Farthest is how far from its place the farthest connection of the table lies.
func (r *Run) Farthest() (most int) {
	for k := range r.flows.tables {
		t := &r.flows.tables[k]
		for i, s := range t.slots {
			if s.flow != nil {
				most = max(most, int((uint64(i)-s.hash)&t.mask))
			}
		}
	}
	return most
}

// Largest is how many connections the fullest table has: so many are moved when it grows.
func (r *Run) Largest() (most int) {
	for i := range r.flows.tables {
		most = max(most, r.flows.tables[i].n)
	}
	return most
}

// SetMaxOver is for tests of the bound.
func (r *Run) SetMaxOver(n int) { r.maxOver = n }

// SetManyFlows is from how many connections on the next packets are prepared for.
func (r *Run) SetManyFlows(n int) { r.manyFlows = n }

// SetMaxOver and SetManyFlows do the same for all workers.
func (w *Workers) SetMaxOver(n int) {
	for _, r := range w.runs {
		r.maxOver = n
	}
}

// SetManyFlows is from how many connections on the next packets are prepared for.
func (w *Workers) SetManyFlows(n int) {
	for _, r := range w.runs {
		r.manyFlows = n
	}
}

// Add adds counts of others.
func (t *Totals) Add(o *Totals) { t.add(o) }
