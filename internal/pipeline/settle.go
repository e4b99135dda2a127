package pipeline

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/iwdissect/iwdissect/internal/fifo"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// In a file a connection lives until the end of the capture, as long as there is room for it:
// nothing is lost by waiting, and whatever comes late still counts. A live capture has no end
// to wait for. There a connection is settled a while after it closed: it leaves the table, its
// findings become certain and its record is handed out. What comes after that is only
// recognised as a straggler, so that it is not taken for another connection. In a file the
// same becomes of connections that have closed when there are thousands of them, or no room for
// another one.

const (
	// settleWaits is how many times longer a connection waits that closed with octets
	// missing: they may be sent again.
	settleWaits = 5
	// rememberFor is how long stragglers of a settled connection are recognised, in
	// nanoseconds: as long as its ports may not be used again (RFC 9293 section 3.6.1).
	rememberFor = int64(60e9)
	// minQueue is from how many on the queue of those that have closed is tidied.
	minQueue = 1 << 10
	// maxOver is about how many connections of a file stay after both sides have closed them and know that.
	// More of them take memory, and only copies can still come of them. It is the same number in each part.
	maxOver = 1 << 12
	// maxSettled bounds the settled connections of a live capture whose stragglers are recognised:
	// each has waited for its linger time before, and memory must not grow with the time.
	maxSettled = 1 << 13
	// maxSettledFile is the same for a file, whose connections are settled as soon as others are.
	maxSettledFile = 1 << 15
	// settleParts is how many parts the connections of a file are in, by their endpoints. When one is
	// settled depends on others of its part alone: several runs may share the parts.
	settleParts = 8
)

// settling are the connections that have closed, and those that were settled of late.
type settling struct {
	queue closing
	parts [settleParts]settlingPart
	conn  trace.Connection // stands for that of a straggler
}

// settlingPart is what is kept for a part of the connections; of a live capture all are in the first one.
type settlingPart struct {
	// over are connections of a file of which nothing more is to come, in that order.
	over     []*flow
	overRoom fifo.Room[*flow]
	now      int64 // the latest time of the capture, as far as the part has met it
	past     map[packet.Endpoints]settled
	order    []pastKey // first in, first out
	room     fifo.Room[pastKey]
}

// part is the one that the connection between endpoints is in.
func (r *Run) part(e *packet.Endpoints) *settlingPart {
	if r.opt.Linger > 0 {
		return &r.settling.parts[0]
	}
	return &r.settling.parts[e.Hash()%settleParts]
}

// closed is a connection or an association that has closed. A connection may end in another way
// before its turn comes: it is named by what finds it in the table, so that nothing of it is kept till then.
type closed struct {
	assoc  *association
	ends   packet.Endpoints // of a connection
	number uint64           // unique among connections, and among associations
	due    int64
}

// closing is a heap: the one that is settled next comes first.
type closing []closed

func (q closing) Len() int      { return len(q) }
func (q closing) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q closing) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].due, q[j].due), cmp.Compare(q[i].number, q[j].number)) < 0
}

// Push implements [heap.Interface], as does Pop. What comes and goes by add and first need not be
// allocated.
func (q *closing) Push(x any) { *q = append(*q, x.(closed)) }

// Pop takes the last one.
func (q *closing) Pop() any {
	last := (*q)[len(*q)-1]
	q.drop()
	return last
}

// add adds one. The queue doubles where it is full: thousands end at once, and smaller steps leave
// more of it behind.
func (q *closing) add(c closed) {
	if len(*q) == cap(*q) {
		*q = slices.Grow(*q, max(len(*q), 64))
	}
	*q = append(*q, c)
	heap.Fix(q, len(*q)-1)
}

// drop takes the last one.
func (q *closing) drop() {
	(*q)[len(*q)-1] = closed{}
	*q = (*q)[:len(*q)-1]
}

// first takes the one that comes first.
func (q *closing) first() {
	last := len(*q) - 1
	q.Swap(0, last)
	if q.drop(); last > 0 {
		heap.Fix(q, 0)
	}
}

// settled is what stragglers of a connection need. It holds no pointers, so a garbage collector does
// not look at the tables of it.
type settled struct {
	number uint64
	until  int64 // how long copies of it are recognised on ports that are used again
	syns   reassembly.Opening
	swap   bool      // as in [flow]
	open   bool      // neither side had closed it
	first  trace.Dir // direction of side 0
}

type pastKey struct {
	ends   packet.Endpoints
	number uint64
	until  int64
}

// Settle settles the connections that closed long enough before a time, which is that of the
// capture, in nanoseconds since 1970. Frames do so by themselves; on a quiet interface none
// may come.
func (r *Run) Settle(now int64) {
	s, first := &r.settling, &r.settling.parts[0]
	first.now = max(first.now, now)
	for len(s.queue) > 0 && s.queue[0].due <= first.now && !r.stopped.Load() {
		c := s.queue[0]
		if c.assoc != nil && !c.assoc.conn.Over() {
			c.assoc.closing = false // an ABORT had no effect
		} else if fl := r.closedFlow(&c); fl != nil || c.assoc != nil && c.assoc.keys != nil {
			if c.due = dueAfter(fl, c.assoc, r.opt.Linger); c.due > first.now { // something came meanwhile
				s.queue[0] = c
				heap.Fix(&s.queue, 0)
				continue
			}
			if fl != nil {
				r.settle(fl)
			} else {
				r.dissociate(c.assoc)
			}
		}
		s.queue.first()
	}
	r.forget(first)
}

