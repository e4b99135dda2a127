package analysis

import (
	"errors"
	"iter"
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/ahead"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Association is one SCTP association under analysis. It has a session for each
// pair of like-numbered streams on which DDP was seen, one after the other (RFC
// 5043 section 6).
type Association struct {
	env     *Env
	number  uint64
	session Sessions
	asm     reassembly.Association
	addr    [2]trace.Endpoint
	side    [2]trace.SCTPSide
	// offers are the INIT ACKs of a side so far: a repeated INIT is answered again, and
	// the cookie shows which answer counts.
	offers  [2][]trace.SCTPSide
	cookie  bool                // a COOKIE ECHO was seen: the association is established
	opened  reassembly.Carriage // the first packet
	streams map[uint16]*stream
	latest  *stream // the one of the last message, sid
	sid     uint16
	waiting []*Session // with messages that came early
	cur     reassembly.Carriage
	first   *Session // of the current packet, and which side sent it
	ending  trace.Ending
	endedBy int
	endedAt uint64
	abort   *abort // the latest one, while it may have had no effect
	rival   *rival
	// otherPath: packets of it were captured between other addresses, which no INIT told.
	otherPath bool
	talked    bool    // it has other chunks than HEARTBEAT and its answer
	told      int64   // one beyond what the SACK of the current packet acknowledges; negative: it has none
	hidden    [2]bool // the snap length cut off chunks of the side
	// mayBeRest is as in [trace.Connection].
	mayBeRest bool
	ddp       bool // it carries DDP
	last      uint64
	begun     bool // a session has begun

	pauses
	shutOf [2]*Session // the session at hand when the side closed its window
	shook  witness
	terms  [2]termRun
	asked  [2]asked
	wide   []wideDirection // in which too many DDP-SSNs may be under way
	// sums are for comparing what comes again. packet is the current one, off the place of the
	// current chunk in it, behindData: one of user data is in front of that.
	sums   [2]sums
	packet *Packet
	off    int

	behindData bool
	// wrong: the checksum of the current packet is; splits are those chunks of a
	// side that were counted already, unbegun those that lack a beginning.
	wrong   bool
	splits  [2]uint64
	unbegun [2]uint64
	// iface, of a section of the capture, captured the first packet; merged: others came
	// from other ones.
	section   int
	iface     int
	hasPacket bool
	merged    bool
	path      uint8 // of the current packet
	unusual   [2]unusual
	leftOut   [2][]leftOutChunk
	octets    int // in it
}

// Sessions counts the sessions of a capture.
type Sessions interface {
	// Begun returns the number for a new session.
	Begun() uint64
	// Ended is called for a session when nothing more can become known about it.
	Ended(*trace.Connection)
}

// stream is a pair of SCTP streams: the session on it, and the one before, which may
// still receive chunks.
type stream struct{ now, before *Session }

// Packet is an SCTP packet.
type Packet struct {
	// Octets from the common header on, as far as they were captured; Length is
	// their number on the wire.
	Octets []byte
	Length int
	// Checksum is what is to be said of it.
	Checksum sctp.Verdict
	// Interface, which counts in the Section of the capture, captured it; Path counts the
	// addresses of its sender.
	Section, Interface int
	Path               uint8
	reassembly.Carriage
}

// PacketNote says what a packet was.
type PacketNote struct {
	// Note joins those of its chunks.
	Note reassembly.Note
	// Damaged: its checksum is wrong, while those of other packets are right. The
	// packet was ignored otherwise.
	Damaged bool
	// Trouble says why a chunk could not be parsed, Offset where in the packet;
	// "" if all could.
	Trouble string
	Offset  int
	// Pad says what is wrong with the pad of a chunk, "" if nothing.
	Pad string
}

// Init prepares the association for its first packet, sent by side 0.
func (a *Association) Init(env *Env, number uint64, addr [2]trace.Endpoint, s Sessions) {
	a.env, a.number, a.session, a.addr = env, number, s, addr
	a.asm.Init(env.Budget)
	a.streams = map[uint16]*stream{}
}

// MayBeRest notes that it may be what follows of one that was ended to bound memory.
func (a *Association) MayBeRest() { a.mayBeRest = true }

// LastFrame is the frame of its last packet.
func (a *Association) LastFrame() uint64 { return a.last }

// LastTime is the time of its last packet.
func (a *Association) LastTime() int64 { return a.cur.Time }

// Over reports whether a side has ended it.
func (a *Association) Over() bool { return a.ending != trace.Open }

// Trusted reports whether checksums of a side are known to be right where nothing
// is damaged.
func (a *Association) Trusted(side int) bool { return a.side[side].Good > 0 }

// Number counts the associations of a capture from 0.
func (a *Association) Number() uint64 { return a.number }

// SetTag says which verification tag the packets of a side carry.
func (a *Association) SetTag(side int, tag uint32) {
	a.side[side].Tag, a.side[side].HasTag = tag, true
}

// WrongTag counts a packet in the name of a side whose tag is not that of the association. on is the frame with which the side went
// on behind it, 0: it is not known.
func (a *Association) WrongTag(side int, tag uint32, frame, on uint64) {
	w := &a.side[side].WrongTags
	if w.Count++; w.Count == 1 {
		w.Tag, w.Frame = tag, frame
	}
	if w.On == 0 {
		w.On = on
	}
}

// Session returns the session of the first chunk of DDP in the current packet,
// or nil.
func (a *Association) Session(side int) (c *trace.Connection, d trace.Dir) {
	if a.first == nil {
		return nil, 0
	}
	return a.first.Trace, a.first.Dir(side)
}

// damaged counts the checksum of a packet and reports whether the packet is to
// be left out. A wrong checksum proves damage when others of the sender are
// right. When all of a sender are wrong, the capture shows packets as they were
// before the adapter filled it in, or the sums of RFC 2960.
func (a *Association) damaged(side int, p *Packet) bool {
	s := &a.side[side]
	switch p.Checksum {
	case sctp.Good:
		s.Good++
		if len(p.Fragments) < 2 {
			s.GoodWhole++
		}
	case sctp.Zero:
		if s.Zero++; s.FirstZero == 0 {
			s.FirstZero = p.Frame
		}
	case sctp.Unverifiable:
		s.Uncertain++
	case sctp.Bad, sctp.Reversed:
		if s.Good > 0 {
			if p.Checksum == sctp.Reversed {
				s.DamagedReversed++
			}
			a.Damage(side, p.Frame)
			a.leaveOut(side, p)
			return true
		}
		if s.Wrong++; s.FirstWrong == 0 {
			s.FirstWrong = p.Frame
		}
		if p.Checksum == sctp.Reversed {
			s.Reversed++
		}
		a.wrong = true
	}
	return false
}

// Damage counts a damaged packet of a side.
func (a *Association) Damage(side int, frame uint64) {
	s := &a.side[side]
	if s.Damaged++; s.FirstDamaged == 0 {
		s.FirstDamaged = frame
	}
}

// Packet processes the next packet of the association, sent by side, and says in n, which is empty, what it was.
func (a *Association) Packet(side int, p *Packet, n *PacketNote) {
	a.cur, a.first, a.last, a.path, a.wrong, a.told = p.Carriage, nil, p.Frame, p.Path, false, -1
	a.packet = p
	if a.damaged(side, p) {
		n.Damaged = true
		return
	}
	if r := a.rival; r != nil && r.side == side && p.Time-r.time >= ahead.OutOfOrder {
		a.keeps()
	}
	a.octets = p.Length
	if !a.hasPacket {
		a.section, a.iface, a.hasPacket = p.Section, p.Interface, true
		a.opened.Frame, a.opened.Time = p.Frame, p.Time
	}
	a.merged = a.merged || p.Interface != a.iface || p.Section != a.section
	a.asm.Packet()
	a.shook.packet(side, p.Time)
	behindData := false
	var c sctp.Chunk
	for off := sctp.HeaderLen; off < p.Length; {
		size, err := c.Decode(p.Octets[min(off, len(p.Octets)):], p.Length-off)
		if err == nil {
			a.pad(side, n, &c, size, off+size == p.Length)
			a.off, a.behindData = off, behindData
			if c.Type == sctp.TypeCookieEcho && err == nil {
				a.acceptOffer(side, p)
			}
			was := a.asm.High(side)
			if err = a.chunk(side, &c, n); a.abort != nil && err == nil {
				a.behindAbort(side, &c, was)
			}
		}
		switch cut := c.Cut || errors.Is(err, sctp.ErrCut); {
		case err != nil && cut:
			a.hidden[side] = true
			a.shook.cut(side, behindData || size > 0 && userData(c.Type))
		case err != nil && n.Trouble == "":
			a.unread(side, n, off, err)
		}
		if size == 0 {
			break
		}
		behindData = behindData || userData(c.Type)
		off += size
	}
	a.expire()
}

// pad checks the pad of a chunk that takes size octets (RFC 9260 section 3.2).
func (a *Association) pad(side int, n *PacketNote, c *sctp.Chunk, size int, last bool) {
	for _, o := range c.Pad {
		if o != 0 {
			n.Pad = "chunk-pad-not-zero"
			a.odd(side, trace.OddPad, uint32(c.Type))
			return
		}
	}
	if last && size%4 != 0 {
		a.odd(side, trace.OddNoPad, uint32(c.Type))
		if n.Pad == "" {
			n.Pad = "chunk-pad-missing"
		}
	}
}

// unread notes a chunk that could not be parsed.
func (a *Association) unread(side int, n *PacketNote, off int, err error) {
	n.Trouble, n.Offset = "chunk", off
	var e *sctp.Error
	if errors.As(err, &e) {
		n.Trouble, n.Offset = e.Code, off+e.Offset
	}
	s := &a.side[side]
	if s.Unread++; s.FirstUnread == 0 {
		s.FirstUnread = a.cur.Frame
	}
}

// chunk processes one chunk.
func (a *Association) chunk(side int, c *sctp.Chunk, n *PacketNote) error {
	a.shook.chunk(side, c.Type, a.cur.Time)
	a.handshake(c.Type)
	a.talked = a.talked || c.Type != sctp.TypeHeartbeat && c.Type != sctp.TypeHeartbeatAck
	switch c.Type {
	case sctp.TypeData, sctp.TypeIData:
		return a.data(side, c, n)
	case sctp.TypeInit, sctp.TypeInitAck:
		return a.init(side, c)
	case sctp.TypeSack:
		cumulative, blocks, err := sctp.Acked(c)
		if err != nil {
			return err
		}
		if !a.asm.Started(1 - side) {
			a.shook.acknowledges(1-side, cumulative)
		}
		a.sacked(side, c, cumulative, blocks)
		if a.asm.Started(1 - side) {
			a.told = a.asm.Wide(1-side, cumulative) + 1
		}
		a.unnumbered(1 - side)
		return sctp.CheckContent(c)
	case sctp.TypeForwardTSN, sctp.TypeIForwardTSN:
		a.side[side].Forwarded = true
		tsn, err := sctp.DecodeTSN(*c)
		if err != nil {
			return err
		}
		a.asm.Forward(side, tsn)
	case sctp.TypeShutdown:
		tsn, err := sctp.DecodeTSN(*c)
		if err != nil {
			return err
		}
		a.asm.Ack(side, tsn, nil)
		a.side[side].ShutDown = true
		a.ended(side, trace.Shutdown)
	case sctp.TypeShutdownAck, sctp.TypeShutdownComplete:
		a.ended(1-side, trace.Shutdown) // they answer what was not captured
	case sctp.TypeAbort:
		err := sctp.CheckContent(c)
		if a.side[side].Ended != trace.Abort {
			a.aborts(side, c, err)
		}
		a.aborting(side)
		a.ended(side, trace.Abort)
		return err
	case sctp.TypeReconfig:
		a.side[side].Reconfigured = true
		return sctp.CheckContent(c)
	case sctp.TypeError:
		a.reports(side, c)
		return sctp.CheckContent(c)
	case sctp.TypeHeartbeat, sctp.TypeHeartbeatAck:
		return sctp.CheckContent(c)
	default:
	}
	return nil
}

func (a *Association) ended(side int, how trace.Ending) {
	if a.ending == trace.Open {
		end := trace.StallClosed
		if how == trace.Abort {
			end = trace.StallReset
		}
		a.stops(a.now(), end)
	}
	end := assocEnding{how, side, a.cur.Frame, a.cur.Time}
	switch {
	case a.ending == trace.Open || a.ending == trace.Shutdown && how == trace.Abort:
		a.ends(&end)
		a.spared()
	case a.abort != nil && a.abort.then.how == trace.Open && how == trace.Shutdown:
		a.abort.then = end
	}
}

// ends notes how the association ended.
func (a *Association) ends(e *assocEnding) {
	a.ending, a.endedBy, a.endedAt = e.how, e.by, e.frame
	a.side[1-e.by].Ended = trace.Open
	s := &a.side[e.by]
	s.Ended, s.EndFrame, s.EndTime = e.how, e.frame, e.time
}

// maxOffers bounds the answers to INITs that are remembered.
const maxOffers = 8

// init processes an INIT or the answer to one. The first one counts until a cookie
// tells which answer was taken.
func (a *Association) init(side int, c *sctp.Chunk) error {
	i, err := sctp.DecodeInit(*c)
	if err != nil {
		return err
	}
	offer := trace.SCTPSide{
		Tag: i.Tag, HasInit: true, Out: i.Out, In: i.In, TSN: i.TSN, Addresses: i.Addresses(nil), InitFrame: a.cur.Frame,
	}
	offer.Adaptation, offer.HasAdaptation = i.Adaptation()
	offer.TakesZero = i.TakesZero()
	unreadable := i.Readable()
	offer.InitCut = c.Cut || unreadable != nil
	if c.Type == sctp.TypeInitAck && !a.settled() && len(a.offers[side]) < maxOffers {
		a.offers[side] = append(a.offers[side], offer)
	}
	if !a.side[side].HasInit {
		a.takeOffer(side, &offer)
	}
	return unreadable
}

// takeOffer takes the INIT ACK of a side as the one that counts.
func (a *Association) takeOffer(side int, o *trace.SCTPSide) {
	s := &a.side[side]
	s.HasInit, s.Out, s.In, s.TSN, s.Addresses = true, o.Out, o.In, o.TSN, o.Addresses
	s.InitFrame = o.InitFrame
	s.Adaptation, s.HasAdaptation, s.InitCut, s.TakesZero = o.Adaptation, o.HasAdaptation, o.InitCut, o.TakesZero
	a.ddp = a.ddp || s.HasAdaptation && s.Adaptation == sctpddp.Adaptation
	a.asm.Start(side, o.TSN)
}

// settled reports whether the association is established: a cookie was seen, and a session behind it. A cookie that was too old for
// its receiver is followed by another one (RFC 9260 section 5.2.6).
func (a *Association) settled() bool { return a.cookie && len(a.streams) > 0 }

// acceptOffer takes the answer to which the cookie of a side belongs: its packet
// carries the tag that the answer asked for.
func (a *Association) acceptOffer(side int, p *Packet) {
	if a.settled() {
		return
	}
	a.cookie = true
	if h, err := sctp.DecodeHeader(p.Octets); err == nil {
		for i := range a.offers[1-side] {
			if o := &a.offers[1-side][i]; o.Tag == h.Tag {
				a.takeOffer(1-side, o)
				break
			}
		}
	}
	a.offers = [2][]trace.SCTPSide{}
}

// InitFrame is the frame of the INIT or INIT ACK of a side, 0 if it was not captured.
func (a *Association) InitFrame(side int) uint64 { return a.side[side].InitFrame }

// HasInit reports whether the INIT or the INIT ACK of a side was captured.
func (a *Association) HasInit() bool { return a.side[0].HasInit || a.side[1].HasInit }

// Idle reports whether nothing came but what asks whether a path works, or answers that.
func (a *Association) Idle() bool { return !a.talked && !a.HasInit() }

// Continues reports whether a packet of a side goes on with the association: it has a chunk of user data that is not there yet, or
// acknowledges more than was acknowledged, with a TSN near the others. If so, the packet took another path than those before it.
func (a *Association) Continues(side int, packet []byte, length int) bool {
	const (
		few   = 4       // packets behind which copies of them would have come
		reach = 1 << 14 // TSNs that may be under way, or that the capture lacks
	)
	if a.asm.Packets() < few || !a.shook.spoke[0] || !a.shook.spoke[1] {
		return false
	}
	var c sctp.Chunk
	for off := sctp.HeaderLen; off < length; {
		size, err := c.Decode(packet[min(off, len(packet)):], length-off)
		if size == 0 || err != nil {
			return false
		}
		off += size
		of, tsn := side, int64(0)
		switch c.Type {
		case sctp.TypeData, sctp.TypeIData:
			var d sctp.Data
			if d.Decode(&c) != nil {
				return false
			}
			if tsn = a.asm.Wide(of, d.TSN); tsn >= a.asm.First(of) && a.asm.Unseen(of, tsn, tsn+1) == 0 {
				continue
			}
		case sctp.TypeSack:
			of = 1 - side
			cumulative, _, err := sctp.Acked(&c)
			if err != nil {
				return false
			}
			tsn = a.asm.Wide(of, cumulative)
			if acked, ok := a.asm.Acked(of); ok && tsn < acked {
				continue
			}
		default:
			continue
		}
		if high := a.asm.High(of); a.asm.Started(of) && max(tsn-high, high-tsn) < reach {
			a.otherPath = true
			return true
		}
	}
	return false
}

// rival is an INIT by which a side asks for another association on the same addresses and ports, until the side goes on with this one.
type rival struct {
	side int
	time int64
}

// Rival notes such an INIT, with another tag than that of the association.
func (a *Association) Rival(side int, frame uint64, time int64) {
	if a.rival != nil && a.rival.side == side {
		return // the first one counts until the side goes on
	}
	for s := range a.open() {
		if k := s.Trace.HalfOpen; k == nil || k.On == 0 {
			s.Trace.HalfOpen = &trace.HalfOpen{Again: frame, By: s.Dir(side)}
			a.rival = &rival{side, time}
		}
	}
}

// keeps notes that the side that seemed to ask for another association goes on with this one.
func (a *Association) keeps() {
	a.rival = nil
	for s := range a.open() {
		if k := s.Trace.HalfOpen; k != nil && k.On == 0 {
			k.On = a.cur.Frame
		}
	}
}

// open yields the sessions that have not ended.
func (a *Association) open() iter.Seq[*Session] {
	return func(yield func(*Session) bool) {
		for _, st := range a.streams {
			if s := st.now; s != nil && !s.over && !yield(s) {
				return
			}
		}
	}
}

// Displaced notes that side has begun another association on the same addresses and ports, with the INIT in frame.
func (a *Association) Displaced(side int, frame uint64) {
	if a.ending != trace.Open {
		return
	}
	for s := range a.open() {
		s.Trace.HalfOpen = &trace.HalfOpen{Again: frame, By: s.Dir(side), Opened: true}
	}
}

// Addresses are the addresses that the INIT or INIT ACK of a side listed.
func (a *Association) Addresses(side int) []netip.Addr { return a.side[side].Addresses }

// data processes a chunk of user data.
func (a *Association) data(side int, c *sctp.Chunk, n *PacketNote) error {
	wire := sctp.DataLen(c)
	if wire == 0 {
		a.odd(side, trace.OddNoData, uint32(c.Length))
	}
	var d sctp.Data
	if err := d.Decode(c); err != nil {
		return err
	}
	if c.Flags&sctp.FlagsReserved != 0 {
		a.odd(side, trace.OddFlags, uint32(c.Flags))
	}
	if !a.asm.Started(side) {
		a.shook.begins(side, d.TSN)
	}
	a.shook.comes(side, d.TSN)
	ours := d.PPID == sctpddp.PPIDSegment || d.PPID == sctpddp.PPIDControl
	if d.I && !d.Begin() {
		ours = a.ddp // only the first chunk of a message says what it is
	}
	if !ours || wire == 0 {
		n.Note |= a.asm.Skip(side, (*reassembly.Chunk)(&d))
		a.split(side, d.TSN)
		a.side[side].Other++
		if !ours && (!d.I || d.Begin()) {
			a.odd(side, trace.OddPayload, d.PPID)
		}
		if wire == 0 {
			return sctp.ErrNoData
		}
		return nil
	}
	a.ddp = true
	a.side[side].DDP++
	was := a.before(side)
	m, tsn, note := a.asm.Data(side, (*reassembly.Chunk)(&d), wire, &a.cur)
	n.Note |= note
	a.chunked(side, tsn, note, was)
	a.split(side, d.TSN)
	if again := note & (reassembly.Retransmission | reassembly.OutOfOrder); again != 0 && a.env.wantsMarks() {
		a.noteUnusual(side, again)
	}
	switch {
	case note&reassembly.Retransmission != 0:
		a.compare(side, c, d.TSN)
		a.again(side, &d, tsn)
	case a.lone(c, n):
		a.keepSum(side, d.TSN)
	}
	if m != nil {
		s := a.message(side, m)
		if s != nil && note&reassembly.OutOfOrder != 0 {
			fl := &s.Trace.Flow[s.Dir(side)]
			fl.Rarely().Reordered++
			a.filled(side, fl, a.acked(side, was.high), a.now(), 0, sentUnknown)
		}
	}
	return nil
}

// noteUnusual notes the current frame.
func (a *Association) noteUnusual(side int, note reassembly.Note) {
	for _, f := range a.cur.Fragments {
		a.unusual[side].add(f, note)
	}
	a.unusual[side].add(a.cur.Frame, note)
}

// again notes the frame of a chunk that came before, if its message still waits.
func (a *Association) again(side int, d *sctp.Data, tsn int64) {
	if st := a.streams[d.SID]; st != nil && st.now != nil {
		st.now.dirs[side].order.Again(tsn, d.TSN, &a.cur)
		fl, high := &st.now.Trace.Flow[st.now.Dir(side)], a.asm.High(side)
		fl.Rarely().Retransmitted++
		a.repeated(side, fl, stretch{tsn, tsn + 1}, a.acked(side, tsn), high, a.now())
		st.now.dirs[side].paths = paths{}
		if a.first == nil {
			a.first = st.now
		}
	}
}

// message hands a user message to its session.
func (a *Association) message(side int, m *reassembly.Message) *Session {
	if m.PPID != sctpddp.PPIDSegment && m.PPID != sctpddp.PPIDControl {
		return nil
	}
	s := a.sessionOf(side, m)
	if a.first == nil {
		a.first = s
	}
	s.take(side, m)
	return s
}

// sessionOf finds the session of a message, or begins one.
func (a *Association) sessionOf(side int, m *reassembly.Message) *Session {
	st := a.stream(m.SID)
	asks, answers := false, false
	var ssn uint16
	if m.PPID == sctpddp.PPIDControl {
		if c, err := sctpddp.DecodeControl(m.Octets); err == nil {
			asks = c.Function == sctpddp.Initiate || c.Function == sctpddp.EnhancedInitiate
			answers = !asks && c.Function != sctpddp.Terminate && c.SSN == 0
			ssn = c.SSN
		}
	}
	switch {
	case st.now == nil:
		st.now = a.begin(side, m, asks)
		if answers {
			a.astray(side, st.now)
		}
	case st.before == nil && m.First < st.now.dirs[side].from && !a.asm.StartKnown(side):
		// A capture that begins late has the end of the session before.
		st.before = a.begin(side, m, false)
		return st.before
	case st.before != nil && (m.First < st.now.dirs[side].from && !st.before.leftBy(side, m) || st.before.goesOn(side, st.now, m)):
		return st.before // sent before this session began, or before its sender knew
	case asks && st.now.endsFor(side, ssn, m.First), answers && (st.now.answered(side, m.First) || st.now.answersAgain(side, m)):
		a.next(st, side, m, asks, true)
		if asks {
			a.reuses(side, m, st.before)
		} else {
			a.astray(side, st.now)
		}
	case !asks && st.now.another(side, m):
		a.next(st, side, m, false, false)
		st.now.blind = true
		for i := range 2 {
			st.now.dirs[i].from = max(st.before.dirs[i].top, st.before.dirs[i].from)
		}
	}
	if asks {
		a.ask(side, st.now)
	}
	return st.now
}

// next begins the next session of a pair of streams. seen: its beginning was captured.
func (a *Association) next(st *stream, side int, m *reassembly.Message, asks, seen bool) {
	if st.before != nil {
		a.finish(st.before)
	}
	st.before = st.now
	st.before.supersede(side, seen)
	st.now = a.begin(side, m, asks)
	st.before.reused, st.now.reused = true, true
}

// stream returns a pair of streams.
func (a *Association) stream(sid uint16) *stream {
	if a.latest != nil && a.sid == sid {
		return a.latest
	}
	st := a.streams[sid]
	if st == nil {
		st = &stream{}
		a.streams[sid] = st
	}
	a.latest, a.sid = st, sid
	return st
}

// begin begins a session with a message of side.
func (a *Association) begin(side int, m *reassembly.Message, asks bool) *Session {
	s := &Session{assoc: a}
	s.env, s.Trace = a.env, new(trace.Connection)
	s.Trace.MayBeRest = a.mayBeRest
	s.grows(sessionWeight)
	t := s.Trace
	t.Number, t.Transport, t.SID, t.Association = a.session.Begun(), trace.SCTP, m.SID, a.number
	t.IsMPA, t.Layout = true, a.env.Layout
	t.Lead, a.begun = !a.begun, true
	t.FirstFrame, t.FirstTime = a.cur.Frame, a.cur.Time
	for i := range 2 {
		t.Side[i].Addr, t.Side[i].SCTP = a.addr[i], &a.side[i]
		s.dirs[i].order.Init(a.env.Budget)
	}
	s.setInitiator(side)
	if !asks {
		return s
	}
	// Everything in the session was sent after the Initiate, or in answer to it.
	s.dirs[side].from, s.dirs[1-side].from = m.First, a.asm.High(1-side)
	s.dirs[1-side].order.Begin(0)
	return s
}

// expire gives up chunks that were awaited for too long. It is called after all chunks
// of a packet.
func (a *Association) expire() {
	if a.asm.Quiet() && len(a.waiting) == 0 {
		return // nearly always
	}
	for side := range 2 {
		a.asm.Age(side)
		a.broken(side, false)
	}
	if len(a.waiting) == 0 {
		return
	}
	a.waiting = slices.DeleteFunc(a.waiting, func(s *Session) bool {
		for side := range 2 {
			s.age(side)
		}
		s.listed = s.dirs[0].order.Waiting()+s.dirs[1].order.Waiting() > 0
		return !s.listed
	})
}

// broken hands on the messages of a side that will never be complete; end says that
// nothing more comes.
func (a *Association) broken(side int, end bool) {
	for {
		m := a.asm.Broken(side, end, a.cur.Frame, a.cur.Time)
		if m == nil {
			return
		}
		if m.Headless {
			a.headless(side, m)
			continue
		}
		a.message(side, m)
	}
}

// Finish says that no more packets come.
func (a *Association) Finish() {
	a.stops(trace.Moment{Time: a.env.End}, trace.StallOpen)
	for side, shut := range a.shut {
		if s := a.shutOf[side]; shut && s != nil {
			a.reopened(side, a.blocked(1-side), &s.Trace.Flow[s.Dir(side)], trace.Moment{Time: max(a.cur.Time, a.env.End)})
		}
	}
	for side := range 2 {
		a.asm.Finish(side)
		a.broken(side, true)
	}
	var all []*Session
	for _, st := range a.streams {
		for _, s := range [...]*Session{st.before, st.now} {
			if s != nil {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(x, y *Session) int { return int(int64(x.Trace.Number) - int64(y.Trace.Number)) }) //nolint:gosec // counts
	for _, s := range all {
		a.finish(s)
	}
	a.unused()
	a.forgetSums()
	a.streams, a.latest, a.waiting, a.first = map[uint16]*stream{}, nil, nil, nil
}

// unused makes a record of an association on which no session ever began although it was for DDP, if it was for
// something else on the other side, or carries other user data, such as DDP with the octets of the payload protocol
// identifier swapped: that is to be judged, and a record is what rules judge.
func (a *Association) unused() {
	x, y := &a.side[0], &a.side[1]
	other := x.Odd[trace.OddPayload].Count+y.Odd[trace.OddPayload].Count > 0
	if a.begun || !x.HasAdaptation || !y.HasAdaptation || x.Adaptation == y.Adaptation && !other || !a.ddp {
		return
	}
	s := a.begin(0, &reassembly.Message{}, false)
	t := s.Trace
	t.FirstFrame, t.FirstTime, t.LastFrame, t.LastTime = a.opened.Frame, a.opened.Time, a.cur.Frame, a.cur.Time
	a.finish(s)
}

// Sessions is the number of sessions that are kept.
func (a *Association) Sessions() int { return len(a.streams) }

// count notes what was counted by now.
func (a *Association) count() {
	for side := range 2 {
		st := a.asm.Stats(side)
		s := &a.side[side]
		s.Chunks, s.Retransmitted, s.Reordered = st.Chunks, st.Retransmitted, st.Reordered
		s.Gaps, s.GapTSNs, s.Orphans, s.MostOutstanding = st.Gaps, st.GapTSNs, st.Orphans, st.MostOutstanding
	}
}

func (a *Association) finish(s *Session) {
	a.count()
	s.finish()
	a.forget(s)
	a.waiting = slices.DeleteFunc(a.waiting, func(x *Session) bool { return x == s })
	if a.first == s {
		a.first = nil
	}
	s.gives()
	a.session.Ended(s.Trace)
}

// Each calls a function with each session that has not ended.
func (a *Association) Each(f func(*trace.Connection)) {
	for _, st := range a.streams {
		if st.now != nil {
			f(st.now.Trace)
		}
	}
}
