package analysis

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/fifo"
	"github.com/iwdissect/iwdissect/trace"
)

// upper is the state of DDP and RDMAP on a connection, for both transports.
type upper struct {
	env *Env
	ini int // the side that is the initiator
	// weight is the memory that was taken for it, in octets.
	weight int
	// The fields that change with each packet lie together.
	queues [2]queues
	// Trace is what is known of the connection. It lies apart: it is what remains of the
	// connection, and sinks may keep it.
	Trace *trace.Connection
	// arrived is the frame that brought the current PDU, and its time, if that is
	// known apart from the frame that made it deliverable; else 0.
	arrived   uint64
	arrivedAt int64
	// reqNum is the PDU that asked for the connection, reqAt its time.
	reqNum uint64
	reqAt  int64
}

// queues are the messages and requests of a side that are under way. Many sides send no
// segments, and most no requests.
type queues struct {
	out  *outgoing // nil: it sent nothing, and nothing of it is missing
	asks *asking   // nil: it asked for nothing
	// early are responses whose request may come later: it waits behind chunks
	// that are missing. nil: there was none.
	early *[]early
}

// outgoing is what each segment of a side touches.
type outgoing struct {
	messages
	// sent are the headers of what it sent last. quoted is the message that a Terminate
	// quotes a segment of, while it goes on; nil if there is none.
	quoted *quoted
	sent   sent
	few    [fewSent]byte // room for the first of them
}

// asking are the requests of a side that await their answers.
type asking struct {
	requests []request
	room     fifo.Room[request] // for them
	answers  []answer           // what came of the answers to them
	changed  int64              // when the number of them changed
	done     done               // the one that was answered last
	// lost is how many octets are missing of what the other side sent, without the answers that are known to be among them, and
	// lostTo where they end. For TCP only.
	lost, lostTo int64
	forgot       bool // requests, as too many waited
}

// outgoing is what a side sends.
func (c *upper) outgoing(side int) *outgoing {
	q := &c.queues[side]
	if q.out == nil {
		q.out = c.env.outgoing()
	}
	return q.out
}

// asking is what a side asks for.
func (q *queues) asking() *asking {
	if q.asks == nil {
		q.asks = new(asking)
	}
	return q.asks
}

// history is what was kept of what it sent.
func (q *queues) history() *sent {
	if q.out == nil {
		return new(sent)
	}
	return &q.out.sent
}

// requests are those that await their answers.
func (q *queues) requests() []request {
	if q.asks == nil {
		return nil
	}
	return q.asks.requests
}

// clear gives back what both sides have.
func (c *upper) clear() {
	for side := range c.queues {
		if o := c.queues[side].out; o != nil {
			o.sent.release(&c.env.shared)
			c.env.sendNoMore(o)
		}
	}
	c.queues = [2]queues{}
}

// Dir is the direction in which a side sends, as far as the roles are known.
func (c *upper) Dir(side int) trace.Dir {
	return trace.Dir(side ^ c.ini) //nolint:gosec // 0 or 1
}

// setInitiator sets the side that is the initiator.
func (c *upper) setInitiator(side int) {
	if side == c.ini {
		return
	}
	c.ini = side
	t := c.Trace
	t.Side[0], t.Side[1] = t.Side[1], t.Side[0]
	t.Flow[0], t.Flow[1] = t.Flow[1], t.Flow[0]
	t.Terminates[0], t.Terminates[1] = t.Terminates[1], t.Terminates[0]
	t.Markers[0], t.Markers[1] = t.Markers[1], t.Markers[0]
}

// payload returns the number of octets after the DDP header of a segment, and the first
// of them.
func payload(p *trace.PDU) (octets int64, body []byte) {
	head, length, _ := p.ULPDU()
	n := p.Segment.HeaderLen
	return max(int64(length-n), 0), head[min(n, len(head)):]
}

// segment processes a DDP segment.
func (c *upper) segment(side int, p *trace.PDU) {
	seg, op := p.Segment, p.Control.Opcode
	octets, body := payload(p)
	fl := &c.Trace.Flow[p.Dir]
	if int(op) >= len(fl.Ops) {
		fl.Ops = moreOps(fl.Ops, op)
	}
	if !fl.HasVersions && (p.FPDU == nil || p.FPDU.CRCStatus != mpa.CRCBad) {
		fl.DV, fl.RV, fl.HasVersions = seg.DV, p.Control.RV, true
	}
	ops := &fl.Ops[op]
	ops.Segments++
	open := c.outgoing(side)
	if p.FPDU != nil && p.FPDU.Sync != mpa.InSync {
		open.gap() // its FPDU was searched for: what came before it is not known
	}
	p.Message = open.add(seg, op, octets, &c.env.message)
	if p.Message.Header = open.header(seg, op, body, octets); p.Message.Header != nil {
		body = p.Message.Header
	}
	ops.Octets += uint64(octets) //nolint:gosec // not negative
	if p.Message.Done && p.Message.StartKnown {
		n := uint64(p.Message.Length) //nolint:gosec // not negative
		if ops.Messages == 0 || n < ops.Least {
			ops.Least = n
		}
		ops.Most = max(ops.Most, n)
		ops.Whole += n
		ops.Messages++
	}
	if c.env.Alone && op != rdmap.OpTerminate {
		return
	}
	switch op {
	case rdmap.OpReadRequest:
		c.readRequest(side, p, body)
	case rdmap.OpReadResponse:
		c.readResponse(side, p, octets)
	case rdmap.OpAtomicRequest:
		c.atomicRequest(side, p, body)
	case rdmap.OpAtomicResponse:
		if !inParts(p, len(body)) { // the segment that completes it is the answer
			c.atomicResponse(side, p, body)
		}
	case rdmap.OpTerminate:
		if !seg.Tagged { // what a tagged segment carries was placed as data, whatever its opcode says
			c.terminate(side, p, body)
		}
	default:
	}
	open.remember(&c.env.shared, seg, p)
}

// moreOps makes room for the counts of an opcode: for Writes, which may be all that a side sends,
// or for the next four opcodes.
func moreOps(all []trace.Ops, op rdmap.Opcode) []trace.Ops {
	n := 1
	if op != rdmap.OpWrite {
		n = int(op)&^3 + 4
	}
	return append(make([]trace.Ops, 0, n), all...)[:n]
}

// inParts reports whether a segment is a part of a message that another one completes;
// have is how many octets of its header are there.
func inParts(p *trace.PDU, have int) bool {
	m := p.Message
	if m.Header != nil {
		return false
	}
	return p.Segment.MO > 0 && m.Segments > 1 || p.Segment.MO == 0 && !p.Segment.Last && have < p.Control.Opcode.HeaderLen()
}
