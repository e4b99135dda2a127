package synth

import (
	"fmt"
	"io"
	"slices"

	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// Stats tell what became of a script.
type Stats struct {
	// Frames and Octets were captured.
	Frames, Octets uint64
	// Segments are the DDP segments of all ends, over TCP their FPDUs, as the
	// transport was given them.
	Segments uint64
	// Stalled counts the steps that could not end: nothing was left that could
	// happen, and what they waited for had not, although their connection was
	// not over.
	Stalled int
	// Stalls tells of them, unless the script has branches.
	Stalls []Miss
	// Undone are the messages that were not sent, or requests that were not answered. Without a
	// fault that is a mistake of the script, or chance.
	Undone []Miss
	// Missed are the faults that did not strike, and what else of the scenario did not come.
	Missed []Miss
}

// Observer is told of every message that an end sends, before any fault.
type Observer func(conn string, side Side, m rnic.Message)

// Run plays a script and writes the capture to w.
func Run(w io.Writer, s *Script) (Stats, error) { return RunObserved(w, s, nil) }

// RunObserved is [Run] with someone who looks on, if not nil.
func RunObserved(w io.Writer, s *Script, o Observer) (Stats, error) {
	if s.Shards > 1 && o == nil {
		return runShards(w, s)
	}
	tap, err := link.NewTap(w, s.Capture)
	if err != nil {
		return Stats{}, err
	}
	r := newWorld(s, nil, tap, o)
	err = r.play()
	if e := tap.Close(); err == nil {
		err = e
	}
	st := Stats{Frames: tap.Count(), Octets: tap.Octets(), Segments: r.segments, Stalled: r.stalled}
	if err == nil {
		st.Missed = append(r.missed(), r.awaited()...)
		st.Undone, st.Stalls = r.undone(), r.stalls
	}
	return st, err
}

// world is a script on its way.
type world struct {
	script  *Script
	shard   *shard // of the script; nil: it is all of it
	queue   *link.Queue
	tap     *link.Tap
	link    *link.Link
	observe Observer
	watch   *watcher // nil: there is no fault to look for

	pool   pool
	conns  []*conn
	assocs map[string]*[2]*assocEnd
	kicked []*host // hosts with something new to send
	dirty  []*conn // connections of which something changed
	clean  []*conn // room for the next of them

	tasks []*task // in the order in which they began
	alive int     // tasks that are not done
	spare []*task // that were reaped
	waits uint64  // how often one began to wait
	awake []*task // those that go on just now
	// timed are those that wait for a moment, ripe those that wait for no connection and may go
	// on. stirred: something happened since these were asked that one of them may wait for.
	timed, ripe []*task
	stirred     bool
	stalled     int
	stalls      []Miss
	// segments were given to transports.
	segments uint64
	err      error
}

// newWorld sets up a script, or a part of it.
func newWorld(s *Script, part *shard, tap *link.Tap, o Observer) *world {
	w := &world{
		script: s, shard: part, queue: &link.Queue{}, tap: tap, observe: o, watch: newWatcher(s), assocs: map[string]*[2]*assocEnd{},
	}
	first, every, on := 0, 1, s.Link
	if part != nil {
		first, every, on = part.first, part.every, part.config(s)
	}
	w.link = link.New(w.queue, on, tap)
	for i := first; i < len(s.Connections); i += every {
		c := &conn{world: w, index: len(w.conns), number: i, cfg: &s.Connections[i]}
		for side := range c.hosts {
			c.hosts[side] = newHost(c, side)
		}
		w.conns = append(w.conns, c)
	}
	w.queue.Ahead = len(w.conns) >= many
	return w
}

// play does the timeline and then lets everything that is under way come to
// its end.
func (w *world) play() error {
	if len(w.conns) == 0 {
		return fmt.Errorf("a script needs a connection")
	}
	w.spawn(newCompiler(w).timeline(w.script), nil)
	for w.err == nil && !w.tap.Failed() {
		w.runReady()
		if w.err != nil {
			break
		}
		if !w.queue.Step() && !w.release() {
			break
		}
	}
	return w.err
}

// runReady lets every task go on whose time has come, and sends what they left to
// be sent, until all of them wait.
func (w *world) runReady() {
	for w.err == nil {
		moved := w.resume()
		for i := 0; i < len(w.kicked); i++ { // they may kick others
			h := w.kicked[i]
			h.kicked = false
			h.line.pump()
		}
		w.kicked = w.kicked[:0]
		if !moved && len(w.dirty) == 0 {
			return
		}
	}
}

// resume lets tasks go on that wait for nothing more, and reports whether there
// was one.
func (w *world) resume() bool {
	changed := w.dirty
	w.dirty = w.clean[:0]
	moved := false
	for _, c := range changed {
		c.dirty = false
		moved = len(c.waiting) > 0 && w.wakeOn(c) || moved
	}
	w.clean = changed
	// These may have waited for those. Thousands of connections make nearly all steps without
	// them, and to ask them each time would take a fifth of the time.
	if w.stirred {
		w.stirred = false
		moved = w.wakeOthers() || moved
	}
	return moved
}

// release lets the first task go on whatever it waits for, as nothing else can
// happen. It reports whether there was one.
func (w *world) release() bool {
	// The last one: those before it may wait for it.
	for _, t := range slices.Backward(w.tasks) {
		if t.done {
			continue
		}
		of := t.until.conn
		if of == nil || !of.over() {
			w.stalled++
			w.stall(t)
		}
		waited := t.until.kind
		t.until = wait{conn: of}
		switch {
		case of != nil:
			of.touch()
		case waited == tasks:
			w.ripe, w.stirred = append(w.ripe, t), true
		default:
			w.stirred = true
		}
		return true
	}
	return false
}

func (w *world) fail(at Place, format string, args ...any) {
	if w.err != nil {
		return
	}
	w.err = &StepError{Place: at, Err: fmt.Errorf(format, args...)}
}

// StepError is a step or a connection that cannot be done.
type StepError struct {
	Place
	Err error
}

// Error implements error.
func (e *StepError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }
