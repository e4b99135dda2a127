package statistics

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// makeSRT reads "[filter]" of rdma,srt.
func makeSRT(s *spec, args string) error {
	s.taps = func(s *spec) []tap {
		return []tap{&rdmaTimes{responses: newResponses(
			"rdma,srt", "RDMA Service Response Time Statistics", s.filter, "Startup", "RDMA Read", "Atomic", "Send to Send",
		)}}
	}
	return s.only(args)
}

// responses gathers how long operations took: over all connections, and by connection. It
// serves any statistic whose operations have names.
type responses struct {
	name, title, filter string
	// ops are the operations in the order in which they are shown.
	ops   []string
	all   []timed
	conns table[connTimes]
	// untimed are times that the rows of their connections lack: there was no room for them.
	untimed uint64
}

// connTimes are those of a connection, by operation.
type connTimes struct {
	peers
	ops []*timed
}

// timed are the times of an operation, and the frame that ended the longest, 0 if it is not
// known.
type timed struct {
	histogram
	slowest uint64
}

func (t *timed) took(ns int64, frame uint64) {
	if v := uint64(max(ns, 0)); t.Count == 0 || v > t.Max {
		t.slowest = frame
	}
	t.Add(ns)
}

// values are those of the columns of times, and of slowestColumn.
func (t *timed) values() []any {
	if t.slowest == 0 {
		return append(t.histogram.values(), nil)
	}
	return append(t.histogram.values(), t.slowest)
}

// timedWeight is what the times of an operation take: with some doublings, and a row.
const timedWeight = int(unsafe.Sizeof(timed{})) + 8*128 + rowWeight

// maxTimed bounds the connections that have histograms of their own.
const maxTimed = 10_000

func newResponses(name, title, filter string, ops ...string) *responses {
	r := &responses{name: name, title: title, filter: filter, ops: ops, all: make([]timed, len(ops))}
	r.conns.limit = maxTimed
	return r
}

// op returns the place of an operation, which is added if it is new.
func (r *responses) op(name string) int {
	for i, o := range r.ops {
		if o == name {
			return i
		}
	}
	r.ops, r.all = append(r.ops, name), append(r.all, timed{})
	return len(r.ops) - 1
}

// add counts an operation of a connection, which took so many nanoseconds and was over with
// a frame.
func (r *responses) add(conn uint64, op int, ns int64, frame uint64) {
	r.all[op].took(ns, frame)
	c := r.conns.of(conn)
	if c == nil {
		return
	}
	if op >= len(c.ops) {
		c.ops = append(c.ops, make([]*timed, len(r.ops)-len(c.ops))...)
	}
	if c.ops[op] == nil {
		if !r.conns.room.take(timedWeight) {
			r.untimed++
			return
		}
		c.ops[op] = new(timed)
	}
	c.ops[op].took(ns, frame)
}

func (r *responses) keepsIn(room *room) { r.conns.room = room }

// over takes the ends of a connection.
func (r *responses) over(c *trace.Connection) {
	if t := r.conns.has(c.Number); t != nil {
		t.set(c)
	}
}

func (p *peers) set(c *trace.Connection) {
	p.initiator, p.responder = endpointText(c.Side[0].Addr), endpointText(c.Side[1].Addr)
}

// timeColumns are the columns of a histogram of times.
var timeColumns = []Column{
	{"count", "Calls", Count},
	{"min_ns", "Min SRT", Nanoseconds},
	{"mean_ns", "Avg SRT", Nanoseconds},
	{"p50_ns", "p50", Nanoseconds},
	{"p90_ns", "p90", Nanoseconds},
	{"p99_ns", "p99", Nanoseconds},
	{"max_ns", "Max SRT", Nanoseconds},
	{"sum_ns", "Sum SRT", Nanoseconds},
}

// slowestColumn is behind them where the frame is known that ended the longest.
var slowestColumn = Column{"max_frame", "Max in frame", Count}

