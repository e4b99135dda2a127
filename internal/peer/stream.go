package peer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/synth/assoc"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
)

// stream carries a peer over a pair of streams of an association, one DDP stream session
// after the other. Its fields are under the lock of the association.
type stream struct {
	*Peer
	a        *Association
	sid      uint16
	sessions int
	left     time.Time       // since when the owner wants no more sessions
	pending  []assoc.Message // of the next session, which the peer has begun before the owner
	octets   int             // of pending
	held     *pdu.Unit       // what waits
	until    time.Time       // until then, or
	behind   bool            // until control has arrived
	began    bool            // the first segment need not wait, or has waited
	control  mark            // the last session control that was sent
}

// mark is a message whose arrival is waited for.
type mark struct {
	index int
	tsn   uint32
	known bool // the TSN
}

// mostPending bounds the octets of a session that the owner has not begun.
const mostPending = 1 << 20

// Peer makes the end of a pair of streams. It is over when the association is.
func (a *Association) Peer(sid uint16, opt Options) (*Peer, error) {
	s := &stream{a: a, sid: sid}
	s.Peer = newPeer(opt, a.wake, &a.mu)
	s.Peer.stream = s
	s.Peer.cancel = func(why error) { a.cancel(why) }
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.session(opt.RNIC); err != nil {
		return nil, err
	}
	a.streams = append(a.streams, s)
	return s.Peer, nil
}

// session makes the endpoint of the next session.
func (s *stream) session(c rnic.Config) error {
	own := rnic.Session{}
	if c.Session != nil {
		own = *c.Session
	}
	s.sessions++
	own.Number, own.MaxData = s.sessions, s.a.sock.MaxData()
	c.Session = &own
	s.began = s.opt.Hold <= 0
	return s.begin(c)
}

// over reports whether the session has ended at both ends.
func (s *stream) over() bool {
	return s.ep.SessionOver() && s.ep.Phase() != rnic.Streaming && (s.ep.PeerDone() || s.refused())
}

// said reports whether this end has nothing more to say.
func (s *stream) said() bool { return s.ep.SessionOver() && s.held == nil }

// refused reports whether no session has come about.
func (s *stream) refused() bool { return s.ep.Phase() == rnic.Rejected || s.ep.Phase() == rnic.Failed }

// leave is told that the owner wants no more sessions. The lock is held.
func (s *stream) leave() {
	if s.left.IsZero() {
		s.left = time.Now()
	}
}

// answered reports whether the other side has ended the session, or will not.
func (s *stream) answered() bool {
	return s.opt.OneSided || s.ep.PeerDone() || s.ep.Phase() == rnic.Streaming || s.refused()
}

// take takes a user message. What comes after the end of a session belongs to the next one.
func (s *stream) take(m *assoc.Message) {
	if !s.over() {
		s.ep.ReceiveMessage(m.PPID, m.Data)
		return
	}
	if s.octets += len(m.Data); s.octets > mostPending {
		s.ep.Abort()
		return
	}
	c := *m
	c.Data = slices.Clone(m.Data)
	s.pending = append(s.pending, c)
}

// give hands what the endpoint has to say to the association, and reports whether there was
// anything; later is when to ask again, if not 0.
func (s *stream) give() (some bool, later time.Duration) {
	if !s.a.sock.Established() || s.a.sock.PeerClosing() {
		return false, 0
	}
	for s.a.sock.Queued() < mostGiven {
		u, ok := s.next()
		if !ok {
			break
		}
		m := assoc.Message{SID: s.sid, PPID: sctpddp.PPIDSegment, Data: u.Data, Place: u.Place, Faults: u.Faults}
		if u.Kind == pdu.Control {
			m.PPID, m.Barrier = sctpddp.PPIDControl, true
		}
		n := s.a.sock.Write(m)
		if u.Kind == pdu.Control {
			s.control = mark{index: n}
		}
		some = true
	}
	if s.held != nil && !s.behind {
		later = max(time.Until(s.until), time.Millisecond)
	}
	return some, later
}

// next is the next unit of the endpoint. The first segment may have to wait; session control
// waits until the one before has arrived (RFC 5043 section 6.6), unless a scenario makes it.
func (s *stream) next() (pdu.Unit, bool) {
	if s.held != nil {
		if s.behind && !s.arrived() || !s.behind && time.Now().Before(s.until) {
			return pdu.Unit{}, false
		}
		u := *s.held
		s.held, s.behind = nil, false
		return u, true
	}
	u, ok := s.ep.Next()
	switch {
	case ok && !s.began && u.Kind == pdu.Segment:
		s.began, s.held, s.until = true, &u, time.Now().Add(s.opt.Hold)
		return pdu.Unit{}, false
	case ok && u.Kind == pdu.Control && u.Place.Message == rnic.EndOfSession && !s.arrived():
		s.held, s.behind = &u, true
		return pdu.Unit{}, false
	}
	return u, ok
}

// arrived reports whether the other side has the last session control.
func (s *stream) arrived() bool {
	c := &s.control
	if c.index == 0 {
		return true
	}
	if !c.known {
		c.tsn, c.known = s.a.sock.Assigned(c.index)
	}
	return c.known && s.a.sock.Acknowledged(c.tsn)
}

// Up waits until the association of a peer over SCTP is there. One that came and is over
// already was there: whoever waits may be slower than the other side.
func (p *Peer) Up(ctx context.Context) error {
	if p.stream == nil {
		return nil
	}
	err := p.Wait(ctx, func(*rnic.Endpoint) bool { return p.stream.a.sock.CameUp() })
	if errors.Is(err, ErrOver) {
		if _, failed := p.End(ctx); failed != nil {
			return failed
		}
	}
	return err
}

// Sessions reports whether the peer may have another session: it is one over SCTP.
func (p *Peer) Sessions() bool { return p.stream != nil }

// Again begins the next DDP stream session of a peer over SCTP. What the other side has sent
// of it already is taken.
func (p *Peer) Again(c rnic.Config, setup func(*rnic.Endpoint)) error {
	s := p.stream
	p.mu.Lock()
	defer p.kick()
	defer p.mu.Unlock()
	p.opt.Setup = setup
	if err := s.session(c); err != nil {
		return err
	}
	held := s.pending
	s.pending, s.octets = nil, 0
	for i := range held {
		s.take(&held[i])
	}
	p.notify()
	return nil
}

// EndSession waits until the DDP stream session of a peer over SCTP has ended at both ends, and
// the other side has all that was sent. If own, this side ends it.
func (p *Peer) EndSession(ctx context.Context, own bool) error {
	s := p.stream
	if own {
		p.Do(func(e *rnic.Endpoint) { e.Close() })
	}
	return p.wait(ctx, func() bool { return s.said() && s.answered() && s.a.sock.Queued() == 0 }, p.gone)
}

// Shut ends the association of a peer over SCTP in good order, unless a stream of it has a
// session. It reports whether it ends.
func (p *Peer) Shut() bool {
	a := p.stream.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions() {
		return false
	}
	a.shut(a.now())
	return true
}

// InUse reports whether a stream of the association of a peer over SCTP has a session.
func (p *Peer) InUse() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stream.a.sessions()
}

// Craft sends a packet with chunks that were made by hand, under another tag unless it is 0.
func (p *Peer) Craft(chunks []byte, tag uint32) error { return p.stream.a.craft(chunks, tag) }
