package model

// Spares are parts of connections that are over, for those that begin. Where thousands of
// connections come and go, what each needs is then allocated for the first few only. Nothing may
// point to a part that is given.
type Spares[T any] struct{ list []*T }

// maxSpares bounds the parts of a kind, so that a capture whose connections are over keeps
// little.
const maxSpares = 256

// Take returns a part, as it was given or new.
func (s *Spares[T]) Take() *T {
	n := len(s.list)
	if n == 0 {
		return new(T)
	}
	x := s.list[n-1]
	s.list[n-1], s.list = nil, s.list[:n-1]
	return x
}

// Give gives a part that is ready to be taken again.
func (s *Spares[T]) Give(x *T) {
	if len(s.list) < maxSpares {
		s.list = append(s.list, x)
	}
}

// pool are the spare parts of a capture.
type pool struct {
	sending  Spares[sending]
	messages Spares[Message]
	later    Spares[later]
	bursts   Spares[packedBursts]
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
		k.later.Give(l)
	}
	if b := s.Sent.bursts.packedBursts; b != nil {
		*b = packedBursts{}
		k.bursts.Give(b)
	}
	trains := s.Sent.pdus.emptied()
	*s = sending{}
	s.Sent.pdus.kept = trains
	k.sending.Give(s)
}

func (k *pool) giveMessage(m *Message) {
	if m != nil && cap(m.hashes) <= someHashes {
		*m = Message{pieces: m.reset()}
		k.messages.Give(m)
	}
}
