package peer

import (
	"cmp"
	"context"
	"errors"
	"sync"
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
	// Idle ends the connection when no octet went either way, nor was acknowledged, for so long; 0 is [DefaultIdle].
	Idle time.Duration
	// Close is how long the peer has to close a TCP connection after this side did; 0: three seconds.
	Close time.Duration
	// Cut cuts what is written into several writes.
	Cut Cut
	// OneSided, over SCTP: the other side ends no session, nor answers the end of one.
	OneSided bool
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
	opt    Options
	kick   func()        // what carries octets has something to look for
	ended  chan struct{} // it is gone
	cancel context.CancelCauseFunc
	stream *stream // over SCTP

	mu      *sync.Mutex // for what follows; over SCTP it is that of the association
	ep      *rnic.Endpoint
	changed chan struct{} // closed when something changed; nil if nobody waits
	inbox   []Message
	closing bool  // this side has closed: what fails now is no failure
	err     error // why it failed, nil if it did not
}

// newPeer returns a peer whose endpoint is to be made.
func newPeer(opt Options, kick func(), mu *sync.Mutex) *Peer {
	if opt.Idle <= 0 {
		opt.Idle = DefaultIdle
	}
	opt.Close = cmp.Or(opt.Close, closeWait)
	return &Peer{opt: opt, kick: kick, ended: make(chan struct{}), mu: mu}
}

// begin makes the endpoint.
func (p *Peer) begin(c rnic.Config) error {
	c.Told, c.Buffers = p.told, p.opt.Buffers > 0
	ep, err := rnic.New(c)
	if err != nil {
		return err
	}
	p.ep = ep
	ep.PostReceive(p.opt.BufferSize, p.opt.Buffers)
	if p.opt.Setup != nil {
		p.opt.Setup(ep)
	}
	return nil
}

// Do does something to the endpoint, and lets it send.
func (p *Peer) Do(f func(e *rnic.Endpoint)) {
	p.mu.Lock()
	f(p.ep)
	p.notify()
	p.mu.Unlock()
	p.kick()
}

// notify wakes those who wait. The lock is held.
func (p *Peer) notify() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// ErrOver is returned by Wait when the connection is over before what was waited for.
var ErrOver = errors.New("the connection is over")

// Wait waits until something holds, which is asked under the lock after each change.
func (p *Peer) Wait(ctx context.Context, holds func(e *rnic.Endpoint) bool) error {
	return p.wait(ctx, func() bool { return holds(p.ep) }, p.overLocked)
}

// wait waits until something holds, unless it is over.
func (p *Peer) wait(ctx context.Context, holds, over func() bool) error {
	for {
		p.mu.Lock()
		if holds() {
			p.mu.Unlock()
			return nil
		}
		if over() {
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
	return p.gone() || p.ep.Phase() >= rnic.Rejected || p.stream != nil && p.stream.over()
}

// gone reports whether the connection is gone.
func (p *Peer) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
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
		p.cancel(context.Cause(ctx))
		<-p.ended
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ep.End(), p.err
}

// Leave asks for a close in good order: over SCTP the association ends with the last of its peers.
func (p *Peer) Leave() {
	p.Do(func(e *rnic.Endpoint) {
		e.Close()
		if p.stream != nil {
			p.stream.leave()
		}
	})
}

// Close closes in good order and waits for the end. When the context is over, there is no time for that.
func (p *Peer) Close(ctx context.Context) (rnic.End, error) {
	if ctx.Err() == nil {
		p.Leave()
	}
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
