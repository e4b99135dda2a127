package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Conn is the model of a connection: the facts that rules need.
type Conn struct {
	Trace   *trace.Connection
	Capture *CaptureState
	Tell    observer
	// Foreign is a frame of another protocol that has the key of MPA: then nothing
	// else is judged.
	Foreign *Frame
	// OutOfStep: the directions were out of step by too much for what they say to be put in order.
	OutOfStep bool
	// CutOff: the sender of the current FPDU closed before it had sent all of it, and what it sent was captured.
	CutOff bool
	// wholeRequest and wholeReply: there is such a frame, and all of it was captured. Each FPDU asks, and the
	// frames are of long ago.
	wholeRequest, wholeReply bool
	Directions               [2]Direction
	upTo                     [2]int64 // see knows
	// active is who was taken for the initiator when the connection was first seen; nil if a startup frame
	// tells who it is.
	active *trace.Endpoint
	// Request, Reply and Rtr are the startup frames, or the session control that takes their
	// place; nil if they were not seen.
	Request, Reply, Rtr *Frame
}

// Begin resets the model for a connection about which nothing is known yet.
func (c *Conn) Begin(t *trace.Connection, capture *CaptureState, tell observer) {
	*c = Conn{Trace: t, Capture: capture, Tell: tell, upTo: [2]int64{-1, -1}}
	if t.Transport == trace.SCTP || !t.RolesKnown {
		active := t.Side[trace.I2R].Addr
		c.active = &active
	}
	c.sides()
}

// sides tells the two directions apart.
func (c *Conn) sides() {
	c.Directions[0].Dir, c.Directions[1].Dir = trace.I2R, trace.R2I
	for i := range c.Directions {
		c.Directions[i].Peer = &c.Directions[1-i]
		c.Directions[i].share(&c.Capture.idle)
	}
}

// Record records a PDU and notifies the observer. It reports whether the observer was
// notified: an FPDU in the middle of a long Write needs no judgement.
func (c *Conn) Record(p *trace.PDU) bool {
	c.Capture.Latest = max(c.Capture.Latest, p.Time)
	if c.Foreign != nil {
		return false
	}
	c.knows(p)
	switch h := &c.Directions[p.Dir]; {
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
	case trace.KindStreaming, trace.KindUnframed:
		c.loose(p)
	}
	c.Directions[p.Dir].NextOffset = p.From + p.Length
	return true
}

// Missing records that octets of a direction are missing.
func (c *Conn) Missing(g *trace.GapEvent) {
	c.catchUp()
	h := &c.Directions[g.Dir]
	h.Gap, h.NeverSent = true, g.NeverSent
	h.Hole = h.Hole || !g.NeverSent
	h.lost()
}

// Over records that nothing more follows.
func (c *Conn) Over() {
	c.catchUp()
	c.upTo = [2]int64{-1, -1}
	for i := range c.Directions {
		if c.Trace.Flow[i].Faults().Elsewhere {
			c.Directions[i].Hole = true
			c.Directions[i].lost()
		}
		c.Directions[i].over(c)
	}
}

// Segment is the current DDP segment.
type Segment struct {
	*Direction
	PDU  *trace.PDU
	DDP  *ddp.Segment
	Op   rdmap.Opcode
	Head []byte // the captured part of the ULPDU
	Body []byte // after the DDP header
	// Header is Body, or the RDMAP header of a message that was cut into segments, with the
	// segment that makes it whole.
	Header  []byte
	Octets  int64 // of payload
	IsFirst bool
	Answer  Answer // of a response
	// rel and msg are its relation to the open message; they are computed when first asked
	// for.
	rel     Relation
	msg     *Message
	related bool
	pool    *pool // of the capture
	Depth   depth // with a request, how many are outstanding
	Touch   touch // of memory of the peer
	// Noise: nothing in its headers makes sense; Known: its shape was found valid before, in
	// a direction whose versions are known.
	Noise, known bool
}

// Unframed reports whether its sender had acknowledged octets that are still to be framed. They may hold whole FPDUs: where
// octets that are no FPDU begin like a long one, those behind them are found late.
func (s *Segment) Unframed() bool {
	sent := s.PDU.Conn.Flow[s.Peer.Dir].Sent // a FIN counts as an octet behind them
	return s.PDU.Conn.Transport == trace.TCP && min(s.PDU.LastAcked, sent) > s.Peer.NextOffset
}

// Where is the place of a segment.
func (s *Segment) Where() Place {
	f := pduAt(s.PDU, s.Count)
	if s.DDP != nil && !s.DDP.Tagged {
		f.QN, f.MSN, f.HasMSN = s.DDP.QN, s.DDP.MSN, true
	}
	return f
}

