package synth

import (
	"cmp"
	"slices"
)

// task is a run of steps. Several go on at the same time, each until it has to
// wait; which one is first is always the same.
//
// It is no coroutine: thousands of connections have as many of them, and each would have a
// stack of its own.
type task struct {
	// levels are the runs of steps that it is in, the innermost last.
	levels []level
	until  wait
	// parent waits for it; open counts the tasks that it waits for itself.
	parent *task
	open   int
	// queued tells which of the tasks that wait for no connection began to wait first.
	queued uint64
	done   bool
	// doing is the step that it waits in, since a time.
	doing *op
	since int64
}

// level is a run of steps, and how far it is.
type level struct {
	steps []op
	at    int // the step at hand
	part  int // the part of it that is next
	// rounds of a Repeat or a Load are done. goal is what the hosts of a Load are to have
	// written in the end, before what they had written at the beginning of the round.
	rounds       int
	goal, before int64
}

// spawn begins a task.
func (w *world) spawn(steps []op, parent *task) {
	t := w.newTask()
	t.parent = parent
	t.levels = append(t.levels, level{steps: steps})
	w.tasks = append(w.tasks, t)
	w.alive++
	w.ripens(t)
}

// newTask returns a task that was used before, if there is one.
func (w *world) newTask() *task {
	n := len(w.spare) - 1
	if n < 0 {
		return &task{}
	}
	t := w.spare[n]
	w.spare = w.spare[:n]
	return t
}

// ripens notes a task that waits for no connection and may go on.
func (w *world) ripens(t *task) {
	w.waits++
	t.queued = w.waits
	w.ripe, w.stirred = append(w.ripe, t), true
}

// run lets a task go on until it waits again, or is done.
func (w *world) run(t *task) {
	for w.err == nil && len(t.levels) > 0 {
		l := &t.levels[len(t.levels)-1]
		if l.at == len(l.steps) {
			t.levels = t.levels[:len(t.levels)-1]
			continue
		}
		o, part := &l.steps[l.at], l.part
		l.part++
		until, last := w.part(t, o, part)
		if last {
			*l = level{steps: l.steps, at: l.at + 1}
		}
		t.until = until
		if w.err == nil && !t.until.holds() {
			t.doing, t.since = o, w.queue.Now()
			w.pause(t)
			return
		}
	}
	w.ends(t)
}

// pause has a task wait.
func (w *world) pause(t *task) {
	w.waits++
	t.queued = w.waits
	switch until := &t.until; {
	case until.conn != nil:
		until.conn.waiting = append(until.conn.waiting, t)
	case until.kind == moment:
		w.timed = append(w.timed, t)
	}
	// Whoever waits for tasks is told by the last of them.
}

// ends is told that a task is done.
func (w *world) ends(t *task) {
	t.done, w.stirred = true, true
	if p := t.parent; p != nil {
		if p.open--; p.open == 0 && p.until.kind == tasks {
			w.ripe = append(w.ripe, p)
		}
	}
	w.alive--
	if 2*w.alive < len(w.tasks) {
		w.reap()
	}
}

// reap drops the tasks that are done.
func (w *world) reap() {
	kept := w.tasks[:0]
	for _, t := range w.tasks {
		switch {
		case !t.done:
			kept = append(kept, t)
		case t.open == 0: // else others would tell it that they are done
			*t = task{levels: t.levels[:0]}
			w.spare = append(w.spare, t)
		}
	}
	clear(w.tasks[len(kept):])
	w.tasks = kept
}

// wakeOn lets the tasks of a connection go on that may, and reports whether there was
// one. They wait again, perhaps elsewhere, or are done.
func (w *world) wakeOn(c *conn) bool {
	w.awake, c.waiting = split(w.awake[:0], c.waiting)
	return w.runAwake()
}

// wakeOthers is the same for tasks that wait for no connection.
func (w *world) wakeOthers() bool {
	w.awake, w.timed = split(w.awake[:0], w.timed)
	w.awake = append(w.awake, w.ripe...)
	clear(w.ripe)
	w.ripe = w.ripe[:0]
	slices.SortFunc(w.awake, func(a, b *task) int { return cmp.Compare(a.queued, b.queued) })
	return w.runAwake()
}

// split moves the tasks that may go on to awake.
func split(awake, waiting []*task) (_, kept []*task) {
	kept = waiting[:0]
	for _, t := range waiting {
		if t.until.holds() {
			awake = append(awake, t)
		} else {
			kept = append(kept, t)
		}
	}
	clear(waiting[len(kept):])
	return awake, kept
}

func (w *world) runAwake() bool {
	for _, t := range w.awake {
		t.until = wait{}
		w.run(t)
	}
	return len(w.awake) > 0
}
