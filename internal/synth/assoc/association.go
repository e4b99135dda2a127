package assoc

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/iwdissect/iwdissect/internal/sctp"
)

// state of an association, as far as it shows.
type state uint8

const (
	closed state = iota
	listening
	cookieWait
	cookieEchoed
	established
	shutdownSent
	shutdownAckSent
	done // closed in good order
	dead // aborted, or given up
)

// Association is one end. It is not safe for use by several goroutines.
type Association struct {
	cfg   Config
	state state
	rnd   *rand.Rand

	peerTag uint32
	peerOut uint16
	cookie  []byte   // of the peer, to be echoed
	push    []Packet // control packets that are due
	retries int
	rtoAt   int64
	path    int

	cameUp      bool // it is established, or was
	closing     bool // SHUTDOWN is wanted
	peerClosing bool // SHUTDOWN came in
	aborted     bool // ABORT came in
	gaveUp      bool // the peer has not answered

	sender
	receiver
}

// New returns a closed end.
func New(c Config) *Association {
	a := &Association{cfg: c, rnd: rand.New(rand.NewPCG(c.Seed, 17))}
	a.sender.next = c.TSN
	a.sender.acked = c.TSN - 1
	a.sender.peerWindow = math.MaxUint32
	if c.Congestion {
		a.sender.congestion = newCongestion(c.MaxPacket)
	}
	a.mids = map[uint16]uint32{}
	a.parts = map[uint32]*part{}
	return a
}

// Open begins: an active end sends its INIT, a passive one listens.
func (a *Association) Open(now int64) {
	if a.state != closed {
		return
	}
	a.state = listening
	if a.cfg.Active {
		a.state = cookieWait
		a.init(now)
	}
}

// mostPushed bounds the control packets that are due: a packet of the peer asks for few.
const mostPushed = 32

// control sends a packet with control chunks.
func (a *Association) control(tag uint32, chunks ...sctp.Chunk) {
	if len(a.push) >= mostPushed {
		return
	}
	b := sctp.Header{SrcPort: a.cfg.SrcPort, DstPort: a.cfg.DstPort, Tag: tag}.Append(nil)
	for _, c := range chunks {
		b = c.Append(b)
	}
	a.seal(b)
	a.push = append(a.push, Packet{Octets: b, Path: a.path})
}

func (a *Association) seal(b []byte) {
	if !a.cfg.ZeroChecksum {
		sctp.Seal(b)
	}
}

// announce is the INIT or INIT ACK of this end.
func (a *Association) announce() sctp.Init {
	i := sctp.Init{Tag: a.cfg.Tag, Window: a.cfg.Window, Out: a.cfg.Out, In: a.cfg.In, TSN: a.cfg.TSN}
	for _, x := range a.cfg.Addresses {
		t := sctp.ParamIPv4
		if x.Is6() {
			t = sctp.ParamIPv6
		}
		i.Params = sctp.Param{Type: t, Value: x.AsSlice()}.Append(i.Params)
	}
	if a.cfg.HasAdaptation {
		i.Params = sctp.Param{Type: sctp.ParamAdaptation, Value: binary.BigEndian.AppendUint32(nil, a.cfg.Adaptation)}.Append(i.Params)
	}
	return i
}

func (a *Association) init(now int64) {
	i := a.announce()
	a.padInit(&i)
	a.control(0, i.Chunk(false))
	a.arm(now)
}

func (a *Association) cookieEcho(now int64) {
	a.control(a.peerTag, sctp.New(sctp.TypeCookieEcho, 0, a.cookie))
	a.arm(now)
}

func (a *Association) arm(now int64) {
	a.rtoAt = now + a.cfg.RTO<<min(a.retries, 6)
}

// Close ends the association in good order once all was delivered.
func (a *Association) Close(now int64) {
	a.closing = true
	if a.state < cookieEchoed {
		a.state = dead
	}
	a.shutdown(now)
}

// shutdown goes on with the end of the association (RFC 9260 section 9.2).
func (a *Association) shutdown(now int64) {
	if a.state != established || !a.idle() {
		return
	}
	switch {
	case a.peerClosing:
		a.state, a.retries = shutdownAckSent, 0
		a.control(a.peerTag, sctp.New(sctp.TypeShutdownAck, 0, nil))
		a.arm(now)
	case a.closing:
		a.state, a.retries = shutdownSent, 0
		a.control(a.peerTag, sctp.New(sctp.TypeShutdown, 0, binary.BigEndian.AppendUint32(nil, a.got)))
		a.arm(now)
	}
}

// Abort sends an ABORT and forgets the association.
func (a *Association) Abort() {
	if a.state > listening && a.state < done {
		a.control(a.peerTag, sctp.New(sctp.TypeAbort, 0, nil))
	}
	a.state, a.rtoAt, a.ackAt, a.ackNow = dead, 0, 0, false
}

