package startup

import (
	"bytes"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Machine is the startup of one end.
type Machine struct {
	cfg   Config
	state State
	buf   []byte // the peer's frame as far as it came
	res   Result
	term  *rdmap.TermCode
	// decide is asked for the private data of a Reply and whether it rejects, if not nil.
	decide func(request mpa.Startup) (private []byte, reject bool)
}

// New returns a machine in state Idle.
func New(c Config) *Machine { return &Machine{cfg: c} }

// SetPrivate sets the private data of the frame of this end, which has not been sent yet.
func (m *Machine) SetPrivate(b []byte) { m.cfg.Private = b }

// Decide has f decide about a Request: the private data of the Reply, and whether it rejects.
func (m *Machine) Decide(f func(request mpa.Startup) (private []byte, reject bool)) { m.decide = f }

// State returns how far it is.
func (m *Machine) State() State { return m.state }

// Result returns what was agreed; before Done it is what is known so far.
func (m *Machine) Result() Result { return m.res }

// Terminate returns the Terminate that RFC 6581 section 8 asks of an initiator
// when full operation is reached only to say so: the Reply does not suit the
// Request (2/0/04, only if Strict), wants more IRD than there is (2/0/06), or
// takes no indication that the initiator can send (2/0/07). A responder never
// gets there: it may not send before the initiator.
func (m *Machine) Terminate() (rdmap.TermCode, bool) {
	if m.term == nil || m.state != Done {
		return rdmap.TermCode{}, false
	}
	return *m.term, true
}

// Start returns the Request of an initiator, and waits.
func (m *Machine) Start() mpa.Startup {
	m.state = Waiting
	c := &m.cfg
	s := mpa.Startup{Kind: mpa.StartupRequest, M: c.Markers, C: c.CRC, Rev: c.Rev}
	if c.Rev == 0 {
		// The RDMA Consortium's bits are fixed (RFC 5044 appendix C.1).
		s.M, s.C = true, true
	}
	switch c.Dialect {
	case Enhanced, Draft01:
		s.S = true
		s.PrivateData = c.ask().Append(nil)
	case RTR2007:
		s.S = c.PeerToPeer
	case Plain:
	}
	m.res.Request = m.complete(s)
	return m.res.Request
}

// complete adds the upper layer's private data, as much of it as a frame can
// announce.
func (m *Machine) complete(s mpa.Startup) mpa.Startup {
	s.PrivateData = append(s.PrivateData, m.cfg.Private...)
	s.PrivateData = s.PrivateData[:min(len(s.PrivateData), maxPrivate)]
	s.PDLength = uint16(len(s.PrivateData)) //nolint:gosec // bounded above
	return s
}

// The longest private data and the longest frame that can be announced, in
// octets.
const (
	maxPrivate = 0xffff
	maxFrame   = mpa.StartupLen + maxPrivate
)

// Receive takes octets of the peer, in order and in any split, and returns how
// many of them it took: none of what follows the peer's frame is taken. If
// answer is not nil it is to be sent: the Reply of a responder, or the third
// frame of 2007 of an initiator.
func (m *Machine) Receive(b []byte) (n int, answer *mpa.Startup) {
	if m.state == Idle && !m.cfg.Initiator {
		m.state = Waiting
	}
	if m.state != Waiting {
		return 0, nil
	}
	had := len(m.buf)
	m.buf = append(m.buf, b[:min(len(b), maxFrame-had)]...)
	if len(m.buf) >= mpa.StartupLen && m.cfg.Strict && !m.acceptable() {
		m.state = Failed
		return len(b), nil
	}
	s, size, err := mpa.DecodeStartup(m.buf)
	if err != nil {
		return len(b), nil
	}
	s.PrivateData = bytes.Clone(s.PrivateData)
	m.buf = nil
	if m.cfg.Initiator {
		return size - had, m.reply(s)
	}
	return size - had, m.request(s)
}

// acceptable judges the head of the peer's frame (RFC 5044 section 7.1.2 items
// 2 and 3). The RDMA Consortium's answers revision 1 with 0 (appendix C.2.5).
// The word has to be there if S says so, and is a format error to an end that
// does not know it (RFC 6581 section 10).
func (m *Machine) acceptable() bool {
	c := &m.cfg
	kind, rev := mpa.StartupRequest, max(c.Rev, 1)
	if c.Initiator {
		kind, rev = mpa.StartupReply, c.Rev
	}
	head, _, _ := mpa.DecodeStartup(m.buf[:mpa.StartupLen])
	if head.Kind != kind || head.PDLength > mpa.MaxPrivateData || head.Rev > rev {
		return false
	}
	return !head.S || head.Rev < enhancedRev || c.enhanced() && head.PDLength >= mpa.EnhancedLen
}

// request answers a Request. A responder that is not strict answers what it
// does not know with the best that it knows.
func (m *Machine) request(q mpa.Startup) *mpa.Startup {
	c := &m.cfg
	m.res.Request = q
	if m.decide != nil {
		c.Private, c.Reject = m.decide(q)
	}
	r := mpa.Startup{Kind: mpa.StartupReply, M: c.Markers, C: c.CRC || q.C, R: c.Reject, Rev: min(q.Rev, c.Rev)}
	if r.Rev == 0 {
		r.M, r.C = true, true
	}
	m.res.IRD, m.res.ORD = c.IRD, c.ORD
	word, _, has := q.Word()
	switch {
	case has && q.Rev >= enhancedRev && c.enhanced():
		r.S = true
		r.PrivateData = m.answer(word).Append(nil)
	case q.S && q.Rev == 1 && c.Dialect == RTR2007:
		r.S = c.PeerToPeer
	}
	r = m.complete(r)
	m.res.Reply = r
	m.negotiate()
	m.res.Frame = q.S && r.S && c.Dialect == RTR2007 && m.state == Done
	return &r
}

// reply takes the Reply of a responder.
func (m *Machine) reply(r mpa.Startup) *mpa.Startup {
	c := &m.cfg
	q := m.res.Request
	m.res.Reply = r
	m.res.IRD, m.res.ORD = c.IRD, c.ORD
	m.accept(r)
	m.negotiate()
	if q.S && r.S && c.Dialect == RTR2007 && m.state == Done {
		m.res.Frame = true
		// It has the C bit of the Reply, and S is 0.
		return &mpa.Startup{Kind: mpa.StartupRTR, M: q.M, C: r.C, Rev: q.Rev}
	}
	return nil
}

// negotiate sets what both frames agree on (RFC 5044 section 7.1.1).
func (m *Machine) negotiate() {
	q, r := &m.res.Request, &m.res.Reply
	toResponder, toInitiator := r.M, q.M
	m.res.CRC, m.res.Version = q.C || r.C, 1
	if r.Rev == 0 {
		// An RDMA Consortium peer: markers both ways, CRC, version 0 (RFC 5044
		// appendix C).
		toResponder, toInitiator, m.res.CRC, m.res.Version = true, true, true, 0
	}
	m.res.SendMarkers, m.res.RecvMarkers = toInitiator, toResponder
	if m.cfg.Initiator {
		m.res.SendMarkers, m.res.RecvMarkers = toResponder, toInitiator
	}
	m.state = Done
	if r.R {
		m.state = Rejected
	}
}
