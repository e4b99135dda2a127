package pipeline

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/readahead"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// A TCP frame goes one way:
//
//	decode (or predecoded) -> locate -> admit -> deliver -> tell
//
// It becomes the segment at hand: it is decoded, unless a note says enough of it. Its flow
// is located in the table, by its endpoints or by the number that a note gives these. It is
// admitted to that flow or to a new one, unless it was damaged. The connection gets it, and
// the sink is told.

// Frame takes in one frame.
func (r *Run) Frame(f *capture.Frame) { r.decode(f, nil) }

// predecoded takes in a frame that a note says enough of. It reports false, and has done
// nothing, if the frame has to be decoded. f and p are for those who are shown frames.
func (r *Run) predecoded(n *readahead.Note, number uint64, f *capture.Frame, p *packet.Packet) bool {
	if n.Flags&reassembly.FlagSYN != 0 || r.opt.Sums && !n.ChecksumRight() {
		return false
	}
	fl, side := r.flows.numbered(n)
	if fl == nil || r.copied && r.repeatsOf(&fl.ends).repeating(fl.ends) || r.watching(fl, number) || r.reused && fl.conn.Asked() || r.pending != nil && r.hasPending(fl) { // ends lie in a cache line of their own
		return false
	}
	s := &r.seg
	s.Reset(n.Seq, n.Ack, n.Flags, n.Payload(), number, n.Time)
	if !fl.conn.Continues(side, s) && (r.reused && fl.conn.FarFrom(side, s) || fl.conn.Strays(side, s)) {
		return false
	}
	r.totals.frame(number, n.Time, int(n.Captured), n.OrigLen)
	r.latest = max(r.latest, n.Time)
	r.totals.TCP++
	if r.opt.Saw != nil {
		r.opt.Saw(number, n.Time)
	}
	r.note = n
	s.Options, s.SACK, s.ZeroWindow, s.Window = int(n.Header)-packet.TCPLen, n.SACK(), n.ZeroWindow(), n.Room()
	if r.tunnels != nil {
		r.tunnels = nil
	}
	if r.opt.Sums {
		fl.undamaged(side, s)
	}
	r.take(f, p, fl, side, n)
	return true
}

// decode takes in a frame, of which a note may say something.
func (r *Run) decode(f *capture.Frame, n *readahead.Note) {
	t, p := &r.totals, &r.pkt
	if f.Duplicate && !r.opt.Shard.First() {
		r.passOver(f.Number, f.Moment())
		return
	}
	t.frame(f.Number, f.Moment(), len(f.Data), f.OrigLen)
	r.latest = max(r.latest, f.Moment())
	if r.opt.Saw != nil {
		r.opt.Saw(f.Number, f.Moment())
	}
	if f.Duplicate {
		t.Duplicates++
	}
	switch {
	case r.opt.Bare:
		r.bare(f)
		return
	case f.Duplicate:
		r.duplicate(f)
		return
	}
	if r.opt.Linger > 0 {
		r.Settle(f.Moment())
	}
	status := r.dec.Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Moment(), p)
	if r.tunnels != nil {
		r.tunnels = nil
	}
	if status == packet.NotIP || status == packet.OtherTransport {
		status = r.unwrap.Unwrap(r.dec, status, f.Number, f.Moment(), p)
		r.tunnels = r.unwrap.Headers()
	}
	switch {
	case !r.mine(status, p):
		r.giveBack(f)
	case status != packet.OK:
		r.undecoded(f, status)
	default:
		r.packet(f, p, n)
	}
}

// packet takes in a TCP or SCTP packet.
func (r *Run) packet(f *capture.Frame, p *packet.Packet, n *readahead.Note) {
	t := &r.totals
	if len(p.Payload) == 0 && p.PayloadLen > 0 {
		t.Emptied++
	}
	if p.Proto == packet.ProtoTCP {
		t.TCP++
		r.tcp(f, p, n)
		return
	}
	t.SCTP++
	r.sctp(f, p, n)
}

// duplicate tells the sink of a packet that came before, from another file. Its headers are
// decoded to be shown: fragments of it, too, are none of a datagram that is put together.
func (r *Run) duplicate(f *capture.Frame) {
	if r.sink == nil && r.opt.Opened == nil {
		return
	}
	if r.again == nil {
		r.again = packet.NewDecoder()
	}
	status := r.again.Decode(uint16(f.Link), f.Data, f.OrigLen, f.Number, f.Moment(), &r.pkt)
	r.frame = Frame{Frame: *f, Status: status, Packet: &r.pkt}
	if status == packet.Malformed || status == packet.Truncated {
		r.frame.Reason = r.again.Reason()
	}
	r.told(&r.frame)
}

// bare tells the sink of a frame that nothing is looked at in.
func (r *Run) bare(f *capture.Frame) {
	if r.sink != nil {
		r.frame.Frame = *f
		r.sink.Frame(&r.frame)
	}
}

