package pipeline

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/prefetch"
	"github.com/iwdissect/iwdissect/internal/readahead"
)

// What a packet needs of its connection is a dozen objects, each of which leads to others. The
// packets that follow are known, since they were read ahead: while one is worked on, what those
// behind it need comes into the cache, a step further along the pointers for each packet that is
// nearer.

const (
	// manyFlows is from how many connections on it pays: what fewer need is in a cache.
	manyFlows = 1 << 9
	// apart is how many packets lie between two steps, and steps how many there are.
	apart = 2
	steps = 5
)

// upcoming are the connections of the packets behind the current one.
type upcoming struct {
	of [ring]struct {
		flow  *flow // nil: it is not known
		side  int
		again bool // the packet before is of the same direction
	}
	at int // the place of the current packet, modulo ring
}

const (
	far  = apart * steps // how far ahead a connection is looked up
	ring = 16            // more than that, a power of two
)

// upcoming prepares for the packets behind the ith of a batch. next is the batch behind it, nil if that is not
// there yet.
func (r *Run) upcoming(b, next *readahead.Batch, i int) {
	at := i + far
	if at >= b.Len() {
		b, at = next, at-b.Len()
	}
	var n *readahead.Note
	if b != nil && at < b.Len() {
		n = b.Note(at)
	}
	r.comes(n)
}

// upcomingTurn is upcoming for the ith frame of the run's own part.
func (r *Run) upcomingTurn(b, next *readahead.Batch, i int) {
	part := int(r.opt.Shard.K)
	at, turns := i+far, b.Turns(part)
	if soon := at + apart; soon < len(turns) {
		b.Fetch(int(turns[soon].At))
	}
	if at >= len(turns) {
		at -= len(turns)
		if b, turns = next, nil; b != nil {
			turns = b.Turns(part)
		}
	}
	var n *readahead.Note
	if at < len(turns) {
		n = b.Note(int(turns[at].At))
	}
	r.comes(n)
}

// upcomingSCTP prepares for one of the packets behind the ith of a batch, as if that were one of SCTP, too: the reader's
// processor has its octets, and this one needs those at its front.
func upcomingSCTP(b *readahead.Batch, i int) {
	const near, octets = 4, 256 // headers, and what tells copies of a message apart
	if i += near; i < b.Len() {
		prefetch.First(unsafe.SliceData(b.Frame(i).Data), octets)
	}
}

// comes prepares for the packet that is far ahead, of which there is a note, and for those in front of it.
func (r *Run) comes(n *readahead.Note) {
	u := &r.coming
	u.at++
	last := &u.of[(u.at+far)%ring]
	before := u.of[(u.at+far-1)%ring]
	last.flow = nil
	if n.Kind() == readahead.TCP {
		last.flow, last.side = r.flows.soon(n)
	}
	last.again = last.flow != nil && last.flow == before.flow && last.side == before.side
	for step := range steps {
		if x := &u.of[(u.at+far-apart*step)%ring]; x.flow != nil && !x.again {
			x.flow.prefetch(x.side, step)
		}
	}
}

// prefetch takes a step towards what a packet of a side needs.
func (f *flow) prefetch(side, step int) {
	if step == 0 {
		prefetch.Object(f)
		return
	}
	if f.conn.Finished() {
		return
	}
	f.conn.Prefetch(side, step)
	if step < 3 {
		return
	}
	if s, ok := f.conn.Trace.SinkData.(prefetch.State); ok {
		s.Prefetch(uint8(f.conn.Dir(side)), step)
	}
}

// soon returns the connection of a note, as numbered does, if it is known by now.
func (t *flows) soon(n *readahead.Note) (f *flow, side int) {
	if n.Epoch != t.epoch || int(n.Number) >= len(t.known) {
		return nil, 0
	}
	k := &t.known[n.Number]
	return k.flow, sideOf(n.FromLarger(), k.swap)
}
