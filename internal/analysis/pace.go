package analysis

import "github.com/iwdissect/iwdissect/internal/sctp"

// pace is how fast the sides of an association answer, seen from the place of
// capture, as the handshake shows. An acknowledgement that is missing from the
// capture cannot have come in less time.
type pace struct {
	awaited [2]struct {
		answer sctp.Type // 0: none
		since  int64
	}
	least [2]int64
	known [2]bool
}

// chunk processes a chunk of side.
func (p *pace) chunk(side int, t sctp.Type, now int64) {
	var next sctp.Type
	switch t {
	case sctp.TypeInit:
		next = sctp.TypeInitAck
	case sctp.TypeInitAck:
		next = sctp.TypeCookieEcho
	case sctp.TypeCookieEcho:
		next = sctp.TypeCookieAck
	case sctp.TypeCookieAck:
	default:
		return
	}
	if w := &p.awaited[1-side]; w.answer == t {
		if d := now - w.since; d >= 0 && (!p.known[side] || d < p.least[side]) {
			p.least[side], p.known[side] = d, true
		}
		w.answer = 0
	}
	if next != 0 {
		p.awaited[side].answer, p.awaited[side].since = next, now
	}
}

// trip is the least time from a message of from to one that side sends once it
// knows that the message has arrived.
func (p *pace) trip(side, from int) (d int64, ok bool) {
	if from != side {
		return p.least[side], p.known[side]
	}
	return p.least[0] + p.least[1], p.known[0] && p.known[1]
}