// forget forgets the settled connections of a part whose ports may be used again, and those beyond the
// bound.
func (r *Run) forget(s *settlingPart) {
	most := maxSettled
	if r.opt.Linger == 0 {
		most = maxSettledFile / settleParts
	}
	for len(s.order) > 0 && (s.order[0].until <= s.now || len(s.order) > most) {
		k := s.order[0]
		s.room.Drop(&s.order, 1)
		if s.past[k.ends].number == k.number {
			delete(s.past, k.ends)
		}
	}
}

// settleClosed settles up to n TCP connections that have closed, first those that closed
// first. It returns how many that were.
func (r *Run) settleClosed(n int) (settled int) {
	s := &r.settling
	for i := range s.parts {
		s.parts[i].now = max(s.parts[i].now, r.totals.LastTime)
	}
	for len(s.queue) > 0 && settled < n {
		c := s.queue[0]
		if c.assoc != nil { // it is not in this table
			break
		}
		if fl := r.closedFlow(&c); fl != nil {
			if due := dueAfter(fl, nil, r.linger()); due != c.due { // something came meanwhile
				s.queue[0].due = due
				heap.Fix(&s.queue, 0)
				continue
			}
			r.settle(fl)
			settled++
		}
		s.queue.first()
	}
	for i := range s.parts {
		r.forget(&s.parts[i])
	}
	return settled
}

// closedFlow is the flow of a connection that has closed, nil if it has ended in another way: its ports
// were used again, or it made room, or it goes on.
func (r *Run) closedFlow(c *closed) *flow {
	if c.assoc != nil {
		return nil
	}
	if fl := r.flows.of(&c.ends); fl != nil && fl.conn.Trace.Number == c.number && fl.conn.Ends() {
		return fl
	}
	return nil
}

// dueAfter is when a flow or an association may be settled.
func dueAfter(fl *flow, a *association, linger int64) int64 {
	if fl == nil {
		return a.conn.LastTime() + linger
	}
	if fl.conn.Lacks() {
		linger *= settleWaits
	}
	return fl.conn.Trace.LastTime + linger
}

// settle settles a connection.
func (r *Run) settle(fl *flow) {
	s := r.part(&fl.ends)
	r.flows.remove(fl)
	syns := fl.conn.Opening()
	r.finish(fl)
	t := fl.conn.Trace
	if s.past == nil {
		s.past = map[packet.Endpoints]settled{}
	}
	s.past[fl.ends] = settledOf(fl, syns)
	s.room.Push(&s.order, pastKey{fl.ends, t.Number, s.now + rememberFor})
	fl.forget()
}

// lingerInFile is how long a connection of a file that has closed waits, in nanoseconds of the
// capture, before others that have closed: it decides their order when room is needed.
const lingerInFile = int64(1e9)

func (r *Run) linger() int64 { return cmp.Or(r.opt.Linger, lingerInFile) }

// closing notes a connection that has closed.
func (r *Run) closing(fl *flow) {
	if fl.conn.Closed() {
		r.tidy(2 * (r.flows.n + len(r.assocs.all)))
		r.settling.queue.add(closed{ends: fl.ends, number: fl.conn.Trace.Number, due: dueAfter(fl, nil, r.linger())})
	}
	if r.opt.Linger == 0 && fl.conn.Over() {
		s := r.part(&fl.ends)
		s.overRoom.Push(&s.over, fl)
		if n := len(s.over) - (r.maxOver+settleParts-1)/settleParts; n > 0 {
			s.now = max(s.now, r.totals.LastTime)
			r.settleOver(s, n)
			r.forget(s)
		}
	}
}

// settleOver settles the n connections of a part that have been over for longest.
func (r *Run) settleOver(s *settlingPart, n int) {
	for _, fl := range s.over[:n] {
		if !fl.conn.Finished() {
			r.settle(fl)
		}
	}
	s.overRoom.Drop(&s.over, n)
}

// tidy drops those that have ended in another way, once there are more than n in the queue.
func (r *Run) tidy(n int) {
	q := &r.settling.queue
	if len(*q) <= n+minQueue {
		return
	}
	*q = slices.DeleteFunc(*q, func(c closed) bool {
		if c.assoc != nil {
			return c.assoc.keys == nil
		}
		return r.closedFlow(&c) == nil
	})
	heap.Init(q)
}

// dissociating is closing for an association.
func (r *Run) dissociating(a *association) {
	if r.opt.Linger > 0 && a.conn.Over() && !a.closing {
		a.closing = true
		r.settling.queue.add(closed{assoc: a, number: a.conn.Number(), due: dueAfter(nil, a, r.opt.Linger)})
	}
}

// straggler reports whether the segment at hand belongs to a connection that was settled. A SYN
// of its client begins another connection on the same ports, unless it is a copy.
func (r *Run) straggler(p *packet.Packet) (settled, trace.Dir, bool) {
	e, swap := p.Endpoints()
	past := r.part(&e).past
	was, ok := past[e]
	if !ok {
		return was, 0, false
	}
	side := sideOf(swap, was.swap)
	dir := was.dir(side)
	begins := false
	switch s := &r.seg; s.Flags & (reassembly.FlagSYN | reassembly.FlagACK | reassembly.FlagRST) {
	case reassembly.FlagSYN:
		begins = !was.syns.Copied(side, s)
	case reassembly.FlagSYN | reassembly.FlagACK: // its SYN had the number of the old one
		begins = was.syns.Other(side, s)
	default: // its SYNs were not captured
		if begins = was.syns.Apart(side, s) && !r.spoils(p); begins {
			r.late = s.Frame
		}
	}
	if begins {
		delete(past, e)
		return was, 0, false
	}
	return was, dir, true
}
