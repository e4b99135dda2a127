package statistics

import (
	"github.com/iwdissect/iwdissect/internal/waits"
	"github.com/iwdissect/iwdissect/trace"
)

// makeDepth reads "[interval][,filter]" of rdma,depth.
func makeDepth(s *spec, args string) error {
	interval, filter, err := intervalOf(args)
	if err != nil {
		return err
	}
	s.taps = func(s *spec) []tap {
		return []tap{&depths{filter: s.filter, series: newSeries(interval, mergeDepth)}}
	}
	return s.only(filter)
}

// depths gathers how many Reads and atomics wait for their answer.
type depths struct {
	filter string
	clock  *clock
	conns  table[connDepths]
	series *series[depthSlot]
	// blocks have the most of one direction that holds for depthBlock intervals each.
	blocks []int32
	// unknown are requests that wait no longer than is known.
	unknown uint64
	// current is the connection that is told of.
	current *connDepths
}

// connDepths is a connection.
type connDepths struct {
	peers
	dirs  [2]dirDepth
	waits waits.Conn
	// weight is what waits was found to take.
	weight int
}

// dirDepth are the requests of a direction.
type dirDepth struct {
	now, most int32
	// limit is what was negotiated, if known.
	limit int32
	known bool
	// requests counts those that were sent, beyond those that were sent above the limit.
	requests, beyond uint64
	// busy is the time in which any waited, weighted that time by how many did, full the
	// time in which as many waited as the limit allows; since is when now began.
	busy, weighted, full, since int64
}

// depthSlot is an interval. What waits at its start is known in the end only: what was given up
// becomes known late.
type depthSlot struct {
	// requests and end are those that were sent, and those that were answered or given up.
	requests, end uint64
	// net is how many more wait at its end than at its start, peak how many more at most
	// meanwhile, on all connections.
	net, peak int64
	// one is the most that waited at once in one direction of a connection.
	one int32
}

func mergeDepth(to, from *depthSlot) {
	to.requests += from.requests
	to.end += from.end
	to.peak = max(to.peak, to.net+from.peak)
	to.net += from.net
	to.one = max(to.one, from.one)
}

// add takes in that another number of requests waits than before.
func (s *depthSlot) add(w *waits.Change, before int32) {
	more := int64(w.Now) - int64(before)
	if w.Asked {
		s.requests++
	}
	if !w.Asked || more == 0 { // answered, or known late
		s.end += uint64(max(-more, 1))
	}
	s.net += more
	s.peak = max(s.peak, s.net)
	s.one = max(s.one, w.Now)
}

// depthBlock is how many intervals are filled at once: with a few requests that wait for long, an
// interval that is short must not cost its number each time.
const depthBlock = 1 << 10

func (d *depths) keeps(k *clock) { d.clock = k }

func (d *depths) keepsIn(room *room) { d.conns.room, d.series.room = room, room }

func (d *depths) event(e *event) {
	c := d.conns.has(e.conn.Number)
	if c == nil {
		if !e.waits.Any() {
			return
		}
		if c = d.conns.of(e.conn.Number); c == nil {
			return
		}
	}
	for dir := range c.dirs {
		if limit, ok := e.conn.Depth(trace.Dir(dir)); ok {
			c.dirs[dir].limit, c.dirs[dir].known = int32(limit), true //nolint:gosec // 14 bits
		}
	}
	d.current = c
	c.waits.Take(&e.waits, d)
	if n := c.waits.Weight(); n > c.weight {
		if !d.conns.room.take(n - c.weight) {
			c.waits.Relieve(d)
			n = 0
		}
		c.weight = n
	}
}

// Waits implements [waits.Sink] for the current connection.
func (d *depths) Waits(w waits.Change) {
	q := &d.current.dirs[w.Dir]
	if slot := d.slot(q, w.Time); slot != nil {
		slot.add(&w, q.now)
	}
	q.pass(w.Time)
	if w.Asked {
		q.requests++
		if w.Now > q.now && q.known && w.Now > q.limit {
			q.beyond++
		}
	}
	d.unknown += w.Unknown
	q.now, q.most = w.Now, max(q.most, w.Now)
}

// slot returns the interval of a time, nil for none. What waited in a direction since its last change
// waited at the start of each interval that has begun since then.
func (d *depths) slot(q *dirDepth, now int64) *depthSlot {
	at, timed := d.clock.since(now)
	if !timed {
		return nil
	}
	slot := d.series.at(at)
	if since, timed := d.clock.since(q.since); timed && q.now > 0 {
		end := min(int(max(at, 0)/d.series.interval)+1, len(d.series.slots))
		d.fill(int(max(since, 0)/d.series.interval)+1, end, q.now)
	}
	return slot
}

