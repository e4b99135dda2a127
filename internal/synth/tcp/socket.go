package tcp

import "github.com/iwdissect/iwdissect/internal/packet"

// state of a connection, as far as it shows.
type state uint8

const (
	closed state = iota
	listening
	synSent
	synReceived
	established // and all that follows; FINs have flags of their own
	dead        // by RST, or given up
)

// Socket is one end. It is not safe for use by several goroutines.
//
// Stream offsets count from the first octet behind the SYN; a FIN takes one.
type Socket struct {
	cfg   Config
	state state

	// What was agreed in the handshake.
	sack, timestamps bool
	mss              int // of the peer
	peerScale        uint8

	sender
	receiver

	reset bool  // a RST came in
	now   int64 // of the last call that may send
	shut  int64 // when the window that was announced as closed is opened; 0: it is not closed
	push  []Segment
}

// New returns a closed socket.
func New(c Config) *Socket {
	s := &Socket{cfg: c, mss: 536}
	s.recovered = -1
	return s
}

// Open begins: an active end sends its SYN, a passive one listens.
func (s *Socket) Open(now int64) {
	if s.state != closed {
		return
	}
	s.state = listening
	if s.cfg.Active {
		s.state = synSent
		s.handshake(now, packet.FlagSYN)
	}
}

// handshake sends a SYN, or a SYN with ACK.
func (s *Socket) handshake(now int64, flags uint16) {
	g := Segment{Seq: s.cfg.ISN, Flags: flags, Window: uint16(min(s.cfg.Window, 0xffff)), From: -1, Retransmitted: s.retries} //nolint:gosec // bounded here
	if flags&packet.FlagACK != 0 {
		g.Ack = s.ackNumber()
	}
	g.Options = s.synOptions(now, flags&packet.FlagACK != 0)
	s.push = append(s.push, g)
	s.arm(now)
}

// Close sends a FIN behind all that was written.
func (s *Socket) Close(int64) {
	if s.state == closed || s.state == listening {
		s.state = dead
	}
	s.finWanted = true
}

// Reset sends a RST and forgets the connection.
func (s *Socket) Reset(now int64) {
	if s.state >= synSent && s.state != dead {
		g := s.Craft(now)
		g.Flags, g.Payload = packet.FlagRST|packet.FlagACK, nil
		g.Window, g.Options = 0, nil
		s.push = append(s.push, g)
	}
	s.state = dead
	s.stop()
}

// Craft returns a segment with the present numbers of the socket, without
// changing its state: the start of what a scenario sends by hand.
func (s *Socket) Craft(now int64) Segment {
	s.now = now
	g := Segment{Seq: s.number(s.next), From: s.next, Flags: packet.FlagACK, Window: s.window()}
	if s.finSent {
		g.Seq++
	}
	g.Ack = s.ackNumber()
	g.Options = s.options(now, nil)
	return g
}

// Next returns the next segment to send.
func (s *Socket) Next(now int64) (Segment, bool) {
	s.now = now
	if len(s.push) > 0 {
		g := s.push[0]
		s.push = s.push[1:]
		return g, true
	}
	if s.state != established {
		return Segment{}, false
	}
	if g, ok := s.repeat(now); ok {
		return g, true
	}
	if g, ok := s.fresh(now); ok {
		return g, true
	}
	if s.ackDue(now) {
		return s.pureAck(now), true
	}
	return Segment{}, false
}

// pureAck acknowledges without sending anything else.
func (s *Socket) pureAck(now int64) Segment {
	g := s.Craft(now)
	g.Options = s.options(now, s.blocks())
	s.acked()
	return g
}

// number is the sequence number of a stream offset.
func (s *Socket) number(off int64) uint32 { return s.cfg.ISN + 1 + uint32(off) } //nolint:gosec // wraps by design

// ackNumber acknowledges what came in order.
func (s *Socket) ackNumber() uint32 {
	n := s.irs + 1 + uint32(s.got) //nolint:gosec // wraps by design
	if s.finGot {
		n++
	}
	return n
}

// window is the field of a segment other than a SYN.
func (s *Socket) window() uint16 {
	s.shut = 0
	for _, x := range s.cfg.Shut {
		if s.now >= x.From && s.now < x.To {
			s.shut = x.To
			return 0
		}
	}
	return uint16(min(s.cfg.Window>>s.shift(), 0xffff)) //nolint:gosec // bounded here
}

func (s *Socket) shift() uint8 {
	if s.scaled {
		return s.cfg.WindowScale
	}
	return 0
}

// Timer returns when Tick is to be called, if at all.
func (s *Socket) Timer() (at int64, ok bool) {
	if s.state == dead {
		return 0, false
	}
	if s.ackAt != 0 {
		at, ok = s.ackAt, true
	}
	if s.rtoAt != 0 && (!ok || s.rtoAt < at) {
		at, ok = s.rtoAt, true
	}
	if s.shut != 0 && (!ok || s.shut < at) {
		at, ok = s.shut, true
	}
	return at, ok
}

// Tick lets timers run out.
func (s *Socket) Tick(now int64) {
	if s.state == dead {
		return
	}
	if s.ackAt != 0 && s.ackAt <= now {
		s.ackAt, s.ackNow = 0, true
	}
	if s.shut != 0 && s.shut <= now {
		s.shut, s.ackNow = 0, true // the window is open again
	}
	if s.rtoAt == 0 || s.rtoAt > now {
		return
	}
	s.rtoAt = 0
	if s.retries++; s.retries > s.cfg.Retries {
		s.Reset(now)
		return
	}
	switch s.state {
	case synSent:
		s.handshake(now, packet.FlagSYN)
	case synReceived:
		s.handshake(now, packet.FlagSYN|packet.FlagACK)
	case established:
		s.timeout(now)
	case closed, listening, dead:
	}
}

// Established reports whether the handshake is over, on this side.
func (s *Socket) Established() bool { return s.state == established }

// PeerFIN reports whether the peer's FIN arrived in order.
func (s *Socket) PeerFIN() bool { return s.finGot }

// PeerReset reports whether the peer has reset the connection.
func (s *Socket) PeerReset() bool { return s.reset }

// Closed reports whether nothing more will be sent.
func (s *Socket) Closed() bool {
	return s.state == dead && len(s.push) == 0 || s.finAcked && s.finGot && !s.ackNow && s.ackAt == 0
}

// EMSS is the effective maximum segment size: the payload that fits a segment
// with the options in force. It is final once Established.
func (s *Socket) EMSS() int {
	n := min(s.cfg.MSS, s.mss)
	if s.state < established {
		n = s.cfg.MSS
	}
	if s.timestamps {
		n -= timestampsLen
	}
	return max(n, 1)
}
