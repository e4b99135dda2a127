package synth

import "github.com/iwdissect/iwdissect/internal/synth/rnic"

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