// Gates are what is known of a direction at present. Of requests, that is about its own: for its answers those of the
// other one matter.
func (c *Conn) Gates(h *Direction) (g catalogue.Gate) {
	if h.Began {
		g |= catalogue.Start
	}
	if !h.Gap {
		g |= catalogue.Contig
	}
	if !h.Unsure {
		g |= catalogue.Sync
	}
	if !c.Trace.Flow[h.Dir].SumsUnsure {
		g |= catalogue.Sum
	}
	if c.sized(h) {
		g |= catalogue.Size
	}
	if h.Began && !h.Gap && !h.Unsure && !Hides(&c.Trace.Flow[h.Dir]) {
		g |= catalogue.MsgSync
	}
	return g | c.RequestGate(h) | c.connGates()
}

// sized reports whether no segment of a direction is larger than its receiver takes.
func (c *Conn) sized(h *Direction) bool {
	mss := int(c.Trace.Flow[h.Peer.Dir].MSS)
	return mss > 0 && int(c.Trace.Flow[h.Dir].Largest) <= mss
}

// synced is settled for the requests of a direction, and also that no octets wait that may be requests or answers. Those that
// the sender of the current PDU had not received, or sent behind it, do not matter to it.
func (c *Conn) synced(asks *Direction) bool {
	return c.settled(asks) && (c.proven() || !c.awaits(0) && !c.awaits(1))
}

// awaits reports whether octets or chunks of a direction are missing that may precede the
// current PDU.
func (c *Conn) awaits(d trace.Dir) bool {
	inTurn := c.Trace.Transport == trace.SCTP && c.upTo[d] >= 0
	return c.Trace.Flow[d].Waiting && !inTurn
}

// knows notes up to where each direction matters to a PDU: what precedes it, and what its
// sender had received when it sent it, if the capture has that.
func (c *Conn) knows(p *trace.PDU) {
	acked, peer := p.LastAcked, 1-p.Dir
	if p.Conn.Transport != trace.TCP || acked > max(c.Trace.Flow[peer].SeqEnd(), c.Directions[peer].NextOffset) {
		acked = -1
	}
	c.upTo[p.Dir], c.upTo[peer] = p.From, acked
	if p.Chunk != nil && !p.Chunk.InTurn {
		c.upTo[p.Dir] = -1
	}
}

// proven reports whether acknowledgements prove what the sender of the current PDU had
// received.
func (c *Conn) proven() bool { return c.upTo[0] >= 0 && c.upTo[1] >= 0 }

// settled reports whether nothing is missing of the requests of a direction so far, and of the answers.
func (c *Conn) settled(asks *Direction) bool {
	if c.OutOfStep || asks.RequestsUnsure() {
		return false
	}
	for i := range c.Directions {
		h := &c.Directions[i]
		sent := c.Trace.Flow[i].Sent
		if c.proven() {
			sent = c.upTo[i]
		}
		if pending := h.Count == 0 && h.NextOffset < sent; pending || !h.Began || h.Gap || h.Unsure || Hides(&c.Trace.Flow[i]) {
			return false
		}
	}
	return true
}

// Hides reports whether a direction may have FPDUs that cannot be seen.
func Hides(f *trace.Flow) bool { return f.Cut || unframed(f) }

// unframed reports whether octets of the direction are in no FPDU.
func unframed(f *trace.Flow) bool { return f.Seldom != nil && f.Seldom.Unframed > 0 }

// connGates are those that hold for both directions.
func (c *Conn) connGates() (g catalogue.Gate) {
	if c.Trace.Flow[0].Frames > 0 && c.Trace.Flow[1].Frames > 0 {
		g |= catalogue.Bidir
	}
	if c.wholeRequest && c.wholeReply {
		g |= catalogue.Neg | catalogue.Layout
	}
	return g
}

// EndGates are those that the end brings.
func (c *Conn) EndGates() (g catalogue.Gate) {
	g = c.connGates() | catalogue.Full
	if c.Trace.Ending != trace.Open && !c.Directions[0].Gap && !c.Directions[1].Gap {
		g |= catalogue.End
	}
	return g
}

// Accepted reports whether the startup ended with an accept.
func (c *Conn) Accepted() bool { return c.Trace.Outcome == trace.Accepted }

// Enhanced reports whether both sides sent the establishment word in an accepting startup.
func (c *Conn) Enhanced() bool {
	return c.Request != nil && c.Reply != nil && c.Request.HasWord && c.Reply.HasWord
}

