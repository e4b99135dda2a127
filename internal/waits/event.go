package waits

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Event is a PDU or a transaction, with what was known of the connection when it was handed out.
type Event struct {
	// Time is that of the PDU, Frame the one that completed it, Number its own.
	Time          int64
	Frame, Number uint64
	// Acked is what the PDU acknowledges of the other direction, End where it ends in its own; for TCP.
	Acked, End int64
	// Asked is the PDU of the request that a transaction answers, Took how long that took.
	Transaction bool
	Asked       uint64
	Took        int64

	// asks says that the PDU is a Read or Atomic Request.
	asks bool
	// The counts of each direction: requests, those that were answered, those that get no answer, and what
	// is missing of what the direction sent.
	requests, answered, unanswered, lacks [2]uint64
	// Waiting says that octets or chunks are missing at present.
	Waiting bool
}

// PDU makes e the event of a PDU.
func (e *Event) PDU(p *trace.PDU) {
	*e = Event{Time: p.Time, Frame: p.Frame, Number: p.Number, Acked: -1}
	if p.Conn.Transport == trace.TCP {
		e.Acked, e.End = p.LastAcked, p.From+p.Length
	} else if p.Chunk != nil && p.Chunk.Arrival.Frame != 0 {
		e.Time, e.Frame = p.Chunk.Arrival.Time, p.Chunk.Arrival.Frame
	}
	e.asks = p.Segment != nil && (p.Control.Opcode == rdmap.OpReadRequest || p.Control.Opcode == rdmap.OpAtomicRequest)
	e.counts(p.Conn)
}

// Any reports whether there was a request yet.
func (e *Event) Any() bool { return e.requests[0]+e.requests[1] > 0 }

// Lacks is how much is missing by now of what a direction sent: a number that grows.
func (e *Event) Lacks(d trace.Dir) uint64 { return e.lacks[d] }

// Answers makes e, the event of the PDU before it, that of a transaction.
func (e *Event) Answers(t *trace.Transaction) {
	e.Transaction, e.Asked, e.Took = true, t.Request, t.Last
	e.counts(t.Conn)
}

func (e *Event) counts(c *trace.Connection) {
	for d := range c.Flow {
		f := &c.Flow[d]
		r := f.Rare()
		e.requests[d], e.answered[d], e.unanswered[d], e.lacks[d] = f.Requests, f.Answered, r.Unanswered, r.Gaps+r.Unframed
	}
	e.Waiting = c.Flow[0].Waiting || c.Flow[1].Waiting
}
