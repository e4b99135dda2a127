package synth

import "iter"

// task is a run of steps. Several go on at the same time, each until it has to
// wait; which one is first is always the same.
type task struct {
	next  func() (*pause, bool)
	stop  func()
	pause *pause
	done  bool
}

// pause is what a task waits for.
type pause struct {
	// until holds when the task may go on; nil: at once.
	until func() bool
	// of is the connection that it hangs on; it is asked only when something
	// changed there. nil: none, it is asked when the world was stirred.
	of *conn
}

// waiter makes a task wait. It returns false when the task is to end.
type waiter func(of *conn, until func() bool) bool

// spawn begins a task.
func (w *world) spawn(steps []Step) *task {
	t := &task{pause: &pause{}}
	t.next, t.stop = iter.Pull(func(yield func(*pause) bool) {
		w.steps(steps, func(of *conn, until func() bool) bool {
			if until() {
				return w.err == nil
			}
			return yield(&pause{until: until, of: of}) && w.err == nil
		})
	})
	w.tasks = append(w.tasks, t)
	w.alive++
	w.waiting, w.stirred = append(w.waiting, t), true
	return t
}

func (t *task) ready() bool { return t.pause.until == nil || t.pause.until() }

// reap drops the tasks that are done.
func reap(ts []*task) []*task {
	kept := ts[:0]
	for _, t := range ts {
		if !t.done {
			kept = append(kept, t)
		}
	}
	clear(ts[len(kept):])
	return kept
}
