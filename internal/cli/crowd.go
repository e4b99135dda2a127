package cli

import (
	"errors"
	"runtime"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/ended"
	"github.com/iwdissect/iwdissect/internal/judges"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/ulp"
	"github.com/iwdissect/iwdissect/trace"
)

// What thousands of connections need is in no cache, and small frames are much work for few octets. The goroutine that has
// to look at all of it in order takes several times as long then as the one that reads. So several share the
// connections of such a capture. With few connections and large frames it is the other way round.

// run is an analysis of a capture, by one goroutine or by several.
type run interface {
	Read(src capture.Source) error
	Finish() *ended.List
	Totals() pipeline.Totals
	Others() *pipeline.Others
}

// foreseen is how much of a capture is looked at to tell what it is like.
var foreseen = pipeline.Beginning{Connections: 1 << 8, Frames: 1 << 14, Octets: 4 << 20}

// crowd is from what on a capture is shared; tests change it.
var crowd = struct {
	connections int   // with frames of any size
	some        int   // with small frames
	small       int   // octets for each frame with data, in the mean
	octets      int64 // of the file
}{foreseen.Connections, 16, 1000, large}

// workers is how many goroutines are to share the connections of a unit, of which nobody wants to know
// anything but what became of its connections: 1 if it is not worth it, or if it cannot be read again.
func (in *input) workers(u *unit, opt *pipeline.Options, sole bool) int {
	n := 1
	for 2*n <= min(runtime.GOMAXPROCS(0), pipeline.MostWorkers) {
		n *= 2
	}
	switch {
	case !sole || !in.ahead() || len(u.files) != 1 || readableTwice(u.files, "") != nil:
		return 1
	case in.any() || in.twice || opt.Count != 0 || !unsharded(opt):
		return 1
	}
	if !in.crowded(u.files[0]) {
		return 1
	}
	return n
}

// crowded reports whether a capture begins with many connections, or with several of small frames.
func (in *input) crowded(name string) bool {
	f, err := capture.Open(name, nil)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read from
	if _, total := f.Progress(); total < crowd.octets {
		return false
	}
	b := pipeline.Look(f, foreseen)
	return b.Connections >= crowd.connections || b.Connections >= crowd.some && b.Octets < crowd.small*b.Data
}

// attempt is an attempt to read a capture.
type attempt struct {
	workers int // goroutines that share its connections, or 1
	told    int // transactions that were told of by those who had to give up
}

// attempts has a capture read by several goroutines if that pays, else by one, and by one if it has to be read in order.
// read reports whether that is not so.
func (in *input) attempts(u *unit, opt *pipeline.Options, sole bool, read func(*attempt) bool) {
	a := attempt{workers: in.workers(u, opt, sole)}
	if a.workers == 1 || !read(&a) {
		a.workers = 1
		read(&a)
	}
}

// newRun prepares an analysis by so many goroutines; engine is that of the sink, and may be nil. With
// upper, upper layers are recognised. to gets transactions if there are several goroutines, in place of the sink; nil: nobody
// wants them.
func (a *attempt) newRun(opt *pipeline.Options, sink pipeline.Sink, engine *conformance.Engine, upper bool, to func(*trace.Transaction)) run {
	workers := a.workers
	if workers == 1 {
		return pipeline.New(*opt, sink)
	}
	of := make([]pipeline.Worker, workers)
	var w *pipeline.Workers
	for i := range of {
		of[i].Memory = pipeline.PartMemory(opt)
		if upper {
			of[i].Upper = ulp.New().PDU
		}
		if engine != nil {
			of[i].Sink = judgingPart{judges.New(engine, judges.Options{
				Account: of[i].Memory, Crossed: func() { w.Cross() }, Frame: func() uint64 { return w.Frame(i) }, Parts: workers,
			})}
		}
	}
	w = pipeline.NewWorkers(*opt, of)
	if to != nil {
		w.Transactions(to)
	}
	return w
}

// transactions passes on each transaction once: an attempt that failed told of the first ones.
func (a *attempt) transactions(to func(*trace.Transaction)) func(*trace.Transaction) {
	if a.workers > 1 {
		return func(t *trace.Transaction) {
			a.told++
			to(t)
		}
	}
	again := a.told
	return func(t *trace.Transaction) {
		if again > 0 {
			again--
			return
		}
		to(t)
	}
}

// judgingPart is the sink of a worker, which nobody tells of frames.
type judgingPart struct{ judges.Part }

func (judgingPart) Frame(*pipeline.Frame) {}

// inTurn reports whether a capture has to be read again, in order.
func inTurn(err error) bool { return errors.Is(err, pipeline.ErrOrder) }

// newlyShared is told how each sharing went; tests set it.
var newlyShared func(error)

// reads has a run read a capture.
func reads(r run, src capture.Source) error {
	err := r.Read(src)
	if _, shared := r.(*pipeline.Workers); shared && newlyShared != nil {
		newlyShared(err)
	}
	return err
}
