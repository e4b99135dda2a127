package tcp

import "github.com/iwdissect/iwdissect/internal/packet"

// usualInflight is how many segments are under way at most, unless configured.
const usualInflight = 64

// sender is the half that sends.
type sender struct {
	chunks []chunk // written and not yet sent, from first on
	first  int
	sent   []sent // sent and not yet acknowledged, in order, from base on
	base   int

	written, next, una int64
	finWanted          bool
	finSent, finAcked  bool
	peerWindow         int64

	dupAcks   int
	recovered int64 // recovery lasts until this is acknowledged; -1: none
	round     int   // of recovery
	lost      int   // segments that wait to be sent again
	rtoAt     int64
	retries   int
}

// chunk is a write, or what is left of one.
type chunk struct {
	data  []byte
	fresh bool
	begun bool // its front was sent
}

// sent is a segment under way.
type sent struct {
	from   int64
	data   []byte
	flags  uint16
	sacked bool
	lost   bool
	times  int // sent again
	round  int // of recovery in which it was taken for lost
}

func (t *sent) end() int64 {
	n := t.from + int64(len(t.data))
	if t.flags&packet.FlagFIN != 0 {
		n++
	}
	return n
}

// Write queues octets; they are the socket's from then on.
func (s *Socket) Write(_ int64, w Write) {
	if len(w.Data) == 0 || s.finWanted || s.state == dead {
		return
	}
	s.chunks = append(s.chunks, chunk{data: w.Data, fresh: w.Fresh})
	s.written += int64(len(w.Data))
}

// Queued returns how many octets were written and not yet acknowledged.
func (s *Socket) Queued() int64 { return s.written - min(s.una, s.written) }

// Written is the number of octets written so far.
func (s *Socket) Written() int64 { return s.written }

// room is how many octets may be sent now.
func (s *Socket) room() int64 {
	limit := int64(s.cfg.Inflight)
	if limit == 0 {
		limit = usualInflight * int64(max(s.EMSS(), s.cfg.MaxSegment/8))
	}
	return min(limit, s.peerWindow) - (s.next - s.una)
}

// fresh sends octets for the first time, or the FIN behind them.
func (s *Socket) fresh(now int64) (Segment, bool) {
	if s.finSent {
		return Segment{}, false
	}
	if s.first == len(s.chunks) {
		if !s.finWanted {
			return Segment{}, false
		}
		s.finSent = true
		return s.emit(now, sent{from: s.next, flags: packet.FlagFIN | packet.FlagACK}), true
	}
	limit := max(s.EMSS(), s.cfg.MaxSegment)
	room := s.room()
	if room <= 0 {
		return Segment{}, false
	}
	if s.cfg.Packing == Stream {
		if room < int64(s.EMSS()) && s.next > s.una && s.written-s.next > room {
			// Rather a full segment later than a part of one now (RFC 1122
			// section 4.2.3.4).
			return Segment{}, false
		}
		limit = int(min(int64(limit), room))
	}
	n, fresh := s.measure(limit)
	if int64(n) > room && s.next > s.una {
		return Segment{}, false
	}
	data := s.take(n)
	flags := uint16(packet.FlagACK)
	if s.first == len(s.chunks) || fresh {
		flags |= packet.FlagPSH
	}
	return s.emit(now, sent{from: s.next, data: data, flags: flags}), true
}

// measure says how many octets the next segment of at most limit octets has,
// and whether it is a fresh one.
func (s *Socket) measure(limit int) (n int, fresh bool) {
	c := &s.chunks[s.first]
	n = min(len(c.data), limit)
	switch {
	case c.fresh:
		return n, true
	case s.cfg.Packing == Aligned || n < len(c.data):
		return n, false
	case s.cfg.Packing == Packed && c.begun:
		return n, false // the rest of one that was too long
	}
	for i := s.first + 1; i < len(s.chunks) && n < limit; i++ {
		c := &s.chunks[i]
		if c.fresh || s.cfg.Packing == Packed && n+len(c.data) > limit {
			break
		}
		n += min(len(c.data), limit-n)
	}
	return n, false
}

// take takes n octets off the front of what was written, without a copy if
// they lie in one write.
func (s *Socket) take(n int) []byte {
	c := &s.chunks[s.first]
	if n <= len(c.data) {
		b := c.data[:n]
		if n < len(c.data) {
			b = b[:n:n]
		}
		s.drop(n)
		return b
	}
	b := make([]byte, 0, n)
	for len(b) < n {
		k := min(n-len(b), len(s.chunks[s.first].data))
		b = append(b, s.chunks[s.first].data[:k]...)
		s.drop(k)
	}
	return b
}

func (s *Socket) drop(n int) {
	c := &s.chunks[s.first]
	c.data, c.begun = c.data[n:], true
	if len(c.data) > 0 {
		return
	}
	*c = chunk{}
	s.first++
	if s.first == len(s.chunks) {
		s.chunks, s.first = s.chunks[:0], 0
	} else if s.first > 256 && 2*s.first > len(s.chunks) {
		s.chunks = s.chunks[:copy(s.chunks, s.chunks[s.first:])]
		s.first = 0
	}
}

