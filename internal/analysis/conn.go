package analysis

import (
	"math/bits"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/budget"
	"github.com/iwdissect/iwdissect/internal/spare"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// Env is what the connections of one capture share.
type Env struct {
	// Sink receives what is found; may be nil.
	Sink trace.Sink
	// Upper is called with each PDU before the sink, and sets what it is to the upper layer;
	// may be nil.
	Upper func(*trace.PDU)
	// Lean does not hand FPDUs and segments to the sink.
	Lean bool
	// Brief hands out PDUs without their frames and without payload of spanning FPDUs.
	Brief bool
	// Alone hands out each PDU by itself: requests are not related to their answers, nor
	// Terminates to what they quote.
	Alone bool
	// Marks says which frames of PDUs carried octets again or out of order.
	Marks bool
	// Decoders bounds the memory of decoders; nil: each has its own buffers.
	Decoders *mpa.Budget
	// Memory is the account of the capture; may be nil.
	Memory *budget.Account
	// Budget bounds the memory for out-of-order data, and NoRoom counts the gaps that were given up for that.
	Budget *reassembly.Budget
	NoRoom uint64
	// Forgotten counts requests that were forgotten before their answer came, as more than maxRequests of a side waited.
	Forgotten uint64
	// Layout of the IRD and ORD word; LayoutForced keeps it whatever the traffic shows.
	Layout       mpa.Layout
	LayoutForced bool

	// End is the time of the last frame, in nanoseconds since the epoch, once the capture
	// has ended; 0 before that.
	End int64
	// Checksum says whether the TCP checksum of a packet is right, if that is known: of the one at hand;
	// may be nil. It is asked only about FPDUs with a wrong CRC.
	Checksum func(frame uint64) mpa.Tri
	// Timestamp is TSval of the packet at hand (RFC 7323 section 3.2), if it has one; may be nil. It is
	// asked only while octets are missing.
	Timestamp func() (val uint32, ok bool)

	// Crossed is told when what a connection shows depends on what others showed before; may be nil.
	Crossed func()

	// verified is the result of mpa.Verify for the data of the current packet, size octets.
	verified mpa.Verified
	size     int
	whole    mpa.FPDU // the FPDU of a segment that holds nothing else
	crcs     segmentCRCs
	pdus     uint64
	senders  map[trace.Endpoint]sender // what their Terminates showed
	words    map[word]bool             // whether a control word with two meanings is read as swapped
	sent     []sentSegment             // those that are searched for what a Terminate quotes
	shared   sharing                   // of what sides have sent
	frames   []uint64
	loose    []*loose         // for sides that have none
	works    spare.List[work] // of connections that have ended, as the next two
	outs     spare.List[outgoing]
	decs     spare.List[mpa.Decoder]
	pdu      trace.PDU
	chunk    trace.Chunk // of it, over SCTP
	segment  ddp.Segment
	message  trace.Message
	// terminate is one that its connection does not keep.
	terminate trace.Terminate
	done      []trace.Transaction
	answers   [][]uint64 // room for those of requests
}

// PDUs is the number of PDUs found so far.
func (e *Env) PDUs() uint64 { return e.pdus }

// SetPDUs says how many there were, in other runs as well.
func (e *Env) SetPDUs(n uint64) { e.pdus = n }

// crossed tells that a connection depends on others.
func (e *Env) crossed() {
	if e.Crossed != nil {
		e.Crossed()
	}
}

// hand hands out a PDU.
func (c *upper) hand(p *trace.PDU) {
	e := c.env
	if e.Upper != nil {
		e.Upper(p)
		if p.Upper != nil {
			c.weighUpper()
		}
		if e.Sink == nil || e.Lean && (p.FPDU != nil || p.Chunk != nil) {
			return
		}
	}
	e.Sink.PDU(p)
}

// phase of a direction.
type phase uint8

const (
	// streaming: octets before MPA, or after it; a startup frame may come.
	streaming phase = iota
	// startup: the key was seen, the rest of the frame is awaited.
	startup
	// held: full operation began, but the other side's frame, which tells how
	// it is framed, has not been seen yet.
	held
	// opening: the first octets of the initiator may be a 2007 RTR frame.
	opening
	// full operation.
	full
)

// Limits.
const (
	// maxHeld is how many octets wait for the other side's startup frame.
	maxHeld = 64 << 10
	// maxStreamFrames is how many frames of streaming octets are remembered.
	maxStreamFrames = 64
	// maxDiffering bounds the overlaps that are listed.
	maxDiffering = 16
	// maxRequests bounds the requests that await their answer: it is more than a depth that the establishment
	// word can announce (RFC 6581 section 9.1).
	maxRequests = 1 << 14
	// maxResponses bounds the PDUs of one answer that are listed.
	maxResponses = 1 << 16
)

// wantsPDUs reports whether anybody gets PDUs, wantsMarks whether it gets the frames in
// which they came again or out of order, wantsPayload whether it gets the whole
// payload of FPDUs that span segments.
func (e *Env) wantsPDUs() bool    { return e.Upper != nil || e.Sink != nil && !e.Lean }
func (e *Env) wantsMarks() bool   { return e.wantsPDUs() && e.Marks }
func (e *Env) wantsPayload() bool { return e.wantsPDUs() && !e.Brief }

// direction is the state of one direction, by the side that sends it.
type direction struct {
	dec       *mpa.Decoder
	origin    int64 // where full operation began
	hasOrigin bool
	phase     phase
	ended     bool
	first     bool // no FPDU was seen yet
	idle      bool // in full operation, and no decoder was needed so far
	gap       bool
	rtr       bool // the frame in startup is the 2007 RTR frame
	adrift    bool // that frame may have been lost: where full operation began is not known
	partial   bool // octets of the startup frame are missing
	fin       bool // its side has closed
	// loose holds streaming octets; nil while there are none, and in full operation.
	loose *loose
	// kept are octets that wait outside full operation, nil while there are none.
	kept    *kept
	unusual *unusual // nil while there was nothing
	weight  int32    // what was taken for it, see weigh
}

// kept are octets that wait, from an offset on.
type kept struct {
	octets []byte
	off    int64
}

// tail are the octets that wait, tailOff is the offset of the first.
func (h *direction) tail() []byte {
	if h.kept == nil {
		return nil
	}
	return h.kept.octets
}

func (h *direction) tailOff() int64 {
	if h.kept == nil {
		return 0
	}
	return h.kept.off
}

// await sets the octets that wait.
func (h *direction) await(octets []byte, off int64) { h.kept = &kept{octets, off} }

// loose are the streaming octets of a direction that were not handed out yet.
type loose struct {
	from    int64  // where the run of them began
	lead    []byte // the first octets of it
	leadAck int64  // what their segment acknowledged
	frames  []uint64
	omitted uint64
	noted   int64  // frames covers the octets up to here
	frame   uint64 // with which the last of those became deliverable
	time    int64
	torn    bool    // the run is behind a hole, in which a startup frame may have been
	before  []loose // the runs in front of holes, which end at noted
}

// maxRuns bounds the runs of streaming octets that are kept until it is known what they are:
// in front of the first holes, and behind the last one.
const maxRuns = 4

// restart begins another run.
func (l *loose) restart(at int64) {
	l.from, l.noted, l.lead, l.torn = at, at, l.lead[:0], false
}

// tear ends a run of streaming octets at a hole: octets that were not captured are none.
func (c *Conn) tear(side int, p *reassembly.Piece) {
	l := c.outside(side)
	c.note(side, p.Off)
	switch {
	case p.Off <= l.from:
	case c.Trace.IsMPA && !l.torn && len(l.before) == 0:
		c.streamed(side, p.Off)
	case len(l.before) < maxRuns:
		run := *l
		run.before, run.lead, run.frames = nil, slices.Clone(l.lead), slices.Clone(l.frames)
		l.before = append(l.before, run)
	}
	l.restart(max(p.Off+p.Len, l.from))
	l.frames, l.omitted, l.torn = l.frames[:0], 0, true
}

// outside returns the streaming octets of a side.
func (c *Conn) outside(side int) *loose {
	h := &c.dirs[side]
	if h.loose == nil {
		if n := len(c.env.loose); n > 0 {
			h.loose, c.env.loose = c.env.loose[n-1], c.env.loose[:n-1]
		} else {
			h.loose = new(loose)
		}
	}
	return h.loose
}

// inside begins full operation of a side, and frees its streaming octets for reuse.
func (c *Conn) inside(side int) {
	h := &c.dirs[side]
	h.phase, h.kept = full, nil
	if l := h.loose; l != nil && len(c.env.loose) < maxSpare {
		*l = loose{lead: l.lead[:0], frames: l.frames[:0]}
		c.env.loose = append(c.env.loose, l)
	}
	h.loose = nil
}

// Conn is one TCP connection under analysis.
type Conn struct {
	*work
	upper
}

// work is what a connection needs until it ends. It lies apart from what remains, so that
// others can have its memory.
type work struct {
	used   bool
	octets bool
	forced bool // the user says that it is MPA
	wanted bool // some side of it is known to carry MPA
	closed bool
	told   bool // that it closed
	done   bool // Over has reported it
	// first is the initiator's first FPDU, if the Reply was not seen by then; else nil.
	first *indication
	// reply is one that was captured before its Request; nil if there is none.
	reply *reply
	// silence is nil while there was none.
	silence *silence
	// far is nil while no FIN lay far off.
	far *farFINs
	// counter is a RST of the other side than that which ended the connection, nil while there is none.
	counter *reset
	reset   *reset // the last RST, as long as it may have had no effect; nil while there is none
	pauses
	tcp  reassembly.Conn
	dirs [2]direction
}

// Init prepares the connection for its first packet, sent by side 0. forced says
// that it carries MPA even if no startup frame is seen.
func (c *Conn) Init(env *Env, number uint64, addr [2]trace.Endpoint, forced bool) {
	c.env = env
	c.work = env.works.Take()
	c.Trace = new(trace.Connection)
	c.forced, c.wanted = forced, forced
	c.Trace.Configured, c.Trace.IsMPA = forced, forced
	c.tcp.Init(env.Budget)
	c.Trace.Number = number
	c.Trace.Side[0].Addr, c.Trace.Side[1].Addr = addr[0], addr[1]
	c.Trace.Layout = env.Layout
	c.grows(ConnWeight)
}

// NewConnection reports whether the packet opens another connection.
func (c *Conn) NewConnection(side int, s *reassembly.Segment) bool {
	return c.tcp.NewConnection(side, s)
}

// Opening is what copies of the SYNs of the connection are recognised by. It is not there
// after Finish.
func (c *Conn) Opening() reassembly.Opening { return c.tcp.Opening() }

// Packet processes the next packet of the connection and returns what it was. crcs is the
// result of [mpa.Verify] for its data, and ends are the ends of these, or nil.
func (c *Conn) Packet(side int, s *reassembly.Segment, crcs mpa.Verified, ends *mpa.Ends) reassembly.Note {
	w, t := c.work, c.Trace
	if !w.used {
		w.used = true
		t.FirstFrame, t.FirstTime = s.Frame, s.Time
	}
	if s.Time-t.LastTime >= reuse && t.LastTime != 0 {
		c.wakes(s)
	}
	t.LastFrame, t.LastTime = s.Frame, s.Time
	if w.reset != nil {
		c.behindReset(side, s)
	}
	if !w.octets && s.Len > 0 {
		w.octets = true
		if !t.RolesKnown {
			c.setInitiator(side)
		}
	}
	fl := &t.Flow[c.Dir(side)]
	fl.Frames++
	fl.Octets += uint64(s.Len) //nolint:gosec // not negative
	fl.Cut = fl.Cut || len(s.Data) < s.Len
	fl.Heard, fl.SACKs = s.Time, fl.SACKs || s.SACK
	if s.Len > 0 {
		sized(fl, s)
	}
	if s.Flags&reassembly.FlagSYN != 0 {
		c.begins(side, s, fl)
	}
	if s.Flags&reassembly.FlagRST == 0 {
		w.room[side] = s.Window
	}
	if s.ZeroWindow != w.shut[side] {
		c.window(side, s)
	}
	if h := &w.dirs[side]; h.phase == full && h.dec != nil && !h.ended && w.tcp.Plain(side, s) && h.dec.Whole(s.Data, crcs, ends, &c.env.whole) {
		c.wholeFPDU(w, side, s)
		return 0
	}
	c.env.verified, c.env.size = crcs, len(s.Data)
	note := c.push(side, s)
	c.noteProgress() // before the data of the packet is judged
	var p reassembly.Piece
	for w.tcp.Pop(side, &p) {
		c.piece(side, &p)
	}
	if w.tcp.Direction(1 - side).Waiting() {
		for w.tcp.Pop(1-side, &p) {
			c.piece(1-side, &p)
		}
		c.release(1 - side)
	}
	if s.Flags&(reassembly.FlagFIN|reassembly.FlagRST) != 0 {
		c.closes(side, s)
	}
	if w.far != nil {
		c.farCloses()
	}
	c.release(side)
	return note
}

// sized notes how large a packet with octets is.
func sized(fl *trace.Flow, s *reassembly.Segment) {
	if options := uint8(s.Options); fl.Largest == 0 || options < fl.LeastOptions { //nolint:gosec // at most 40
		fl.LeastOptions = options
	}
	fl.Largest = max(fl.Largest, int32(s.Len)) //nolint:gosec // of an IP packet
}

// begins notes a SYN.
func (c *Conn) begins(side int, s *reassembly.Segment, fl *trace.Flow) {
	if s.Flags&reassembly.FlagACK == 0 && fl.Started {
		c.opensAgain(fl, s)
	}
	c.Trace.SYN, fl.Started, fl.SYN, fl.MSS = true, true, !s.OptionsCut, s.MSS
	fl.Opens, c.work.scale[side] = s.Flags&reassembly.FlagACK == 0, s.Scale
	if h := c.tcp.Direction(1 - side); !fl.Opens && (!h.Started() || h.Base() == s.Ack) {
		c.Trace.Flow[c.Dir(1-side)].SYNAnswered = true
	}
}

// push takes in a packet, and notes what it was.
func (c *Conn) push(side int, s *reassembly.Segment) reassembly.Note {
	if (s.Len > 0 || s.Flags&reassembly.FlagFIN != 0) && !c.Continues(side, s) {
		c.leaps(side, s)
		c.jumps(side, s)
	}
	seen := c.arrives(side, s)
	late := c.tcp.Direction(side).Waiting()
	note := c.tcp.Push(side, s)
	s.Soon = false
	c.tookIn(side, s, &seen, note)
	if late || note != 0 {
		c.noteUnusual(side, s, note, late, seen.waiting && seen.off < seen.high)
	}
	if note&(reassembly.AfterFIN|reassembly.Conflict) != 0 {
		c.faulty(side, s, note)
	}
	if note&reassembly.Retransmission != 0 {
		c.again(side, s)
	}
	if note&reassembly.KeepAlive != 0 {
		c.probe(side, s)
	}
	if c.work.shut[1-side] && s.Len <= 1 {
		c.shutOut(side, s, note)
	}
	return note
}

// faulty notes octets that should not be in the stream.
func (c *Conn) faulty(side int, s *reassembly.Segment, note reassembly.Note) {
	k, h := c.Trace.Flow[c.Dir(side)].Faulty(), c.tcp.Direction(side)
	if note&reassembly.AfterFIN != 0 && k.AfterFIN == 0 {
		k.AfterFIN, k.AfterFINAt = s.Frame, h.Offset(s.Seq)
	}
	if note&reassembly.Conflict != 0 && len(k.Differing) < maxDiffering {
		k.Differing = append(k.Differing, trace.Differing{Frame: s.Frame, At: h.Conflict()})
	}
}

// wholeFPDU processes a packet that holds exactly the current FPDU, next in order:
// nearly every packet.
func (c *Conn) wholeFPDU(w *work, side int, s *reassembly.Segment) {
	c.moves(side, s, trace.StallData)
	if w.tcp.Direction(1 - side).News(s) {
		c.acknowledges(side, s)
	}
	w.tcp.Acknowledge(side, s)
	if s.SACK {
		c.reports(side, s, false)
	}
	c.noteProgress()
	w.tcp.Pass(side, s, bits.ReverseBytes32(c.env.whole.CRC))
	c.fpdu(side, &c.env.whole, true)
}

// noteProgress records how far each direction has come, and whether it is known to
// lack octets: later octets wait, or the other side has acknowledged more.
func (c *Conn) noteProgress() {
	w := c.work
	for i := range 2 {
		h := w.tcp.Direction(i)
		fl := &c.Trace.Flow[c.Dir(i)]
		fl.Base, fl.Sent, fl.Acked = h.Base(), h.Next(), h.Acked()
		if fl.StartAcked == 0 && w.dirs[i].hasOrigin && fl.Acked >= w.dirs[i].origin {
			fl.StartAcked = c.Trace.LastTime
		}
		fl.Waiting = h.Waiting() || h.Behind()
	}
}

// Span is the part of the stream that the last packet of a side carried, as it
// was handed to Packet.
func (c *Conn) Span(side int, s *reassembly.Segment) (from, to int64, ok bool) {
	h := c.tcp.Direction(side)
	if s.Len == 0 || !h.Started() {
		return 0, 0, false
	}
	seq := s.Seq
	if s.Flags&reassembly.FlagSYN != 0 {
		seq++
	}
	from = h.Offset(seq)
	return from, from + int64(s.Len), true
}

// Origin is the stream offset at which full operation of a side began.
func (c *Conn) Origin(side int) (off int64, ok bool) {
	return c.dirs[side].origin, c.dirs[side].hasOrigin
}

// OpenPDU is where in the stream a PDU lies that has begun but is not whole yet: up to its
// end, if whole says that this is known, else up to the last octet in order.
func (c *Conn) OpenPDU(side int) (from, to int64, whole, ok bool) {
	h := &c.dirs[side]
	switch {
	case h.ended:
	case h.phase == startup && len(h.tail()) > 0:
		from, ok = h.tailOff(), true
		if len(h.tail()) >= mpa.StartupLen {
			to = from + int64(mpa.StartupLen+int(mpa.PrivateLen(h.tail())))
		}
	case h.phase == full && h.dec != nil && !h.dec.Seeking() && h.dec.Open() > 0:
		ok = true
		from, to = h.dec.Begun()
	}
	if ok && to == 0 {
		return from, c.tcp.Direction(side).Next(), false, true
	}
	return from, to, ok, ok
}

// ending notes FIN and RST.
func (c *Conn) ending(side int, s *reassembly.Segment, acked int64) {
	t := c.Trace
	fl := &t.Flow[c.Dir(side)]
	act := &trace.Closing{Frame: s.Frame, Time: s.Time, At: c.tcp.Direction(side).Offset(s.Seq) + int64(s.Len), Acked: acked, Sent: c.tcp.Direction(1 - side).High()}
	if s.Flags&reassembly.FlagRST != 0 {
		c.resets(side, s, act)
		return
	}
	early := fl.FIN == nil && c.tcp.Direction(side).Early()
	if fl.FIN == nil {
		fl.FIN = act
	}
	first := !c.dirs[0].fin && !c.dirs[1].fin
	if first {
		c.stops(s, trace.StallClosed)
	}
	if early {
		c.closesEarly(side, s)
	}
	// The FIN of the other side may have been captured first and yet answer this one.
	if peer := t.Flow[c.Dir(1-side)].FIN; (first || !c.dirs[side].fin && peer.Acked > act.At) && !c.closed {
		t.Ending, t.EndFrame = trace.FIN, s.Frame
		t.EndedBy = trace.Dir(side) //nolint:gosec // a side until Finish
	}
	c.dirs[side].fin = true
	if c.dirs[0].fin && c.dirs[1].fin {
		c.closed = true
	}
	if h := c.tcp.Direction(side); h.FIN() >= 0 && h.Next() >= h.FIN() {
		c.end(side)
		c.unhold(1 - side)
	}
}

// closesEarly notes a FIN that was captured before octets in front of it, which shows that they are missing as later octets do.
func (c *Conn) closesEarly(side int, s *reassembly.Segment) {
	h, t := c.tcp.Direction(side), &c.work.trouble().sides[side]
	c.work.moved[side] = progress{s.Time, s.Frame}
	if !h.Waiting() {
		t.opens(s.Time)
		t.clock.shows(c.env, h.FIN())
	}
}

// release lets reassembly forget the carriers of octets that are done with.
func (c *Conn) release(side int) {
	off := c.oldest(side)
	if dec := c.dirs[side].dec; dec != nil && c.dirs[side].phase == full {
		if from, ok := dec.Searched(); ok {
			c.searched(side, from, off)
		}
	}
	c.tcp.Direction(side).Release(off)
	if u := c.dirs[side].unusual; u != nil {
		u.release(off)
	}
	c.weigh(side)
}

func (c *Conn) oldest(side int) int64 {
	h := &c.dirs[side]
	off := c.tcp.Direction(side).Next()
	if h.kept != nil && len(h.kept.octets) > 0 {
		off = h.kept.off
	}
	if h.dec != nil && !h.ended {
		off = min(off, h.dec.Oldest())
	}
	return off
}

// First returns the first octets of both sides, by side, as far as they are kept: at most
// [maxLead] of each, from the place at which the capture begins. They are borrowed until
// Finish.
func (c *Conn) First() (octets [2][]byte) {
	for side := range c.dirs {
		l := c.dirs[side].loose
		if l != nil && len(l.before) > 0 {
			l = &l.before[0]
		}
		if l != nil && !l.torn {
			octets[side] = l.lead
		}
	}
	return octets
}

// Finish ends the connection. Only Trace remains of it.
func (c *Conn) Finish() {
	c.noteProgress()
	c.stops(nil, trace.StallOpen)
	c.endWindows()
	var p reassembly.Piece
	order := [2]int{0, 1}
	if c.dirs[0].phase >= held && c.dirs[1].phase < held {
		order = [2]int{1, 0} // what waits behind a hole may be the other's startup frame
	}
	for _, side := range order {
		for c.tcp.Flush(side, &p) {
			c.piece(side, &p)
		}
	}
	if c.work.far != nil {
		c.farCloses()
	}
	for _, side := range [2]int{c.ini, 1 - c.ini} {
		c.end(side)
	}
	t := c.Trace
	for side := range 2 {
		h := c.tcp.Direction(side)
		fl := &t.Flow[c.Dir(side)]
		n := h.Counts()
		if n.Gaps|n.GapOctets|n.Retransmitted|n.Reordered > 0 {
			k := fl.Rarely()
			k.Gaps, k.GapOctets, k.Retransmitted, k.Reordered = n.Gaps, n.GapOctets, n.Retransmitted, n.Reordered
		}
		if n.Conflicts|n.Uncompared > 0 {
			k := fl.Faulty()
			k.Conflicts, k.Uncompared = n.Conflicts, n.Uncompared
		}
		if n.LeftOut > 0 {
			k := fl.Faulty()
			k.LeftOut, k.FirstLeftOut, k.MayBeCopies = n.LeftOut, n.FirstLeftOut, n.MayBeCopies
			k.Elsewhere = h.Elsewhere()
		}
		c.left(side)
	}
	c.leads()
	c.unheard()
	t.EndedBy = c.Dir(int(t.EndedBy))
	c.clear()
	c.tcp.Release()
	c.env.rework(c.work)
	c.work = nil
	c.gives()
}

// end says that no more octets come from a side.
func (c *Conn) end(side int) {
	h := &c.dirs[side]
	if h.ended {
		return
	}
	c.force(side)
	c.halfStartup(side)
	if h.phase == startup {
		c.brokenStartup(side)
	}
	if h.dec != nil {
		h.dec.End()
		c.drain(side)
	}
	h.ended = true
	if h.phase == streaming && c.Trace.IsMPA {
		c.certain(side)
		c.streamed(side, c.tcp.Direction(side).Next())
	}
	c.undecode(side)
	h.kept = nil
}

// Closed reports, once, that both sides have closed the connection or one has reset it.
func (c *Conn) Closed() bool {
	if !c.closed || c.told {
		return false
	}
	c.told = true
	return true
}

// Ends reports whether the connection is closed by now: what seemed to close it may turn out to have had no effect.
func (c *Conn) Ends() bool { return c.closed }

// Over reports, once, that nothing more is to come: both sides have closed the connection, each has
// acknowledged that of the other, and no octets are missing.
func (c *Conn) Over() bool {
	if !c.closed || c.work.done || !c.dirs[0].fin || !c.dirs[1].fin || c.Lacks() {
		return false
	}
	for side := range 2 {
		if h := c.tcp.Direction(side); h.Acked() <= h.FIN() {
			return false
		}
	}
	c.work.done = true
	return true
}

// Finished reports whether Finish was called.
func (c *Conn) Finished() bool { return c.work == nil }

// Lacks reports whether octets are known to be missing, which may still come.
func (c *Conn) Lacks() bool {
	for side := range 2 {
		h := c.tcp.Direction(side)
		if h.Waiting() || h.Early() {
			return true
		}
	}
	return false
}

// piece processes the next piece of a direction.
func (c *Conn) piece(side int, p *reassembly.Piece) {
	h := &c.dirs[side]
	if h.ended {
		return
	}
	if p.Kind != reassembly.Data {
		c.missing(side, p)
		return
	}
	if h.phase == full {
		c.start(side)
		var crcs mpa.Verified
		if !p.Held && len(p.Data) == c.env.size { // all data of the current packet
			crcs = c.env.verified
		}
		h.dec.WriteVerified(p.Data, crcs)
		c.drain(side)
		return
	}
	c.data(side, p.Off, p.Data)
}

// data processes octets outside full operation. When a phase ends among them, it
// continues with the next phase.
func (c *Conn) data(side int, off int64, b []byte) {
	h := &c.dirs[side]
	for len(b) > 0 {
		switch h.phase {
		case streaming:
			b = c.stream(side, off, b)
		case startup:
			b = c.collect(side, b)
		case held:
			h.keep(off, b)
			if len(h.tail()) > maxHeld {
				c.force(side)
			}
			return
		case opening:
			b = c.opening(side, b)
		case full:
			c.start(side)
			h.dec.Write(b)
			c.drain(side)
			return
		}
		off = c.consumed(side, b)
	}
}

// consumed returns the offset of the rest of the current octets.
func (c *Conn) consumed(side int, rest []byte) int64 {
	return c.tcp.Direction(side).Next() - int64(len(rest))
}

// keep appends octets to those that wait.
func (h *direction) keep(off int64, b []byte) {
	k := h.kept
	if k == nil {
		h.await(slices.Clone(b), off)
		return
	}
	if len(k.octets) == 0 {
		k.off = off
	}
	k.octets = append(k.octets, b...)
}

// drop gives up what waits.
func (h *direction) drop() {
	if h.kept != nil {
		h.kept.octets = h.kept.octets[:0]
	}
}

// missing processes a hole.
func (c *Conn) missing(side int, p *reassembly.Piece) {
	h := &c.dirs[side]
	gap := p.Kind == reassembly.Gap
	var damaged int64 // what packets carried that were left out
	if gap {
		damaged = h.unusual.within(p.Off, p.Off+p.Len)
	}
	c.drifts(side)
	c.start(side)
	if gap && h.phase == streaming {
		c.tear(side, p)
	}
	if gap && c.env.Sink != nil {
		g := &trace.GapEvent{
			Conn: c.Trace, Dir: c.Dir(side), Frame: c.Trace.LastFrame, Time: c.Trace.LastTime,
			Octets: p.Len, Reason: p.Reason.String(), Behind: c.behind(side, p),
		}
		if damaged == p.Len {
			g.Reason = onlyDamaged
		}
		c.env.Sink.Gap(g)
	}
	if gap {
		h.gap = true
		h.unusual.gap()
		c.hole(side, p, damaged)
		c.lacks(side, p.Off, p.Len)
		c.outgoing(side).gap()
	}
	c.force(side)
	if h.phase == startup {
		if c.bridge(side, p.Len) {
			return
		}
		c.brokenStartup(side)
	}
	if h.phase == full {
		c.start(side)
		h.dec.Missing(p.Len, gap)
		c.drain(side)
		return
	}
	h.drop()
	if gap {
		c.tear(side, p)
	} else {
		c.note(side, p.Off)
		c.outside(side).noted = p.Off + p.Len
	}
	if h.dec == nil {
		c.search(side, p.Off+p.Len)
	} else {
		h.dec.Missing(p.Len, gap)
		c.drain(side)
	}
	// The other side may wait for a startup frame that was in the hole.
	if gap {
		c.unhold(1 - side)
	}
}
