package fields

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/trace"
)

// tcpSegment is what the packets before a TCP segment say of it.
type tcpSegment struct {
	known bool
	// seq, ack and next are relative to the first number of their direction, ackBase is
	// that of the other one.
	seq, ack, next, ackBase uint32
	window                  uint32
	// factor is that of the window: -1 if not known, -2 if windows are not scaled, 0 in a
	// SYN.
	factor int32
	// ns since the first and the last packet of the connection that have a time, if that is known
	since, delta       int64
	hasSince, hasDelta bool
	complete           uint8

	flags               analysisFlags
	acksFrame, rtoFrame uint64
	rtt, rto, firstRTT  int64
	measured            bool // rtt
	pushed              uint32
	// flight and sacks tell how many octets are on their way, when somebody asks.
	flight, sacks *tcpAnalysis
	dupAck        uint32
	dupFrame      uint64
}

// analysed reports whether there is something below tcp.analysis.
func (s *tcpSegment) analysed() bool {
	return s.known && (s.flags != 0 || s.acksFrame > 0 || s.pushed > 0 || s.rtoFrame > 0)
}

// What of a connection was captured.
const (
	hasSYN = 1 << iota
	hasSYNACK
	hasACK
	hasData
	hasFIN
	hasRST
)

// tcpFlows are the states of connections by their number. Old ones are forgotten when there
// are too many.
type tcpFlows struct {
	flows []*tcpFlow
	first uint64 // the number of flows[0]
	sent  int    // the unacknowledged segments that are remembered of all
}

// maxFlows is how many connections are followed at once.
const maxFlows = 1 << 17

// of returns the state of a connection; nil if it was forgotten.
func (t *tcpFlows) of(number uint64) *tcpFlow {
	if number < t.first {
		return nil
	}
	if number-t.first >= maxFlows {
		t.drop(number - maxFlows/2)
	}
	i := number - t.first
	for uint64(len(t.flows)) <= i {
		t.flows = append(t.flows, nil)
	}
	if t.flows[i] == nil {
		t.flows[i] = &tcpFlow{}
	}
	return t.flows[i]
}

// drop forgets the connections below a number.
func (t *tcpFlows) drop(first uint64) {
	gone := min(first-t.first, uint64(len(t.flows)))
	for _, c := range t.flows[:gone] {
		if c != nil {
			t.sent -= c.remembered()
		}
	}
	n := copy(t.flows, t.flows[gone:])
	clear(t.flows[n:])
	t.flows, t.first = t.flows[:n], first
}

// tcpFlow is a connection.
type tcpFlow struct {
	first, last int64 // moments; 0: no packet had a time
	complete    uint8
	packets     uint64
	syn         int64 // the moment of the SYN, or 0
	firstRTT    int64
	side        [2]tcpSide
}

// remembered counts the unacknowledged segments that are remembered.
func (c *tcpFlow) remembered() int {
	return len(c.side[0].analysis.sent) + len(c.side[1].analysis.sent)
}

// tcpSide is a direction: what its sender has sent.
type tcpSide struct {
	hasBase bool
	base    uint32
	// scale is the shift of its windows: as noted above for factor, if negative.
	scale    int8
	hasScale bool
	analysis tcpAnalysis
}

// track follows the connection of the frame.
func (l *Layers) track() {
	l.seg = tcpSegment{}
	f, p := l.f, l.f.Packet
	if f.Status != packet.OK || p == nil {
		return
	}
	if p.Proto == packet.ProtoSCTP {
		l.tsns.take(l, p)
		return
	}
	if f.Conn == nil || p.Proto != packet.ProtoTCP {
		return
	}
	c := l.flows.of(f.Conn.Number)
	if c == nil {
		return
	}
	s := &l.seg
	s.known = true
	if !f.NoTime {
		c.times(s, f.Moment())
	}
	own, peer := &c.side[0], &c.side[1]
	if _, larger := p.Endpoints(); larger { // directions follow the roles of MPA, which are found out late; this stays
		own, peer = peer, own
	}
	own.start(peer, p)
	c.numbers(s, own, peer, p, l.Absolute)
	before := c.remembered()
	c.analyse(s, own, peer, f, l.flows.sent < maxAllSent)
	l.flows.sent += c.remembered() - before
	s.complete = c.complete
	c.completes(p)
}

func (c *tcpFlow) times(s *tcpSegment, now int64) {
	if c.first == 0 {
		c.first, c.last = now, now
	}
	s.since, s.hasSince = trace.Between(c.first, now)
	s.delta, s.hasDelta = trace.Between(c.last, now)
	c.last = now
}

// start notes the first numbers of both directions.
func (d *tcpSide) start(peer *tcpSide, p *packet.Packet) {
	syn, ack := p.Flags&packet.FlagSYN != 0, p.Flags&packet.FlagACK != 0
	if !d.hasBase {
		d.hasBase, d.base = true, p.Seq
		if !syn {
			d.base-- // so that the first octet that is seen has number 1
		}
	}
	if !peer.hasBase && ack {
		peer.hasBase, peer.base = true, p.Ack-1
	}
	if syn {
		d.hasScale, d.scale = true, noScale
		if n, ok := packet.WindowScale(p.Options); ok {
			d.scale = int8(min(n, 14))
		}
	}
}

const noScale = -2

// numbers finds what is shown of sequence numbers and windows.
func (c *tcpFlow) numbers(s *tcpSegment, own, peer *tcpSide, p *packet.Packet, absolute bool) {
	s.seq, s.ack, s.ackBase = p.Seq, p.Ack, peer.base
	if absolute {
		s.ackBase = 0
	} else {
		s.seq -= own.base
		if p.Flags&packet.FlagACK != 0 {
			s.ack -= peer.base
		}
	}
	s.next = s.seq + uint32(p.PayloadLen) //nolint:gosec // wraps as numbers do
	if p.Flags&(packet.FlagSYN|packet.FlagFIN) != 0 {
		s.next++
	}
	s.window = uint32(p.Window)
	if p.Flags&packet.FlagSYN != 0 {
		return
	}
	switch {
	case !own.hasScale:
		s.factor = -1
	case own.scale < 0 || peer.hasScale && peer.scale < 0:
		s.factor = -2
	default:
		s.factor = 1 << own.scale
		s.window <<= own.scale
	}
}

// completes notes what was seen of the connection. A capture that starts later shows that
// only from its second packet on.
func (c *tcpFlow) completes(p *packet.Packet) {
	fl := p.Flags
	first := c.packets == 0
	c.packets++
	switch {
	case fl&packet.FlagRST != 0:
		c.complete |= hasRST
	case fl&(packet.FlagSYN|packet.FlagACK) == packet.FlagSYN:
		if first || c.complete&hasSYN != 0 {
			c.complete |= hasSYN
		}
	case first:
	case fl&packet.FlagSYN != 0:
		c.complete |= hasSYNACK
	case fl&packet.FlagFIN != 0:
		c.complete |= hasFIN
	case p.PayloadLen > 0:
		c.complete |= hasData
	default:
		c.complete |= hasACK
	}
}
