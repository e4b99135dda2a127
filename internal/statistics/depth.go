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
	// blocks have the most of one direction that holds for depthBlock intervals each.
	blocks []int32
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

// add takes in that more requests wait, or fewer.
func (s *depthSlot) add(more int32) {
	if more > 0 {
		s.requests += uint64(more)
	} else {
		s.end += uint64(-more)
	}
	s.net += int64(more)
	s.peak = max(s.peak, s.net)
}

// depthBlock is how many intervals are filled at once: with a few requests that wait for long, an
// interval that is short must not cost its number each time.
const depthBlock = 1 << 10

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
	if slot := d.slot(q, e.time); slot != nil {
		slot.add(n - q.now)
		slot.one = max(slot.one, n)
	}
	q.pass(e.time)
	if delta := n - q.now; delta > 0 {
		q.requests += uint64(delta)
		if q.known && n > q.limit {
			q.beyond++
		}
	}
	q.now, q.most = n, max(q.most, n)
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
	if t := now - q.since; q.now > 0 && t > 0 && q.since != 0 && now != 0 {
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
	end := c.LastTime
	if c.Ending == trace.Open {
		end = d.clock.last
	}
	for dir := range t.dirs {
		q := &t.dirs[dir]
		if q.now > 0 {
			if slot := d.slot(q, end); slot != nil {
				slot.add(-q.now)
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
