package conformance

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// control is a session control chunk.
type control struct {
	*half
	p *trace.PDU
	k *trace.Chunk
	// was is how the session stood before it: nothing, an Initiate, an answer.
	function sctpddp.Function
	ok       bool
	// heard is how far its sender had acknowledged the other side, tsn its own,
	// before the last chunks of the other side, place where it stands.
	heard  int64
	tsn    int64
	before recent
	place  Place
}

func (c *conn) control(p *trace.PDU) {
	c.turn()
	h := &c.half[p.Dir]
	h.joins()
	k := p.Chunk
	e := &control{half: h, p: p, k: k, function: k.Control.Function, ok: k.HasControl}
	// A Terminate, or what nobody knows, may come at any time.
	opens := e.ok && e.function >= sctpddp.Initiate && e.function <= sctpddp.EnhancedReject && e.function != sctpddp.Terminate
	if !h.began && (c.t.SYN || p.Dir == trace.R2I && (opens || e.ok && k.HasSSN && k.SSN == 0)) {
		h.began = true
	}
	if e.ok && k.Order != trace.Duplicate {
		c.sessionFrame(e)
	}
	c.mayBeNext(h)
	have := c.gates(h)
	if k.Whole {
		have |= Full
	}
	c.tell.Control(e, have)
	if e.misplaced() != inPlace {
		h.offends(p, have)
	}
	h.chunks++
	h.recent.add(p)
	if e.ok && len(h.controls) < maxControls {
		h.controls = append(h.controls, e.keep())
	}
}

// maxControls bounds those that are kept of a direction: a session has two at most.
const maxControls = 64

// rejects returns the Reject that a side has sent, or nil.
func (h *half) rejects() *control {
	for _, e := range h.controls {
		if e.function == sctpddp.Reject || e.function == sctpddp.EnhancedReject {
			return e
		}
	}
	return nil
}

// waits reports whether chunks of a half that were sent are missing at present.
func (c *conn) waits(h *half) bool { return c.t.Flow[h.dir].Waiting && !h.neverSent }

// mayBeNext loses hold of a session when something comes behind the Terminate of
// a side while chunks are missing: the Initiate of the next one may be among them.
func (c *conn) mayBeNext(h *half) {
	if !c.waits(h) && !c.waits(h.peer) {
		return
	}
	over := func(e *control) bool { return e.function == sctpddp.Terminate }
	if !slices.ContainsFunc(h.controls, over) && !slices.ContainsFunc(h.peer.controls, over) {
		return
	}
	for i := range c.half {
		c.half[i].lost()
		c.half[i].began = false
	}
}

// turn forgets what was learned of the sides if the first session control shows
// that they are the other way round.
func (c *conn) turn() {
	if ini := c.t.Side[trace.I2R].Addr; ini != c.active {
		c.active, c.half = ini, [2]half{}
		c.sides()
		for i := range c.half {
			c.half[i].lost()
		}
	}
}

// keep makes a copy that outlives the PDU.
func (e *control) keep() *control {
	x := *e
	x.heard, x.tsn, x.before, x.place = e.k.Arrival.Heard, e.k.Arrival.TSN, e.peer.recent, e.where()
	x.p, x.k = nil, nil
	return &x
}

// sessionFrame takes an Initiate or its answer for a startup frame.
func (c *conn) sessionFrame(e *control) {
	f := &frame{pdu: e.p.Number, number: e.p.Frame, dir: e.p.Dir, kind: e.p.Kind, function: e.function}
	if w, _, ok := e.k.Control.Word(); ok {
		f.word, f.hasWord = w, true
	}
	switch e.function {
	case sctpddp.Initiate, sctpddp.EnhancedInitiate:
		if c.request == nil && e.p.Dir == trace.I2R {
			c.request = f
		}
	case sctpddp.Accept, sctpddp.EnhancedAccept, sctpddp.Reject, sctpddp.EnhancedReject:
		if c.reply == nil && e.p.Dir == trace.R2I {
			c.reply, f.asked = f, c.request
		}
	default:
	}
}

// where is the place of a session control chunk.
func (e *control) where() Place {
	return Place{Dir: e.p.Dir, HasDir: true, Frame: e.p.Frame, PDU: e.p.Number, HasPDU: true}
}
