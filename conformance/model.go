package conformance

import (
	"bytes"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// conn is the model of a connection: what the rules need to know of it.
type conn struct {
	engine *Engine
	t      *trace.Connection
	half   [2]half
	// request, reply and rtr are the startup frames, or the session control that
	// stands for them; nil if they were not seen.
	request, reply, rtr *frame

	running  *rule
	have     Gate
	judged   []bool
	missing  []Gate
	fired    []int
	findings []Finding
}

// half is one direction.
type half struct {
	dir  trace.Dir
	peer *half
	// began: the start of the stream of FPDUs or chunks is known; gap: something
	// before is missing.
	began, gap bool
	// neverSent: no TSN is missing that could have had the numbers of the last gap.
	neverSent bool
	// contig: nothing is missing since the beginning; unsure: the place of FPDUs
	// was found by plausible headers alone.
	contig, unsure bool
	count          uint64 // FPDUs or segments
	first          firstSegment
	hasVersions    bool
	dv, rv         uint8
	queues         [4]queue
	tagged         [2]flow
	requests       []request // sent by this half, not answered
	atomics        uint64    // Atomic Requests sent
	responses      uint64    // Atomic Responses sent
	unread         bool      // a request could not be read
	largest        int       // ULPDU
	terminates     int
	after          int // segments behind its Terminate
	sent           history
	controls       []*control
	chunks         int // of SCTP, of either kind
	recent         recent
	// offended: a chunk fits no pattern of a session; offence is the TSN of the
	// first one.
	offended bool
	offence  int64
	// looses are octets outside startup frames and FPDUs, the first few of them.
	looses []loose
	crc    crcRun
	// cutShort is a message that had no end when the connection had one.
	cutShort message
}

// firstSegment is what the first FPDU of a half was.
type firstSegment struct {
	seen, segment bool
	op            rdmap.Opcode
	octets        int64
	size          uint32 // of a Read Request
	code          rdmap.TermCode
	frame, pdu    uint64
	last          bool
	span
	// good: its CRC was verified and right; off: none was to be verified.
	good, off bool
}

// frame is a startup frame, or the session control that takes its place.
type frame struct {
	pdu, number uint64
	dir         trace.Dir
	span
	kind trace.Kind
	mpa.Startup
	raw     []byte
	partial bool
	// word is the enhanced data, if there is any.
	word    mpa.Enhanced
	hasWord bool
	// function of a session control.
	function sctpddp.Function
}

// at places a finding on a startup frame.
func (f *frame) at() Finding {
	return Finding{Dir: f.dir, HasDir: true, Frame: f.number, PDU: f.pdu, HasPDU: true}
}

// segment is a DDP segment at hand.
type segment struct {
	*half
	p       *trace.PDU
	seg     *ddp.Segment
	op      rdmap.Opcode
	head    []byte // the ULPDU, as far as it is at hand
	body    []byte // behind the DDP header
	octets  int64  // of payload
	isFirst bool
	ans     answer // of a response
	// noise: nothing in its headers makes sense.
	noise bool
}

// at places a finding on a segment.
func (s *segment) at() Finding {
	f := Finding{Dir: s.p.Dir, HasDir: true, Frame: s.p.Frame, PDU: s.p.Number, HasPDU: true, Offset: s.p.Offset, HasOffset: s.p.HasOffset}
	if s.seg != nil && !s.seg.Tagged {
		f.msn, f.hasMSN = s.seg.MSN, true
	}
	return f
}

// gates are what is known of a half at present.
func (c *conn) gates(h *half) (g Gate) {
	if h.began {
		g |= Start
	}
	if !h.gap {
		g |= Contig
	}
	if !h.unsure {
		g |= Sync
	}
	if h.began && !h.gap && !h.unsure && !hides(&c.t.Flow[h.dir]) {
		g |= MsgSync
	}
	p := h.peer
	waits := c.t.Flow[0].Waiting || c.t.Flow[1].Waiting
	if h.began && p.began && !h.gap && !p.gap && !h.unsure && !p.unsure && !h.unread && !p.unread && !waits &&
		!hides(&c.t.Flow[0]) && !hides(&c.t.Flow[1]) {
		g |= ReadSync
	}
	return g | c.connGates()
}

// hides reports whether there may be FPDUs in a direction of which nothing shows.
func hides(f *trace.Flow) bool { return f.Cut || f.Unframed > 0 }

// connGates are those that hold for both halves.
func (c *conn) connGates() (g Gate) {
	g = Sum
	if c.t.Flow[0].Frames > 0 && c.t.Flow[1].Frames > 0 {
		g |= Bidir
	}
	if c.request != nil && c.reply != nil && !c.request.partial && !c.reply.partial {
		g |= Neg | Layout
	}
	return g
}

// endGates are those that the end brings.
func (c *conn) endGates() (g Gate) {
	g = c.connGates() | Full
	if c.t.Ending != trace.Open && !c.half[0].gap && !c.half[1].gap {
		g |= End
	}
	return g
}

// accepted reports whether the startup ended with an accept.
func (c *conn) accepted() bool { return c.t.Outcome == trace.Accepted }

// enhanced reports whether both sides sent the word in an accepting startup.
func (c *conn) enhanced() bool {
	return c.request != nil && c.reply != nil && c.request.hasWord && c.reply.hasWord
}

func (c *conn) startup(p *trace.PDU) {
	f := &frame{
		pdu: p.Number, number: p.Frame, dir: p.Dir, span: spanOf(p), kind: p.Kind, Startup: *p.Startup, partial: p.Partial, raw: bytes.Clone(p.StartupRaw),
	}
	f.PrivateData = bytes.Clone(f.PrivateData)
	if w, _, ok := f.Word(); ok && f.Rev >= 2 {
		f.word, f.hasWord = w, true
	}
	h := &c.half[p.Dir]
	h.began = true
	switch p.Kind {
	case trace.KindRequest:
		c.request = f
	case trace.KindReply:
		c.reply = f
	default:
		c.rtr = f
	}
	have := c.connGates() | Start
	if !f.partial {
		have |= Full
	}
	c.ask(c.engine.lists.startup, have, func(r *rule) { r.startup(c, f) })
}

// fpdu is an FPDU at hand.
type fpdu struct {
	*half
	p *trace.PDU
	f *mpa.FPDU
}

func (e *fpdu) at() Finding {
	return Finding{Dir: e.p.Dir, HasDir: true, Frame: e.p.Frame, PDU: e.p.Number, HasPDU: true, Offset: e.p.Offset, HasOffset: e.p.HasOffset}
}

func (c *conn) fpdu(p *trace.PDU) {
	h := &c.half[p.Dir]
	f := p.FPDU
	switch f.Sync {
	case mpa.ByChain:
		h.unsure = true
	case mpa.ByCRC, mpa.ByMarker:
		h.unsure = false
	case mpa.InSync:
	}
	have := c.gates(h)
	if len(f.Missing) == 0 {
		have |= Full
	}
	e := &c.engine.fpdu
	*e = fpdu{h, p, f}
	c.ask(c.engine.lists.fpdu, have, func(r *rule) { r.fpdu(c, e) })
	// What a wrong CRC stands behind is no evidence for anything else.
	c.data(h, p, f.CRCStatus != mpa.CRCBad, have)
	h.crc.add(p)
}

func (c *conn) chunk(p *trace.PDU) {
	h := &c.half[p.Dir]
	if !h.began && c.t.SYN {
		h.began = true
	}
	have := c.gates(h)
	if p.Chunk.Whole {
		have |= Full
	}
	s := &c.engine.seg
	*s = segment{half: h, p: p, seg: p.Segment}
	s.op = p.Control.Opcode
	c.ask(c.engine.lists.chunk, have, func(r *rule) { r.chunk(c, s) })
	if _, observed, _ := wrongSegment(c, s); observed != "" {
		h.offends(p, have)
	}
	h.chunks++
	h.recent.add(p)
	switch {
	case p.Chunk.Order == trace.Duplicate:
		return
	case p.Chunk.Torn, p.Chunk.Order == trace.Late:
		h.lost()
		return
	}
	c.data(h, p, true, have)
}

// data takes in a DDP segment, over either transport.
func (c *conn) data(h *half, p *trace.PDU, trusted bool, have Gate) {
	s := &c.engine.seg
	*s = segment{half: h, p: p, seg: p.Segment, op: p.Control.Opcode, isFirst: h.count == 0}
	h.count++
	length := 0
	s.head, length, _ = p.ULPDU()
	h.largest = max(h.largest, length)
	if s.seg == nil || !trusted {
		h.lost()
		if trusted {
			c.ask(c.engine.lists.segment, have, func(r *rule) { r.segment(c, s) })
		}
		return
	}
	n := s.seg.HeaderLen
	s.octets, s.body = max(int64(length-n), 0), s.head[min(n, len(s.head)):]
	if s.isFirst {
		h.first = firstSegment{
			seen: true, segment: true, op: s.op, octets: s.octets, frame: p.Frame, pdu: p.Number, last: s.seg.Last, code: p.TermCode,
			span: spanOf(p),
		}
		if p.FPDU != nil {
			h.first.good, h.first.off = p.FPDU.CRCStatus == mpa.CRCGood, p.FPDU.CRCStatus == mpa.CRCOff
		}
		if r, err := rdmap.DecodeReadRequest(s.body); err == nil && s.op == rdmap.OpReadRequest {
			h.first.size = r.Size
		}
	}
	s.noise = s.isNoise()
	s.ans = s.answers()
	c.ask(c.engine.lists.segment, have, func(r *rule) {
		if !s.noise || r.noise {
			r.segment(c, s)
		}
	})
	if s.noise {
		h.lost()
		return
	}
	if s.op == rdmap.OpTerminate && !s.seg.Tagged {
		c.terminated(s, have)
	}
	c.follow(s, have)
	c.serve(s)
	if !h.hasVersions {
		h.hasVersions, h.dv, h.rv = true, s.seg.DV, p.Control.RV
	}
	h.sent.add(s)
	if h.terminates > 0 && s.op != rdmap.OpTerminate {
		h.after++
	}
}
