package rnic

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// leastUserMessage is what every end has to take, in octets: a session control
// with 512 octets of private data (RFC 5043 section 9).
const leastUserMessage = sctpddp.ControlLen + sctpddp.MaxPrivateData

// EndOfSession is the name of the Terminate that ends a session.
const EndOfSession = "end"

// session is one end of a DDP stream session (RFC 5043 section 6).
type session struct {
	expect uint16
	early  map[uint16]userMessage
	octets int  // of early
	open   bool // accepted
	ended  bool // this end has sent its Terminate, or has none to send
	// private is the private data of the peer's upper layer, once its control chunk has come;
	// enhanced: that had the word of RFC 6581.
	private         []byte
	spoke, enhanced bool
}

// mostEarly bounds the user messages that are kept because others in front of them are missing,
// in octets. Nobody who obeys the receive window comes near it.
const mostEarly = 16 << 20

type userMessage struct {
	ppid   uint32
	octets []byte
}

// sessionControl sends a session control chunk.
func (e *Endpoint) sessionControl(name string, number int, c sctpddp.Control) {
	e.out = e.framer.Append(e.out, pdu.PDU{
		Place: pdu.Place{Message: name, Number: number, Segment: 1, Last: true}, Kind: pdu.Control, Octets: c.Append(nil),
	})
}

// initiate begins a session: the active side asks, the passive one waits.
func (e *Endpoint) initiate() {
	e.mach.Begin()
	if !e.cfg.Startup.Initiator {
		return
	}
	c := sctpddp.Control{Function: sctpddp.Initiate, PrivateData: e.cfg.Startup.Private}
	if e.cfg.Startup.Enhanced() {
		c.Function = sctpddp.EnhancedInitiate
		c.PrivateData = append(e.mach.Ask().Append(nil), c.PrivateData...)
	}
	e.sessionControl("request", e.cfg.Session.Number, c)
	if e.ignores(IgnorePhase) {
		e.accepted() // it does not wait for the answer
	}
}

// accepted begins the exchange of segments. Either side may send first (RFC 6581
// section 7).
func (e *Endpoint) accepted() {
	e.agreed = e.mach.Agreed()
	e.session.open = true
	if e.phase < Ready {
		e.phase = Ready
	}
}

// ReceiveMessage takes a user message of the peer. They may come in any order:
// the DDP-SSN tells the right one (RFC 5043 section 6.1).
func (e *Endpoint) ReceiveMessage(ppid uint32, b []byte) {
	if len(b) < sctpddp.SegmentLen {
		return
	}
	ssn := binary.BigEndian.Uint16(b)
	if e.ignores(IgnoreErrors) {
		e.takeUserMessage(ppid, b)
		return
	}
	if ssn != e.session.expect {
		if int16(ssn-e.session.expect) > 0 { //nolint:gosec // modulo 65536 by design
			if e.session.early == nil {
				e.session.early = map[uint16]userMessage{}
			}
			if _, twice := e.session.early[ssn]; twice {
				return
			}
			if e.session.octets += len(b); e.session.octets > mostEarly {
				e.Abort()
				return
			}
			e.session.early[ssn] = userMessage{ppid, append([]byte(nil), b...)}
		}
		return
	}
	for {
		e.session.expect++
		e.takeUserMessage(ppid, b)
		m, ok := e.session.early[e.session.expect]
		if !ok {
			return
		}
		delete(e.session.early, e.session.expect)
		e.session.octets -= len(m.octets)
		ppid, b = m.ppid, m.octets
	}
}

func (e *Endpoint) takeUserMessage(ppid uint32, b []byte) {
	if ppid == sctpddp.PPIDControl {
		if c, err := sctpddp.DecodeControl(b); err == nil {
			e.takeControl(&c)
		}
		return
	}
	switch e.phase {
	case Full, Ready:
	case Terminated:
		if !e.ignores(IgnoreTerminate) {
			return
		}
	case Streaming, Starting, Rejected, Failed:
		return
	}
	b = b[sctpddp.SegmentLen:]
	e.last = append(e.last[:0], b[:min(len(b), quoted)]...)
	e.lastSize = len(b)
	e.takeULPDU(b)
}

