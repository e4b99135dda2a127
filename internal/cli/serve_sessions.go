package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/peer/player"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
)

// mostSessions bounds --sessions.
const mostSessions = 256

// serveOptions are the flags of serve, and what it waits with.
type serveOptions struct {
	socketOptions
	listen                string
	count, sessions, left int

	at  net.Addr
	tcp net.Listener // nil: nothing is over TCP
	udp *peer.Host   // nil: nothing is over SCTP
}

// transports says what is listened to.
func (o *serveOptions) transports() string {
	switch {
	case o.udp == nil:
		return ""
	case o.tcp == nil:
		return " for SCTP over UDP"
	}
	return " for TCP and SCTP over UDP"
}

// wait opens the sockets. TCP and UDP have the same port.
func (o *serveOptions) wait(ctx context.Context, at netip.AddrPort) (err error) {
	tcp, sctp := o.over()
	if tcp > 0 {
		if o.tcp, err = new(net.ListenConfig).Listen(ctx, "tcp", at.String()); err != nil {
			return err
		}
		o.at = o.tcp.Addr()
	}
	if !sctp {
		return nil
	}
	if tcp > 0 {
		o.sessions = 1 // which connection and which association belong together is not known
		at = netip.MustParseAddrPort(o.at.String())
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		o.shut()
		return err
	}
	script := o.played()
	o.udp = peer.Listen(conn, func(port uint16) assoc.Config {
		c, _ := player.Passive(script, port)
		return c
	})
	o.at = o.udp.Addr()
	return nil
}

// shut closes the sockets that wait.
func (o *serveOptions) shut() {
	if o.tcp != nil {
		_ = o.tcp.Close()
	}
	if o.udp != nil {
		_ = o.udp.Close()
	}
}

// errOthers ends the sessions that are served when one fails so that there can be no others.
var errOthers = errors.New("ended with the session that failed")

