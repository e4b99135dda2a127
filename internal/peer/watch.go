package peer

import (
	"context"
	"time"
)

const (
	// ackPoll is how often the kernel is asked what the peer has acknowledged, while anything is not.
	ackPoll = 5 * time.Millisecond
	// lastAckWait is how long the acknowledgement of the last octets is waited for, before the socket
	// is closed and the kernel cannot be asked any more. Most round trips are shorter.
	lastAckWait = 200 * time.Millisecond
)

// written is told that the peer has something to acknowledge.
func (c *connection) written() {
	if c.tap.acknowledge() {
		return
	}
	select {
	case c.asked <- struct{}{}:
	default:
	}
}

// watch writes down acknowledgements of the peer when they come, until the connection is over:
// nothing is read for them.
func (c *connection) watch() {
	for {
		select {
		case <-c.asked:
		case <-c.ended:
			return
		}
		for !c.tap.acknowledge() {
			select {
			case <-time.After(ackPoll):
			case <-c.ended:
				return
			}
		}
	}
}

// settle waits for the last acknowledgement.
func (c *connection) settle(ctx context.Context) {
	timed, cancel := context.WithTimeout(ctx, lastAckWait)
	defer cancel()
	for !c.tap.acknowledge() && pause(timed, time.Millisecond) {
	}
}