// emit sends a segment for the first time.
func (s *Socket) emit(now int64, t sent) Segment {
	s.sent = append(s.sent, t)
	s.next = t.end()
	if t.flags&packet.FlagFIN != 0 {
		s.next = t.from // the FIN is counted by finSent
	}
	if s.rtoAt == 0 {
		s.arm(now)
	}
	return s.segment(now, &t)
}

func (s *Socket) segment(now int64, t *sent) Segment {
	g := Segment{
		Seq: s.number(t.from), Ack: s.ackNumber(), Flags: t.flags, Window: s.window(),
		Payload: t.data, From: t.from, Retransmitted: t.times, Options: s.options(now, nil),
	}
	s.acked()
	return g
}

// repeat sends again what is taken for lost.
func (s *Socket) repeat(now int64) (Segment, bool) {
	if s.lost == 0 {
		return Segment{}, false
	}
	for i := s.base; i < len(s.sent); i++ {
		t := &s.sent[i]
		if !t.lost {
			continue
		}
		t.lost = false
		s.lost--
		t.times++
		if s.rtoAt == 0 {
			s.arm(now)
		}
		return s.segment(now, t), true
	}
	s.lost = 0
	return Segment{}, false
}

// end is the stream offset behind all that was sent, a FIN counted.
func (s *Socket) end() int64 {
	if s.finSent {
		return s.next + 1
	}
	return s.next
}

// acknowledge takes an acknowledgement up to the offset, and SACK blocks.
func (s *Socket) acknowledge(now, ack int64, blocks []byte, pure bool) {
	if ack > s.end() || ack < s.una {
		return
	}
	news := ack > s.una
	some := s.selective(blocks)
	if news {
		s.una = ack
		for s.base < len(s.sent) && s.sent[s.base].end() <= ack {
			s.release(s.base)
			s.base++
		}
		s.shrink()
		s.finAcked = s.finAcked || s.finSent && ack == s.end()
		s.dupAcks, s.retries, s.rtoAt = 0, 0, 0
		if s.base < len(s.sent) {
			s.arm(now)
		}
	} else if pure && s.base < len(s.sent) {
		s.dupAcks++
	}
	s.recover(news, some)
}

func (s *Socket) release(i int) {
	t := &s.sent[i]
	if t.lost {
		s.lost--
	}
	if s.cfg.Done != nil && t.times == 0 {
		s.cfg.Done(t.data)
	}
	s.sent[i] = sent{from: s.sent[i].from, flags: s.sent[i].flags}
}

func (s *Socket) shrink() {
	if s.base == len(s.sent) {
		s.sent, s.base = s.sent[:0], 0
	} else if s.base > 256 && 2*s.base > len(s.sent) {
		s.sent = s.sent[:copy(s.sent, s.sent[s.base:])]
		s.base = 0
	}
}

// selective notes what SACK blocks cover, and reports whether it is more than
// before.
func (s *Socket) selective(blocks []byte) bool {
	some := false
	for {
		left, right, rest, ok := packet.NextSACK(blocks)
		if !ok || !s.sack {
			return some
		}
		blocks = rest
		l, r := s.offset(left), s.offset(right)
		for i := s.base; i < len(s.sent); i++ {
			t := &s.sent[i]
			if t.sacked || t.from < l || t.end() > r {
				continue
			}
			t.sacked, some = true, true
			if t.lost {
				t.lost = false
				s.lost--
			}
		}
	}
}

// recover decides what is lost: after three duplicate acknowledgements the
// first segment, and with SACK all that have three others behind them; after
// that whatever a partial acknowledgement leaves open (RFC 6582, RFC 6675).
func (s *Socket) recover(news, some bool) {
	if s.recovered >= 0 && s.una >= s.recovered {
		s.recovered = -1
	}
	switch {
	case s.base == len(s.sent):
		return
	case s.recovered >= 0:
		if news {
			s.lose(s.base)
		}
	case s.dupAcks >= 3:
		s.recovered = s.end()
		s.round++
		s.lose(s.base)
	}
	if s.recovered < 0 || !some {
		return
	}
	behind := 0
	for i := len(s.sent) - 1; i >= s.base; i-- {
		if s.sent[i].sacked {
			behind++
		} else if behind >= 3 {
			s.lose(i)
		}
	}
}

// lose takes a segment for lost, once in a round of recovery.
func (s *Socket) lose(i int) {
	if t := &s.sent[i]; !t.lost && !t.sacked && t.round != s.round {
		t.lost, t.round = true, s.round
		s.lost++
	}
}

// timeout is told that the oldest segment was not acknowledged in time.
func (s *Socket) timeout(now int64) {
	if s.base == len(s.sent) {
		return
	}
	for i := s.base; i < len(s.sent); i++ {
		s.sent[i].sacked = false // the receiver may have forgotten (RFC 2018 section 8)
	}
	s.recovered, s.dupAcks = s.end(), 0
	s.round++
	s.lose(s.base)
	s.arm(now)
}

// arm starts the retransmission timer.
func (s *Socket) arm(now int64) {
	if s.cfg.RTO > 0 {
		s.rtoAt = now + s.cfg.RTO<<min(s.retries, 16)
	}
}

// stop forgets all that would be sent.
func (s *Socket) stop() {
	s.chunks, s.first, s.sent, s.base = nil, 0, nil, 0
	s.lost, s.rtoAt, s.ackAt, s.ackNow = 0, 0, 0, false
}
