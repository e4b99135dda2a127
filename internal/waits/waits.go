package waits

import (
	"cmp"
	"slices"
	"sort"
	"unsafe"

	"github.com/iwdissect/iwdissect/trace"
)

// Change is another number of requests of a direction that wait.
type Change struct {
	Dir  trace.Dir
	Time int64
	// Now is how many wait from now on.
	Now int32
	// Asked says that it is a request, which may not change the number, Unknown of how many it is not known how
	// long they waited: their answer may be missing from the capture.
	Asked   bool
	Unknown uint64
}

// Sink is told of changes.
type Sink interface{ Waits(w Change) }

// Conn has the requests of both directions of a connection.
type Conn struct {
	dirs [2]requests
	// caught is the PDU of a request whose answers became known before it, if any; its transaction follows.
	caught  uint64
	catches bool
}

// requests are those of a direction. They are numbered from 1, and answered in their order.
type requests struct {
	asked, answered, unanswered uint64 // counted so far
	lacks                       uint64 // of the other direction
	// unknown is the last one of those that do not count as waiting if they are not over: their answer may be
	// missing. over is the last one that was over when nothing was held, known the last one that was told.
	unknown, over, known uint64
	now                  int32
	since                int64
	held                 []change
}

// change is a request, or the end of one.
type change struct {
	time  int64
	frame uint64
	nth   uint64
	// at is what a request acknowledges, or where the answer ends.
	at int64
	// ends, givenUp: without an answer; brief: a request of which it is not known how long it waited, because
	// it was known late, or because its answer may be missing if it is givenUp as well.
	ends, givenUp, brief bool
	// early says that it happened before what else has its time and frame.
	early bool
}

// maxHeld bounds what is kept until nothing is missing any more.
const maxHeld = 1024

// Take takes in an event, and tells of the changes that are certain with it.
func (c *Conn) Take(e *Event, to Sink) {
	caught := c.catches && e.Transaction && e.Asked == c.caught
	c.catches = false
	var sent [2]uint64 // before the event
	for d := range c.dirs {
		q := &c.dirs[d]
		sent[d] = q.asked
		if caught {
			q.catch(e)
		}
		q.take(e, trace.Dir(d))
		if n := len(q.held); !e.Transaction && n > 0 && q.held[n-1].brief {
			c.caught, c.catches = e.Number, true
		}
	}
	for d := range c.dirs {
		q := &c.dirs[d]
		full := len(q.held) >= maxHeld
		lacks := e.lacks[1-d] != q.lacks || full
		if (len(q.held) > 0 || lacks) && (full || !e.Waiting && !c.catches) {
			q.lacks = e.lacks[1-d]
			if e.Waiting {
				sent[d] = q.asked
			}
			q.settle(trace.Dir(d), lacks, sent[d], to)
		}
	}
}

// take keeps what an event changes. What ended before a request was asked comes first.
func (q *requests) take(e *Event, d trace.Dir) {
	over, asked := q.answered+q.unanswered, q.asked
	ended := e.answered[d] + e.unanswered[d]
	if e.requests[d] == asked && ended == over {
		return
	}
	x := change{time: e.Time, frame: e.Frame}
	for n := over + 1; n <= min(ended, asked); n++ {
		x.nth, x.at, x.ends = n, e.End, true
		x.givenUp = n < ended || e.answered[d] == q.answered
		q.held = append(q.held, x)
	}
	for n := max(asked, ended) + 1; n <= e.requests[d]; n++ {
		q.held = append(q.held, change{time: e.Time, frame: e.Frame, nth: n, at: e.Acked})
	}
	if n := e.requests[d]; n > asked && n <= ended && e.asks && !e.Transaction {
		q.held = append(q.held, change{time: e.Time, frame: e.Frame, nth: n, at: e.Acked, brief: true})
	}
	q.asked, q.answered, q.unanswered = e.requests[d], e.answered[d], e.unanswered[d]
}

// catch takes in how long the answer to the latest request took, which became known before it.
func (q *requests) catch(e *Event) {
	n := len(q.held) - 1
	if n < 0 || !q.held[n].brief || e.Took < 0 {
		return
	}
	r := &q.held[n]
	r.brief = false
	end := change{time: r.time, frame: r.frame, nth: r.nth, ends: true}
	if r.time != 0 {
		end.time += e.Took
	}
	q.held = append(q.held, end)
}

