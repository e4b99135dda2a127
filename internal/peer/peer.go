package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// Options are how a peer is set up.
type Options struct {
	// RNIC is the endpoint. Told, Buffers and EMSS are filled in.
	RNIC rnic.Config
	// Setup registers memory and sets private data before anything is said, if not nil.
	Setup func(*rnic.Endpoint)
	// Buffers is how many receive buffers of BufferSize octets there are for [Peer.Receive].
	// Each is free again when its message was taken. 0: there is always a buffer, and only
	// Told hears of messages.
	Buffers, BufferSize int
	// Told is told of what happens, under the lock of the peer, if not nil.
	Told func(v *rnic.Event)
	// Hold is how long the first FPDU waits after the startup: some stacks lose one that
	// comes right behind their Reply.
	Hold time.Duration
	// Idle ends the connection when nothing was read, or could be written, for so long;
	// 0 is [DefaultIdle].
	Idle time.Duration
	// Cut cuts what is written into several writes.
	Cut Cut
	// Opened: this side has opened the TCP connection, for the taps.
	Opened bool
	// Taps write down what is sent and received.
	Taps []*Tap
}

const (
	// DefaultIdle is how long a silent peer is waited for.
	DefaultIdle = 30 * time.Second
	// closeWait is how long the peer has to close after this side did.
	closeWait = 3 * time.Second
	// usualEMSS is the effective maximum segment size that is assumed: the socket hides it.
	usualEMSS = 1460
	// readSize and batchSize are how many octets are read, and written, at once.
	readSize, batchSize = 64 << 10, 256 << 10
)

// Message is a Send or Immediate Data that was received.
type Message struct {
	rnic.Event
	Payload []byte
}

// Peer is one end of a connection.
type Peer struct {
	conn   net.Conn
	opt    Options
	tap    *tapped
	kick   chan struct{} // the writer has something to look for
	ended  chan struct{} // both goroutines are gone
	cancel context.CancelFunc

	mu       sync.Mutex
	ep       *rnic.Endpoint
	changed  chan struct{} // closed when something changed; nil if nobody waits
	inbox    []Message
	closing  bool // this side has closed its half, at closedAt
	closedAt time.Time
	err      error // why it failed, nil if it did not
}

// New begins a connection on a socket, which it owns from now on. It is over at the latest
// when the context is.
func New(ctx context.Context, conn net.Conn, opt Options) (*Peer, error) {
	p := &Peer{conn: conn, opt: opt, kick: make(chan struct{}, 1), ended: make(chan struct{})}
	if p.opt.Idle <= 0 {
		p.opt.Idle = DefaultIdle
	}
	p.tap = newTapped(opt.Taps,
		endpointOf(conn.LocalAddr(), netip.MustParseAddrPort("192.0.2.1:40000")),
		endpointOf(conn.RemoteAddr(), netip.MustParseAddrPort("192.0.2.2:5001")), opt.Opened)
	c := opt.RNIC
	c.Told, c.Buffers = p.told, opt.Buffers > 0
	if c.EMSS == 0 {
		c.EMSS = usualEMSS
	}
	ep, err := rnic.New(c)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	p.ep = ep
	ep.PostReceive(opt.BufferSize, opt.Buffers)
	if opt.Setup != nil {
		opt.Setup(ep)
	}
	ctx, p.cancel = context.WithCancel(ctx)
	var loops sync.WaitGroup
	loops.Add(2)
	go func() { defer loops.Done(); p.readAll() }()
	go func() { defer loops.Done(); p.writeAll(ctx) }()
	stop := context.AfterFunc(ctx, func() {
		p.fail(context.Cause(ctx))
		_ = p.conn.Close()
	})
	go func() {
		loops.Wait()
		stop()
		_ = p.conn.Close()
		p.cancel()
		close(p.ended)
		p.Do(func(*rnic.Endpoint) {})
	}()
	return p, nil
}

// Do does something to the endpoint, and lets it send.
func (p *Peer) Do(f func(e *rnic.Endpoint)) {
	p.mu.Lock()
	f(p.ep)
	p.notify()
	p.mu.Unlock()
	p.wake()
}

// notify wakes those who wait. The lock is held.
func (p *Peer) notify() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

