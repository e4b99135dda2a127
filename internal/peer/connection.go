package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// connection carries a peer over TCP.
type connection struct {
	*Peer
	conn     net.Conn
	tap      *tapped
	kicked   chan struct{} // the writer has something to look for
	asked    chan struct{} // the peer has something to acknowledge
	moved    time.Time     // when an octet went either way last
	taken    uint64        // what the peer had acknowledged then
	unsent   int           // octets that the writer has, and the kernel does not take yet
	closedAt time.Time     // when this side has closed its half
	held     *pdu.Unit     // the first segment, which waits for Hold
	began    bool          // it need not wait, or has waited
	reset    bool          // the writer was told that the peer has reset the connection
}

// New begins a connection on a socket, which it owns from now on. It is over at the latest
// when the context is.
func New(ctx context.Context, conn net.Conn, opt Options) (*Peer, error) {
	c := &connection{conn: conn, kicked: make(chan struct{}, 1), asked: make(chan struct{}, 1), began: opt.Hold <= 0, moved: time.Now(), taken: firstSeq}
	c.Peer = newPeer(opt, c.wake, new(sync.Mutex))
	c.tap = newTapped(opt.Taps,
		endpointOf(conn.LocalAddr(), netip.MustParseAddrPort("192.0.2.1:40000")),
		endpointOf(conn.RemoteAddr(), netip.MustParseAddrPort("192.0.2.2:5001")), opt.Opened, kernelPeer(conn))
	own := opt.RNIC
	if own.EMSS == 0 {
		own.EMSS = usualEMSS
	}
	if err := c.begin(own); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	ctx, c.cancel = context.WithCancelCause(ctx)
	var loops sync.WaitGroup
	loops.Go(c.readAll)
	loops.Go(func() { c.writeAll(ctx) })
	stop := context.AfterFunc(ctx, func() { c.giveUp(context.Cause(ctx)) })
	go func() {
		loops.Wait()
		c.settle(ctx)
		stop()
		_ = c.conn.Close()
		c.cancel(nil)
		close(c.ended)
		c.Do(func(*rnic.Endpoint) {})
	}()
	go c.watch()
	return c.Peer, nil
}

func (c *connection) wake() {
	select {
	case c.kicked <- struct{}{}:
	default:
	}
}

// giveUp ends the connection at once: with a reset if something is under way, or this side has closed
// already.
func (c *connection) giveUp(why error) {
	c.fail(why)
	want := rnic.WantReset
	c.Do(func(e *rnic.Endpoint) {
		if !c.closing && e.End().Cause == rnic.NotEnded && e.Idle() {
			want = rnic.WantClose
			e.Close()
			return
		}
		e.Abort()
	})
	c.shut(want)
	_ = c.conn.Close()
}

// readAll reads until the peer has closed.
func (c *connection) readAll() {
	defer c.wake()
	b := make([]byte, readSize)
	for {
		c.arm()
		n, err := c.conn.Read(b)
		c.mu.Lock()
		if n > 0 {
			c.moved = time.Now()
			c.tap.read(b[:n])
			c.ep.Receive(b[:n])
			c.notify()
		}
		c.mu.Unlock()
		if n > 0 {
			c.wake()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && c.patient() {
			continue
		}
		if err != nil {
			c.lost(err)
			return
		}
	}
}

// lost is told that nothing more will be read.
func (c *connection) lost(err error) {
	c.mu.Lock()
	closing, told := c.closing, c.reset
	c.mu.Unlock()
	eof := errors.Is(err, io.EOF)
	reset := !eof || told || !closing && kernelReset(c.conn)
	switch {
	case eof:
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.fail(c.idleError())
		c.Do(func(e *rnic.Endpoint) { e.Abort() })
		return
	case errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		c.Do(func(e *rnic.Endpoint) { e.PeerClosed(true) })
		return
	case reset && !errors.Is(err, syscall.ECONNRESET):
		c.fail(err)
	}
	c.tap.end(there, reset)
	c.Do(func(e *rnic.Endpoint) { e.PeerClosed(reset) })
}
