package pipeline

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/trace"
)

// What is given up when there is not enough memory: first the SYNs that nothing answered, then
// connections that have closed, then those that were seen least recently. Records of those that
// ended are not kept when it is scarce.

const (
	recordWeight = int(unsafe.Sizeof(trace.Connection{})) + 256
	// keyWeight is what an association takes for each pair of addresses, roughly: a key of
	// its own, and an entry in the table.
	keyWeight = int(3*unsafe.Sizeof(packet.Endpoints{})+3*unsafe.Sizeof(place{})) + 48
)

// relieve ends connections until no more memory is taken than there is. One of each transport
// stays: what a single connection takes has bounds of its own.
func (r *Run) relieve() {
	if !r.alone() {
		return
	}
	if n := r.syns.len(); n > 0 && r.syns.weight() > r.memory.Limit()/synShare {
		r.dropSYNs(n/2 + 1)
	}
	for r.memory.Over() && (r.flows.n > 1 || len(r.assocs.all) > 1) {
		if n := r.flows.n; n > 1 {
			if r.settleClosed(max(n/16, 1)) == 0 {
				r.endOldest(max(n/16, 1))
			}
		}
		if len(r.assocs.all) > 1 {
			r.evictAssociations()
		}
	}
}

// synShare is the part of the memory that SYNs may take before connections end.
const synShare = 16

// endOldest ends the connections that were seen least recently.
func (r *Run) endOldest(n int) {
	for _, fl := range r.flows.oldest(n) {
		endedEarly(fl.conn.Trace)
		r.finish(fl)
		fl.forget()
		r.totals.Evicted++
	}
}

// endedEarly notes that what follows of a connection is not looked at with it.
func endedEarly(t *trace.Connection) { t.EndedEarly = true }

// weigh takes memory for an association.
func (r *Run) weigh(a *association) {
	n := int(unsafe.Sizeof(*a)) + a.conn.Weight() + len(a.keys)*keyWeight + (cap(a.addrs[0])+cap(a.addrs[1]))*int(unsafe.Sizeof(a.addrs[0][0]))
	r.memory.Take(n - a.weight)
	a.weight = n
}
