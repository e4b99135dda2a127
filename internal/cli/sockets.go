package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// sockets give the connections of one session.
type sockets struct {
	// open gives the nth connection over TCP, associate an association of SCTP; nil if there are none.
	open      func(ctx context.Context, n int) (net.Conn, error)
	associate func(ctx context.Context, c assoc.Config) (*peer.Association, error)

	conns []net.Conn // those of serve; closing them again does no harm
	end   func()
	name  string // of the session, for what is said of it
}

// shut closes what the session has left.
func (r *sockets) shut() {
	for _, c := range r.conns {
		_ = c.Close()
	}
	if r.end != nil {
		r.end()
	}
}

// dial are the sockets of a client.
func (o *socketOptions) dial(ctx context.Context, to netip.AddrPort) (*sockets, error) {
	r := &sockets{name: "connect " + to.String()}
	tcp, sctp := o.over()
	if tcp > 0 {
		dialer := net.Dialer{Timeout: dialTime}
		r.open = func(ctx context.Context, _ int) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", to.String()) }
	}
	if sctp {
		h, err := peer.DialHost(ctx, to)
		if err != nil {
			return nil, err
		}
		r.associate = func(_ context.Context, c assoc.Config) (*peer.Association, error) { return h.Dial(c) }
		r.end = func() { _ = h.Close() }
	}
	return r, nil
}

// over reports how many connections are over TCP, and whether there are any over SCTP.
func (o *socketOptions) over() (tcp int, sctp bool) {
	if o.script == nil && o.transport == "sctp" {
		return 0, true
	}
	if o.script == nil {
		return 1, false
	}
	return player.Over(o.played())
}

// plainSCTP is what is played over SCTP without a scenario, as far as associations go.
const plainSCTP = "summary: An association.\ntransport: sctp\ntimeline: [connect, close]\n"

// played is the script of the scenario, or that of an association.
func (o *socketOptions) played() *synth.Script {
	if o.script != nil {
		return o.script.Script(o.clean)
	}
	return o.plain.Script(true)
}

// reach makes the peer of a session without a scenario.
func (o *socketOptions) reach(ctx context.Context, r *sockets, opt peer.Options) (*peer.Peer, error) {
	if r.associate == nil {
		conn, err := r.open(ctx, 0)
		if err != nil {
			return nil, err
		}
		return peer.New(ctx, conn, opt)
	}
	timed, cancel := context.WithTimeoutCause(ctx, dialTime, errors.New("nobody answers"))
	defer cancel()
	c := player.AssociationOf(o.played(), 0, o.side)
	if o.side == synth.Client {
		c.SrcPort = peer.DynamicPort() // the server tells clients apart by it, and so does who reads a capture
	}
	a, err := r.associate(timed, c)
	if err != nil {
		return nil, o.absent(err)
	}
	p, err := a.Peer(0, opt)
	if err != nil {
		return nil, err
	}
	a.Start(ctx, peer.AssociationOptions{Idle: o.idle, Taps: opt.Taps})
	if err := p.Up(timed); err != nil {
		over, now := context.WithCancel(ctx)
		now()
		_, _ = p.End(over)
		return nil, o.absent(err)
	}
	return p, nil
}

// absent is what a session ends with whose peer is not there: a client fails, a server goes on
// with others.
func (o *socketOptions) absent(err error) error {
	if o.side == synth.Client {
		return err
	}
	o.s.warn(err)
	return errFindings
}

// single speaks rping, or does nothing but answer, on one connection.
func (o *socketOptions) single(ctx context.Context, on *sockets, taps []*peer.Tap) (well bool, err error) {
	r := &peer.Rping{Size: int(o.size), Rounds: o.rounds, Round: func(n int, data []byte) { o.print("round %d: %s", n, excerpt(data)) }}
	opt := peer.Options{RNIC: o.endpoint(), Hold: o.hold, Idle: o.idle, Opened: o.side == synth.Client, Taps: taps, Setup: r.Setup, Buffers: peer.RpingBuffers, BufferSize: peer.RpingBuffer}
	if o.side == synth.Server {
		r.Size = 0
	}
	if o.protocol == "" {
		opt.Buffers, opt.Setup, opt.Told = 0, o.advertise, o.told
	}
	p, err := o.reach(ctx, on, opt)
	if err != nil {
		return false, err
	}
	failed := o.converse(ctx, p, r)
	over, cancel := context.WithTimeoutCause(ctx, o.idle, errors.New("the peer does not close"))
	defer cancel()
	end, err := p.Close(over)
	p.Do(func(e *rnic.Endpoint) {
		a := e.Agreed()
		private, begun := e.PeerPrivate()
		if on.associate != nil {
			o.begun("connection", begun, a.IRD, a.ORD, private)
			return
		}
		o.startup("connection", begun, a.CRC, [2]bool{a.SendMarkers, a.RecvMarkers}, a.IRD, a.ORD, private)
	})
	well = o.ended("connection", end, err)
	switch {
	case ctx.Err() != nil: // what was not done, was not because of that
	case failed != nil && !errors.Is(failed, peer.ErrOver):
		o.s.warn(fmt.Errorf("connection: %w", failed))
		well = false
	case !well: // why it is over was said
	case !agreed(p):
		o.s.warn(fmt.Errorf("connection: no startup came about%s: %v", o.unasked(p), end))
		well = false
	case failed != nil:
		o.s.warn(fmt.Errorf("connection: it was over too early: %v", end))
		well = false
	case end.Cause == rnic.ResetByPeer:
		o.s.warn(errors.New("connection: the peer did not close it, but reset it"))
		well = false
	}
	return well, nil
}

// agreed reports whether the startup of a peer came about.
func agreed(p *peer.Peer) (yes bool) {
	p.Do(func(e *rnic.Endpoint) {
		_, yes = e.PeerPrivate()
		switch e.End().Cause {
		case rnic.RejectedHere, rnic.RejectedByPeer, rnic.StartupFailed:
			yes = false
		case rnic.NotEnded, rnic.ClosedHere, rnic.ClosedByPeer, rnic.ResetByPeer, rnic.TerminatedHere, rnic.TerminatedByPeer, rnic.Aborted:
		}
	})
	return yes
}

// unasked says of a peer that connected, and did not begin the startup, that it did not.
func (o *socketOptions) unasked(p *peer.Peer) (text string) {
	p.Do(func(e *rnic.Endpoint) {
		if _, asked := e.PeerPrivate(); !asked && o.side == synth.Server && e.End().Cause != rnic.StartupFailed {
			text = ", the peer sent no MPA Request"
			if p.Sessions() {
				text = ", the peer sent no Initiate"
			}
		}
	})
	return text
}

// converse is what a session without a scenario is for.
func (o *socketOptions) converse(ctx context.Context, p *peer.Peer, r *peer.Rping) error {
	switch {
	case o.protocol != "" && o.side == synth.Client:
		err := r.Client(ctx, p)
		if err == nil {
			_, _ = p.Close(ctx)
		}
		return err
	case o.protocol != "":
		return r.Server(ctx, p)
	case o.side == synth.Client:
		timed, cancel := context.WithTimeoutCause(ctx, o.idle, fmt.Errorf("the startup did not come to its end within %v", o.idle))
		defer cancel()
		err := p.Wait(timed, func(e *rnic.Endpoint) bool { return e.Phase() == rnic.Ready && e.Unfinished("rtr") == 0 })
		if err == nil && o.stay {
			<-p.Ended()
		}
		return err
	}
	<-p.Ended()
	return nil
}

// dialTime is how long a peer has to accept a connection.
const dialTime = 10 * time.Second
