package outfile

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ending are the signals that end a process which does not catch them. Go writes all stacks at SIGQUIT, and
// does so behind what is done here.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// leftovers are the files that have to go if the process ends.
var leftovers endings

// endings knows what has to be done when a signal comes. One goroutine takes all signals, so
// that it is certain for each whether somebody catches it. It runs while there is something to
// do; else signals do what they do by default.
type endings struct {
	mu    sync.Mutex
	files map[string]leftover
	// folders were made, those above first. One that has got nothing goes, too.
	folders []string
	catches []*catch
	// last was caught by one that catches no more.
	last    lastCaught
	signals chan os.Signal
	// tell says that a signal ends the process, and what became of the outputs; nil: nobody
	// wants to know.
	tell func(says string)
}

// leftover is a file that has not come to its end.
type leftover struct {
	// says is what becomes of the output.
	says   string
	remove func() error
}

// Tell has f called when a signal ends the process, which nobody catches: with a sentence on
// what became of the outputs, of which nothing is left that is not whole.
func Tell(f func(says string)) {
	e := &leftovers
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tell = f
	e.watch()
}

// catch is one that catches signals.
type catch struct {
	signals []os.Signal
	// f is called with each of them, until it returns false.
	f func() bool
}

// Catch has f called when one of the signals comes, which then does not end the process. If f
// returns false, it is not called again, and the next signal ends the process, unless it comes so soon
// that it is the same one. stop ends that.
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

// add makes a file that has to go if the process ends, when says is told. create returns its
// name and what removes it.
func (e *endings) add(says string, create func() (name string, remove func() error, err error)) error {
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
		e.files = map[string]leftover{}
	}
	e.files[name] = leftover{says, remove}
	return nil
}

// keep has a file that lists others stay if the process ends.
func (e *endings) keep(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[name] = leftover{"what " + name + " lists is whole", func() error { return nil }}
}

// settle does what gives a file its name, or removes it, and forgets it. A signal ends the process
// before or after that, never in between, so what is then said of the file is true.
func (e *endings) settle(name string, do func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.unwatch()
	err := do()
	delete(e.files, name)
	return err
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
	if e.tell != nil {
		signal.Reset(syscall.SIGPIPE) // see add
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
				e.last = lastCaught{c.signals, time.Now()}
				e.let(c)
			}
		}
	}
	if caught || e.last.again(s) {
		return
	}
	e.end(s, true)
}

// sameSignal is within what time a second signal is the same as the first one. The program timeout signals
// its child and then the group that the child is in, systemd sends SIGHUP right behind SIGTERM.
const sameSignal = 100 * time.Millisecond

// lastCaught is a signal that was caught: which ones it could have been, and when it came.
type lastCaught struct {
	signals []os.Signal
	at      time.Time
}

// again reports whether a signal is one that was caught already, sent twice.
func (l *lastCaught) again(s os.Signal) bool {
	return slices.Contains(l.signals, s) && time.Since(l.at) < sameSignal
}

// End ends the process by a signal that was caught, as if nobody had caught it, but for the stacks that Go
// writes at SIGQUIT: a terminal was just put in order.
func End(s os.Signal) {
	leftovers.mu.Lock()
	leftovers.end(s, false)
}

// end ends the process. The lock is kept: nothing is made any more, and nothing comes to its end.
func (e *endings) end(s os.Signal, stacks bool) {
	says := e.remove()
	signal.Reset(s) // another one ends a process that cannot tell
	if e.tell != nil {
		e.tell(says)
	}
	// The first process of a container gets no signal by which it would end, but for the one that Go takes.
	quit := s == syscall.SIGQUIT
	if (quit && stacks || !quit && os.Getpid() != 1) && raise(s) == nil {
		time.Sleep(time.Second) // until it arrives
	}
	os.Exit(exitOf(s))
}

// exitOf is the exit code that a shell gives to a process which a signal ended.
func exitOf(s os.Signal) int {
	n, ok := s.(syscall.Signal)
	if !ok {
		return 1
	}
	return 128 + int(n)
}

// remove removes what is not whole, and says what becomes of the outputs.
func (e *endings) remove() string {
	says := make([]string, 0, len(e.files))
	for name, l := range e.files {
		_ = l.remove() // nobody can be told
		says = append(says, l.says)
		delete(e.files, name)
	}
	for _, name := range slices.Backward(e.folders) {
		_ = os.Remove(name) // it fails for those that have files
	}
	e.folders = nil
	slices.Sort(says)
	return strings.Join(slices.Compact(says), "; ")
}

// RemoveLeftovers removes all files that did not come to their end when the program does, and
// the folders that were made and got nothing.
func RemoveLeftovers() {
	leftovers.mu.Lock()
	defer leftovers.mu.Unlock()
	leftovers.remove()
	leftovers.unwatch()
}