// undecoded counts a frame of which no more is made, and tells the sink.
func (r *Run) undecoded(f *capture.Frame, status packet.Status) {
	t := &r.totals
	r.others.frame(f, status, &r.pkt)
	switch status {
	case packet.Malformed:
		t.Malformed++
	case packet.Truncated:
		t.Truncated++
		if proto := r.pkt.Proto; proto == packet.ProtoTCP || proto == packet.ProtoSCTP {
			t.Headless++
		}
	case packet.Fragment:
		t.Fragments++
	default:
		t.Other++
	}
	if r.sink == nil && r.opt.Opened == nil {
		return
	}
	r.frame = Frame{Frame: *f, Status: status, Packet: &r.pkt, Tunnels: r.tunnels}
	if status == packet.Malformed || status == packet.Truncated {
		r.frame.Reason = r.dec.Reason()
	}
	r.told(&r.frame)
}

// open tells of a frame whose headers are decoded; fl may be nil.
func (r *Run) open(f *capture.Frame, p *packet.Packet, fl *flow, side int) {
	if r.opt.Opened == nil {
		return
	}
	o := &r.opening // its other members are zero, or say what Look did
	o.Frame, o.Packet, o.Tunnels = *f, p, r.tunnels
	o.Conn, o.Dir = nil, 0
	if fl != nil {
		o.Conn, o.Dir = fl.conn.Trace, fl.conn.Dir(side)
	}
	r.opt.Opened(o)
}

// told tells of a frame that brought nothing besides.
func (r *Run) told(f *Frame) {
	if r.opt.Opened != nil {
		r.opt.Opened(f)
	}
	if r.sink != nil {
		r.sink.Frame(f)
	}
}

// tcp takes in a TCP packet.
func (r *Run) tcp(f *capture.Frame, p *packet.Packet, n *readahead.Note) {
	r.segment(f, p)
	fl, side := r.flows.find(p)
	if fl != nil && r.watching(fl, f.Number) && r.tapsOf(fl).copied(f, p, &r.totals) {
		r.tellCopy(f, p, fl, side)
		return
	}
	if was, dir, ok := r.repeated(p, fl, side); ok {
		r.tellStraggler(f, p, &was, dir)
		return
	}
	if was, dir, ok := r.challenged(p, fl, side); ok {
		r.tellStraggler(f, p, &was, dir)
		return
	}
	if was, dir, ok := r.former(p, fl, side); ok {
		r.tellStraggler(f, p, &was, dir)
		return
	}
	again := false
	if fl, side, again = r.settlePending(fl, side, p); again || fl != nil && (r.holdsSYN(fl, side, p) || r.holdsStray(fl, side, p)) {
		r.tellPending(f, p, r.pending[fl.ends].number)
		return
	}
	if fl == nil {
		if was, dir, ok := r.straggler(p); ok {
			r.tellStraggler(f, p, &was, dir)
			return
		}
		if fl, side = r.answered(p); fl == nil && r.unanswered(p) {
			r.tellUnanswered(f, p)
			return
		}
	}
	r.verified = 0
	if r.opt.Sums && fl != nil && fl.conn.Trace.IsMPA && n.Kind() != readahead.TCP {
		r.verify(p)
	}
	fl, side, ok := r.admit(fl, side, p, n)
	if !ok {
		r.tellDamaged(f, p, fl, side)
		return
	}
	if p.Flags&reassembly.FlagSYN != 0 && fl.conn.Trace.Flow[fl.conn.Dir(side)].Started {
		r.doubtful(fl)
	}
	r.take(f, p, fl, side, n)
}

// take hands the segment at hand to its connection, and tells of it before and after.
func (r *Run) take(f *capture.Frame, p *packet.Packet, fl *flow, side int, n *readahead.Note) {
	r.open(f, p, fl, side)
	r.taken = r.seg.Frame
	note := r.deliver(fl, side, n)
	r.taken = 0
	if note&reassembly.Retransmission != 0 {
		r.doubtful(fl)
	}
	if !r.brief() {
		r.tell(f, p, fl, side, note)
	} else if r.outlines() && fl.conn.Trace.IsMPA {
		r.tellOutline(fl, side, note)
	}
	if r.memory.Over() {
		r.relieve()
	}
}

// segment makes the TCP segment of a packet the one at hand.
func (r *Run) segment(f *capture.Frame, p *packet.Packet) {
	s := &r.seg
	r.decoded = f.Number
	s.Reset(p.Seq, p.Ack, p.Flags, p.Payload, f.Number, f.Moment())
	s.Len, s.Fragments = p.PayloadLen, p.Fragments
	s.Options = p.SegmentLen - p.PayloadLen - packet.TCPLen
	s.OptionsCut = len(p.Options) < s.Options
	if s.Flags&reassembly.FlagSYN != 0 {
		s.MSS, _ = packet.MSS(p.Options)
		if scale, ok := packet.WindowScale(p.Options); ok {
			s.Scale = min(scale, 14) + 1
		}
	}
	s.SACK, s.ZeroWindow, s.Window = len(p.Options) > 0 && packet.SACK(p.Options) != nil, p.Window == 0, packet.Room(p.Window)
}

