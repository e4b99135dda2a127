package assoc

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/seq"
)

// receiver is the half that receives.
type receiver struct {
	got        uint32 // cumulative TSN
	early      []uint32
	dups       []uint32
	parts      map[uint32]*part // fragments by TSN, with so many octets
	partOctets int
	ready      []Message
	// packets that are not acknowledged.
	unacked int
	ackNow  bool
	ackAt   int64
}

type part struct{ sctp.Data }

// Got is the cumulative TSN: all up to it have arrived.
func (a *Association) Got() uint32 { return a.got }

// Read returns the next message that arrived; they come in the order in which
// they became whole.
func (a *Association) Read() (Message, bool) {
	if len(a.ready) == 0 {
		return Message{}, false
	}
	m := a.ready[0]
	a.ready = a.ready[1:]
	return m, true
}

// Receive takes a packet of the peer that came on a path. One with a wrong
// checksum is dropped, as one with another tag is.
func (a *Association) Receive(now int64, b []byte, path int) {
	h, err := sctp.DecodeHeader(b)
	if err != nil || a.state == closed || a.state >= done && a.state != done {
		return
	}
	if v := sctp.Check(b, len(b)); v != sctp.Good && v != sctp.Zero {
		return
	}
	some := false
	for off := sctp.HeaderLen; off < len(b); {
		c, n, err := sctp.Next(b[off:], len(b)-off)
		if err != nil {
			break
		}
		if c.Type != sctp.TypeInit && h.Tag != a.cfg.Tag && !a.reflected(&c, h.Tag) {
			return
		}
		if c.Type == sctp.TypeInit {
			a.path = path // the answer goes back to where it came from
		}
		some = a.chunk(now, &c) || some
		off += n
	}
	if some {
		a.received(now)
	}
	a.shutdown(now)
}

// flagReflected: the packet has the tag of its receiver's peer, because its sender knows no
// other one (the T bit, RFC 9260 section 8.5.1).
const flagReflected = 1

// reflected reports whether a chunk is from a peer that knows the association no more.
func (a *Association) reflected(c *sctp.Chunk, tag uint32) bool {
	return (c.Type == sctp.TypeAbort || c.Type == sctp.TypeShutdownComplete) && c.Flags&flagReflected != 0 && tag == a.peerTag && a.state > cookieWait
}

// chunk takes a chunk, and reports whether it has user data.
func (a *Association) chunk(now int64, c *sctp.Chunk) bool {
	switch c.Type {
	case sctp.TypeInit, sctp.TypeInitAck, sctp.TypeCookieEcho, sctp.TypeCookieAck:
		a.handshake(now, c)
	case sctp.TypeData, sctp.TypeIData:
		if a.state < established {
			return false
		}
		return a.take(c)
	case sctp.TypeSack:
		if s, err := sctp.DecodeSack(*c); err == nil {
			if !seq.Less(s.TSN, a.acked) {
				a.peerWindow = s.Window
			}
			a.acknowledge(now, &s)
		}
	case sctp.TypeForwardTSN:
		if t, err := sctp.DecodeTSN(*c); err == nil && seq.Less(a.got, t) {
			a.got = t
			a.advance()
			a.ackNow = true
		}
	case sctp.TypeHeartbeat:
		a.control(a.peerTag, sctp.New(sctp.TypeHeartbeatAck, 0, c.Value))
	case sctp.TypeAbort:
		a.state, a.aborted, a.rtoAt, a.ackAt, a.ackNow = dead, true, 0, 0, false
	default:
		a.ending(now, c)
	}
	return false
}

// handshake takes the chunks of the beginning (RFC 9260 section 5.1).
func (a *Association) handshake(now int64, c *sctp.Chunk) {
	switch c.Type {
	case sctp.TypeInit:
		i, err := sctp.DecodeInit(*c)
		if err != nil || a.state != listening {
			return
		}
		// The state is in the cookie; this end knows the peer until it comes.
		a.peer(&i)
		ack := a.announce()
		ack.Params = sctp.Param{Type: sctp.ParamCookie, Value: []byte(modelCookie)}.Append(ack.Params)
		a.control(i.Tag, ack.Chunk(true))
	case sctp.TypeInitAck:
		i, err := sctp.DecodeInit(*c)
		if err != nil || a.state != cookieWait {
			return
		}
		cookie, ok := i.Cookie()
		if !ok || i.Tag == 0 {
			return
		}
		a.peer(&i)
		a.cookie = slices.Clone(cookie)
		a.state, a.retries = cookieEchoed, 0
		a.cookieEcho(now)
	case sctp.TypeCookieEcho:
		if a.state == listening || a.state == established {
			a.establish()
			a.control(a.peerTag, sctp.New(sctp.TypeCookieAck, 0, nil))
		}
	case sctp.TypeCookieAck:
		if a.state == cookieEchoed {
			a.establish()
			a.rtoAt = 0
		}
	default:
	}
}

func (a *Association) peer(i *sctp.Init) {
	a.peerTag, a.peerOut, a.got, a.peerWindow = i.Tag, i.Out, i.TSN-1, i.Window
}

// ending takes the chunks of the end (RFC 9260 section 9.2).
func (a *Association) ending(now int64, c *sctp.Chunk) {
	switch c.Type {
	case sctp.TypeShutdown:
		if t, err := sctp.DecodeTSN(*c); err == nil {
			a.acknowledge(now, &sctp.Sack{TSN: t})
		}
		a.peerClosing = true
		switch a.state {
		case shutdownSent: // both at once
			a.state = shutdownAckSent
			fallthrough
		case shutdownAckSent:
			a.control(a.peerTag, sctp.New(sctp.TypeShutdownAck, 0, nil))
			a.arm(now)
		default:
		}
	case sctp.TypeShutdownAck:
		if a.state == shutdownSent || a.state == shutdownAckSent || a.state == done {
			a.control(a.peerTag, sctp.New(sctp.TypeShutdownComplete, 0, nil))
			a.finish()
		}
	case sctp.TypeShutdownComplete:
		if a.state == shutdownAckSent {
			a.finish()
		}
	default:
	}
}

