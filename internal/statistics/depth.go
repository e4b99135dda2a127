package statistics

import "github.com/iwdissect/iwdissect/trace"

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
	total  int32 // of all connections now
}

// connDepths is a connection.
type connDepths struct {
	peers
	dirs [2]dirDepth
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

// depthSlot is an interval: the most requests that waited at once, on all connections and
// in one direction of one.
type depthSlot struct {
	touched       bool
	all, one      int32
	last          int32 // of all, at the end
	requests, end uint64
}

func mergeDepth(to, from *depthSlot) {
	to.all, to.one = max(to.all, from.all), max(to.one, from.one)
	to.requests += from.requests
	to.end += from.end
	if from.touched {
		to.touched, to.last = true, from.last
	}
}

func (d *depths) keeps(k *clock) { d.clock = k }

func (d *depths) keepsIn(room *room) { d.conns.room, d.series.room = room, room }

func (d *depths) event(e *event) {
	c := d.conns.has(e.conn.Number)
	if c == nil {
		if e.outstanding[0] == 0 && e.outstanding[1] == 0 {
			return
		}
		if c = d.conns.of(e.conn.Number); c == nil {
			return
		}
	}
	for dir := range c.dirs {
		if c.dirs[dir].now != e.outstanding[dir] {
			d.change(e, &c.dirs[dir], trace.Dir(dir))
		}
	}
}

// change takes in that another number of requests waits now.
func (d *depths) change(e *event, q *dirDepth, dir trace.Dir) {
	n := e.outstanding[dir]
	if limit, ok := e.conn.Depth(dir); ok {
		q.limit, q.known = int32(limit), true //nolint:gosec // 14 bits
	}
	q.pass(e.time)
	var slot *depthSlot
	if at, timed := d.clock.since(e.time); timed {
		slot = d.series.at(at)
	}
	if delta := n - q.now; delta > 0 {
		q.requests += uint64(delta)
		if q.known && n > q.limit {
			q.beyond++
		}
		if slot != nil {
			slot.requests += uint64(delta)
		}
	} else if slot != nil {
		slot.end += uint64(-delta)
	}
	d.total += n - q.now
	q.now, q.most = n, max(q.most, n)
	if slot != nil {
		if !slot.touched {
			slot.touched = true
		}
		slot.all, slot.one, slot.last = max(slot.all, d.total), max(slot.one, n), d.total
	}
}

// pass adds the time since the last change.
func (q *dirDepth) pass(now int64) {
	if t := now - q.since; q.now > 0 && t > 0 && q.since != 0 && now != 0 {
		q.busy += t
		q.weighted += t * int64(q.now)
		if q.known && q.now >= q.limit {
			q.full += t
		}
	}
	q.since = now
}

func (d *depths) conn(c *trace.Connection) {
	t := d.conns.has(c.Number)
	if t == nil {
		return
	}
	t.set(c)
	for dir := range t.dirs {
		q := &t.dirs[dir]
		q.pass(c.LastTime)
		d.total -= q.now
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
	carried := int32(0)
	for i := range d.series.slots {
		s := &d.series.slots[i]
		from, to := d.series.span(i)
		t.add(from, to, s.requests, s.end, uint64(s.one), uint64(max(s.all, carried))) //nolint:gosec // not negative
		if s.touched {
			carried = s.last
		}
	}
	return t
}
