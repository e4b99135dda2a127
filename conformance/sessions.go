package conformance

import (
	"fmt"
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
	// before the last chunks of the other side, place where a finding on it stands.
	heard  int64
	tsn    int64
	before recent
	place  Finding
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
	c.ask(c.lists().control, have, func(r *rule) { r.control(c, e) })
	if _, observed, _ := wrongControl(e); observed != "" {
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
	x.heard, x.tsn, x.before, x.place = e.k.Arrival.Heard, e.k.Arrival.TSN, e.peer.recent, e.at()
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

// at places a finding on a session control chunk.
func (e *control) at() Finding {
	return Finding{Dir: e.p.Dir, HasDir: true, Frame: e.p.Frame, PDU: e.p.Number, HasPDU: true}
}

// ctl fires on a session control chunk.
func (c *conn) ctl(e *control, message, observed, expected string) {
	f := e.at()
	f.Message, f.Observed, f.Expected = message, observed, expected
	c.fire(f)
}

// sessionChecks are about DDP over SCTP (RFC 5043, RFC 6581 section 7).
var sessionChecks = []check{
	{id: "SCTP-DDP-CTL-01", needs: Full | Sum, transport: onSCTP, control: func(c *conn, e *control) {
		if c.applies() && !e.ok {
			c.ctl(e, "a session control chunk without a whole function code", fmt.Sprintf("%d octets", e.k.Length), "at least 4")
		}
	}},
	{id: "SCTP-DDP-CTL-02", needs: Sum, transport: onSCTP, control: func(c *conn, e *control) {
		if !e.ok || !c.applies() {
			return
		}
		switch f := e.function; {
		case f == sctpddp.Experimental:
			c.fire(Finding{
				Severity: Note, Dir: e.p.Dir, HasDir: true, Frame: e.p.Frame, PDU: e.p.Number, HasPDU: true,
				Message: "a function code that is kept for experiments", Observed: "0xffff", Expected: "1 to 7",
			})
		case f == 0 || f > sctpddp.EnhancedReject:
			c.ctl(e, "the function code does not exist", fmt.Sprintf("%#04x", uint16(f)), "1 to 7")
		}
	}},
	{id: "SCTP-DDP-CTL-PD-01", needs: Sum, transport: onSCTP, control: func(c *conn, e *control) {
		if !e.ok || e.function == sctpddp.Terminate || e.function > sctpddp.EnhancedReject || e.function == 0 || !c.applies() {
			return
		}
		if n := e.k.Length - sctpddp.ControlLen; n > sctpddp.MaxPrivateData {
			c.ctl(e, "more private data than there may be", fmt.Sprintf("%d octets", n), "at most 512")
		}
	}},
	{id: "SCTP-DDP-CTL-PD-02", needs: Sum, transport: onSCTP, control: func(c *conn, e *control) {
		if e.ok && e.function == sctpddp.Terminate && c.applies() && e.k.Length != sctpddp.ControlLen {
			c.ctl(e, "a Terminate of a session with private data", fmt.Sprintf("%d octets", e.k.Length-sctpddp.ControlLen), "none")
		}
	}},
	{id: "SCTP-DDP-U-01", needs: Sum, transport: onSCTP, control: func(c *conn, e *control) {
		if c.applies() && !e.k.Unordered {
			c.ctl(e, "a chunk of DDP without the unordered flag", "U=0", "U=1")
		}
	}, chunk: func(c *conn, s *segment) {
		if c.applies() && !s.p.Chunk.Unordered {
			c.at(s, "a chunk of DDP without the unordered flag", "U=0", "U=1")
		}
	}},
	{id: "SCTP-DDP-SEG-01", needs: Full | Sum, transport: onSCTP, chunk: func(c *conn, s *segment) {
		if c.applies() && s.seg == nil {
			c.at(s, "a DDP segment chunk without a whole DDP header", fmt.Sprintf("%d octets", s.p.Chunk.Length), "2 + 14 or 2 + 18 at least")
		}
	}},
	{id: "SCTP-DDP-FRAG-01", needs: Full, transport: onSCTP, control: func(c *conn, e *control) {
		if c.applies() && len(e.k.TSNs) > 1 {
			c.ctl(e, "SCTP has fragmented the message", fmt.Sprintf("%d chunks", len(e.k.TSNs)), "one")
		}
	}, chunk: func(c *conn, s *segment) {
		if c.applies() && len(s.p.Chunk.TSNs) > 1 {
			c.at(s, "SCTP has fragmented the DDP segment", fmt.Sprintf("%d chunks of %d octets", len(s.p.Chunk.TSNs), s.p.Chunk.Length), "one")
		}
	}},
	{id: "SCTP-DDP-SSN-01", transport: onSCTP, control: func(c *conn, e *control) {
		if !e.ok || e.chunks > 0 || !e.k.HasSSN {
			return
		}
		initiates := e.function == sctpddp.Initiate || e.function == sctpddp.EnhancedInitiate
		answers := e.p.Dir == trace.R2I && c.t.SYN && !initiates
		if e.k.Order == trace.AfterMissing && !e.neverSent || c.waits(e.half) {
			c.lacks(Contig)
			return
		}
		if (initiates || answers) && c.applies() && e.k.SSN != 0 {
			c.ctl(e, "the numbers of the session do not begin with 0", fmt.Sprintf("DDP-SSN %d", e.k.SSN), "DDP-SSN 0")
		}
	}},
	{id: "SCTP-DDP-ENH-01", transport: onSCTP, control: func(c *conn, e *control) {
		if c.request == nil || c.reply == nil || e.p.Number != c.reply.pdu || !c.applies() {
			return
		}
		asked := c.request.function == sctpddp.EnhancedInitiate
		f := e.function
		switch {
		case asked && f == sctpddp.Accept, !asked && (f == sctpddp.EnhancedAccept || f == sctpddp.EnhancedReject):
			c.ctl(e, "the answer is not of the kind of the Initiate", f.String(), map[bool]string{true: "an enhanced one", false: "a plain one"}[asked])
		case asked && f == sctpddp.Reject:
			c.fire(Finding{
				Severity: Warning, Dir: e.p.Dir, HasDir: true, Frame: e.p.Frame, PDU: e.p.Number, HasPDU: true,
				Message: "a plain Reject answers an Enhanced Initiate", Observed: "Reject", Expected: "Enhanced Reject, if the plain session would have been accepted",
			})
		}
	}},
	{id: "SCTP-DDP-ENH-02", needs: Full | Sum, transport: onSCTP, control: func(c *conn, e *control) {
		if e.function != sctpddp.EnhancedInitiate && e.function != sctpddp.EnhancedAccept || !c.applies() {
			return
		}
		if _, _, ok := e.k.Control.Word(); !ok {
			c.ctl(e, "an enhanced session control without its word", fmt.Sprintf("%d octets of private data", len(e.k.Control.PrivateData)), "at least 4")
		}
	}},
	{id: "SCTP-DDP-ENH-05", needs: Full | Sum, transport: onSCTP, control: func(c *conn, e *control) {
		if e.function != sctpddp.EnhancedInitiate {
			return
		}
		if w, _, ok := e.k.Control.Word(); ok && c.applies() && !w.A && w.IRD == unknownDepth && w.ORD == unknownDepth {
			c.ctl(e, "an Enhanced Initiate that negotiates nothing", "A=0, IRD and ORD 0x3fff", "an Initiate")
		}
	}},
	{id: "SCTP-SID-01", transport: onSCTP, end: func(c *conn) {
		for d := range c.t.Side {
			s, peer := c.t.Side[d].SCTP, c.t.Side[1-d].SCTP
			if c.t.Flow[d].Chunks+c.t.Flow[d].Controls == 0 || s.Reconfigured || peer.Reconfigured {
				continue
			}
			c.known(s.HasInit && peer.HasInit)
			if limit := min(s.Out, peer.In); c.applies(Start) && c.t.SID >= limit {
				c.side(trace.Dir(d), "a stream beyond those that were agreed", fmt.Sprintf("stream %d", c.t.SID), fmt.Sprintf("below %d", limit))
			}
		}
	}},
	{id: "SCTP-DDP-SEQ-02", needs: Contig, transport: onSCTP, end: func(c *conn) {
		if a, b := c.t.Side[0].SCTP, c.t.Side[1].SCTP; a.GapTSNs+b.GapTSNs > 0 || c.t.Ending == trace.Shutdown && !a.ShutDown && !b.ShutDown {
			return // the Terminate may be what was not captured
		}
		if !c.accepted() || c.t.Ending != trace.Shutdown && c.t.Ending != trace.Superseded {
			if c.t.Ending == trace.Terminated && c.accepted() {
				c.applies()
			}
			return
		}
		if c.applies() {
			c.fire(Finding{Frame: c.t.EndFrame, Message: "an accepted session ends without a Terminate of either side", Observed: c.t.Ending.String(), Expected: "a Terminate"})
		}
	}},
	{id: "SCTP-DDP-SEQ-01", needs: Start | Contig, transport: onSCTP, anywhere: true, control: func(c *conn, e *control) {
		if !e.ok || e.k.Order == trace.Duplicate || !c.applies() {
			return
		}
		switch message, observed, expected := wrongControl(e); {
		case observed == "":
		case !e.k.Arrival.Complete:
			c.lacks(Contig) // an Initiate may be missing before it
		default:
			c.ctl(e, message, observed, expected)
		}
	}, chunk: func(c *conn, s *segment) {
		if s.p.Chunk.Order == trace.Duplicate || !c.applies() {
			return
		}
		switch message, observed, expected := wrongSegment(c, s); {
		case observed == "":
		case !s.p.Chunk.Arrival.Complete:
			c.lacks(Contig)
		default:
			c.at(s, message, observed, expected)
		}
	}},
	{id: "SCTP-DDP-SEQ-03", needs: Start, transport: onSCTP, anywhere: true, control: func(c *conn, e *control) {
		if e.p.Dir == trace.R2I && e.k.Order != trace.Duplicate && c.applies() && e.rejects() != nil && c.once(e.half) {
			c.ctl(e, "session control of the passive side behind its Reject", e.function.String(), "nothing")
		}
	}, chunk: func(c *conn, s *segment) {
		own, their := s.rejects(), s.peer.rejects()
		switch {
		case s.dir == trace.R2I:
			if c.applies() && own != nil && c.once(s.half) {
				c.at(s, "a segment of the passive side behind its Reject", "a DDP segment", "nothing")
			}
		case their == nil:
			c.applies()
		case heard(&s.p.Chunk.Arrival, their.tsn) == having:
			if c.applies() && c.once(s.half) {
				c.at(s, "a segment of the active side, which had the Reject", "a DDP segment", "nothing")
			}
		case c.applies() && c.once(s.half):
			c.as(Note, s, "a segment of the active side in a session that is rejected", "a DDP segment", "nothing, once the Reject has come")
		}
	}},
	{id: "SCTP-DDP-SSN-02", needs: Start, transport: onSCTP, anywhere: true, chunk: func(c *conn, s *segment) {
		k := s.p.Chunk
		switch {
		case k.Order == trace.Duplicate && (s.gap || c.t.Flow[s.dir].Waiting):
			// With numbers missing it may be one that wrapped.
		case k.Order == trace.Duplicate && c.applies():
			c.at(s, "two chunks have the same DDP-SSN", fmt.Sprintf("DDP-SSN %d again", k.SSN), "each number once")
		case k.Order == trace.AfterMissing && s.neverSent && c.applies():
			c.at(s, "DDP-SSNs are left out", fmt.Sprintf("DDP-SSN %d", k.SSN), "no gap")
		case k.Order == trace.AfterMissing:
			c.lacks(Contig)
		default:
			c.applies()
		}
	}},
}

// known says whether the start of the association that a rule is about was seen.
func (c *conn) known(start bool) {
	if c.have &^= Start; start {
		c.have |= Start
	}
}

func adaptation(s *trace.SCTPSide) string {
	if !s.HasAdaptation {
		return "none"
	}
	return fmt.Sprintf("%#08x", s.Adaptation)
}

// side fires on a side of an association.
func (c *conn) side(d trace.Dir, message, observed, expected string) {
	c.fire(Finding{Dir: d, HasDir: true, Frame: c.t.FirstFrame, Message: message, Observed: observed, Expected: expected})
}
