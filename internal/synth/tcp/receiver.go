package tcp

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/seq"
)

// receiver is the half that receives.
type receiver struct {
	irs    uint32 // the peer's initial sequence number
	scaled bool
	recent uint32 // the timestamp to echo

	got    int64
	finGot bool
	finAt  int64 // where a FIN stands that came early, if hasFIN
	hasFIN bool
	early  []early // out of order, sorted, without overlap
	ready  [][]byte
	read   int

	unacked int // segments
	ackNow  bool
	ackAt   int64
	latest  int64 // where the youngest early octets begin
}

// early are octets that came before others.
type early struct {
	from int64
	data []byte
}

func (e *early) end() int64 { return e.from + int64(len(e.data)) }

// offset is the own stream offset of a number that the peer acknowledges.
func (s *Socket) offset(ack uint32) int64 { return seq.Unwrap(s.una, ack-s.cfg.ISN-1) }

// Receive takes a segment of the peer.
func (s *Socket) Receive(now int64, g *Segment) {
	switch s.state {
	case listening:
		if g.Flags&(packet.FlagSYN|packet.FlagACK|packet.FlagRST) == packet.FlagSYN {
			s.irs = g.Seq
			s.agree(g.Options)
			s.peerWindow = int64(g.Window)
			s.state = synReceived
			s.handshake(now, packet.FlagSYN|packet.FlagACK)
		}
	case synSent:
		s.answered(g)
	case synReceived, established:
		s.segmentIn(now, g)
	case closed, dead:
	}
}

// answered takes the answer to a SYN.
func (s *Socket) answered(g *Segment) {
	switch {
	case g.Flags&packet.FlagACK != 0 && g.Ack != s.cfg.ISN+1:
	case g.Flags&packet.FlagRST != 0:
		s.die()
	case g.Flags&packet.FlagSYN != 0 && g.Flags&packet.FlagACK != 0:
		s.irs = g.Seq
		s.agree(g.Options)
		s.peerWindow = int64(g.Window)
		s.state, s.retries, s.rtoAt, s.ackNow = established, 0, 0, true
	}
}

func (s *Socket) die() {
	s.state, s.reset = dead, true
	s.stop()
}

// segmentIn takes a segment of a connection that is there, or nearly.
func (s *Socket) segmentIn(now int64, g *Segment) {
	from := seq.Unwrap(s.got, g.Seq-s.irs-1)
	if g.Flags&packet.FlagSYN != 0 {
		if s.state == synReceived {
			s.handshake(now, packet.FlagSYN|packet.FlagACK)
		} else {
			s.ackNow = true // our ACK of it was lost
		}
		return
	}
	if g.Flags&packet.FlagRST != 0 {
		if from >= s.got-1 && from <= s.got+int64(s.cfg.Window) {
			s.die()
		}
		return
	}
	if g.Flags&packet.FlagACK == 0 {
		return
	}
	ack := s.offset(g.Ack)
	if s.state == synReceived {
		if ack < 0 || ack > s.end() {
			return
		}
		s.state, s.retries, s.rtoAt = established, 0, 0
	}
	if val, _, ok := packet.Timestamps(g.Options); ok && s.timestamps && from <= s.got {
		s.recent = val
	}
	s.peerWindow = int64(g.Window) << s.peerScale
	pure := len(g.Payload) == 0 && g.Flags&packet.FlagFIN == 0
	s.acknowledge(now, ack, packet.SACK(g.Options), pure)
	if !pure {
		s.octets(now, from, g)
	}
}

// octets takes the payload and the FIN of a segment.
func (s *Socket) octets(now, from int64, g *Segment) {
	end := from + int64(len(g.Payload))
	if g.Flags&packet.FlagFIN != 0 && !s.hasFIN {
		s.finAt, s.hasFIN = end, true
	}
	data := g.Payload
	before := s.got
	switch {
	case end > s.got+int64(max(s.cfg.Window, 1<<20)):
		s.ackNow = true
		return
	case from > s.got:
		s.keep(from, data)
	default:
		if cut := s.got - from; cut < int64(len(data)) {
			s.deliver(data[cut:])
		}
	}
	s.drain()
	if s.hasFIN && !s.finGot && s.got >= s.finAt {
		s.finGot, s.ackNow = true, true
	}
	s.unacked++
	switch {
	case s.got == before, len(s.early) > 0, s.unacked >= 2, s.cfg.DelayedAck == 0:
		s.ackNow = true
	case s.ackAt == 0:
		s.ackAt = now + s.cfg.DelayedAck
	}
}

func (s *Socket) deliver(b []byte) {
	s.ready = append(s.ready, b)
	s.got += int64(len(b))
}

// keep keeps octets that came early, those that are not there yet.
func (s *Socket) keep(from int64, b []byte) {
	s.latest = from
	for len(b) > 0 {
		i, _ := slices.BinarySearchFunc(s.early, from, func(e early, at int64) int {
			if e.end() <= at {
				return -1
			}
			return 1
		})
		if i == len(s.early) {
			s.early = append(s.early, early{from, b})
			return
		}
		e := &s.early[i]
		if e.from > from {
			n := min(int64(len(b)), e.from-from)
			part := early{from, b[:n]}
			s.early = slices.Insert(s.early, i, part)
			from, b = from+n, b[n:]
			continue
		}
		n := min(int64(len(b)), e.end()-from)
		from, b = from+n, b[n:]
	}
}

// drain delivers early octets that are in order now.
func (s *Socket) drain() {
	n := 0
	for n < len(s.early) && s.early[n].from <= s.got {
		if e := &s.early[n]; e.end() > s.got {
			s.deliver(e.data[s.got-e.from:])
		}
		n++
	}
	if n > 0 {
		s.early = slices.Delete(s.early, 0, n)
	}
}

// blocks are what to acknowledge selectively, the youngest first (RFC 2018
// section 4).
func (s *Socket) blocks() [][2]uint32 {
	if !s.sack || len(s.early) == 0 {
		return nil
	}
	most := 4
	if s.timestamps {
		most = 3
	}
	var runs [][2]int64
	for i := range s.early {
		e := &s.early[i]
		if n := len(runs); n > 0 && runs[n-1][1] == e.from {
			runs[n-1][1] = e.end()
			continue
		}
		runs = append(runs, [2]int64{e.from, e.end()})
	}
	slices.SortStableFunc(runs, func(a, b [2]int64) int {
		return int(btoi(b[0] <= s.latest && s.latest < b[1]) - btoi(a[0] <= s.latest && s.latest < a[1]))
	})
	var out [][2]uint32
	for _, r := range runs[:min(most, len(runs))] {
		out = append(out, [2]uint32{s.irs + 1 + uint32(r[0]), s.irs + 1 + uint32(r[1])}) //nolint:gosec // wraps by design
	}
	return out
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// ackDue reports whether an acknowledgement has to go out now.
func (s *Socket) ackDue(now int64) bool {
	return s.ackNow || s.ackAt != 0 && s.ackAt <= now
}

// acked is told that an acknowledgement went out.
func (s *Socket) acked() { s.unacked, s.ackNow, s.ackAt = 0, false, 0 }

// Read returns the octets that arrived in order since the last call; nil if
// there are none. They are valid until the next call of Receive.
func (s *Socket) Read() []byte {
	if s.read == len(s.ready) {
		s.ready, s.read = s.ready[:0], 0
		return nil
	}
	b := s.ready[s.read]
	s.ready[s.read] = nil
	s.read++
	return b
}

// Received is the number of octets of the peer that arrived in order.
func (s *Socket) Received() int64 { return s.got }