// takeControl takes a session control chunk.
func (e *Endpoint) takeControl(c *sctpddp.Control) {
	active := e.cfg.Startup.Initiator
	switch c.Function {
	case sctpddp.Initiate, sctpddp.EnhancedInitiate:
		if !active && e.phase <= Starting && !e.ignores(IgnoreRequests) {
			e.answerSession(c)
		}
	case sctpddp.Accept, sctpddp.EnhancedAccept:
		if !active || e.phase > Ready {
			return
		}
		if w, _, ok := c.Word(); ok {
			e.mach.Take(w)
		}
		e.introduced(c)
		e.accepted()
	case sctpddp.Reject, sctpddp.EnhancedReject:
		if active && !e.ignores(IgnoreReject) {
			e.introduced(c)
			e.ends(RejectedByPeer, rdmap.TermCode{})
			e.phase, e.session.ended = Rejected, true
		}
	case sctpddp.Terminate:
		e.peerDone = true
		if !e.session.open {
			e.ends(RejectedByPeer, rdmap.TermCode{})
			e.phase, e.session.ended = Rejected, true
			return
		}
		e.ends(ClosedByPeer, rdmap.TermCode{})
		if e.ignores(IgnoreClose) {
			return
		}
		e.session.ended = e.session.ended || e.cfg.Session.Mute
		e.closing = true
	case sctpddp.Experimental:
	}
}

// introduced keeps what the control chunk of the peer tells of it.
func (e *Endpoint) introduced(c *sctpddp.Control) {
	_, private, enhanced := c.Word()
	e.session.spoke, e.session.enhanced, e.session.private = true, enhanced, append([]byte(nil), private...)
}

// Enhanced reports whether both ends have sent the word of RFC 6581.
func (e *Endpoint) Enhanced() bool {
	if e.cfg.Session != nil {
		return e.session.enhanced && e.cfg.Startup.Enhanced()
	}
	a := e.Agreed()
	_, _, asked := a.Request.Word()
	_, _, answered := a.Reply.Word()
	return asked && answered
}

// answerSession answers an Initiate (RFC 5043 sections 6.2 to 6.4, RFC 6581
// section 7).
func (e *Endpoint) answerSession(c *sctpddp.Control) {
	enhanced := c.Function == sctpddp.EnhancedInitiate
	w, _, _ := c.Word()
	e.introduced(c)
	a := sctpddp.Control{Function: sctpddp.Accept, PrivateData: e.cfg.Startup.Private}
	switch {
	case e.cfg.Session.Refuse, enhanced && !e.cfg.Startup.Enhanced():
		e.ends(RejectedHere, rdmap.TermCode{})
		a = sctpddp.Control{Function: sctpddp.Terminate}
		e.phase, e.session.ended = Rejected, true
	case e.cfg.Startup.Reject:
		e.ends(RejectedHere, rdmap.TermCode{})
		a.Function = sctpddp.Reject
		if enhanced {
			a.Function = sctpddp.EnhancedReject
		}
		e.phase, e.session.ended = Rejected, true
	case enhanced:
		a.Function = sctpddp.EnhancedAccept
		a.PrivateData = append(e.mach.Grant(w).Append(nil), a.PrivateData...)
		e.accepted()
	default:
		e.accepted()
	}
	e.sessionControl("reply", e.cfg.Session.Number, a)
	if e.phase == Rejected && e.ignores(IgnoreReject) {
		e.accepted()
		e.phase = Ready
	}
}

// owesEnd reports whether a Terminate is still due at the end of the session.
func (e *Endpoint) owesEnd() bool {
	return e.cfg.Session != nil && e.session.open && !e.session.ended && !e.ignores(IgnoreEnd)
}

// end ends the session when all is said, and reports whether it did.
func (e *Endpoint) end() bool {
	if !e.closing || !e.owesEnd() || e.busy() {
		return false
	}
	e.session.ended = true
	e.sessionControl(EndOfSession, e.cfg.Session.Number, sctpddp.Control{Function: sctpddp.Terminate})
	return len(e.out) > 0
}

// SessionOver reports whether the session has come to its end at this end, or
// none has begun.
func (e *Endpoint) SessionOver() bool {
	return e.session.ended || e.phase == Streaming || e.phase >= Rejected && e.phase != Terminated || e.ignores(IgnoreEnd)
}
