package player

import (
	"context"
	"errors"
	"sync"

	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// association is one of the scenario. Its lines are streams of it.
type association struct {
	lines []*line

	opening sync.Mutex // for what follows: several lines may open it at the same time
	opened  bool
	err     error
}

// associate joins the association of the line, if it has one.
func (l *line) associate() {
	name := l.cfg.Association
	if name == "" {
		return
	}
	if l.assocs[name] == nil {
		l.assocs[name] = &association{}
	}
	l.assoc = l.assocs[name]
	l.assoc.lines = append(l.assoc.lines, l)
}

// ipv6More is how much larger the header of IPv6 is than that of IPv4, in octets.
const ipv6More = 20

// AssociationOf is how a side has the association of a connection. The largest packet is one
// over IPv4.
func AssociationOf(s *synth.Script, n int, side synth.Side) assoc.Config {
	h := &s.Connections[n].Hosts
	c := h[side].SCTP
	c.Active = side == synth.Client
	c.SrcPort, c.DstPort = h[side].Addr.Port(), h[1-side].Addr.Port()
	c.Seed = synth.SeedOf(s.Seed, n, side)
	if h[side].Addr.Addr().Is6() {
		c.MaxPacket += ipv6More
	}
	return c
}

// Over reports which transports the connections of a script are over, and how many of them are
// over TCP.
func Over(s *synth.Script) (tcp int, sctp bool) {
	for n := range s.Connections {
		if s.Connections[n].Association == "" {
			tcp++
		} else {
			sctp = true
		}
	}
	return tcp, sctp
}

// Passive is how the server of a script has the association with a client that uses an SCTP
// port: that of the scenario, or else the first. It is false if there is none.
func Passive(s *synth.Script, port uint16) (c assoc.Config, ok bool) {
	for n := range s.Connections {
		if s.Connections[n].Association == "" {
			continue
		}
		own := AssociationOf(s, n, synth.Server)
		if own.DstPort == port {
			return own, true
		}
		if !ok {
			c, ok = own, true
		}
	}
	return c, ok
}

// openAssociation opens the association of the line, unless another line has.
func (l *line) openAssociation(ctx context.Context) error {
	s := l.assoc
	s.opening.Lock()
	if !s.opened {
		s.opened, s.err = true, s.open(ctx)
	}
	err := s.err
	s.opening.Unlock()
	if err != nil {
		return err
	}
	ctx, cancel := l.timed(ctx, 0)
	defer cancel()
	err = late(l.peer.Up(ctx), "the association did not come about")
	if err != nil && l.Side == synth.Client {
		l.unreachable(err)
	}
	return err
}

// unreachable ends the timeline: nobody is there.
func (p *player) unreachable(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nobody == nil {
		p.nobody = err
		p.stop()
	}
}

// open makes the peers of all lines, and begins the association.
func (s *association) open(ctx context.Context) error {
	first := s.lines[0]
	if first.Associate == nil {
		return errors.New("there are no associations of SCTP here")
	}
	timed, cancel := first.timed(ctx, 0)
	defer cancel()
	a, err := first.Associate(timed, AssociationOf(first.script, first.index, first.Side))
	if err != nil {
		return late(err, "the association did not come about")
	}
	for _, l := range s.lines {
		p, err := a.Peer(l.cfg.SID, l.options())
		if err != nil {
			return err
		}
		l.has(p)
	}
	a.Start(ctx, peer.AssociationOptions{Idle: first.Idle, Taps: first.Taps})
	return nil
}

// session fills in what an endpoint over SCTP has.
func (l *line) session(c *rnic.Config) {
	own := rnic.Session{}
	if c.Session != nil {
		own = *c.Session
	}
	own.Number = l.sessions
	c.Session = &own
	c.Seed += uint64(l.sessions-1) << 56 //nolint:gosec // a count
}

// oneSided reports whether the other side ends no session.
func (l *line) oneSided() bool {
	c := &l.cfg.Hosts[l.other].RNIC
	return c.Ignore&rnic.IgnoreEnd != 0 || c.Session != nil && c.Session.Mute
}

// again makes the endpoint of the next session on a stream, if this start is not the first.
func (l *line) again() error {
	if l.assoc == nil {
		return nil
	}
	if l.starts++; l.starts == 1 {
		return nil
	}
	l.filling.Lock()
	defer l.filling.Unlock()
	var err error
	l.peer.Do(func(*rnic.Endpoint) {
		l.sessions++
		l.before = l.answered
		l.known, l.unsure, l.astray, l.old = nil, false, false, map[string][][]byte{}
		err = l.imagine()
	})
	if err != nil {
		return err
	}
	return l.peer.Again(l.config(l.Side), l.setup)
}

// end ends a session, or waits until the other side has.
func (l *line) end(ctx context.Context, mine bool) error {
	ctx, cancel := l.timed(ctx, 0)
	defer cancel()
	return late(l.peer.EndSession(ctx, mine), "the session did not end")
}

// shut ends the session of the line, and the association if it is the last one. It reports
// whether the association ends.
func (l *line) shut(ctx context.Context, mine bool) (bool, error) {
	switch err := l.peer.EndSession(ctx, mine); {
	case errors.Is(err, peer.ErrOver):
		return true, nil
	case err != nil:
		return false, late(err, "the session did not end")
	case mine:
		return l.peer.Shut(), nil
	}
	return !l.peer.InUse(), nil
}
