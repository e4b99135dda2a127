package conformance

import (
	"bytes"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// conn is the model of a connection: what the rules need to know of it.
type conn struct {
	t       *trace.Connection
	capture *captureState
	tell    observer
	// foreign is a frame of another protocol that has the key of MPA: then nothing
	// else is judged.
	foreign *frame
	half    [2]half
	// active is who was taken for the initiator when the connection was first seen.
	active trace.Endpoint
	// request, reply and rtr are the startup frames, or the session control that
	// stands for them; nil if they were not seen.
	request, reply, rtr *frame
}

// begin makes the model that of a connection of which nothing is known.
func (c *conn) begin(t *trace.Connection, capture *captureState, tell observer) {
	*c = conn{t: t, capture: capture, tell: tell, active: t.Side[trace.I2R].Addr}
	c.sides()
}

// sides tells the directions apart.
func (c *conn) sides() {
	c.half[0].dir, c.half[1].dir = trace.I2R, trace.R2I
	for i := range c.half {
		c.half[i].peer = &c.half[1-i]
		c.half[i].share(&c.capture.idle)
	}
}

// pdu takes in a PDU, and has the observer told. It reports whether there was
// something to tell: of an FPDU in the middle of a long Write there is nothing.
func (c *conn) pdu(p *trace.PDU) bool {
	c.capture.latest = max(c.capture.latest, p.Time)
	if c.foreign != nil {
		return false
	}
	switch h := &c.half[p.Dir]; {
	case p.Kind == trace.KindFPDU && c.steadily(h, p), p.Kind == trace.KindSCTPSegment && c.steadyChunk(h, p):
		return false
	}
	c.catchUp()
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		c.startup(p)
	case trace.KindFPDU:
		c.fpdu(p)
	case trace.KindSCTPControl:
		c.control(p)
	case trace.KindSCTPSegment:
		c.chunk(p)
	case trace.KindStreaming:
		c.loose(p)
	}
	c.half[p.Dir].to = p.From + p.Length
	return true
}

// missing takes in that octets of a direction are missing.
func (c *conn) missing(g *trace.GapEvent) {
	c.catchUp()
	h := &c.half[g.Dir]
	h.gap, h.contig, h.neverSent = true, false, g.NeverSent
	h.hole = h.hole || !g.NeverSent
	h.lost()
}

// over says that nothing more comes.
func (c *conn) over() {
	c.catchUp()
	for i := range c.half {
		c.half[i].over(c)
	}
}

// firstSegment is what the first FPDU of a half was.
type firstSegment struct {
	span
	frame, pdu uint64
	octets     int64
	size       uint32 // of a Read Request, unless it is cut
	// stag is that of a Write or of the source of a Read Request.
	stag uint32
	// payload are its first octets.
	payload             [4]byte
	code                rdmap.TermCode
	op                  rdmap.Opcode
	seen, segment, last bool
	cut                 bool
	// good: its CRC was verified and right; off: none was to be verified.
	good, off bool
}

// frame is a startup frame, or the session control that takes its place.
type frame struct {
	pdu, number uint64
	span
	mpa.Startup
	raw     []byte
	dir     trace.Dir
	kind    trace.Kind
	partial bool
	hasWord bool
	gates   Gate // of its half when it came
	// function of a session control.
	function sctpddp.Function
	behind   int // octets in its last TCP segment
	// bounds are the places at which TCP segments begin in it.
	bounds []int
	// word is the enhanced data, if there is any.
	word mpa.Enhanced
	// asked is the frame that this one answers, if it was seen.
	asked *frame
}

// where is the place of a startup frame.
func (f *frame) where() Place {
	x := Place{Dir: f.dir, HasDir: true, Frame: f.number, PDU: f.pdu, HasPDU: true}
	if f.asked != nil {
		x.Related = []uint64{f.asked.pdu}
	}
	return x
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
	// rel and msg are how it stands to what came before, once that was asked for.
	rel     relation
	msg     *message
	related bool
	depth   depth // with a request, how many are outstanding
	touch   touch // of memory of the peer
	// noise: nothing in its headers makes sense; known: all was well with its shape, in
	// a half of which the versions are known.
	noise, known bool
}

// where is the place of a segment.
func (s *segment) where() Place {
	f := pduAt(s.p, s.count)
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
	if !c.t.Flow[h.dir].SumsUnsure {
		g |= Sum
	}
	if c.sized(h) {
		g |= Size
	}
	if h.began && !h.gap && !h.unsure && !hides(&c.t.Flow[h.dir]) {
		g |= MsgSync
	}
	waits := c.t.Flow[0].Waiting || c.t.Flow[1].Waiting
	if c.settled() && !waits {
		g |= ReadSync
	}
	return g | c.connGates()
}