func (c *Conn) startup(p *trace.PDU) {
	f := frameOfPDU(p)
	var shared bool
	if f.wire, shared = c.Capture.wires.of(p); shared {
		f.flags |= sharesWire
	}
	if f.Rev == ErdmaRev {
		c.Foreign = f
		return
	}
	h := &c.Directions[p.Dir]
	h.Began = h.Began || !c.perhapsPayload(h)
	h.keepFrame(f)
	switch p.Kind {
	case trace.KindRequest:
		c.requested(f)
	case trace.KindReply:
		c.replied(f)
	default:
		c.Rtr = f
	}
	f.gates = c.Gates(h)
	have := c.connGates() | catalogue.Start
	if !f.Partial {
		have |= catalogue.Full
	}
	c.Tell.Startup(f, have)
}

func (c *Conn) requested(f *Frame) { c.Request, c.wholeRequest = f, !f.Partial }

// Recall makes the startup frames those of a connection that has ended.
func (c *Conn) Recall(p *EndedConnection) {
	c.Request, c.wholeRequest = p.Request, p.Request != nil && !p.Request.Partial
	c.Reply, c.wholeReply = p.Reply, p.Reply != nil && !p.Reply.Partial
}

func (c *Conn) replied(f *Frame) {
	c.Reply, f.Asked, c.wholeReply = f, c.Request, !f.Partial
}

// FPDU is the current FPDU.
type FPDU struct {
	*Direction
	PDU  *trace.PDU
	FPDU *mpa.FPDU
	// Displaced is the first of its markers that is not where it must be, or one that is where none must be; nil: all are right.
	Displaced *mpa.Marker
	// misread: a marker that may be none was taken out of its DDP header.
	misread bool
}

// Where is the place of an FPDU.
func (e *FPDU) Where() Place { return pduAt(e.PDU, e.Count+1) }

// Begin is its place, in the frame in which its first octets left.
func (e *FPDU) Begin() Place {
	at := e.Where()
	at.Frame = begunIn(e.PDU)
	return at
}

// doubtful reports whether nothing proves that the FPDU is one: its CRC is wrong, or it has none and makes no sense, or the markers of
// its direction are not where they must be.
func (e *FPDU) doubtful() bool {
	return e.FPDU.CRCStatus == mpa.CRCBad || e.FPDU.CRCStatus == mpa.CRCOff && (e.displaced || e.Direction.Noise)
}

func (e *FPDU) site() site { return siteOf(e.PDU, e.Count+1) }

// pduAt is the place of a PDU, the nth of its direction.
func pduAt(p *trace.PDU, nth uint64) Place {
	x := siteOf(p, nth)
	return x.In(p.Dir)
}

// Astray reports whether FPDUs or their markers may be at other places than expected; then
// a violation there is only a consequence.
func (c *Conn) Astray(h *Direction) bool {
	return c.offGrid(h) || h.shifted && c.Marking(h.Dir) != mpa.No
}

// offGrid reports whether a direction is framed otherwise than agreed, or may be.
func (c *Conn) offGrid(h *Direction) bool {
	// A length that does not count the establishment word says nothing about what follows.
	if f := c.StartupFrameOf(h.Dir); f != nil && NoRoom(f) {
		return true
	}
	return c.Trace.Negotiated && (h.displaced || c.Trace.Flow[h.Dir].MarkersSeen != mpa.Unknown)
}

