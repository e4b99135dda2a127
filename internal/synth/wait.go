package synth

import (
	"fmt"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// waitFor is what a task can wait for.
type waitFor uint8

const (
	// nothing: the task goes on at once.
	nothing waitFor = iota
	// opened: both ends are established; closed: both are closed.
	opened
	closed
	// started: the startup of MPA is over; ended: the session is.
	started
	ended
	// resetSeen: the peer of host knows of the reset.
	resetSeen
	// sent: all messages with the name are, and requests among them are answered.
	sent
	// delivered: the peer of host has what was written up to mark.
	delivered
	// moment: it is the time at.
	moment
	// tasks: those that the task began are done.
	tasks
)

// wait is what a task waits for.
type wait struct {
	kind waitFor
	// conn is the connection that it hangs on; it is asked only when something changed
	// there. nil: none.
	conn *conn
	host *host
	name string
	mark mark
	at   int64
	task *task
}

// holds reports whether the task may go on.
func (x *wait) holds() bool {
	switch x.kind {
	case opened:
		return x.conn.hosts[Client].line.established() && x.conn.hosts[Server].line.established()
	case closed:
		return x.conn.hosts[Client].line.closed() && x.conn.hosts[Server].line.closed()
	case started:
		i := x.conn.hosts[x.conn.cfg.Initiator]
		return i.ep.Phase() >= rnic.Ready && i.peer().ep.Phase() >= rnic.Full && i.ep.Unfinished("rtr") == 0
	case ended:
		return x.conn.hosts[Client].endpoint().SessionOver() && x.conn.hosts[Server].endpoint().SessionOver()
	case resetSeen:
		return x.host.peer().line.peerReset()
	case sent:
		return x.host.ep.Unfinished(x.name) == 0
	case delivered:
		return x.host.line.has(&x.mark)
	case moment:
		return x.host.world().queue.Now() >= x.at
	case tasks:
		return x.task.open == 0
	case nothing:
	}
	return true
}

// stall notes a step that could not end: what it waited for, and since when. Those of thousands of connections, which
// a script with branches has, are not told one by one.
func (w *world) stall(t *task) {
	if w.script.Branch != nil || t.doing == nil {
		return
	}
	w.stalls = append(w.stalls, Miss{Place: t.doing.place, What: fmt.Sprintf(
		"this step did not come to its end: from %v on it waited for %s", time.Duration(t.since), t.until.what(t.doing))})
}

// what says what is waited for in a step.
func (x *wait) what(o *op) string {
	switch x.kind {
	case opened:
		return "the connection to open"
	case closed:
		return "both sides to close"
	case started:
		return "the startup to end"
	case ended:
		return "both sides to end the session"
	case resetSeen:
		return "the " + sideName(1-x.host.side) + " to learn of the reset"
	case sent:
		if why := x.host.notDone(x.name); why != "" {
			return x.name + ", which" + why
		}
		return x.name + " to be sent, and to be answered if it is a request"
	case delivered:
		name := o.name
		if name == "" {
			name = "all of it"
		}
		return "the " + sideName(1-x.host.side) + " to get " + name
	case moment:
		return "its time to pass"
	case tasks:
		return "the steps in it"
	case nothing:
	}
	return "nothing"
}