// Forget ends the association without a word: the peer knows it no more.
func (a *Association) Forget() {
	a.state, a.rtoAt, a.ackAt, a.ackNow, a.push = dead, 0, 0, false, nil
}

// PeerTag is the verification tag of what is sent.
func (a *Association) PeerTag() uint32 { return a.peerTag }

// Craft returns a packet with the chunks, under another tag unless it is 0, right in all else,
// without changing the state: what a scenario sends by hand.
func (a *Association) Craft(chunks []byte, tag uint32) Packet {
	if tag == 0 {
		tag = a.peerTag
	}
	b := sctp.Header{SrcPort: a.cfg.SrcPort, DstPort: a.cfg.DstPort, Tag: tag}.Append(nil)
	b = append(b, chunks...)
	a.seal(b)
	return Packet{Octets: b, Path: a.path}
}

// Next returns the next packet to send.
func (a *Association) Next(now int64) (Packet, bool) {
	if len(a.push) > 0 {
		p := a.push[0]
		a.push = a.push[1:]
		return p, true
	}
	if a.state < cookieEchoed || a.state >= done {
		return Packet{}, false
	}
	if a.state == established {
		if p, ok := a.data(now); ok {
			return p, true
		}
	}
	if a.ackNow || a.ackAt != 0 && a.ackAt <= now {
		b := sctp.Header{SrcPort: a.cfg.SrcPort, DstPort: a.cfg.DstPort, Tag: a.peerTag}.Append(nil)
		b = a.sack().Append(b)
		a.seal(b)
		return Packet{Octets: b, Path: a.takePath()}, true
	}
	return Packet{}, false
}

// takePath is the path of the next packet.
func (a *Association) takePath() int {
	p := a.path
	if a.cfg.Spread && a.cfg.Paths > 1 {
		a.path = (a.path + 1) % a.cfg.Paths
	}
	return p
}

// Timer returns when Tick is to be called, if at all.
func (a *Association) Timer() (at int64, ok bool) {
	if a.state >= done {
		return 0, false
	}
	if a.ackAt != 0 {
		at, ok = a.ackAt, true
	}
	if a.rtoAt != 0 && (!ok || a.rtoAt < at) {
		at, ok = a.rtoAt, true
	}
	return at, ok
}

// Tick lets timers run out.
func (a *Association) Tick(now int64) {
	if a.state >= done {
		return
	}
	if a.ackAt != 0 && a.ackAt <= now {
		a.ackAt, a.ackNow = 0, true
	}
	if a.rtoAt == 0 || a.rtoAt > now {
		return
	}
	a.rtoAt = 0
	if a.retries++; a.retries > a.cfg.Retries {
		a.gaveUp = true
		a.Abort()
		return
	}
	if a.cfg.Paths > 1 {
		a.path = (a.path + 1) % a.cfg.Paths
	}
	switch a.state {
	case cookieWait:
		a.init(now)
	case cookieEchoed:
		a.cookieEcho(now)
	case established:
		a.timeout(now)
	case shutdownSent:
		a.control(a.peerTag, sctp.New(sctp.TypeShutdown, 0, binary.BigEndian.AppendUint32(nil, a.got)))
		a.arm(now)
	case shutdownAckSent:
		a.control(a.peerTag, sctp.New(sctp.TypeShutdownAck, 0, nil))
		a.arm(now)
	case closed, listening, done, dead:
	}
}

// Established reports whether the handshake is over, on this side.
func (a *Association) Established() bool { return a.state == established }

// CameUp reports whether the association is established, or was before it ended.
func (a *Association) CameUp() bool { return a.cameUp }

// establish notes that both sides know each other.
func (a *Association) establish() { a.state, a.cameUp, a.retries = established, true, 0 }

// Closed reports whether nothing more will be sent.
func (a *Association) Closed() bool { return a.state >= done && len(a.push) == 0 }

// Aborted reports whether the peer has aborted the association.
func (a *Association) Aborted() bool { return a.aborted }

// GaveUp reports whether the association was given up because the peer did not answer.
func (a *Association) GaveUp() bool { return a.gaveUp }

// MaxData is the most user data that fits a packet.
func (a *Association) MaxData() int {
	n := a.cfg.MaxPacket - sctp.HeaderLen - chunkHead
	if a.cfg.IData {
		n -= idataMore
	}
	return max(n&^3, 4)
}

// Octets of the headers of DATA, and what I-DATA has more.
const (
	chunkHead = 16
	idataMore = 4
)

// places adds a place unless it is there: a PDU may have several chunks.
func places(dst []Place, p Place) []Place {
	if slices.Contains(dst, p) {
		return dst
	}
	return append(dst, p)
}
