package trace

import "slices"

// copied returns a pointer to a copy of a value without pointers, or nil.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	own := *p
	return &own
}

// Clone returns a copy of the PDU that may be kept. Its connection is the same
// one, and not a copy.
func (p *PDU) Clone() *PDU {
	own := *p
	own.Frames, own.Bounds = slices.Clone(p.Frames), slices.Clone(p.Bounds)
	own.Retransmitted, own.OutOfOrder = slices.Clone(p.Retransmitted), slices.Clone(p.OutOfOrder)
	own.Octets, own.StartupRaw = slices.Clone(p.Octets), slices.Clone(p.StartupRaw)
	own.Startup, own.FPDU, own.Chunk = p.Startup.Clone(), p.FPDU.Clone(), p.Chunk.Clone()
	own.Segment, own.Message, own.Terminate = copied(p.Segment), copied(p.Message), copied(p.Terminate)
	if own.Message != nil {
		own.Message.Header = slices.Clone(p.Message.Header)
	}
	own.Upper = p.Upper.Clone()
	return &own
}

// Clone returns a copy of the chunk that may be kept.
func (c *Chunk) Clone() *Chunk {
	if c == nil {
		return nil
	}
	own := *c
	own.TSNs, own.Octets = slices.Clone(c.TSNs), slices.Clone(c.Octets)
	own.Control.PrivateData = slices.Clone(c.Control.PrivateData)
	return &own
}

// Clone returns a copy of the transaction that may be kept. Its connection is the
// same one, and not a copy.
func (t *Transaction) Clone() *Transaction {
	own := *t
	own.Responses = slices.Clone(t.Responses)
	return &own
}

// Clone returns a copy of the connection as it is now. It holds less memory than
// the connection of a capture, which takes with it what was needed to follow it.
func (c *Connection) Clone() *Connection {
	own := *c
	own.SinkData, own.UpperData = nil, nil
	own.Upper = c.Upper.clone()
	own.HalfOpen = copied(c.HalfOpen)
	for i := range own.Side {
		own.Side[i] = c.Side[i].clone()
		own.Flow[i] = c.Flow[i].clone()
		own.Terminates[i] = copied(c.Terminates[i])
	}
	own.ReadLatency, own.AtomicLatency = c.ReadLatency.clone(), c.AtomicLatency.clone()
	return &own
}

func (s Side) clone() Side {
	s.Startup = *s.Startup.Clone()
	s.ULPPrivate = slices.Clone(s.ULPPrivate)
	if s.SCTP != nil {
		s.SCTP = copied(s.SCTP)
		s.SCTP.Addresses = slices.Clone(s.SCTP.Addresses)
		s.SCTP.Causes = slices.Clone(s.SCTP.Causes)
		s.SCTP.Reported = slices.Clone(s.SCTP.Reported)
	}
	return s
}

func (f Flow) clone() Flow {
	f.Ops = slices.Clone(f.Ops)
	f.FIN, f.RST = f.FIN.clone(), f.RST.clone()
	f.Waits, f.Seldom = copied(f.Waits), f.Seldom.clone()
	return f
}

func (k *Closing) clone() *Closing {
	own := copied(k)
	if own != nil {
		own.Behind = copied(k.Behind)
	}
	return own
}

func (l *Latency) clone() *Latency {
	if l == nil {
		return nil
	}
	own := *l
	for i := range own.Bins {
		own.Bins[i] = copied(l.Bins[i])
	}
	return &own
}
