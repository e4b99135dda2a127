package model

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// Control is a session control chunk.
type Control struct {
	*Direction
	PDU   *trace.PDU
	Chunk *trace.Chunk
	// was is the state of the session before it: nothing, an Initiate, an answer.
	Function sctpddp.Function
	Ok       bool
	// First is true if it is known to be the first chunk of its side in the session.
	First bool
	// Heard is how far its sender had acknowledged the other side, and TSN its own,
	// before the last chunks of the other side; Place is where it is.
	Heard  int64
	TSN    int64
	Time   int64 // when it arrived
	Before recent
	Place  Place
}

func (c *Conn) control(p *trace.PDU) {
	c.turn()
	h := &c.Directions[p.Dir]
	h.joins()
	k := p.Chunk
	e := &Control{Direction: h, PDU: p, Chunk: k, Function: k.Control.Function, Ok: k.HasControl}
	e.First = h.Chunks == 0 && k.HasSSN && k.SSN == 0 && k.Order == trace.InOrder && Ordered(p)
	// A Terminate, or an unknown function, may come at any time.
	opens := e.Ok && e.Function >= sctpddp.Initiate && e.Function <= sctpddp.EnhancedReject && e.Function != sctpddp.Terminate
	if !h.Began && (c.Trace.SYN || p.Dir == trace.R2I && (opens || e.Ok && k.HasSSN && k.SSN == 0)) {
		h.Began = true
	}
	// A Terminate may be the answer to an Initiate, unless the other side sent nothing.
	if peer := &c.Trace.Flow[h.Peer.Dir]; e.Ok && e.Function != sctpddp.Terminate || c.Trace.Side[h.Peer.Dir].SCTP.HasInit && !peer.Waiting && peer.Frames == 0 {
		c.fromStart(h, k)
	}
	if e.Ok && k.Order != trace.Duplicate {
		c.sessionFrame(e)
	}
	c.mayBeNext(h)
	h.lacksFirst(k)
	have := c.Gates(h)
	if k.Whole {
		have |= catalogue.Full
	}
	c.Tell.Control(e, have)
	if e.Misplaced() != InPlace {
		h.offends(p, have)
	}
	h.Chunks++
	h.recent.add(p)
	if e.Ok && len(h.Controls) < maxControls {
		h.Controls = append(h.Controls, e.keep())
	}
}

// fromStart notes that a direction was seen from its beginning, if its first chunk comes
// first of all: the INIT or INIT ACK tells with which TSN its side begins.
func (c *Conn) fromStart(h *Direction, k *trace.Chunk) {
	if s := c.Trace.Side[h.Dir].SCTP; h.Chunks == 0 && !c.Trace.SYN && s.HasInit && k.Arrival.Complete && k.Order == trace.InOrder {
		h.Began = true
	}
}

// lacksFirst notes that what a direction sent first in the session was missing when a chunk was captured that is not the first.
func (h *Direction) lacksFirst(k *trace.Chunk) {
	if h.Chunks == 0 && k.HasSSN && k.SSN != 0 && !k.Arrival.Complete {
		h.lost()
	}
}

// maxControls bounds those that are kept of a direction: a session has two at most.
const maxControls = 64

// Rejects returns the Reject with which a side has answered, or nil: one behind an Accept answers nothing.
func (h *Direction) Rejects() *Control {
	i := slices.IndexFunc(h.Controls, (*Control).Answers)
	if i < 0 {
		return nil
	}
	if e := h.Controls[i]; e.Function == sctpddp.Reject || e.Function == sctpddp.EnhancedReject {
		return e
	}
	return nil
}

// Refusal returns what the passive side has sent to refuse the session, or nil: a Reject, or a Terminate in the
// place of its answer (RFC 5043 section 6.4).
func (c *Conn) Refusal() *Control {
	h := &c.Directions[trace.R2I]
	if e := h.Rejects(); e != nil {
		return e
	}
	if len(h.Controls) > 0 && h.Controls[0].First && h.Controls[0].Function == sctpddp.Terminate {
		return h.Controls[0]
	}
	return nil
}

// Waits reports whether chunks of a direction that were sent are missing at present.
func (c *Conn) Waits(h *Direction) bool { return c.Trace.Flow[h.Dir].Waiting && !h.NeverSent }

// mayBeNext gives up tracking a session when something follows the Terminate of a side
// while chunks are missing: the Initiate of the next session may be among them.
func (c *Conn) mayBeNext(h *Direction) {
	if !c.Waits(h) && !c.Waits(h.Peer) {
		return
	}
	over := func(e *Control) bool { return e.Function == sctpddp.Terminate }
	if !slices.ContainsFunc(h.Controls, over) && !slices.ContainsFunc(h.Peer.Controls, over) {
		return
	}
	for i := range c.Directions {
		c.Directions[i].lost()
		c.Directions[i].Began = false
	}
}

// Named reports whether a startup frame shows by now which side is the initiator of a TCP connection, of which
// something else was seen first.
func (c *Conn) Named() bool {
	return c.active != nil && c.Trace.RolesKnown && c.Trace.Transport == trace.TCP
}

// Name takes in what that frame shows.
func (c *Conn) Name() {
	c.turn()
	c.active = nil
}

// turn forgets what was learned of the sides if the first startup frame or session control shows
// that they are the other way round.
func (c *Conn) turn() {
	if ini := c.Trace.Side[trace.I2R].Addr; ini != *c.active {
		before := c.Directions
		*c.active, c.Directions = ini, [2]Direction{}
		c.sides()
		for i := range c.Directions {
			h, was := &c.Directions[i], &before[1-i]
			h.Hole = was.Hole || was.Count > 0 // what is forgotten is as good as not captured
			h.lost()
		}
	}
}

// keep makes a copy that outlives the PDU.
func (e *Control) keep() *Control {
	x := *e
	x.Heard, x.TSN, x.Before, x.Place = e.Chunk.Arrival.Heard, e.Chunk.Arrival.TSN, e.Peer.recent, e.Where()
	x.Time = timeOf(e.PDU)
	x.PDU, x.Chunk = nil, nil
	return &x
}

// sessionFrame takes an Initiate or its answer for a startup frame.
func (c *Conn) sessionFrame(e *Control) {
	f := &Frame{PDUNumber: e.PDU.Number, FrameNumber: frameOf(e.PDU), Dir: e.PDU.Dir, Kind: e.PDU.Kind, Function: e.Function, wire: &wire{}}
	if w, _, ok := e.Chunk.Control.Word(); ok {
		f.EnhancedWord, f.HasWord = w, true
	}
	switch e.Function {
	case sctpddp.Initiate, sctpddp.EnhancedInitiate:
		if c.Request == nil && e.PDU.Dir == trace.I2R {
			c.requested(f)
		}
	case sctpddp.Accept, sctpddp.EnhancedAccept, sctpddp.Reject, sctpddp.EnhancedReject:
		if c.Reply == nil && e.PDU.Dir == trace.R2I {
			c.replied(f)
		}
	default:
	}
}

// Where is the place of a session control chunk.
func (e *Control) Where() Place {
	return Place{Dir: e.PDU.Dir, HasDir: true, Frame: frameOf(e.PDU), PDU: e.PDU.Number, HasPDU: true, Time: timeOf(e.PDU)}
}