func (a *Association) finish() {
	a.state, a.rtoAt, a.ackAt, a.ackNow = done, 0, 0, false
}

// PeerClosing reports whether the peer wants to end the association.
func (a *Association) PeerClosing() bool { return a.peerClosing }

// mostEarly bounds the chunks that are kept before those in front of them have come, and how
// far they may be ahead.
const mostEarly = 1 << 12

// mostParts bounds the octets of messages that are not whole.
func (a *Association) mostParts() int { return max(int(a.cfg.Window), 256<<10) }

// take takes a chunk of user data.
func (a *Association) take(c *sctp.Chunk) bool {
	d, err := sctp.DecodeData(c)
	if err != nil {
		return false
	}
	if !seq.Less(a.got, d.TSN) || slices.Contains(a.early, d.TSN) {
		if len(a.dups) < 64 {
			a.dups = append(a.dups, d.TSN)
		}
		a.ackNow = true
		return true
	}
	whole := d.Begin() && d.End()
	if seq.Diff(d.TSN, a.got) > mostEarly || !whole && (len(a.parts) >= mostEarly || a.partOctets+len(d.Octets) > a.mostParts()) {
		a.ackNow = true
		return true // there is no room; it will come again
	}
	a.early = append(a.early, d.TSN)
	a.advance()
	if whole {
		a.ready = append(a.ready, Message{SID: d.SID, PPID: d.PPID, Data: d.Octets})
		return true
	}
	d.Octets = slices.Clone(d.Octets)
	a.parts[d.TSN] = &part{d}
	a.partOctets += len(d.Octets)
	a.assemble(d.TSN)
	return true
}

// advance moves the cumulative TSN over what has arrived.
func (a *Association) advance() {
	slices.SortFunc(a.early, func(x, y uint32) int { return cmp.Compare(seq.Diff(x, a.got), seq.Diff(y, a.got)) })
	n := 0
	for n < len(a.early) && !seq.Less(a.got+1, a.early[n]) {
		if a.early[n] == a.got+1 {
			a.got++
		}
		n++
	}
	a.early = a.early[:copy(a.early, a.early[n:])]
}

// assemble puts a message together around a fragment, if it is whole.
func (a *Association) assemble(tsn uint32) {
	d := a.parts[tsn]
	if d.I {
		a.assembleI(d)
		return
	}
	from := tsn
	for a.parts[from] != nil && !a.parts[from].Begin() {
		from--
	}
	if a.parts[from] == nil {
		return
	}
	m := Message{SID: a.parts[from].SID, PPID: a.parts[from].PPID}
	to := from
	for ; ; to++ {
		p := a.parts[to]
		if p == nil || p.SID != m.SID {
			return
		}
		m.Data = append(m.Data, p.Octets...)
		if p.End() {
			break
		}
	}
	a.partOctets -= len(m.Data)
	for ; from != to+1; from++ {
		delete(a.parts, from)
	}
	a.ready = append(a.ready, m)
}

// assembleI does the same for I-DATA, by message identifier.
func (a *Association) assembleI(d *part) {
	var all []*part
	for _, p := range a.parts {
		if p.I && p.SID == d.SID && p.MID == d.MID {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(x, y *part) int { return cmp.Compare(x.FSN, y.FSN) })
	if !all[0].Begin() || !all[len(all)-1].End() || int(all[len(all)-1].FSN) != len(all)-1 {
		return
	}
	m := Message{SID: d.SID, PPID: all[0].PPID}
	for _, p := range all {
		m.Data = append(m.Data, p.Octets...)
		a.partOctets -= len(p.Octets)
		delete(a.parts, p.TSN)
	}
	a.ready = append(a.ready, m)
}

// received says when to acknowledge a packet with user data.
func (a *Association) received(now int64) {
	a.unacked++
	switch {
	case len(a.early) > 0, a.unacked >= 2, a.cfg.DelayedAck == 0:
		a.ackNow = true
	case a.ackAt == 0:
		a.ackAt = now + a.cfg.DelayedAck
	}
}

// ackDue reports whether a packet with user data is to carry a SACK.
func (a *Association) ackDue() bool { return a.unacked > 0 || a.ackNow }

const sackHead = 16

func (a *Association) sackSize() int { return sackHead + 4*(len(a.blocks())+len(a.dups)) }

// blocks are the runs of TSNs beyond the cumulative one.
func (a *Association) blocks() (out []sctp.Block) {
	const most = 64
	for _, t := range a.early {
		off := uint16(t - a.got) //nolint:gosec // the window is smaller
		if n := len(out); n > 0 && out[n-1].End+1 == off {
			out[n-1].End = off
			continue
		}
		if len(out) == most {
			break
		}
		out = append(out, sctp.Block{Start: off, End: off})
	}
	return out
}

// sack makes the SACK that is due.
func (a *Association) sack() sctp.Chunk {
	s := sctp.Sack{TSN: a.got, Window: a.cfg.Window, Blocks: a.blocks(), Duplicates: a.dups}
	c := s.Chunk()
	a.dups, a.unacked, a.ackNow, a.ackAt = nil, 0, false, 0
	return c
}
