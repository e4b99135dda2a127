package peer

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// Association is one end of an SCTP association over UDP. Its streams carry peers.
type Association struct {
	host   *Host
	remote netip.AddrPort
	cfg    assoc.Config
	began  time.Time
	kicked chan struct{} // it has something to look for
	ended  chan struct{}
	cancel context.CancelCauseFunc

	mu      sync.Mutex // for what follows, and for the peers
	sock    *assoc.Association
	tap     *tappedPackets
	idle    time.Duration
	streams []*stream
	before  [][]byte // what was exchanged before Start: INIT, INIT ACK, COOKIE ECHO
	started bool
	heard   time.Time // the last packet came
	closing bool      // it is about to end in good order
	err     error
}

// AssociationOptions are how an association is begun.
type AssociationOptions struct {
	// Idle ends it when no packet of the peer came for so long, which acknowledges what it gets; 0 is [DefaultIdle].
	Idle time.Duration
	// Taps write down what is sent and received.
	Taps []*Tap
}

const (
	// shutdownWait is how long a silent peer has for the end of the association.
	shutdownWait = 5 * time.Second
	// ipv6More is how much larger the header of IPv6 is than that of IPv4.
	ipv6More = 20
	// burst is how many packets are sent before others may take the lock.
	burst = 32
	// mostGiven is how many octets wait in the association for their turn.
	mostGiven = 256 << 10
)

func newAssociation(h *Host, remote netip.AddrPort, c assoc.Config) *Association {
	c.Paths, c.Spread, c.Addresses, c.ZeroChecksum, c.Congestion = 1, false, nil, false, true
	c.MaxPacket -= udpHead
	if remote.Addr().Is6() {
		c.MaxPacket -= ipv6More
	}
	return &Association{host: h, remote: remote, cfg: c, began: time.Now(), kicked: make(chan struct{}, 1), ended: make(chan struct{}), cancel: func(error) {}}
}

// is reports whether the association is with a caller.
func (a *Association) is(c caller) bool {
	return a.remote == c.from && a.cfg.DstPort == c.srcPort && a.cfg.SrcPort == c.dstPort
}

// handshake keeps what a client has sent to begin the association, for the taps: the INIT as
// the cookie brings it back, its answer, the COOKIE ECHO.
func (a *Association) handshake(i *sctp.Init, cookie, packet []byte) {
	init := i.Chunk(false).Append(sctp.Header{SrcPort: a.cfg.DstPort, DstPort: a.cfg.SrcPort}.Append(nil))
	sctp.Seal(init)
	a.before = [][]byte{init, assoc.Answer(a.cfg, i, cookie), append([]byte(nil), packet...)}
}

// Start begins the association. It is over at the latest when the context is. Peers are made
// before: what comes for a stream without one is dropped.
func (a *Association) Start(ctx context.Context, o AssociationOptions) {
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	ctx, a.cancel = context.WithCancelCause(ctx)
	a.mu.Lock()
	a.tap = newTappedPackets(o.Taps, a.host.conn.LocalAddr(), a.remote, a.cfg.Active)
	a.idle, a.started, a.heard = o.Idle, true, time.Now()
	a.tap.handshake(a.before)
	if len(a.before) > 0 {
		a.sock.Receive(a.now(), a.before[len(a.before)-1], 0)
	}
	a.sock.Open(a.now())
	a.before = nil
	a.mu.Unlock()
	go a.run(ctx)
}

// now is the time of the state machine.
func (a *Association) now() int64 { return int64(time.Since(a.began)) + 1 }

func (a *Association) wake() {
	select {
	case a.kicked <- struct{}{}:
	default:
	}
}

// receive takes a packet that is for this association. One with a wrong checksum is shown to
// the taps alone.
func (a *Association) receive(b []byte, good bool) {
	a.mu.Lock()
	defer a.wake()
	defer a.mu.Unlock()
	if !a.started || a.sock.Closed() {
		return
	}
	a.tap.packet(there, b)
	if !good {
		return
	}
	a.heard = time.Now()
	a.sock.Receive(a.now(), b, 0)
	a.take()
	a.notify()
}

// take hands to the streams what has arrived. The lock is held.
func (a *Association) take() {
	for {
		m, ok := a.sock.Read()
		if !ok {
			break
		}
		for _, s := range a.streams {
			if s.sid == m.SID {
				s.take(&m)
			}
		}
	}
	if a.sock.PeerClosing() && !a.closing {
		a.closing = true
		a.peerClosed(false)
	}
	if a.sock.Aborted() {
		a.peerClosed(true)
	}
}

// peerClosed tells the streams that nothing more comes. The lock is held.
func (a *Association) peerClosed(reset bool) {
	for _, s := range a.streams {
		if !s.over() || reset {
			s.ep.PeerClosed(reset)
		}
	}
}

// notify wakes those who wait on a stream. The lock is held.
func (a *Association) notify() {
	for _, s := range a.streams {
		s.notify()
	}
}

// replaced is told that the client has begun another association in place of this one.
func (a *Association) replaced() {
	a.mu.Lock()
	defer a.wake()
	defer a.mu.Unlock()
	a.peerClosed(true)
	a.sock.Forget()
	a.notify()
}

