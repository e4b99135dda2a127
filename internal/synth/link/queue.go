package link

// Queue is virtual time: what happens, in order. Events of one moment happen
// in the order in which they were added. The zero value is ready. It is not
// safe for use by several goroutines.
type Queue struct {
	now    int64
	added  uint64
	events []event // a binary heap
}

type event struct {
	at    int64
	order uint64
	do    func()
}

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

// Now is the present in nanoseconds since the queue began.
func (q *Queue) Now() int64 { return q.now }

// At lets f happen at time t, or now if t is past.
func (q *Queue) At(t int64, f func()) {
	q.added++
	q.events = append(q.events, event{max(t, q.now), q.added, f})
	// container/heap would put every event into an interface, which costs an
	// allocation a packet.
	h, i := q.events, len(q.events)-1
	for i > 0 && h[i].before(&h[(i-1)/2]) {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		i = (i - 1) / 2
	}
}

// Step lets the next event happen, and reports whether there was one.
func (q *Queue) Step() bool {
	if len(q.events) == 0 {
		return false
	}
	e := q.pop()
	q.now = e.at
	e.do()
	return true
}

func (q *Queue) pop() event {
	h := q.events
	top, last := h[0], len(h)-1
	moved := h[last]
	h[last] = event{}
	h = h[:last]
	q.events = h
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
	return top
}
