package pipeline

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/readahead"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Connections are independent of each other, but for few things: Workers analyse a part of them each, with a
// run of its own, at the same time. What they find is what a single run finds:
//
//   - All workers look at all batches of frames, in order. Who is done with a batch last puts together what
//     all found in it, see [Workers.join]: no batch is joined before the one in front of it.
//   - A connection has the number of the frame that began it until it ends. Its number in the capture is
//     how many were begun before.
//   - A PDU has its number among those of its worker. Its number in the capture follows from the frames of
//     all PDUs, see [Workers.pdu].
//   - Connections end in the order of frames, and with the capture in the order of their numbers.
//   - Where connections do depend on each other, the workers give up, see [ErrOrder].

// ErrOrder is the error of [Workers.Read] if what the capture holds has to be read by one [Run]:
// associations of SCTP, a Terminate whose reading depends on others, or so many connections or octets
// at once that some have to be given up.
var ErrOrder = errors.New("the capture has to be read in order")

// MostWorkers is how many workers there are at most. Each has whole parts of the connections, see settleParts:
// their number is a power of two.
const MostWorkers = settleParts

// Worker is what each worker has for itself.
type Worker struct {
	// Sink gets what the worker finds, but no frames, and not when a connection ends if it is a [judges.Part].
	Sink Sink
	// Upper is for it what [Options.Upper] is for a run.
	Upper func(*trace.PDU)
	// Memory is its account, see [PartMemory].
	Memory *budget.Account
}

// PartMemory is the account of a worker on a capture.
func PartMemory(opt *Options) *budget.Account {
	return budget.New(cmp.Or(opt.MemoryBytes, DefaultMemory))
}

// Workers are the runs of a capture that is analysed by several.
type Workers struct {
	opt     Options
	runs    []*Run
	crossed atomic.Bool
	free    chan *shared // to be used again
	failure error        // that ended reading early
	first   int64        // the time of the first frame that has one
	last    int64        // and of the last one

	// What follows is that of all batches that were joined.

	numbers []uint64 // the frames that began connections
	live    int      // connections in memory
	found   []pdus   // by worker
	pdus    uint64
	latest  int64 // of all times
	records ended.List
	others  Others
	totals  Totals
	ended   []leaving // in the batch at hand, as cuts and told
	cuts    []any
	told    []told
	conn    trace.Connection         // that of the transaction at hand
	to      func(*trace.Transaction) // nil: nobody wants them
}

// NewWorkers prepares them. Nobody can be told of frames, and there is no Count, no Linger and no Shard.
func NewWorkers(opt Options, of []Worker) *Workers {
	n := len(of)
	opt.MaxConnections = cmp.Or(opt.MaxConnections, DefaultConnections)
	opt.TotalReorderBytes = cmp.Or(opt.TotalReorderBytes, DefaultTotalReorder)
	opt.DecoderBytes = cmp.Or(opt.DecoderBytes, DefaultDecoder)
	if opt.Memory == nil {
		opt.Memory = budget.New(cmp.Or(opt.MemoryBytes, DefaultMemory))
	}
	w := &Workers{opt: opt, found: make([]pdus, n), free: make(chan *shared, readahead.Batches+1)}
	for i, x := range of {
		own := opt
		own.Memory, own.Upper = x.Memory, x.Upper
		own.Shard = packet.Shard{K: uint32(i), N: uint32(n)} //nolint:gosec // few
		if i > 0 {
			own.OnError = nil
		}
		r := New(own, x.Sink)
		r.team, r.env.Crossed = w, w.Cross
		r.env.Budget = reassembly.NewBudget(r.opt.ReorderBytes, opt.TotalReorderBytes/n)
		r.env.Decoders = mpa.NewBudget(opt.DecoderBytes / n)
		w.runs = append(w.runs, r)
	}
	return w
}

// Cross has the workers give up: something depends on other connections, or on their order.
func (w *Workers) Cross() {
	w.crossed.Store(true)
	for _, r := range w.runs {
		r.Stop()
	}
}

// Frame is the frame at hand of a worker, for what it calls.
func (w *Workers) Frame(worker int) uint64 { return w.runs[worker].seg.Frame }

// Read processes all frames of the source, as [Run.Read] does, and ends all connections.
func (w *Workers) Read(src capture.Source) error {
	err := w.read(src)
	w.totals.Lost = lostBy(src)
	return err
}

func (w *Workers) read(src capture.Source) error {
	from, ok := src.(readahead.Source)
	if !ok {
		return ErrOrder
	}
	a := readahead.Start(from, readahead.Options{Checksums: w.opt.Sums, Always: true, Parts: uint32(len(w.runs))}) //nolint:gosec // few
	defer a.Close()
	var all sync.WaitGroup
	queues := make([]chan *shared, len(w.runs))
	for i, r := range w.runs {
		queues[i] = make(chan *shared, readahead.Batches)
		all.Go(func() { r.share(queues[i], a) })
	}
	w.hand(a, queues, &all)
	if !w.crossed.Load() {
		w.finish()
	}
	if w.crossed.Load() {
		return ErrOrder
	}
	return w.failure
}

// spans notes when the capture begins and ends: the times of the first and of the last frame that have one.
func (w *Workers) spans(b *readahead.Batch) {
	for i := 0; w.first == 0 && i < b.Len(); i++ {
		w.first = b.Frame(i).Moment()
	}
	for i := b.Len() - 1; i >= 0; i-- {
		if t := b.Frame(i).Moment(); t != 0 {
			w.last = t
			return
		}
	}
}

// hand hands all batches to all workers. They are done when it returns, also if reading panics.
func (w *Workers) hand(a *readahead.Reader, queues []chan *shared, all *sync.WaitGroup) {
	defer func() {
		for _, q := range queues {
			close(q)
		}
		all.Wait()
	}()
	for b := a.Take(); b != nil; b = a.Take() {
		if w.crossed.Load() {
			return
		}
		w.spans(b)
		var s *shared
		select {
		case s = <-w.free:
		default:
			s = &shared{of: make([]share, len(w.runs))}
		}
		s.Batch = b
		s.left.Store(int32(len(w.runs))) //nolint:gosec // few
		for _, q := range queues {
			q <- s
		}
	}
}
