package outfile

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// ending are the signals that end a process which does not catch them.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// leftovers are the files that have to go if the process ends.
var leftovers endings

// endings knows what has to be done when a signal comes. One goroutine takes all signals, so
// that it is certain for each whether somebody catches it. It runs while there is something to
// do; else signals do what they do by default.
type endings struct {
	mu      sync.Mutex
	files   map[string]func() error
	catches []*catch
	signals chan os.Signal
}

// catch is one that catches signals.
type catch struct {
	signals []os.Signal
	// f is called with each of them, until it returns false.
	f func() bool
}

// Catch has f called when one of the signals comes, which then does not end the process. If f
// returns false, it is not called again. stop ends that.
func Catch(f func() (again bool), signals ...os.Signal) (stop func()) {
	c := &catch{signals, f}
	e := &leftovers
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch()
	signal.Notify(e.signals, signals...)
	e.catches = append(e.catches, c)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.let(c)
	}
}

// let forgets one that catches.
func (e *endings) let(c *catch) {
	e.catches = slices.DeleteFunc(e.catches, func(x *catch) bool { return x == c })
	e.unwatch()
}

// add makes a file that has to go if the process ends. create returns its name and what removes
// it.
func (e *endings) add(create func() (name string, remove func() error, err error)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch()
	defer e.unwatch()
	// A reader of standard output that goes away must not end the process now: that is an
	// error of writing, of which each command knows what it means.
	signal.Notify(e.signals, syscall.SIGPIPE)
	name, remove, err := create()
	if err != nil {
		return err
	}
	if e.files == nil {
		e.files = map[string]func() error{}
	}
	e.files[name] = remove
	return nil
}

// done forgets a file: it has its name, or is gone.
func (e *endings) done(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.files, name)
	e.unwatch()
}

// watch begins to take signals, but for those that the process was started to ignore.
func (e *endings) watch() {
	if e.signals != nil {
		return
	}
	e.signals = make(chan os.Signal, 8)
	for _, s := range ending {
		if !signal.Ignored(s) {
			signal.Notify(e.signals, s)
		}
	}
	go e.take(e.signals)
}

// unwatch ends that when nothing is left to do.
func (e *endings) unwatch() {
	if e.signals == nil || len(e.files) > 0 || len(e.catches) > 0 {
		return
	}
	signal.Stop(e.signals)
	close(e.signals)
	e.signals = nil
}

// take handles the signals.
func (e *endings) take(signals <-chan os.Signal) {
	for s := range signals {
		e.got(s)
	}
}

func (e *endings) got(s os.Signal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	caught := s == syscall.SIGPIPE
	for _, c := range slices.Clone(e.catches) {
		if slices.Contains(c.signals, s) {
			caught = true
			if !c.f() {
				e.let(c)
			}
		}
	}
	if caught {
		return
	}
	// Nothing is made any more: the lock is kept.
	e.remove()
	signal.Reset(s)
	if raise(s) == nil {
		time.Sleep(time.Second) // until it arrives
	}
	os.Exit(1)
}

func (e *endings) remove() {
	for name, remove := range e.files {
		_ = remove() // nobody can be told
		delete(e.files, name)
	}
}

// RemoveLeftovers removes all files that did not come to their end, when the program does.
func RemoveLeftovers() {
	leftovers.mu.Lock()
	defer leftovers.mu.Unlock()
	leftovers.remove()
	leftovers.unwatch()
}
