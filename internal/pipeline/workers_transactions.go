package pipeline

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// transactions are those that a worker found in a batch, with the numbers that PDUs have there.
type transactions struct {
	of        []foundTransaction
	responses []uint64 // of all of them
}

// foundTransaction is one of them.
type foundTransaction struct {
	trace.Transaction
	frame    uint64 // with which it was handed out
	from, to int    // its responses
}

// add adds a transaction, which is borrowed.
func (l *transactions) add(frame uint64, t *trace.Transaction) {
	from := len(l.responses)
	l.responses = append(l.responses, t.Responses...)
	l.of = append(l.of, foundTransaction{*t, frame, from, len(l.responses)})
}

// emptied returns the same without any in it.
func (l *transactions) emptied() transactions {
	clear(l.of) // they lead to connections
	return transactions{l.of[:0], l.responses[:0]}
}

// Transactions has all of them told, in the order in which a single run hands them out. It is called before
// [Workers.Read]. If that fails with [ErrOrder], a run hands out what was told by then first, too. Transactions are
// borrowed, and of their connections only the number is there.
func (w *Workers) Transactions(to func(*trace.Transaction)) {
	w.to = to
	for _, r := range w.runs {
		k := keeper{Sink: nobody{}, r: r}
		if r.env.Sink != nil {
			k.Sink = r.env.Sink
		}
		r.env.Sink, r.env.Lean, r.env.Marks = k, w.opt.Lean, w.opt.Marks || !w.opt.Brief
	}
}

// keeper keeps the transactions of a worker.
type keeper struct {
	trace.Sink
	r *Run
}

func (k keeper) Transaction(t *trace.Transaction) { k.r.found.transactions.add(k.r.seg.Frame, t) }

// nobody takes in what nobody wants.
type nobody struct{}

func (nobody) PDU(*trace.PDU)                 {}
func (nobody) Transaction(*trace.Transaction) {}
func (nobody) Gap(*trace.GapEvent)            {}

// told is a transaction that a worker found.
type told struct {
	of     *transactions
	worker int
	*foundTransaction
}

// tell tells of the transactions of a batch. No frame is of two workers.
func (w *Workers) tell(of []share) {
	w.told = w.told[:0]
	for i := range of {
		l := &of[i].transactions
		for j := range l.of {
			w.told = append(w.told, told{l, i, &l.of[j]})
		}
	}
	slices.SortStableFunc(w.told, func(a, b told) int { return cmp.Compare(a.frame, b.frame) })
	for i := range w.told {
		w.tellOne(&w.told[i])
	}
	clear(w.told)
}

func (w *Workers) tellOne(x *told) {
	at, _ := slices.BinarySearch(w.numbers, x.Conn.Number)
	w.conn.Number = uint64(at) //nolint:gosec // not negative
	t := &x.Transaction
	t.Conn, t.Responses = &w.conn, x.of.responses[x.from:x.to]
	t.Request = w.pdu(x.worker, t.Request)
	for i, n := range t.Responses {
		t.Responses[i] = w.pdu(x.worker, n)
	}
	w.to(t)
}

// tellLast tells of the transactions that ended with a connection of a worker, when the capture did.
func (w *Workers) tellLast(r *Run) {
	worker := int(r.opt.Shard.K)
	l := &r.found.transactions
	for i := range l.of {
		w.tellOne(&told{l, worker, &l.of[i]})
	}
	*l = l.emptied()
}