// sized reports whether no segment of a half is larger than its receiver takes.
func (c *conn) sized(h *half) bool {
	mss := int(c.t.Flow[h.peer.dir].MSS)
	return mss > 0 && int(c.t.Flow[h.dir].Largest) <= mss
}

// settled reports whether nothing is missing of the requests and answers so far.
func (c *conn) settled() bool {
	for i := range c.half {
		h := &c.half[i]
		if pending := h.count == 0 && h.to < c.t.Flow[i].Sent; pending || !h.began || h.gap || h.unsure || h.unread || hides(&c.t.Flow[i]) {
			return false
		}
	}
	return true
}

// hides reports whether there may be FPDUs in a direction of which nothing shows.
func hides(f *trace.Flow) bool { return f.Cut || f.Unframed > 0 }

// connGates are those that hold for both halves.
func (c *conn) connGates() (g Gate) {
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
		behind: p.Behind, bounds: slices.Clone(p.Bounds),
	}
	if n := len(f.PrivateData); n > 0 && len(f.raw) >= mpa.StartupLen+n && bytes.Equal(f.raw[mpa.StartupLen:][:n], f.PrivateData) {
		f.PrivateData = f.raw[mpa.StartupLen:][:n] // nearly always: one copy is enough
	} else {
		f.PrivateData = bytes.Clone(f.PrivateData)
	}
	if w, _, ok := f.Word(); ok && f.Rev >= 2 {
		f.word, f.hasWord = w, true
	}
	if f.Rev == erdmaRev {
		c.foreign = f
		return
	}
	h := &c.half[p.Dir]
	h.began = true
	if len(h.frames) < maxFrames {
		h.frames = append(h.frames, f)
	}
	switch p.Kind {
	case trace.KindRequest:
		c.request = f
	case trace.KindReply:
		c.reply, f.asked = f, c.request
	default:
		c.rtr = f
	}
	f.gates = c.gates(h)
	have := c.connGates() | Start
	if !f.partial {
		have |= Full
	}
	c.tell.Startup(f, have)
}

// fpdu is an FPDU at hand.
type fpdu struct {
	*half
	p *trace.PDU
	f *mpa.FPDU
}

// where is the place of an FPDU.
func (e *fpdu) where() Place { return pduAt(e.p, e.count+1) }

func (e *fpdu) site() site { return siteOf(e.p, e.count+1) }

// pduAt is the place of a PDU, the nth of its half.
func pduAt(p *trace.PDU, nth uint64) Place {
	x := siteOf(p, nth)
	return x.in(p.Dir)
}

// astray reports whether FPDUs or their markers may stand elsewhere than where they
// are looked for: what they break is no fault of its own.
func (c *conn) astray(h *half) bool {
	other := c.t.Negotiated && c.t.Flow[h.dir].MarkersSeen != mpa.Unknown
	// A length that leaves out the word says nothing of what follows.
	if f := c.said(h.dir); f != nil && noRoom(f) {
		return true
	}
	return other || h.shifted && c.marking(h.dir) != mpa.No
}

// guessed reports whether it may be chance that four octets of an FPDU look like a
// marker.
func (h *half) guessed(f *mpa.FPDU) bool {
	const sure = 2 // one may tell it by chance
	known := h.grid >= sure
	for i := range f.Markers {
		switch m := &f.Markers[i]; {
		case m.Status() != mpa.MarkerOK:
			h.grid = 0
		case m.Expected > 0:
			h.grid++
		}
	}
	return len(f.Markers) > 0 && !known && h.grid < sure
}

func (c *conn) fpdu(p *trace.PDU) {
	h := &c.half[p.Dir]
	h.sends()
	f := p.FPDU
	switch f.Sync {
	case mpa.ByChain:
		h.unsure = true
	case mpa.ByCRC, mpa.ByMarker:
		h.unsure = false
	case mpa.InSync:
	}
	if f.Sync != mpa.InSync && (p.From > h.to || c.t.Flow[h.dir].Cut) {
		// What lies before it is missing, or may have been cut off by the snap length.
		h.hole = true
		h.lost()
	}
	gates := c.gates(h)
	have := gates
	if len(f.Missing) == 0 {
		have |= Full
	}
	h.part = h.part || len(f.Missing) > 0
	if c.astray(h) && (f.CRCStatus != mpa.CRCGood || len(f.Markers) > 0) || !c.t.Negotiated && h.guessed(f) {
		have &^= Sync
	}
	e := &c.capture.fpdu
	*e = fpdu{h, p, f}
	k := e.shape(c, have)
	c.tell.FPDU(e, k, have)
	// What a wrong CRC stands behind is no evidence for anything else.
	c.data(h, p, f.CRCStatus != mpa.CRCBad, have)
	c.tell.Taken(h, p.Number)
	h.crc.add(p)
	h.opening.add(p)
	if f.CRCStatus == mpa.CRCBad && !c.astray(h) {
		h.spoils(e)
	}
	h.sizes.add(c, e)
	h.chain.add(e)
	h.latest = last{p.From + p.Length, p.LastAcked}
	c.steadies(e, &c.capture.seg, seen(h.shapes.fpdus[:]).has(k), gates, have)
}