// refused is told what the system says of the socket. Before anything has come it means that
// nobody is there.
func (a *Association) refused(err error) {
	a.mu.Lock()
	defer a.wake()
	defer a.mu.Unlock()
	if a.started && !a.sock.Established() || errors.Is(err, net.ErrClosed) {
		a.fail(err)
		a.sock.Forget()
	}
}

// fail notes why the association fails: the first reason stays. The lock is held.
func (a *Association) fail(err error) {
	if a.err == nil && !a.closing {
		a.err = err
	}
}

// run sends, and lets timers run out, until the association is over.
func (a *Association) run(ctx context.Context) {
	defer a.finish()
	timer := time.NewTimer(0)
	defer timer.Stop()
	done := ctx.Done()
	for {
		out, wait, over := a.turn()
		for _, b := range out {
			// What the system does not take is lost, and sent again later.
			if err := a.host.write(b, a.remote); err != nil {
				a.refused(err)
			}
		}
		if over {
			return
		}
		if len(out) > 0 {
			continue
		}
		timer.Reset(wait)
		select {
		case <-a.kicked:
		case <-timer.C:
		case <-done:
			done = nil
			a.mu.Lock()
			a.fail(context.Cause(ctx))
			a.abort()
			a.mu.Unlock()
		}
	}
}

// abort resets the association. The lock is held.
func (a *Association) abort() {
	for _, s := range a.streams {
		if !s.over() {
			s.ep.Abort()
		}
	}
	a.sock.Abort()
}

// turn does what is due: it returns packets to be sent, and else until when there is nothing
// to do.
func (a *Association) turn() (out [][]byte, wait time.Duration, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.late() {
		a.abort()
	}
	if at, ok := a.sock.Timer(); ok && at <= now {
		a.sock.Tick(now)
	}
	wait = min(a.leave(now), time.Until(a.heard.Add(a.patience()))+time.Millisecond)
	for given := true; given && len(out) < burst; {
		given = false
		for _, s := range a.streams {
			some, later := s.give()
			given = given || some
			if later > 0 {
				wait = min(wait, later)
			}
		}
		for len(out) < burst {
			p, ok := a.sock.Next(now)
			if !ok {
				break
			}
			a.tap.packet(here, p.Octets)
			out, given = append(out, p.Octets), true
		}
	}
	if len(out) > 0 {
		a.notify()
	}
	if at, ok := a.sock.Timer(); ok {
		wait = min(wait, time.Duration(at-now))
	}
	return out, max(wait, 0), len(out) == 0 && a.sock.Closed()
}

// patience is how long the peer may be silent. The lock is held.
func (a *Association) patience() time.Duration {
	if a.closing {
		return min(shutdownWait, a.idle)
	}
	return a.idle
}

// late reports whether the peer was silent for too long. The lock is held.
func (a *Association) late() bool {
	if a.sock.Closed() || time.Since(a.heard) <= a.patience() {
		return false
	}
	a.fail(silent(a.idle))
	return true
}

// leave ends the association when a peer asks for a reset, or in good order when all peers
// have left or have no session, and one has left. It returns until when a peer that has left
// waits for the other side. The lock is held.
func (a *Association) leave(now int64) (wait time.Duration) {
	left, all := time.Time{}, true
	for _, s := range a.streams {
		if s.ep.Want() == rnic.WantReset {
			a.sock.Abort()
			return 0
		}
		if s.left.After(left) {
			left = s.left
		}
		all = all && s.said() && (s.left.IsZero() || s.answered())
	}
	switch wait = time.Until(left.Add(closeWait)); {
	case left.IsZero() || a.closing:
		return a.patience()
	case all:
		a.shut(now)
	case wait <= 0:
		a.closing = true
		a.sock.Abort()
	}
	return wait
}

// sessions reports whether a stream has a session. The lock is held.
func (a *Association) sessions() bool {
	return slices.ContainsFunc(a.streams, func(s *stream) bool { return !s.said() })
}

// shut ends the association in good order. The lock is held.
func (a *Association) shut(now int64) {
	if !a.closing {
		a.closing, a.heard = true, time.Now()
		a.sock.Close(now)
		a.wake()
	}
}

// finish tells the peers that it is over.
func (a *Association) finish() {
	a.mu.Lock()
	if a.sock.GaveUp() {
		a.fail(errors.New("the peer does not answer any more"))
	}
	for _, s := range a.streams {
		if !s.over() && s.ep.Phase() < rnic.Rejected {
			s.ep.PeerClosed(!a.closing)
		}
		s.Peer.err = a.err
		close(s.Peer.ended)
		s.notify()
	}
	a.mu.Unlock()
	a.host.forget(a)
	a.cancel(nil)
	close(a.ended)
}

// Ended is closed when the association is over.
func (a *Association) Ended() <-chan struct{} { return a.ended }

// craft sends a packet with chunks that were made by hand.
func (a *Association) craft(chunks []byte, tag uint32) error {
	a.mu.Lock()
	p := a.sock.Craft(chunks, tag)
	a.tap.packet(here, p.Octets)
	a.mu.Unlock()
	return a.host.write(p.Octets, a.remote)
}