// guessed reports whether it may be chance that four octets of an FPDU look like a
// marker.
func (h *Direction) guessed(f *mpa.FPDU) bool {
	const sure = 2 // a single one may be a coincidence
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

// ahead reports whether an FPDU came before anything of the other side, which its sender must have had.
func (c *Conn) ahead(h *Direction, p *trace.PDU) bool {
	return p.LastAcked < 0 && h.Began && h.Peer.Began
}

// placed notes how the place of an FPDU was found, and what that says of those around it.
func (c *Conn) placed(h *Direction, p *trace.PDU) {
	c.OutOfStep = c.OutOfStep || c.ahead(h, p)
	sync := p.FPDU.Sync
	if p.FPDU.MayMark != h.mayMark {
		h.mayMark = p.FPDU.MayMark
		h.Unsure = h.mayMark
		h.lost() // what was read so far may be something else
	}
	if sync == mpa.InSync || h.mayMark {
		return
	}
	h.Unsure = sync == mpa.ByChain
	switch {
	case p.From > h.NextOffset || c.Trace.Flow[h.Dir].Cut:
		// What precedes it is missing, or may have been cut off by the snap length.
		h.Hole = true
		h.lost()
	case p.From < h.NextOffset:
		h.lost() // it lies in one with a wrong length, and so may others
	}
	if h.Peer.Latest.LastAcked > p.From {
		c.OutOfStep = true // the other side had it, and what that sent since was judged without it
	}
}

// evidence is what is known of an FPDU besides what is known of its direction.
func (c *Conn) evidence(h *Direction, f *mpa.FPDU, have catalogue.Gate) catalogue.Gate {
	if len(f.Missing) == 0 {
		have |= catalogue.Full
	}
	h.part = h.part || len(f.Missing) > 0 && !c.CutOff
	if c.Astray(h) && (f.CRCStatus != mpa.CRCGood || len(f.Markers) > 0) || !c.Trace.Negotiated && h.guessed(f) {
		have &^= catalogue.Sync
	}
	return have
}

func (c *Conn) fpdu(p *trace.PDU) {
	h := &c.Directions[p.Dir]
	if h.restOfFrame(p) {
		c.loose(p)
		return
	}
	h.sends(&c.Capture.pool)
	h.Began = h.Began || h.provesFrame(p)
	c.placed(h, p)
	f, gates := p.FPDU, c.Gates(h)
	c.CutOff = NeverWhole(f) && c.Trace.Flow[p.Dir].FIN != nil
	have := c.evidence(h, f, gates)
	e := &c.Capture.fpdu
	*e = FPDU{Direction: h, PDU: p, FPDU: f}
	if len(f.Markers) > 0 || f.CRCStatus == mpa.CRCBad {
		e.places(c)
	}
	k, first := e.shape(c, have), e.Count == 0
	c.Tell.FPDU(e, k, have)
	// Nothing that follows a wrong CRC is evidence for anything else. But a known stack
	// leaves the CRC of Terminates zero until it has set up the connection.
	bad := f.CRCStatus == mpa.CRCBad && !(p.TermSwapped && f.CRC == 0)
	astray := f.CRCStatus == mpa.CRCOff && e.displaced && e.Displaced == nil // as the one before showed
	c.data(h, p, !bad && !e.misread && !astray, have)
	c.CutOff = false
	c.Tell.Taken(h, p.Number)
	h.Chain.found(e)
	if h.Noise = f.CRCStatus == mpa.CRCOff && c.Capture.seg.Noise; h.Noise {
		h.Chain.doubts(p.Number)
	} else {
		h.CRC.add(p, c.Contiguous(h) && !c.MarkersUnsure(h))
	}
	h.Opening.add(p, &c.Capture.pool)
	if bad && !c.Astray(h) {
		h.addWrongCRC(e)
	}
	h.Sizes.add(c, e)
	h.Chain.add(e)
	h.Latest = last{p.From + p.Length, p.LastAcked}
	h.lengths(p)
	c.steadies(e, &c.Capture.seg, !first && c.Capture.FPDUs(h).Has(k), gates, have)
}

// MarkersUnsure reports whether FPDUs of a direction could not be read, and their markers may be at other places than expected.
func (c *Conn) MarkersUnsure(h *Direction) bool { return h.Gap && c.Astray(h) }

// NeverWhole reports whether an FPDU lacks octets only because the stream ends.
func NeverWhole(f *mpa.FPDU) bool {
	return f.Unsent > 0 && len(f.Missing) == 1 && f.Missing[0].To-f.Missing[0].From == f.Unsent
}

func (c *Conn) chunk(p *trace.PDU) {
	h := &c.Directions[p.Dir]
	h.sends(&c.Capture.pool)
	h.joins()
	c.OutOfStep = c.OutOfStep || p.Chunk.Arrival.Shuffled
	if !h.Began && c.Trace.SYN {
		h.Began = true
	}
	c.fromStart(h, p.Chunk)
	c.mayBeNext(h)
	h.lacksFirst(p.Chunk)
	gates := c.Gates(h)
	have := gates
	if p.Chunk.Whole {
		have |= catalogue.Full
	}
	s := &c.Capture.seg
	*s = Segment{Direction: h, PDU: p, DDP: p.Segment, pool: &c.Capture.pool}
	s.Op = p.Control.Opcode
	c.Tell.Chunk(s, have)
	if s.Misplaced(c) != InPlace {
		h.offends(p, have)
	}
	h.Chunks++
	h.recent.add(p)
	h.arrives(&p.Chunk.Arrival)
	switch {
	case p.Chunk.Order == trace.Duplicate:
		s.dropped()
		return
	case p.Chunk.Torn, p.Chunk.Order == trace.Late:
		h.lost()
		return
	}
	c.data(h, p, true, have)
	c.chunkSteadies(h, p, gates)
}

// data records a DDP segment of either transport.
func (c *Conn) data(h *Direction, p *trace.PDU, trusted bool, have catalogue.Gate) {
	s := &c.Capture.seg
	// Field by field: clearing the whole of it shows in the profile.
	s.Direction, s.PDU, s.DDP, s.Op, s.IsFirst, s.related, s.Noise, s.known = h, p, p.Segment, p.Control.Opcode, h.Count == 0, false, false, false
	s.pool = &c.Capture.pool
	switch h.Count++; h.Count {
	case 1:
		// It was long in doubt what the octets of the direction are: the other one has
		// answered already.
		if p.Conn.Transport == trace.TCP && h.Peer.Latest.LastAcked >= p.From+p.Length {
			h.Unread, h.Peer.Unread = true, true
		}
	case 2:
		h.Second = secondOf(p)
	}
	length, whole := 0, false
	s.Head, length, whole = p.ULPDU()
	h.largest = max(h.largest, int32(length)) //nolint:gosec // a ULPDU or a user message
	if s.DDP == nil || !trusted {
		h.headless = h.headless || s.DDP == nil && !whole && !c.CutOff
		h.lost()
		if trusted {
			c.Tell.Malformed(s, have)
		}
		return
	}
	s.cut(length)
	if s.IsFirst {
		h.First = firstOf(s)
		h.Opening.place(p)
	}
	s.findAnswer()
	gapless := have&catalogue.MsgSync != 0
	have = c.ofAnswers(s, have)
	have |= c.relearned(s, have)
	k := s.shape(have)
	if !c.Capture.Segments(h).Has(k) {
		if s.Noise = s.isNoise(); s.Noise {
			k = 0
		}
	}
	if s.Op == OpReadRequest || s.Op == OpAtomicRequest {
		s.Depth = s.outstanding(c)
	}
	if !s.Noise {
		s.touches(c, c.Capture, have)
	}
	c.Tell.Segment(s, k, have)
	s.known = h.HasVersions && c.Capture.Segments(h).Has(k)
	if s.exchanges() && !s.Noise && (s.Op != OpReadResponse || s.Answer.Begins) {
		c.Tell.Exchange(s, have)
	}
	if s.Noise {
		h.lost()
		return
	}
	if s.Op == rdmap.OpTerminate && !s.DDP.Tagged {
		c.terminated(s, have)
	}
	c.takesIn(s, have, gapless)
	h.counts(s)
}

// takesIn records a segment as a part of its message and its exchange, once the rules were asked.
func (c *Conn) takesIn(s *Segment, have catalogue.Gate, gapless bool) {
	c.quoted(s)
	if s.rel == Stray {
		s.rereads()
	}
	if s.reread() && s.rel == Begins && !s.DDP.Tagged && s.DDP.Last {
		s.strays() // the next message shows whether it took a number
		s.bounded = false
	} else {
		c.follow(s, have, gapless)
	}
	c.serve(s, have)
	if s.reread() {
		s.reads(s.PDU.Segment)
	}
}

// counts takes a segment into what is known of all that the direction sent, once the
// rules were asked.
func (h *Direction) counts(s *Segment) {
	p := s.PDU
	switch {
	case s.DiffersFromMixed():
		h.Mixed |= mixedChanged
	case s.IsFirst && s.DDP.DV != p.Control.RV && s.DDP.DV <= 1 && p.Control.RV <= 1:
		h.Mixed = mixedSet | mixed(p.Control.RV)
	}
	if !h.HasVersions && s.DDP.DV == p.Control.RV && s.DDP.DV <= 1 { // versions that do not go together set no standard
		h.HasVersions, h.DDPVersion, h.RDMAPVersion = true, s.DDP.DV, p.Control.RV
	}
	h.Sent.add(s)
	if Extension(s.Op) {
		h.Extended = s.Op
	}
	if s.Op != OpTerminate {
		h.Knows = max(h.Knows, p.Acked)
	}
	if h.Terminates > 0 && s.Op != rdmap.OpTerminate {
		h.after++
	}
}

// EndHave is the evidence for a rule on the whole of the connection so far.
func (c *Conn) EndHave() catalogue.Gate {
	have := c.Gates(&c.Directions[0])&c.Gates(&c.Directions[1]) | c.EndGates()
	// The layout shows in what the initiator sends first, where the flags leave it open.
	if h := &c.Directions[trace.I2R]; c.Accepted() && c.layoutOpen() && (h.Gap || h.Count == 0 || c.Trace.Flow[trace.I2R].Waiting) {
		have &^= catalogue.Layout
	}
	return have
}
