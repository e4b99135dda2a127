package render

import "slices"

// Hope is that all CRCs of a run are right, which are verified behind it.
type Hope interface {
	// Mark names what the run has shown so far, Sure tells whether the hope has come
	// true for that much.
	Mark() uint64
	Sure(mark uint64) bool
	// Settle verifies all that was shown.
	Settle()
}

// hoped keeps back what a run shows in hope, until it has come true. If it does
// not, the capture is read once more without hope: what was let go of then comes
// again, octet for octet, and is left out.
type hoped struct {
	hope  Hope
	held  []held
	given int64 // octets let go of since the hope began
	again int64 // octets that were written and come again
}

type held struct {
	b    []byte
	mark uint64
}

// mostHeld bounds the parts that are kept back.
const mostHeld = 32

// count notes that a part is let go of, and returns what of it is new.
func (h *hoped) count(b []byte) []byte {
	h.given += int64(len(b))
	old := min(h.again, int64(len(b)))
	h.again -= old
	return b[old:]
}

// begin begins a run whose output may become void.
func (o *output) begin(h Hope) {
	o.flush()
	o.hope, o.given = h, 0
}

// hold keeps back what was collected, and lets go of what is sure.
func (o *output) hold() {
	o.held = append(o.held, held{o.b, o.hope.Mark()})
	o.release()
	if len(o.held) >= mostHeld {
		o.hope.Settle()
		o.release()
	}
	o.b = o.buffer()
}

func (o *output) release() {
	n := 0
	for ; n < len(o.held) && o.hope.Sure(o.held[n].mark); n++ {
		o.give(o.held[n].b)
	}
	o.held = slices.Delete(o.held, 0, n)
}

// fulfilled lets go of all that was kept back: the hope has come true.
func (o *output) fulfilled() {
	for _, p := range o.held {
		o.give(p.b)
	}
	o.hope, o.held = nil, o.held[:0]
}

// void drops what was kept back; the same run comes once more.
func (o *output) void() {
	for _, p := range o.held {
		o.spare = append(o.spare, p.b[:0])
	}
	o.hope, o.held, o.b = nil, o.held[:0], o.b[:0]
	o.again = o.given
}
