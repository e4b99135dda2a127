package statistics

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/fields"
)

// verdict is what was decided about the frame of a PDU that becomes known behind it.
type verdict struct {
	counts  bool
	matched []bool // by matcher
}

func (v *verdict) passes(gate int) bool { return v.counts && (gate < 0 || v.matched[gate]) }

// inRows tells the taps that count PDUs with the frame that comes next, or keeps the event for them.
func (r *Run) inRows(e *event) {
	if len(r.rows) == 0 {
		return
	}
	for _, t := range r.rows {
		if t.gate < 0 && !r.decides() {
			t.tap.event(e)
		}
	}
	if r.waiting {
		r.ofRows = append(r.ofRows, *e)
	}
}

// tellMoved tells of PDUs that belong to the frame that ends, and become known behind it: its filters see
// them, and they count in its row. The other statistics learn of them when they become known,
// as the order of the stream matters to them.
func (r *Run) tellMoved(moved []fields.Moved) {
	for _, x := range moved {
		r.gathers(x.PDU)
		if len(r.rows) > 0 {
			var e event
			e.set(x.PDU)
			r.inRows(&e)
		}
	}
}

// decided keeps what was decided about the frame for the PDUs that become known behind it.
func (r *Run) decided(moved []fields.Moved) {
	if len(moved) == 0 {
		return
	}
	v := &verdict{r.counts, slices.Clone(r.matched)}
	if r.verdicts == nil {
		r.verdicts = map[uint64]*verdict{}
	}
	for _, x := range moved {
		r.verdicts[x.PDU.Number] = v
	}
}