// values are those of the columns.
func (h *histogram) values() []any {
	return []any{h.Count, h.Min, h.mean(), h.Quantile(0.5), h.Quantile(0.9), h.Quantile(0.99), h.Max, h.Sum}
}

func (r *responses) report() *Report {
	rep := &Report{Name: r.name, Filter: r.filter, Title: r.title}
	columns := append(slices.Clone(timeColumns), slowestColumn)
	all := Table{Key: "operations", Columns: append([]Column{{"operation", "Operation", Plain}}, columns...)}
	hist := Table{Key: "histogram", Title: "Histogram", Columns: []Column{
		{"operation", "Operation", Plain}, {"from_ns", "From", Nanoseconds}, {"below_ns", "Below", Nanoseconds}, {"count", "Calls", Bars},
	}}
	for i := range r.all {
		h := &r.all[i]
		if h.Count == 0 {
			continue
		}
		all.add(append([]any{r.ops[i]}, h.values()...)...)
		for _, b := range h.buckets() {
			hist.add(r.ops[i], b.from, b.to, b.count)
		}
	}
	conns := Table{Key: "connections", Title: "By connection", Columns: append([]Column{
		{"conn", "Conn", Count}, {"initiator", "Initiator", Plain}, {"responder", "Responder", Plain}, {"operation", "Operation", Plain},
	}, columns...)}
	for n := range r.conns.rows {
		c := &r.conns.rows[n]
		for i, h := range c.ops {
			if h != nil {
				conns.add(append([]any{r.conns.nums[n], c.initiator, c.responder, r.ops[i]}, h.values()...)...)
			}
		}
	}
	rep.Tables = []Table{all, hist, conns}
	r.conns.left(rep)
	if r.untimed > 0 {
		rep.note(fmt.Sprintf("%d times are in the totals and in no row of a connection, to bound memory", r.untimed))
	}
	return rep
}

// left says which connections have no row.
func (t *table[T]) left(r *Report) {
	if t.omitted > 0 {
		r.note(beyond(t.omitted, len(t.rows)))
	}
}

// beyond says that connections have no row.
func beyond(omitted uint64, rows int) string {
	what := "connections beyond the first %d have no row; the totals include them"
	if omitted == 1 {
		what = "connection beyond the first %d has no row; the totals include it"
	}
	return fmt.Sprintf("%d "+what, omitted, rows)
}

// rdmaTimes gathers the times of startups, Reads, atomics, and Sends with the Send that
// answers.
type rdmaTimes struct {
	*responses
	sends table[turns]
	// unpaired are Sends that nothing answered yet, beyond what is remembered.
	unpaired uint64
}

// The operations, in the order in which they are shown.
const (
	opStartup = iota
	opRead
	opAtomic
	opSends
)

// turns are the Sends of a connection that wait for a Send of the other side. Each answer
// is that of the oldest one: only one direction can wait.
type turns struct {
	dir   trace.Dir
	times []int64
	next  int // of times
	// msn is that of the next message in each direction, if begun, and lacks what was missing up to the latest.
	msn   [2]uint32
	begun [2]bool
	lacks [2]uint64
	// held are Sends until nothing is missing: those behind what is missing become known late.
	held []send
}

// send is a Send.
type send struct {
	time       int64
	frame, end uint64
	dir        trace.Dir
	// missing is how many of its direction are missing in front of it. bare: it is none itself, but immediate data.
	missing int32
	bare    bool
}

// maxTurns bounds the Sends of a connection that are remembered, maxHeld those that are held.
const (
	maxTurns = 64
	maxHeld  = 1024
)

func (t *rdmaTimes) event(e *event) {
	switch {
	case e.is == aTransaction && e.last < 0: // not known
	case e.is == aTransaction:
		op := opStartup
		switch e.kind {
		case trace.TransactionRead:
			op = opRead
		case trace.TransactionAtomic:
			op = opAtomic
		case trace.TransactionStartup:
		}
		t.add(e.conn.Number, op, e.last, e.frame)
	case e.is == aPDU && e.done && e.hasOp && (isSend(e.op) || e.sends):
		t.sent(e)
	}
}

