package assoc

import (
	"github.com/iwdissect/iwdissect/internal/sctp"
)

// modelCookie is what an INIT ACK hands out if one end has a whole conversation to itself:
// it keeps the state that a signed cookie would bring back.
const modelCookie = "iwdissect cookie"

// Answer is the INIT ACK of a passive end to an INIT of the peer, with a cookie that brings
// back all that is needed: nothing is kept meanwhile (RFC 9260 section 5.1).
func Answer(c Config, peer *sctp.Init, cookie []byte) []byte {
	a := New(c)
	ack := a.announce()
	ack.Params = sctp.Param{Type: sctp.ParamCookie, Value: cookie}.Append(ack.Params)
	a.control(peer.Tag, ack.Chunk(true))
	return a.push[0].Octets
}

// Accept is a passive end whose cookie came back: it waits for the COOKIE ECHO, which has been
// verified, as an established one.
func Accept(c Config, peer *sctp.Init) *Association {
	a := New(c)
	a.peer(peer)
	a.establish()
	return a
}

// padInit fills the INIT packet up.
func (a *Association) padInit(i *sctp.Init) {
	const chunk, param = 20, 4
	if n := a.cfg.PadInit - sctp.HeaderLen - chunk - len(i.Params); n > 0 {
		i.Params = sctp.Param{Type: sctp.ParamPadding, Value: make([]byte, max(n-param, 0)&^3)}.Append(i.Params)
	}
}