// served serves sessions until there were enough.
func (o *serveOptions) served(told context.Context) error {
	ctx, stop := context.WithCancelCause(told)
	defer stop(nil)
	var all sync.WaitGroup
	var mu sync.Mutex // for what follows, and for what is printed
	var worst, failed error
	whole := 0 // sessions that came to their end
	free := make(chan struct{}, o.sessions)
	clients := &callers{tcp: o.tcp, each: 1}
	if o.script != nil {
		clients.each, _ = o.over()
	}
	for n := 1; n <= o.left; n++ {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		r, err := o.next(ctx, clients)
		if err != nil {
			mu.Lock()
			if ctx.Err() == nil && told.Err() == nil {
				failed = errors.Join(failed, err)
			}
			mu.Unlock()
			break
		}
		own := o.own(n, &mu)
		all.Go(func() {
			defer func() { <-free }()
			defer r.shut()
			err := own.session(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil {
				whole++
			}
			switch {
			case errors.Is(err, errFindings):
				worst = err
			case err != nil && ctx.Err() == nil:
				failed = errors.Join(failed, err)
				stop(errOthers)
			}
		})
	}
	all.Wait()
	clients.close()
	if told.Err() != nil && o.count > 0 && whole < o.count {
		failed = errors.Join(failed, fmt.Errorf("%w: %d of %d sessions were served", errInterrupted, whole, o.count))
	}
	if err := errors.Join(failed, o.keep()); err != nil {
		return err
	}
	return worst
}

// own are the options of one session, whose lines have its number if there may be others at the
// same time.
func (o *serveOptions) own(n int, mu *sync.Mutex) *socketOptions {
	own := o.socketOptions
	if o.sessions == 1 || o.left == 1 {
		return &own
	}
	s := *o.s
	prefix := fmt.Appendf(nil, "session %d: ", n)
	s.Out, s.Err = &prefixed{mu, s.Out, prefix}, &prefixed{mu, s.Err, prefix}
	own.s = &s
	return &own
}

// prefixed writes lines with something in front of each, and what is written at once together.
type prefixed struct {
	mu     *sync.Mutex
	w      io.Writer
	prefix []byte
}

func (p *prefixed) Write(b []byte) (int, error) {
	var out []byte
	for line := range bytes.Lines(b) {
		if len(bytes.TrimSpace(line)) > 0 {
			out = append(out, p.prefix...)
		}
		out = append(out, line...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// next waits for the next client, and returns its sockets.
func (o *serveOptions) next(ctx context.Context, clients *callers) (*sockets, error) {
	r := &sockets{name: "serve " + o.at.String()}
	if o.tcp != nil {
		conns, err := clients.next()
		if err != nil {
			return nil, err
		}
		r.conns = conns
		at := 0 // a scenario counts connections over SCTP as well
		r.open = func(context.Context, int) (net.Conn, error) {
			if at >= len(conns) {
				return nil, errors.New("there is no such connection")
			}
			at++
			return conns[at-1], nil
		}
	}
	if o.udp == nil {
		return r, nil
	}
	client := &visit{host: o.udp, any: o.alone || o.script == nil}
	if o.tcp == nil {
		if _, err := client.visitor(ctx); err != nil {
			return nil, err
		}
	}
	r.associate, r.end = client.associate, client.end
	return r, nil
}

// visit is a client that comes with associations.
type visit struct {
	host   *peer.Host
	any    bool // its SCTP ports say nothing
	mu     sync.Mutex
	client *peer.Client
}

// visitor waits for the client.
func (v *visit) visitor(ctx context.Context) (_ *peer.Client, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.client == nil {
		v.client, err = v.host.Accept(ctx)
	}
	return v.client, err
}

func (v *visit) associate(ctx context.Context, c assoc.Config) (*peer.Association, error) {
	from, err := v.visitor(ctx)
	if err != nil {
		return nil, err
	}
	if v.any {
		c.DstPort = 0
	}
	return from.Next(ctx, c.DstPort)
}

func (v *visit) end() {
	if v.client != nil {
		v.client.Close()
	}
}

// callers waits for the connections of clients over TCP: so many from one IP address are those
// of one client.
type callers struct {
	tcp     net.Listener
	each    int
	clients []halfOpen
}

// halfOpen is a client that has opened some of its connections.
type halfOpen struct {
	from  netip.Addr
	since time.Time
	conns []net.Conn
}

// mostHalfOpen bounds the clients that have opened some of their connections.
const mostHalfOpen = 64

// next returns the connections of the next client that has opened all of its own.
func (g *callers) next() ([]net.Conn, error) {
	for {
		c, err := g.tcp.Accept()
		if err != nil {
			return nil, err
		}
		if g.each == 1 {
			return []net.Conn{c}, nil
		}
		g.drop(time.Now().Add(-dialTime))
		from := netip.Addr{}
		if a, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
			from = a.Addr()
		}
		if conns := g.add(from, c); len(conns) == g.each {
			return conns, nil
		}
	}
}

// add takes a connection, and returns all of its client, which are forgotten if they are whole.
func (g *callers) add(from netip.Addr, c net.Conn) []net.Conn {
	for i := range g.clients {
		x := &g.clients[i]
		if x.from != from {
			continue
		}
		x.conns = append(x.conns, c)
		conns := x.conns
		if len(conns) == g.each {
			g.clients = append(g.clients[:i], g.clients[i+1:]...)
		}
		return conns
	}
	if len(g.clients) >= mostHalfOpen {
		g.drop(g.clients[0].since)
	}
	g.clients = append(g.clients, halfOpen{from, time.Now(), []net.Conn{c}})
	return []net.Conn{c}
}

// drop hangs up on clients that have begun at a time or before, and have not gone on.
func (g *callers) drop(until time.Time) {
	kept := g.clients[:0]
	for _, x := range g.clients {
		if x.since.After(until) {
			kept = append(kept, x)
			continue
		}
		for _, c := range x.conns {
			_ = c.Close()
		}
	}
	g.clients = kept
}

func (g *callers) close() { g.drop(time.Now()) }