// fill notes that n requests of a direction waited in the intervals from one on and before another one.
func (d *depths) fill(from, to int, n int32) {
	for from < to {
		if b := from / depthBlock; from%depthBlock == 0 && from+depthBlock <= to {
			if b >= len(d.blocks) {
				d.blocks = append(d.blocks, make([]int32, b+1-len(d.blocks))...)
			}
			d.blocks[b] = max(d.blocks[b], n)
			from += depthBlock
			continue
		}
		d.series.slots[from].one = max(d.series.slots[from].one, n)
		from++
	}
}

// pass adds the time since the last change.
func (q *dirDepth) pass(now int64) {
	t := now - q.since
	if t < 0 && now != 0 {
		return // it is known already how many waited then
	}
	if q.now > 0 && t > 0 && q.since != 0 && now != 0 {
		q.busy += t
		q.weighted += t * int64(q.now)
		if q.known && q.now >= q.limit {
			q.full += t
		}
	}
	q.since = now
}

// conn ends a connection: what still waits is given up, with the connection, or with the capture if it
// was not closed.
func (d *depths) conn(c *trace.Connection) {
	t := d.conns.has(c.Number)
	if t == nil {
		return
	}
	t.set(c)
	d.current = t
	t.waits.Close(c, d)
	end := c.LastTime
	if c.Ending == trace.Open {
		end = d.clock.last
	}
	for dir := range t.dirs {
		q := &t.dirs[dir]
		if q.now > 0 {
			if slot := d.slot(q, end); slot != nil {
				slot.add(&waits.Change{}, q.now)
			}
		}
		q.pass(end)
		q.now = 0
	}
}

func (d *depths) report() *Report {
	r := &Report{Name: "rdma,depth", Filter: d.filter, Title: "RDMA Outstanding Request Statistics"}
	conns := Table{Key: "connections", Columns: []Column{
		{"conn", "Conn", Count},
		{"requester", "Requester", Plain},
		{"responder", "Responder", Plain},
		{"dir", "Dir", Plain},
		{"limit", "Limit", Count},
		{"requests", "Requests", Count},
		{"max", "Max", Count},
		{"mean", "Mean", Rate},
		{"busy_ns", "Waiting", Nanoseconds},
		{"at_limit_ns", "At limit", Nanoseconds},
		{"at_limit_percent", "of it", Percent},
		{"beyond_limit", "Above limit", Count},
	}}
	for i := range d.conns.rows {
		c := &d.conns.rows[i]
		ends := [2]string{c.initiator, c.responder}
		for dir := range c.dirs {
			q := &c.dirs[dir]
			if q.requests == 0 {
				continue
			}
			var limit, mean, full, share, beyond any
			if q.known {
				limit, full, share, beyond = uint64(q.limit), d.clock.known(q.full), part(q.full, q.busy), q.beyond //nolint:gosec // not negative
			}
			if q.busy > 0 {
				mean = float64(q.weighted) / float64(q.busy)
			}
			conns.add(d.conns.nums[i], ends[dir], ends[1-dir], trace.Dir(dir).String(), limit, q.requests, uint64(q.most), mean, d.clock.known(q.busy), full, share, beyond) //nolint:gosec // not negative
		}
	}
	r.Tables = []Table{conns, d.overTime()}
	if d.unknown > 0 {
		r.note("of " + counted(d.unknown, "request", "requests") + " it is not known how long it waited: packets that may have the answer are missing")
	}
	d.clock.lacks(r)
	d.conns.left(r)
	d.series.left(r)
	return r
}

// overTime is the table of the intervals.
func (d *depths) overTime() Table {
	t := Table{fold: true, Key: "intervals", Title: "Over time, on all connections", Columns: []Column{
		{"from_ns", "From", Nanoseconds},
		{"to_ns", "To", Nanoseconds},
		{"requests", "Requests", Count},
		{"answers", "Answers", Count},
		{"max_one", "Max of one", Count},
		{"max", "Max", Bars},
	}}
	waits := int64(0) // at the start of the interval
	for i := range d.series.slots {
		s := &d.series.slots[i]
		from, to := d.series.span(i)
		one := s.one
		if b := i / depthBlock; b < len(d.blocks) {
			one = max(one, d.blocks[b])
		}
		t.add(from, to, s.requests, s.end, uint64(one), uint64(waits+s.peak)) //nolint:gosec // not negative
		// What was sent in a frame without a time is missing.
		waits = max(waits+s.net, 0)
	}
	return t
}
