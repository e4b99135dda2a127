package model

import "github.com/iwdissect/iwdissect/internal/spare"

// MaxSpares bounds the parts of a kind that are kept of connections that are over.
const MaxSpares = 256

// pool are the spare parts of a capture.
type pool struct {
	sending  spare.List[sending]
	messages spare.List[Message]
	later    spare.List[later]
	bursts   spare.List[packedBursts]
}

// Release gives back what the connection has of its own. Nothing is asked of it any more.
func (c *Conn) Release() {
	for i := range c.Directions {
		if h := &c.Directions[i]; h.own&ownSending != 0 {
			c.Capture.pool.giveSending(h.sending)
		}
	}
	*c = Conn{}
}

func (k *pool) giveSending(s *sending) {
	for i := range s.Queues {
		k.giveMessage(s.Queues[i].Msg)
	}
	for i := range s.Tagged {
		k.giveMessage(s.Tagged[i].Msg)
	}
	if l := s.Opening.later; l != nil {
		*l = later{}
		k.later.Give(l, MaxSpares)
	}
	if b := s.Sent.bursts.packedBursts; b != nil {
		*b = packedBursts{}
		k.bursts.Give(b, MaxSpares)
	}
	pdus := s.Sent.pdus.emptied()
	*s = sending{}
	s.Sent.pdus = pdus
	k.sending.Give(s, MaxSpares)
}

func (k *pool) giveMessage(m *Message) {
	if m != nil && cap(m.hashes) <= someHashes {
		m.clear()
		m.bit = 0
		k.messages.Give(m, MaxSpares)
	}
}