func (p *Peer) wake() {
	select {
	case p.kick <- struct{}{}:
	default:
	}
}

// ErrOver is returned by Wait when the connection is over before what was waited for.
var ErrOver = errors.New("the connection is over")

// Wait waits until something holds, which is asked under the lock after each change.
func (p *Peer) Wait(ctx context.Context, holds func(e *rnic.Endpoint) bool) error {
	for {
		p.mu.Lock()
		if holds(p.ep) {
			p.mu.Unlock()
			return nil
		}
		if p.overLocked() {
			p.mu.Unlock()
			return ErrOver
		}
		if p.changed == nil {
			p.changed = make(chan struct{})
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// overLocked reports whether nothing more can come. The lock is held.
func (p *Peer) overLocked() bool {
	select {
	case <-p.ended:
		return true
	default:
		return p.ep.Phase() >= rnic.Rejected
	}
}

// Over reports whether the connection is over, or about to be.
func (p *Peer) Over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.overLocked()
}

// Ended is closed when the connection is closed and its goroutines are gone.
func (p *Peer) Ended() <-chan struct{} { return p.ended }

// End waits for that, and returns why it ended. The error is one of the socket, or of time.
func (p *Peer) End(ctx context.Context) (rnic.End, error) {
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.cancel()
		<-p.ended
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ep.End(), p.err
}

// Close closes in good order and waits for the end.
func (p *Peer) Close(ctx context.Context) (rnic.End, error) {
	p.Do(func(e *rnic.Endpoint) { e.Close() })
	return p.End(ctx)
}

// Reset resets the connection and waits for the end.
func (p *Peer) Reset(ctx context.Context) (rnic.End, error) {
	p.Do(func(e *rnic.Endpoint) { e.Abort() })
	return p.End(ctx)
}

// Receive waits for the next Send or Immediate Data, and frees its buffer.
func (p *Peer) Receive(ctx context.Context) (m Message, err error) {
	there := false
	err = p.Wait(ctx, func(e *rnic.Endpoint) bool {
		if there = len(p.inbox) > 0; there {
			m, p.inbox = p.inbox[0], p.inbox[1:]
			e.PostReceive(p.opt.BufferSize, 1)
		}
		return there
	})
	return m, err
}

// told hears of events. The lock is held.
func (p *Peer) told(v *rnic.Event) {
	if v.Kind == rnic.Received && p.opt.Buffers > 0 {
		p.inbox = append(p.inbox, Message{*v, append([]byte(nil), v.Data...)})
	}
	if p.opt.Told != nil {
		p.opt.Told(v)
	}
}

// fail notes why the connection fails: the first reason stays.
func (p *Peer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && !p.closing {
		p.err = err
	}
	p.notify()
}

// readAll reads until the peer has closed.
func (p *Peer) readAll() {
	defer p.wake()
	b := make([]byte, readSize)
	for {
		p.arm()
		n, err := p.conn.Read(b)
		p.mu.Lock()
		if n > 0 {
			p.tap.read(b[:n])
			p.ep.Receive(b[:n])
			p.notify()
		}
		p.mu.Unlock()
		if n > 0 {
			p.wake()
		}
		if err != nil {
			p.lost(err)
			return
		}
	}
}

// arm sets until when the next octet has to come. A deadline that cannot be set is that of a
// closed socket, which the next Read tells.
func (p *Peer) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := time.Now().Add(p.opt.Idle)
	if p.closing {
		at = p.closedAt.Add(closeWait)
	}
	_ = p.conn.SetReadDeadline(at)
}

// lost is told that nothing more will be read.
func (p *Peer) lost(err error) {
	reset := !errors.Is(err, io.EOF)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.fail(fmt.Errorf("nothing came for %v", p.opt.Idle))
		p.Do(func(e *rnic.Endpoint) { e.Abort() })
		return
	case errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		p.Do(func(e *rnic.Endpoint) { e.PeerClosed(true) })
		return
	case reset && !errors.Is(err, syscall.ECONNRESET):
		p.fail(err)
	}
	p.tap.end(there, reset)
	p.Do(func(e *rnic.Endpoint) { e.PeerClosed(reset) })
}
