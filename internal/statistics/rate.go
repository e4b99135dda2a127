package statistics

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// makeRate reads "[interval][,filter]" of rdma,rate.
func makeRate(s *spec, args string) error {
	interval, filter, err := intervalOf(args)
	if err != nil {
		return err
	}
	s.taps = func(s *spec) []tap {
		return []tap{&rates{filter: s.filter, series: newSeries(interval, func(to, from *work) { to.merge(from) })}}
	}
	return s.only(filter)
}

// operation is a kind of operations that are counted.
type operation uint8

const (
	aWrite operation = iota
	aRead
	aSend
	anAtomic
	anImmediate
	operations
)

// operationOf returns the operation that a message completes: a Read with its response.
func operationOf(op rdmap.Opcode) (operation, bool) {
	switch {
	case op == rdmap.OpWrite:
		return aWrite, true
	case op == rdmap.OpReadResponse:
		return aRead, true
	case isSend(op):
		return aSend, true
	case op == rdmap.OpAtomicResponse:
		return anAtomic, true
	case op == rdmap.OpImmediate, op == rdmap.OpImmediateSE:
		return anImmediate, true
	}
	return 0, false
}

// work is what was done: payload octets each way, and operations.
type work struct {
	octets [2]uint64
	ops    [operations]uint64
}

func (w *work) merge(o *work) {
	for d := range w.octets {
		w.octets[d] += o.octets[d]
	}
	for i := range w.ops {
		w.ops[i] += o.ops[i]
	}
}

// add counts a segment.
func (w *work) add(e *event) {
	if e.op.Payload() {
		w.octets[e.dir] += uint64(e.payload) //nolint:gosec // not negative
	}
	if e.done {
		if o, ok := operationOf(e.op); ok {
			w.ops[o]++
		}
	}
}

func (w *work) count() (n uint64) {
	for _, o := range w.ops {
		n += o
	}
	return n
}

// rates gathers throughput and operations over time.
type rates struct {
	filter string
	clock  *clock
	series *series[work]
	total  work
	conns  table[connWork]
}

// connWork is that of a connection.
type connWork struct {
	peers
	work
	from, to int64
	begun    bool
}

func (r *rates) keeps(k *clock) { r.clock = k }

func (r *rates) keepsIn(room *room) { r.conns.room, r.series.room = room, room }

func (r *rates) event(e *event) {
	if e.is != aPDU || !e.hasOp {
		return
	}
	r.total.add(e)
	at, timed := r.clock.since(e.time)
	if timed {
		if s := r.series.at(at); s != nil {
			s.add(e)
		}
	}
	if c := r.conns.of(e.conn.Number); c != nil {
		c.add(e)
		if timed && !c.begun {
			c.begun, c.from = true, e.time
		}
		c.to = max(c.to, e.time)
	}
}

func (r *rates) conn(c *trace.Connection) {
	if t := r.conns.has(c.Number); t != nil {
		t.set(c)
	}
}

// workColumns are the columns of what was done in a time.
var workColumns = []Column{
	{"octets_i2r", "Octets i2r", Octets},
	{"octets_r2i", "Octets r2i", Octets},
	{"bits_per_second_i2r", "Rate i2r", BitRate},
	{"bits_per_second_r2i", "Rate r2i", BitRate},
	{"writes", "Writes", Count},
	{"reads", "Reads", Count},
	{"sends", "Sends", Count},
	{"atomics", "Atomics", Count},
	{"immediates", "Immediates", Count},
	{"operations_per_second", "Ops/s", Rate},
}

// row are the values of the columns; nothing has a rate in no time.
func (w *work) row(ns int64) []any {
	var there, back, ops any
	if ns > 0 {
		s := float64(ns) / 1e9
		there, back, ops = float64(w.octets[0])*8/s, float64(w.octets[1])*8/s, float64(w.count())/s
	}
	return []any{w.octets[0], w.octets[1], there, back, w.ops[aWrite], w.ops[aRead], w.ops[aSend], w.ops[anAtomic], w.ops[anImmediate], ops}
}

func (r *rates) report() *Report {
	rep := &Report{Name: "rdma,rate", Filter: r.filter, Title: "RDMA Rate Statistics"}
	all := Table{Key: "total", Columns: append([]Column{{"duration_ns", "Duration", Nanoseconds}}, workColumns...)}
	all.add(append([]any{r.clock.known(r.clock.duration())}, r.total.row(r.clock.duration())...)...)
	times := Table{fold: true, Key: "intervals", Title: "Over time", Columns: append([]Column{{"from_ns", "From", Nanoseconds}, {"to_ns", "To", Nanoseconds}}, workColumns...)}
	for i := range r.series.slots {
		from, to := r.series.span(i)
		to = max(min(to, r.clock.duration()), from)
		times.add(append([]any{from, to}, r.series.slots[i].row(to-from)...)...)
	}
	conns := Table{Key: "connections", Title: "By connection", Columns: append([]Column{
		{"conn", "Conn", Count}, {"initiator", "Initiator", Plain}, {"responder", "Responder", Plain}, {"duration_ns", "Duration", Nanoseconds},
	}, workColumns...)}
	for i := range r.conns.rows {
		c := &r.conns.rows[i]
		var lasted any
		if c.begun {
			lasted = c.to - c.from
		}
		conns.add(append([]any{r.conns.nums[i], c.initiator, c.responder, lasted}, c.row(c.to-c.from)...)...)
	}
	r.clock.lacks(rep)
	rep.Tables = []Table{all, times, conns}
	r.conns.left(rep)
	r.series.left(rep)
	return rep
}
