package pipeline

import (
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/internal/judges"
	"github.com/iwdissect/iwdissect/internal/readahead"
	"github.com/iwdissect/iwdissect/trace"
)

// shared is a batch that all workers look at, and what each found in it.
type shared struct {
	*readahead.Batch
	of   []share
	left atomic.Int32 // workers that are not done with it
}

// share is what a worker found in a batch.
type share struct {
	created []uint64 // the frames that began connections
	pdus    []counted
	leaving []leaving
	cut     any // see judges.Part
	added   int // connections that more than before are in memory
	used    int // octets in use
	transactions
}

// reset makes it free for another batch.
func (s *share) reset() {
	clear(s.leaving)
	*s = share{created: s.created[:0], pdus: s.pdus[:0], leaving: s.leaving[:0], cut: s.cut, transactions: s.transactions.emptied()}
}

// counted are PDUs that were found with a frame.
type counted struct{ frame, n uint64 }

// leaving is a connection that has ended.
type leaving struct {
	frame uint64 // with which it did
	run   *Run
	conn  *trace.Connection
	first [2][]byte                          // the first octets of both sides, if it is not known to carry iWARP
	tell  func(number func(n uint64) uint64) // nil: there is nothing to tell
}

// share processes the run's own connections in all batches.
func (r *Run) share(in <-chan *shared, a *readahead.Reader) {
	var at, next *shared // the batch at hand, and the one behind it if it is there
	defer func() {
		if recover() == nil {
			return
		}
		r.team.Cross() // in order it happens again, to one who can tell of it
		for _, s := range [...]*shared{at, next} {
			if s != nil {
				s.done(r.team, a)
			}
		}
		for s := range in {
			s.done(r.team, a)
		}
	}()
	for {
		if at, next = next, nil; at == nil {
			if at = <-in; at == nil {
				return
			}
		}
		var ahead *readahead.Batch
		if r.flows.n >= r.manyFlows {
			select {
			case next = <-in:
			default:
			}
			if next != nil {
				ahead = next.Batch
			}
		}
		r.found = at.of[r.opt.Shard.K]
		flows := r.flows.n
		r.batch(at.Batch, ahead)
		r.found.added, r.found.used = r.flows.n-flows, r.memory.Used()
		if r.shortOfMemory() {
			r.team.Cross()
		}
		if p, ok := r.sink.(judges.Part); ok {
			r.found.cut = p.Cut(r.found.cut)
		}
		at.of[r.opt.Shard.K] = r.found
		s := at
		at = nil
		s.done(r.team, a)
	}
}

// done is called by each worker that is done with the batch.
func (s *shared) done(w *Workers, a *readahead.Reader) {
	if s.left.Add(-1) > 0 {
		return
	}
	if !w.crossed.Load() {
		w.join(s)
	}
	a.Return(s.Batch)
	for i := range s.of {
		s.of[i].reset()
	}
	w.free <- s // there is room for all
}

// shortOfMemory reports whether the worker's share of what all may take was too little for it.
func (r *Run) shortOfMemory() bool { return r.env.Budget.Exceeded || r.env.Decoders.Starved > 0 }

// batch processes the run's own connections in a batch. next is the one behind it, nil if that is not there yet.
func (r *Run) batch(b, next *readahead.Batch) {
	first := b.First()
	for i, t := range b.Turns(int(r.opt.Shard.K)) {
		if r.stopped.Load() {
			return
		}
		if r.flows.n >= r.manyFlows {
			r.upcomingTurn(b, next, i)
		}
		r.latest = t.Latest
		n, frame := b.Note(int(t.At)), first+uint64(t.At)
		before := r.env.PDUs()
		if n.Kind() != readahead.TCP || !r.predecoded(n, frame, nil, nil) {
			r.decode(b.Frame(int(t.At)), n)
		}
		if more := r.env.PDUs() - before; more > 0 {
			r.found.pdus = append(r.found.pdus, counted{frame, more})
		}
	}
	if b.Err != nil {
		if end, err := r.ended(b.Err); end && !errors.Is(err, io.EOF) && r.opt.Shard.First() {
			r.team.failure = err
		}
	}
}

// number is that of a new connection.
func (r *Run) number() uint64 {
	n := r.next
	if r.team != nil {
		n = r.seg.Frame // a frame begins one at most
		r.found.created = append(r.found.created, n)
	}
	r.next = n + 1
	return n
}

// alone reports whether the run has the capture for itself. If not, the workers give up: what is about to be
// done depends on all connections.
func (r *Run) alone() bool {
	if r.team == nil {
		return true
	}
	r.team.Cross()
	return false
}

// leaves ends a connection. What others see of it waits until all that happened before is known.
func (r *Run) leaves(fl *flow) {
	first := fl.conn.First()
	fl.conn.Finish()
	fl.tally()
	c := fl.conn.Trace
	l := leaving{frame: r.seg.Frame, run: r, conn: c}
	if c.IsMPA {
		c.Until, c.UpperData = r.latest, nil
		if p, ok := r.sink.(judges.Part); ok {
			l.tell = p.Concluded(c)
		}
	} else {
		l.first = [2][]byte{slices.Clone(first[0]), slices.Clone(first[1])}
	}
	r.found.leaving = append(r.found.leaving, l)
}