func (c *conn) chunk(p *trace.PDU) {
	h := &c.half[p.Dir]
	h.sends()
	h.joins()
	if !h.began && c.t.SYN {
		h.began = true
	}
	c.mayBeNext(h)
	gates := c.gates(h)
	have := gates
	if p.Chunk.Whole {
		have |= Full
	}
	s := &c.capture.seg
	*s = segment{half: h, p: p, seg: p.Segment}
	s.op = p.Control.Opcode
	c.tell.Chunk(s, have)
	if s.misplaced(c) != inPlace {
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
	c.chunkSteadies(h, p, gates)
}

// data takes in a DDP segment, over either transport.
func (c *conn) data(h *half, p *trace.PDU, trusted bool, have Gate) {
	s := &c.capture.seg
	// Field by field: clearing the whole of it shows in the profile.
	s.half, s.p, s.seg, s.op, s.isFirst, s.related, s.noise, s.known = h, p, p.Segment, p.Control.Opcode, h.count == 0, false, false, false
	switch h.count++; h.count {
	case 1:
		// It was long in doubt what the octets of the half are: the other one has
		// answered already.
		h.unread = h.unread || p.Conn.Transport == trace.TCP && h.peer.latest.lastAcked >= p.From+p.Length
	case 2:
		h.second = spanOf(p)
	}
	length, whole := 0, false
	s.head, length, whole = p.ULPDU()
	h.largest = max(h.largest, int32(length)) //nolint:gosec // a ULPDU or a user message
	if s.seg == nil || !trusted {
		h.headless = h.headless || s.seg == nil && !whole
		h.lost()
		if trusted {
			c.tell.Malformed(s, have)
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
		h.first.stag = s.seg.STag
		if r, err := rdmap.DecodeReadRequest(s.body); s.op == rdmap.OpReadRequest {
			h.first.size, h.first.cut = r.Size, err != nil && s.octets >= rdmap.ReadRequestLen
			if err == nil {
				h.first.stag = r.SrcSTag
			}
		}
		copy(h.first.payload[:], s.body)
	}
	if s.ans = (answer{}); s.op == opReadResponse || s.op == opAtomicResponse {
		s.ans = s.answers()
	}
	k := s.shape(have)
	if !seen(h.shapes.segments[:]).has(k) {
		if s.noise = s.isNoise(); s.noise {
			k = 0
		}
	}
	if s.op == opReadRequest || s.op == opAtomicRequest {
		s.depth = s.outstanding(c)
	}
	if !s.noise {
		s.touches(c, c.capture, have)
	}
	c.tell.Segment(s, k, have)
	s.known = h.hasVersions && seen(h.shapes.segments[:]).has(k)
	if s.exchanges() && !s.noise && (s.op != opReadResponse || s.ans.begins) {
		c.tell.Exchange(s, have)
	}
	if s.noise {
		h.lost()
		return
	}
	if s.op == rdmap.OpTerminate && !s.seg.Tagged {
		c.terminated(s, have)
	}
	c.follow(s, have)
	c.serve(s, have)
	if !h.hasVersions && s.seg.DV == p.Control.RV && s.seg.DV <= 1 { // versions that do not go together set no standard
		h.hasVersions, h.dv, h.rv = true, s.seg.DV, p.Control.RV
	}
	h.sent.add(s)
	if extension(s.op) {
		h.extended = s.op
	}
	if s.op != opTerminate {
		h.knows = max(h.knows, p.Acked)
	}
	if h.terminates > 0 && s.op != rdmap.OpTerminate {
		h.after++
	}
}

// endHave is the evidence for a rule on the whole of the connection so far.
func (c *conn) endHave() Gate {
	have := c.gates(&c.half[0])&c.gates(&c.half[1]) | c.endGates()
	// The layout shows in what the initiator sends first, where the flags leave it open.
	if h := &c.half[trace.I2R]; c.accepted() && c.layoutOpen() && (h.gap || h.count == 0 || c.t.Flow[trace.I2R].Waiting) {
		have &^= Layout
	}
	return have
}
