package model

import "github.com/iwdissect/iwdissect/conformance/catalogue"

// maxUnknown bounds the messages of a direction that may be requests; where more wait, its requests count as not read.
const maxUnknown = 4

// unknownRequests are messages of a direction without a known opcode that may be requests. Each of them explains
// one answer, and answers come in order: in front of those to the requests that were sent later. So each hypothesis is that
// some number of the answers in turn were to them, and those that they seem to be to were answered as much later.
type unknownRequests struct {
	n int
	// from is the first request that was sent behind all of them.
	from uint64
	// turns counts the answers in turn to requests behind them; latest are the requests that these fit.
	turns  int
	latest [maxUnknown]sink
	// refuted has a bit for each number of answers that cannot have been to them.
	refuted uint8
	// explains: an answer that has begun may be to one of them.
	explains bool
}

// sink is what tells the answer to a request from others.
type sink struct {
	to     uint64
	id     uint32 // STag or identifier
	atomic bool
}

func (r *Request) sink() sink {
	if r.Atomic {
		return sink{id: r.ID, atomic: true}
	}
	return sink{id: r.STag, to: r.TO}
}

// RequestsUnsure reports whether an answer may be to a request of a direction that is not known.
func (h *Direction) RequestsUnsure() bool { return h.Unread || h.unknown != nil && h.unknown.n > 0 }

// RequestGate is ReadSync for what concerns the requests of a direction, see [Conn.Gates].
func (c *Conn) RequestGate(asks *Direction) catalogue.Gate {
	if c.synced(asks) {
		return catalogue.ReadSync
	}
	return 0
}

// ofAnswers is the evidence for a segment, of which ReadSync is about the requests of its sender: for an answer it is
// about those of the other side.
func (c *Conn) ofAnswers(s *Segment, have catalogue.Gate) catalogue.Gate {
	if s.Op != OpReadResponse && s.Op != OpAtomicResponse {
		return have
	}
	return have&^catalogue.ReadSync | c.RequestGate(s.Peer)
}

// mayAsk notes that the current message may be a request.
func (s *Segment) mayAsk() {
	s.asks()
	h := s.Direction
	n := 1
	if u := h.unknown; u != nil {
		n += u.n
	}
	if n > maxUnknown {
		h.Unread = true
		return
	}
	h.unknown = &unknownRequests{n: n, from: h.Flight.count}
}

// mayServe notes what the current segment of an answer says of requests of the peer that are not known.
func (s *Segment) mayServe() {
	u, a := s.Peer.unknown, &s.Answer
	if u == nil || u.n == 0 {
		return // nearly always
	}
	switch {
	case a.Begins && !a.Fits:
		u.explains = true
	case a.Begins && !a.Later && !a.Joins && a.Request.nth >= u.from:
		u.turn(a.Request.sink())
	}
	if u.explains && s.DDP.Last {
		u.n--
		u.explains = false
	}
}

// turn notes an answer in turn to a request behind all of them.
func (u *unknownRequests) turn(to sink) {
	for j := 1; j <= min(u.n, u.turns); j++ {
		if u.latest[(u.turns-j)%maxUnknown] != to {
			u.refuted |= 1 << j
		}
	}
	u.latest[u.turns%maxUnknown] = to
	u.turns++
	for j := 1; j <= u.n; j++ {
		if u.refuted&(1<<j) == 0 {
			return
		}
	}
	u.n = 0 // their place has passed
}