// isSend reports whether an opcode is one of the four Sends.
func isSend(op rdmap.Opcode) bool { return op >= rdmap.OpSend && op <= rdmap.OpSendSEInv }

// sent takes in a message of the queue of Sends, when it became known.
func (t *rdmaTimes) sent(e *event) {
	w := t.sends.of(e.conn.Number)
	if w == nil {
		return
	}
	s := send{time: e.waits.Time, frame: e.waits.Frame, end: e.frame, dir: e.dir, missing: w.counts(e), bare: !isSend(e.op)}
	if len(w.held) == 0 && !e.waits.Waiting {
		t.pair(e.conn.Number, w, &s)
		return
	}
	full := len(w.held) >= maxHeld
	if len(w.held) == cap(w.held) && !full {
		full = !t.sends.room.take((len(w.held) + 8) * int(unsafe.Sizeof(s)))
	}
	w.held = append(w.held, s)
	if full || !e.waits.Waiting {
		t.settle(e.conn.Number, w)
	}
}

// counts takes in the number of a message, and returns how many of its direction are missing in front of it.
func (w *turns) counts(e *event) (missing int32) {
	d := e.dir
	if !w.begun[d] {
		w.msn[d] = 1
	}
	if n := int32(e.msn - w.msn[d]); n > 0 && e.waits.Lacks(d) != w.lacks[d] { //nolint:gosec // serial numbers
		missing = n
	}
	w.msn[d], w.begun[d], w.lacks[d] = e.msn+1, true, e.waits.Lacks(d)
	return missing
}

// settle pairs the Sends that were held, in the order in which they were captured.
func (t *rdmaTimes) settle(conn uint64, w *turns) {
	slices.SortStableFunc(w.held, func(a, b send) int {
		if a.time != 0 && b.time != 0 && a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		return cmp.Compare(a.frame, b.frame)
	})
	for i := range w.held {
		t.pair(conn, w, &w.held[i])
	}
	w.held = w.held[:0]
}

// pair pairs a Send with the oldest one of the other direction that waits. Those that are missing in front of it have
// their turn, and no time.
func (t *rdmaTimes) pair(conn uint64, w *turns, s *send) {
	if s.missing > maxTurns {
		w.times, w.next = w.times[:0], 0
	} else {
		for range s.missing {
			t.turn(conn, w, &send{dir: s.dir})
		}
	}
	if !s.bare {
		t.turn(conn, w, s)
	}
}

func (t *rdmaTimes) turn(conn uint64, w *turns, s *send) {
	waiting := len(w.times) - w.next
	if waiting > 0 && w.dir != s.dir {
		if took, known := trace.Between(w.times[w.next], s.time); known {
			t.add(conn, opSends, took, s.end)
		}
		if w.next++; w.next == len(w.times) {
			w.times, w.next = w.times[:0], 0
		}
		return
	}
	w.dir = s.dir
	if len(w.times) == cap(w.times) && w.next > 0 {
		w.times, w.next = w.times[:copy(w.times, w.times[w.next:])], 0
	}
	if waiting >= maxTurns {
		t.unpaired++
		return
	}
	w.times = append(w.times, s.time)
}

func (t *rdmaTimes) keepsIn(room *room) { t.conns.room, t.sends.room = room, room }

func (t *rdmaTimes) conn(c *trace.Connection) {
	if w := t.sends.has(c.Number); w != nil {
		t.settle(c.Number, w)
	}
	t.over(c)
}

func (t *rdmaTimes) report() *Report {
	r := t.responses.report()
	if t.unpaired > 0 {
		r.note(fmt.Sprintf("%d Sends have no time: more than %d waited for a Send of the other side", t.unpaired, maxTurns))
	}
	return r
}