// settle tells of what is held. lacks says that answers to requests up to sent may be missing.
func (q *requests) settle(d trace.Dir, lacks bool, sent uint64, to Sink) {
	unknown := q.unknown
	if lacks {
		q.leaveOut(d, sent, to)
	}
	if len(q.held) > 1 {
		q.byAcks()
		slices.SortStableFunc(q.held, func(a, b change) int { return before(&a, &b) })
	}
	for i := range q.held {
		x := &q.held[i]
		t := Change{Dir: d, Time: x.time, Asked: !x.ends}
		switch {
		case x.ends && (x.nth <= unknown || x.givenUp && lacks):
			continue
		case x.ends:
			q.now--
		case x.brief && x.givenUp:
			t.Unknown = 1
		case !x.brief:
			q.now++
		}
		q.since, t.Now = x.time, q.now
		to.Waits(t)
	}
	q.held, q.over, q.known = q.held[:0], q.answered+q.unanswered, q.asked
}

// leaveOut has requests that were not answered wait no longer than is known: the answers to them may be among
// what is missing.
func (q *requests) leaveOut(d trace.Dir, sent uint64, to Sink) {
	answered := make(map[uint64]bool, len(q.held))
	for i := range q.held {
		if x := &q.held[i]; x.ends && !x.givenUp {
			answered[x.nth] = true
		}
	}
	for i := range q.held {
		if x := &q.held[i]; !x.ends && !x.brief && x.nth <= sent && !answered[x.nth] {
			x.brief, x.givenUp = true, true
		}
	}
	open := Change{Dir: d, Time: q.since}
	for n := max(q.over, q.unknown) + 1; n <= min(q.known, sent); n++ {
		if !answered[n] {
			open.Unknown++
		}
	}
	if open.Unknown > 0 {
		q.now -= int32(open.Unknown) //nolint:gosec // at most as many as wait
		open.Now = q.now
		to.Waits(open)
	}
	q.unknown = sent
}

// byAcks has an answer come no later than what acknowledges it, where the directions are out of step.
func (q *requests) byAcks() {
	var asks []int // by rising acknowledgements
	for i := range q.held {
		if x := &q.held[i]; !x.ends && x.at > 0 && (len(asks) == 0 || x.at > q.held[asks[len(asks)-1]].at) {
			asks = append(asks, i)
		}
	}
	for i := range q.held {
		x := &q.held[i]
		if !x.ends || x.at <= 0 {
			continue
		}
		n := sort.Search(len(asks), func(n int) bool { return q.held[asks[n]].at >= x.at })
		if n == len(asks) {
			continue
		}
		if ask := q.held[asks[n]]; before(&ask, x) < 0 && ask.nth > x.nth {
			x.time, x.frame, x.early = ask.time, ask.frame, true
		}
	}
}

// before compares by time, and by frame where that is the same or not known.
func before(a, b *change) int {
	if a.time != 0 && b.time != 0 && a.time != b.time {
		return cmp.Compare(a.time, b.time)
	}
	if a.frame != b.frame {
		return cmp.Compare(a.frame, b.frame)
	}
	if a.early != b.early {
		if a.early {
			return -1
		}
		return 1
	}
	return 0
}

// Close settles what is held at the end of a connection. No more comes of it.
func (c *Conn) Close(t *trace.Connection, to Sink) {
	var e Event
	e.counts(t)
	for d := range c.dirs {
		q := &c.dirs[d]
		q.settle(trace.Dir(d), e.lacks[1-d] != q.lacks || t.Flow[1-d].Waiting, q.asked, to)
	}
}

// Relieve tells of what is held, as far as it is known, and forgets it.
func (c *Conn) Relieve(to Sink) {
	for d := range c.dirs {
		q := &c.dirs[d]
		q.settle(trace.Dir(d), true, q.asked, to)
		q.held = nil
	}
}

// Now is how many requests of a direction wait, as far as it was told.
func (c *Conn) Now(d trace.Dir) int32 { return c.dirs[d].now }

// Weight is how many octets it takes besides its own.
func (c *Conn) Weight() int {
	return (cap(c.dirs[0].held) + cap(c.dirs[1].held)) * int(unsafe.Sizeof(change{}))
}
