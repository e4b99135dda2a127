package link

// Queue is virtual time: what happens, in order. Events of one moment happen
// in the order in which they were added. The zero value is ready. It is not
// safe for use by several goroutines.
//
// Nearly all events are added some usual time ahead: that of a line, that of a
// timer. Those of one usual time come in order by themselves, so each has a lane
// where events are added at the end and taken from the front. Only what fits into
// no lane goes into a heap, which would cost each packet some cache misses.
type Queue struct {
	now   int64
	added uint64
	lanes [4]lane
	// Ahead has what events will need fetched into the caches of the processor. It pays where many
	// connections take turns.
	Ahead bool
	heap  []event // a binary heap
}

// Event is what happens at a time.
type Event interface{ Happen() }

// do is an event that is a function.
type do func()

// Happen implements [Event].
func (f do) Happen() { f() }

type event struct {
	at    int64
	order uint64
	what  Event
}

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// Now is the present in nanoseconds since the queue began.
func (q *Queue) Now() int64 { return q.now }

// At lets f happen at time t, or now if t is past.
func (q *Queue) At(t int64, f func()) { q.Add(t, do(f)) }

// Add lets an event happen at time t, or now if t is past.
func (q *Queue) Add(t int64, what Event) {
	q.added++
	e := event{max(t, q.now), q.added, what}
	if l := q.lane(e.at); l != nil {
		l.push(e)
		return
	}
	q.push(e)
}

// lane is the one at whose end an event of time t may stand, nil if there is none.
// Of several it is the one whose last event is the latest: the others are free for
// what happens earlier.
func (q *Queue) lane(t int64) *lane {
	var best *lane
	for i := range q.lanes {
		l := &q.lanes[i]
		if l.empty() {
			if best == nil {
				best = l
			}
		} else if l.last <= t && (best == nil || best.empty() || best.last < l.last) {
			best = l
		}
	}
	return best
}

// Step lets the next event happen, and reports whether there was one.
func (q *Queue) Step() bool {
	var first *event
	var from *lane
	if len(q.heap) > 0 {
		first = &q.heap[0]
	}
	for i := range q.lanes {
		if l := &q.lanes[i]; !l.empty() && (first == nil || l.front().before(first)) {
			first, from = l.front(), l
		}
	}
	if first == nil {
		return false
	}
	what := first.what
	q.now = first.at
	if from != nil {
		if q.Ahead {
			from.foresee()
		}
		from.pop()
	} else {
		q.pop()
	}
	what.Happen()
	return true
}

// push adds an event to the heap. container/heap would put every event into an
// interface, which costs an allocation a packet.
func (q *Queue) push(e event) {
	q.heap = append(q.heap, e)
	h, i := q.heap, len(q.heap)-1
	for i > 0 && h[i].before(&h[(i-1)/2]) {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		i = (i - 1) / 2
	}
}

// pop takes the first event off the heap.
func (q *Queue) pop() {
	h, last := q.heap, len(q.heap)-1
	moved := h[last]
	h[last] = event{}
	h = h[:last]
	q.heap = h
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&moved) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if last > 0 {
		h[i] = moved
	}
}

// lane is a run of events in their order.
type lane struct {
	events []event // from first on
	first  int
	last   int64 // the time of the last one
}

func (l *lane) empty() bool   { return l.first == len(l.events) }
func (l *lane) front() *event { return &l.events[l.first] }

func (l *lane) push(e event) {
	if l.first > 0 && len(l.events) == cap(l.events) {
		// What was taken makes room, if it is much; else the lane grows.
		if 2*l.first >= len(l.events) {
			n := copy(l.events, l.events[l.first:])
			clear(l.events[n:])
			l.events, l.first = l.events[:n], 0
		}
	}
	l.events = append(l.events, e)
	l.last = e.at
}

func (l *lane) pop() {
	l.events[l.first] = event{}
	l.first++
	if l.empty() {
		l.events, l.first = l.events[:0], 0
	}
}
