package assoc

import (
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/seq"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// sender is the half that sends.
type sender struct {
	queue  []queued // messages without TSNs
	later  []chunk  // chunks that others go before
	next   uint32   // TSN
	acked  uint32   // cumulative TSN acknowledged
	flight []chunk  // not acknowledged cumulatively, by TSN
	octets int      // of flight that are under way
	queuedOctets,
	written int
	peerWindow uint32            // receive window of the peer
	congestion *congestion       // nil: there is none
	mids       map[uint16]uint32 // I-DATA: next message identifier by stream
}

type queued struct {
	Message
	index int
}

// chunk is one of user data.
type chunk struct {
	sctp.Data
	place  pdu.Place
	faults []pdu.Fault
	sent   int
	sacked bool // by a gap block
	missed int  // how many SACKs say that it is missing
	resend bool
}

// shuffleDepth is from how many messages the next one is picked.
const shuffleDepth = 4

// Write queues a message. It returns its number, from 1.
func (a *Association) Write(m Message) int {
	a.written++
	a.queue = append(a.queue, queued{m, a.written})
	a.queuedOctets += len(m.Data)
	return a.written
}

// Queued is the number of octets that are not acknowledged.
func (a *Association) Queued() int { return a.queuedOctets }

// idle reports whether all is delivered.
func (a *Association) idle() bool {
	return len(a.queue)+len(a.later)+len(a.flight) == 0
}

// Assigned reports whether messages up to a number have their TSNs, and if so,
// the highest TSN given so far.
func (a *Association) Assigned(index int) (tsn uint32, ok bool) {
	for i := range a.queue {
		if a.queue[i].index <= index {
			return 0, false
		}
	}
	if len(a.later) > 0 {
		return 0, false
	}
	return a.next - 1, true
}

// Acknowledged reports whether the peer has all up to a TSN.
func (a *Association) Acknowledged(tsn uint32) bool { return !seq.Less(a.acked, tsn) }

// assign gives TSNs to the next message.
func (a *Association) assign() {
	i := 0
	if a.cfg.Shuffle {
		n := 0
		for n < min(len(a.queue), shuffleDepth) && !a.queue[n].Barrier {
			n++
		}
		if n > 1 {
			i = a.rnd.IntN(n)
		}
	}
	m := a.queue[i]
	// The few in front of it move up, not the many behind it.
	copy(a.queue[1:i+1], a.queue[:i])
	a.queue[0] = queued{}
	a.queue = a.queue[1:]
	most, interleave := a.MaxData(), false
	for k := range m.Faults {
		if s := m.Faults[k].Split; s > 0 {
			if most = min(s, most); s < len(m.Data) {
				m.Faults[k].Fate.Did("split")
			}
		}
		interleave = interleave || m.Faults[k].Interleave
	}
	mid := a.mids[m.SID]
	a.mids[m.SID]++
	var all []chunk
	for at := 0; at == 0 || at < len(m.Data); at += most {
		end := min(at+most, len(m.Data))
		c := chunk{place: m.Place, faults: m.Faults}
		c.Data = sctp.Data{I: a.cfg.IData, Flags: sctp.FlagUnordered, SID: m.SID, PPID: m.PPID, Octets: m.Data[at:end], MID: mid}
		c.FSN = uint32(len(all)) //nolint:gosec // a count
		if at == 0 {
			c.Flags |= sctp.FlagBegin
		}
		if end == len(m.Data) {
			c.Flags |= sctp.FlagEnd
		}
		all = append(all, c)
	}
	behind := a.later
	a.later = nil
	if interleave && len(all) > 1 {
		for k := range m.Faults {
			m.Faults[k].Fate.Did("interleave")
		}
		a.later = all[1:]
		all = all[:1]
	}
	for _, c := range append(all, behind...) {
		a.number(c)
	}
}

// number gives a chunk its TSN.
func (a *Association) number(c chunk) {
	c.TSN = a.next
	a.next++
	a.flight = append(a.flight, c)
}

// data makes a packet with user data: what is to be sent again, then what is
// new, as far as the window lets it.
func (a *Association) data(now int64) (Packet, bool) {
	var picked []int
	room := a.cfg.MaxPacket - sctp.HeaderLen
	ack := a.ackDue()
	if ack {
		room -= a.sackSize()
	}
	full := func(c *chunk) bool {
		n := chunkHead + len(c.Octets)
		if a.cfg.IData {
			n += idataMore
		}
		n = (n + 3) &^ 3
		if len(picked) > 0 && (n > room || !a.cfg.Bundle) {
			return true
		}
		room -= n
		return false
	}
	again := false
	for i := range a.flight {
		if c := &a.flight[i]; c.resend {
			if full(c) {
				break
			}
			picked = append(picked, i)
			again = true
		}
	}
	for i := 0; !again; i++ {
		for i < len(a.flight) && a.flight[i].sent > 0 {
			i++
		}
		if i == len(a.flight) && !a.more() || full(&a.flight[i]) {
			break
		}
		picked = append(picked, i)
	}
	if len(picked) == 0 {
		return Packet{}, false
	}
	return a.packet(now, picked, ack && room >= 0), true
}

// more takes what waits to be sent into the flight, as far as the window lets it,
// and reports whether there was anything.
func (a *Association) more() bool {
	if a.octets >= a.window() {
		return false
	}
	n := len(a.flight)
	switch {
	case len(a.queue) > 0:
		a.assign()
	case len(a.later) > 0:
		rest := a.later
		a.later = nil
		for _, c := range rest {
			a.number(c)
		}
	}
	return len(a.flight) > n
}

// window is how many octets may be under way. One chunk always may (RFC 9260 section 6.1 rule A).
func (a *Association) window() int {
	n := min(a.cfg.Inflight, int(a.peerWindow))
	if a.congestion != nil {
		n = min(n, a.congestion.window)
	}
	return max(n, 1)
}

// packet makes a packet of chunks under way.
func (a *Association) packet(now int64, picked []int, ack bool) Packet {
	p := Packet{}
	b := sctp.Header{SrcPort: a.cfg.SrcPort, DstPort: a.cfg.DstPort, Tag: a.peerTag}.Append(make([]byte, 0, a.cfg.MaxPacket))
	if ack {
		b = a.sack().Append(b)
	}
	var crc []pdu.Fault
	for _, i := range picked {
		c := &a.flight[i]
		wire := c.Data.Chunk().Append(nil)
		b = append(b, pdu.EditChunk(wire, c.faults)...)
		if c.sent == 0 {
			a.octets += len(c.Octets)
			crc = append(crc, c.faults...)
		} else if c.resend {
			a.octets += len(c.Octets)
		}
		p.Again = max(p.Again, c.sent)
		c.sent++
		c.resend = false
		p.Places = places(p.Places, Place{c.SID, c.place})
	}
	a.seal(b)
	pdu.EditChecksum(b, crc)
	p.Octets, p.Path = b, a.takePath()
	if a.rtoAt == 0 {
		a.arm(now)
	}
	return p
}

// timeout sends again what was sent and is not acknowledged.
func (a *Association) timeout(now int64) {
	some := false
	for i := range a.flight {
		c := &a.flight[i]
		if c.sent > 0 && !c.sacked && !c.resend {
			c.resend, c.missed, some = true, 0, true
			a.octets -= len(c.Octets)
		}
	}
	if some {
		a.congestion.expired()
		a.arm(now)
	}
}

// missing is how many SACKs that tell of later chunks it takes for a chunk to
// be sent again (RFC 9260 section 7.2.4).
const missing = 3

// acknowledge processes a SACK.
func (a *Association) acknowledge(now int64, s *sctp.Sack) {
	if seq.Less(s.TSN, a.acked) || !seq.Less(s.TSN, a.next) {
		return
	}
	progress, before := false, a.octets
	n := 0
	for n < len(a.flight) && !seq.Less(s.TSN, a.flight[n].TSN) && a.flight[n].sent > 0 {
		c := &a.flight[n]
		if !c.sacked && !c.resend {
			a.octets -= len(c.Octets)
		}
		a.queuedOctets -= len(c.Octets)
		n++
	}
	if n > 0 {
		progress = true
		a.flight = a.flight[:copy(a.flight, a.flight[n:])]
	}
	a.acked = s.TSN
	highest := s.TSN
	for i := range a.flight {
		c := &a.flight[i]
		if c.sent == 0 || c.sacked || !inBlock(s, c.TSN) {
			continue
		}
		if !c.resend {
			a.octets -= len(c.Octets)
		}
		c.sacked, c.resend, highest = true, false, c.TSN
		progress = true
	}
	a.congestion.acknowledged(before-a.octets, before, s.TSN)
	if progress && highest != s.TSN {
		for i := range a.flight {
			c := &a.flight[i]
			if c.sent > 0 && !c.sacked && !c.resend && seq.Less(c.TSN, highest) {
				if c.missed++; c.missed == missing {
					c.resend = true
					a.octets -= len(c.Octets)
					a.congestion.lost(a.next - 1)
				}
			}
		}
	}
	if progress {
		a.retries, a.rtoAt = 0, 0
		for i := range a.flight {
			if a.flight[i].sent > 0 {
				a.arm(now)
				break
			}
		}
	}
}

func inBlock(s *sctp.Sack, tsn uint32) bool {
	off := tsn - s.TSN
	for _, b := range s.Blocks {
		if uint32(b.Start) <= off && off <= uint32(b.End) {
			return true
		}
	}
	return false
}
