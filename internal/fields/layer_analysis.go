package fields

import (
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// What Wireshark says of TCP segments, by the conditions that its user's guide gives for
// each ("TCP Analysis"). It is an opinion about single segments, as they came; what the
// reassembly says of frames in the records is found from the whole stream.

// analysisFlags are what a segment looks like.
type analysisFlags uint16

const (
	aRetransmission analysisFlags = 1 << iota
	aFastRetransmission
	aSpuriousRetransmission
	aOutOfOrder
	aLostSegment
	aAckLostSegment
	aKeepAlive
	aKeepAliveAck
	aDuplicateAck
	aWindowUpdate
	aWindowFull
	aZeroWindow
	aZeroWindowProbe
	aZeroWindowProbeAck
	aReusedPorts
)

// tcpAnalysis is the state of one direction.
type tcpAnalysis struct {
	// next is the highest number sent so far plus one, which frame nextFrame carried at
	// nextTime; 0 frames: none yet.
	next      uint32
	nextFrame uint64
	nextTime  int64
	// reach is the end of what was seen without a hole, if hasReach.
	reach    uint32
	hasReach bool
	// ack is the last one sent, at ackTime, if hasAck.
	ack     uint32
	hasAck  bool
	ackTime int64
	window  uint16
	// last is what the last segment was.
	last analysisFlags
	// dupAcks counts those alike, the first of which was ackFrame.
	dupAcks  uint32
	ackFrame uint64
	// pushed counts octets since the last push, which ended says the last segment was;
	// holes: some segment is missing.
	pushed       uint32
	ended, holes bool
	sentList
	// sacks are the blocks of the last SACK that was sent.
	sacks [4]sentSegment
}

// sentSegment is one that is not acknowledged yet.
type sentSegment struct {
	seq, end uint32
	frame    uint64
	time     int64
}

const (
	// maxSent bounds the unacknowledged segments that are remembered of a direction,
	// maxAllSent those of all: a capture of one direction has no acknowledgements.
	maxSent    = 4096
	maxAllSent = 1 << 21
	// fastWithin and lateAfter decide what a segment with old octets is, in ns: a fast
	// retransmission comes soon after the acknowledgements that ask for it, and what comes
	// so soon after its successor was only out of order.
	fastWithin = 20e6
	lateAfter  = 3e6
)

func earlier(a, b uint32) bool { return int32(a-b) < 0 } //nolint:gosec // serial numbers

// analyse finds out what a segment looks like. room says that it may be remembered.
func (c *tcpFlow) analyse(s *tcpSegment, own, peer *tcpSide, f *pipeline.Frame, room bool) {
	p, a, b := f.Packet, &own.analysis, &peer.analysis
	c.handshake(s, f)
	n := uint32(p.PayloadLen) //nolint:gosec // wraps as numbers do
	ends := p.Seq + n
	if p.Flags&(packet.FlagSYN|packet.FlagFIN) != 0 {
		ends++
	}
	if p.Flags&(packet.FlagSYN|packet.FlagACK) == packet.FlagSYN && a.nextFrame != 0 && c.complete&hasSYN == 0 {
		s.flags |= aReusedPorts
	}
	a.judge(s, b, peer, p, n)
	switch {
	case s.flags&aDuplicateAck != 0:
		a.dupAcks++
		s.dupAck, s.dupFrame = a.dupAcks, a.ackFrame
	case !a.hasAck || a.ack != p.Ack:
		a.ackFrame, a.dupAcks = f.Number, 0
	}
	a.overtaken(s, b, p)
	c.old(s, a, b, f, n, ends)
	a.advance(s, p, f, ends, room)
	a.acknowledges(s, b, p, f)
	a.blocks(p)
	a.counts(s, b, p, n)
	a.last, a.window = s.flags, p.Window
}

// handshake measures the time from the SYN to the first packet behind it that acknowledges.
func (c *tcpFlow) handshake(s *tcpSegment, f *pipeline.Frame) {
	switch f.Packet.Flags & (packet.FlagSYN | packet.FlagACK) {
	case packet.FlagSYN:
		c.syn = f.Moment()
	case packet.FlagACK:
		if c.firstRTT == 0 {
			c.firstRTT, _ = trace.Between(c.syn, f.Moment())
		}
	}
	s.firstRTT = c.firstRTT
}

// closing are the flags of segments that open or end a connection.
const closing = packet.FlagSYN | packet.FlagFIN | packet.FlagRST

// judge finds what the numbers and windows of a segment say, but for old octets.
func (a *tcpAnalysis) judge(s *tcpSegment, b *tcpAnalysis, peer *tcpSide, p *packet.Packet, n uint32) {
	quiet := p.Flags&closing == 0
	begun := a.nextFrame != 0
	if n == 1 && begun && p.Seq == a.next && b.nextFrame != 0 && b.window == 0 {
		s.flags |= aZeroWindowProbe
		return
	}
	if p.Window == 0 && quiet {
		s.flags |= aZeroWindow
	}
	if begun && earlier(a.next, p.Seq) && p.Flags&packet.FlagRST == 0 {
		s.flags |= aLostSegment
	}
	if n <= 1 && begun && p.Seq == a.next-1 && quiet {
		s.flags |= aKeepAlive
	}
	if n > 0 && quiet && b.hasAck && peer.hasScale && p.Seq+n == b.ack+uint32(b.window)<<max(peer.scale, 0) {
		s.flags |= aWindowFull
	}
	if begun && n == 0 && quiet && p.Seq == a.next {
		a.empty(s, b, p)
	}
}

// empty finds what a segment without data says, that comes where the next one is expected.
func (a *tcpAnalysis) empty(s *tcpSegment, b *tcpAnalysis, p *packet.Packet) {
	same, unchanged := a.hasAck && p.Ack == a.ack, p.Window == a.window
	probed := b.last&aZeroWindowProbe != 0 && unchanged && p.Window == 0
	switch {
	case probed && (same || p.Ack == a.ack+1):
		s.flags |= aZeroWindowProbeAck
	case !same || p.Window == 0:
	case !unchanged:
		s.flags |= aWindowUpdate
	case b.last&aKeepAlive != 0:
		s.flags |= aKeepAliveAck
	default:
		s.flags |= aDuplicateAck
	}
}

// overtaken notes an acknowledgement of octets that the capture does not have. Segments that
// repeat it say nothing new.
func (a *tcpAnalysis) overtaken(s *tcpSegment, b *tcpAnalysis, p *packet.Packet) {
	if p.Flags&packet.FlagACK != 0 && b.hasReach && earlier(b.reach, p.Ack) && !(a.hasAck && a.ack == p.Ack) {
		s.flags |= aAckLostSegment
		b.reach = b.next
	}
}

// old finds out what a segment with octets below the highest is.
func (c *tcpFlow) old(s *tcpSegment, a, b *tcpAnalysis, f *pipeline.Frame, n, ends uint32) {
	p := f.Packet
	if n == 0 && p.Flags&(packet.FlagSYN|packet.FlagFIN) == 0 || a.nextFrame == 0 || !earlier(p.Seq, a.next) || s.flags&aKeepAlive != 0 {
		return
	}
	limit := int64(lateAfter)
	if c.firstRTT != 0 {
		limit = c.firstRTT
	}
	now := f.Moment()
	since, _ := trace.Between(a.nextTime, now)
	sinceAck, _ := trace.Between(b.ackTime, now)
	switch {
	case n > 0 && b.hasAck && !earlier(b.ack, p.Seq+n):
		s.flags |= aSpuriousRetransmission | aRetransmission
	case b.dupAcks >= 2 && b.ack == p.Seq && sinceAck < fastWithin:
		s.flags |= aFastRetransmission | aRetransmission
	case since < limit && a.next != ends:
		s.flags |= aOutOfOrder
	default:
		s.flags |= aRetransmission
		s.rto, s.rtoFrame = since, a.nextFrame
		for i := a.from; i < len(a.sent); i++ {
			if a.sent[i].seq == p.Seq {
				s.rto, _ = trace.Between(a.sent[i].time, now)
				s.rtoFrame = a.sent[i].frame
				break
			}
		}
	}
}

// advance notes how far a direction has come.
func (a *tcpAnalysis) advance(s *tcpSegment, p *packet.Packet, f *pipeline.Frame, ends uint32, room bool) {
	if s.flags&aZeroWindowProbe == 0 && (a.nextFrame == 0 || earlier(a.next, ends)) {
		a.next, a.nextFrame, a.nextTime = ends, f.Number, f.Moment()
	}
	if s.flags&aZeroWindowProbe == 0 && (!a.hasReach || p.Seq == a.reach) {
		a.reach, a.hasReach = a.next, true
	}
	if ends != p.Seq && room && len(a.sent) < maxSent {
		a.send(sentSegment{p.Seq, ends, f.Number, f.Moment()})
	}
}

// acknowledges finds the segment that is acknowledged.
func (a *tcpAnalysis) acknowledges(s *tcpSegment, b *tcpAnalysis, p *packet.Packet, f *pipeline.Frame) {
	if p.Flags&packet.FlagACK == 0 {
		return
	}
	if g := b.acked(p.Ack); g != nil {
		s.acksFrame = g.frame
		s.rtt, s.measured = trace.Between(g.time, f.Moment())
		s.measured = s.measured && s.rtt != 0 // as Wireshark does: two frames with one time measure nothing
	}
	b.holes = false
	a.ack, a.hasAck, a.ackTime = p.Ack, true, f.Moment()
}

// counts finds how many octets are on their way, if no segment before was missing.
func (a *tcpAnalysis) counts(s *tcpSegment, b *tcpAnalysis, p *packet.Packet, n uint32) {
	a.holes = a.holes || s.flags&aLostSegment != 0
	if n == 0 {
		return
	}
	if a.holes {
		return
	}
	s.flight, s.sacks = a, b
	if a.ended {
		a.pushed = 0
	}
	a.pushed += n
	s.pushed = a.pushed
	a.ended = p.Flags&packet.FlagPSH != 0
}

// sacked is how many octets of a range the last SACK of the other side says have arrived. Each
// counts once: the first block of a D-SACK may lie within another one (RFC 2883 section 4).
func (a *tcpAnalysis) sacked(low, high uint32) (n uint32) {
	counted := uint32(0) // all before this one, from low on, or not in a block
	for {
		from, to := high-low, uint32(0) // the first block that goes on behind that
		for i := range a.sacks {
			left, right := a.sacks[i].seq-low, a.sacks[i].end-low
			if left < right && right <= high-low && right > counted && max(left, counted) < from {
				from, to = max(left, counted), right
			}
		}
		if to == 0 {
			return n
		}
		n, counted = n+to-from, to
	}
}

// blocks notes the blocks of a SACK.
func (a *tcpAnalysis) blocks(p *packet.Packet) {
	a.sacks = [4]sentSegment{}
	rest := packet.SACK(p.Options)
	for i := range a.sacks {
		left, right, more, ok := packet.NextSACK(rest)
		if !ok {
			return
		}
		a.sacks[i], rest = sentSegment{seq: left, end: right}, more
	}
}
