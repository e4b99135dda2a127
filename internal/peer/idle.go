package peer

import (
	"fmt"
	"time"
)

// looks is how often, within the time that a connection may be idle, the kernel is asked whether the peer
// takes what waits there: nothing is read or written then.
const looks = 8

// move notes that octets went one way or the other.
func (c *connection) move() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = time.Now()
}

// waiting notes how many octets the kernel does not take yet.
func (c *connection) waiting(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsent = n
}

// arm sets until when the next octet has to come, or the connection is looked at. A deadline that cannot be set
// is that of a closed socket, which the next Read tells.
func (c *connection) arm() { _ = c.conn.SetReadDeadline(c.look()) }

// look is when the connection has to be looked at, if nothing is read or written before.
func (c *connection) look() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.patience()
	if next := time.Now().Add(c.opt.Idle / looks); next.Before(at) {
		return next
	}
	return at
}

// patience is until when something has to move, or the peer has to close. The lock is held.
func (c *connection) patience() time.Time {
	if c.closing {
		return c.closedAt.Add(c.opt.Close)
	}
	return c.moved.Add(c.opt.Idle)
}

// patient reports whether the connection may still go on: not enough time has passed since something moved.
// What the peer acknowledges moves as well.
func (c *connection) patient() bool {
	taken := c.tap.taken()
	c.mu.Lock()
	defer c.mu.Unlock()
	if taken > c.taken {
		c.taken, c.moved = taken, time.Now()
		if c.closing {
			c.closedAt = c.moved // the peer cannot close before it has read
		}
	}
	return time.Now().Before(c.patience())
}

// idleError says what did not happen while nothing moved: the peer took nothing, or it sent nothing.
func (c *connection) idleError() error {
	c.mu.Lock()
	unsent := c.unsent
	c.mu.Unlock()
	if n := max(c.tap.pending(), uint64(unsent)); n > 0 { //nolint:gosec // a size
		return fmt.Errorf("the peer took nothing for %v: %d octets of this side wait for that, and it sent nothing", c.opt.Idle, n)
	}
	return silent(c.opt.Idle)
}

// silent says that the peer sent nothing.
func silent(idle time.Duration) error { return fmt.Errorf("the peer sent nothing for %v", idle) }