// admit returns the flow that the segment at hand belongs to, and the side that sent it: the
// one that was located, or a new one if there is none or if its endpoints are used again. It
// reports false if the segment was damaged on its way. p is the packet; nil: a note says
// that nothing of all that can be.
func (r *Run) admit(fl *flow, side int, p *packet.Packet, n *readahead.Note) (*flow, int, bool) {
	s := &r.seg
	switch {
	case fl == nil:
		r.makeRoom()
		e, swap := p.Endpoints()
		fl, side = r.flows.add(e, swap), 0
		r.init(fl, p)
	case s.Flags&reassembly.FlagSYN != 0 && fl.conn.NewConnection(side, s) && !(r.opt.Sums && fl.spoilt(side, p)):
		fl.conn.Displace(side, s)
		before := fl.conn.Trace
		_, swap := p.Endpoints()
		fl, side = r.reuse(fl, swap), 0
		r.init(fl, p)
		fl.conn.Inherit(before)
	}
	noted := n.Kind() == readahead.TCP
	if noted {
		r.flows.learn(n, fl)
	}
	return fl, side, !r.opt.Sums || !fl.damaged(side, s, p, noted && n.ChecksumRight())
}

// reuse ends a connection, the ports of which another one takes, and returns that; swap says that side 0 of it is the larger endpoint.
func (r *Run) reuse(fl *flow, swap bool) *flow {
	was := settledOf(fl, fl.conn.Opening())
	r.finish(fl)
	if r.opt.Linger == 0 {
		r.repeatsOf(&fl.ends).remember(fl.ends, was, r.seg.Time)
		r.reused = true
		r.copying()
	}
	fl.forget()
	return r.flows.replace(fl, swap)
}

// verify computes the CRCs of what looks like whole FPDUs in the segment at hand, together with
// its sum: each octet is loaded once.
func (r *Run) verify(p *packet.Packet) {
	if p.Fragments == nil && len(p.Payload) == p.PayloadLen && len(p.Segment) == p.SegmentLen {
		r.verified, r.seg.Sum, r.seg.HasSum = mpa.VerifySum(p.Payload)
	}
}

// deliver hands the segment at hand to its connection, with the CRCs that were verified in it.
func (r *Run) deliver(fl *flow, side int, n *readahead.Note) reassembly.Note {
	crcs, ends := r.verified, (*mpa.Ends)(nil)
	if n.Kind() == readahead.TCP {
		if crcs = n.CRCs; crcs != 0 {
			ends = &n.Ends
		}
	}
	note := fl.conn.Packet(side, &r.seg, crcs, ends)
	r.closing(fl)
	return note
}

// timestamp is TSval of the packet at hand.
func (r *Run) timestamp() (val uint32, ok bool) {
	options := r.pkt.Options
	if r.decoded != r.seg.Frame {
		options = r.note.Segment[packet.TCPLen:r.note.Header]
	}
	val, _, ok = packet.Timestamps(options)
	return val, ok
}

// tell tells the sink of a segment that was delivered.
func (r *Run) tell(f *capture.Frame, p *packet.Packet, fl *flow, side int, note reassembly.Note) {
	o := &r.delivered // its other members are always zero
	o.Frame, o.Packet, o.Tunnels = *f, p, r.tunnels
	o.Conn, o.Dir, o.Note = fl.conn.Trace, fl.conn.Dir(side), note
	o.From, o.To, o.HasSpan = fl.conn.Span(side, &r.seg)
	o.Origin, o.HasOrig = fl.conn.Origin(side)
	o.Open, o.OpenTo, o.OpenEnds, o.HasOpen = fl.conn.OpenPDU(side)
	r.sink.Frame(o)
}

// tellOutline tells the sink what matters most of a segment that was delivered.
func (r *Run) tellOutline(fl *flow, side int, note reassembly.Note) {
	o, p, s := &r.outline, &r.outlined, &r.seg // their other members are always the same
	o.Number, o.Time, o.Conn, o.Dir, o.Note = s.Frame, s.Time, fl.conn.Trace, fl.conn.Dir(side), note
	o.Outline, o.Packet = true, p
	p.Proto, p.Flags, p.PayloadLen, p.Window = packet.ProtoTCP, s.Flags, s.Len, 1
	if s.ZeroWindow {
		p.Window = 0
	}
	r.sink.Frame(o)
}

// tellDamaged tells the sink of a segment that was damaged.
func (r *Run) tellDamaged(f *capture.Frame, p *packet.Packet, fl *flow, side int) {
	r.frame = Frame{Frame: *f, Packet: p, Tunnels: r.tunnels, Conn: fl.conn.Trace, Dir: fl.conn.Dir(side), Damaged: true}
	r.told(&r.frame)
}

// tellStraggler tells the sink of a segment of a connection that was settled.
func (r *Run) tellStraggler(f *capture.Frame, p *packet.Packet, was *settled, dir trace.Dir) {
	c := &r.settling.conn
	*c = trace.Connection{Number: was.number}
	ends := endpoints(p)
	c.Side[dir].Addr, c.Side[1-dir].Addr = ends[0], ends[1]
	r.frame = Frame{Frame: *f, Packet: p, Tunnels: r.tunnels, Conn: c, Dir: dir}
	r.told(&r.frame)
}
