package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// drain handles all results of the decoder of a side.
func (c *Conn) drain(side int) {
	h := &c.dirs[side]
	for h.dec != nil {
		switch h.dec.Next() {
		case mpa.None:
			return
		case mpa.Got:
			f := h.dec.FPDU
			if h.phase != full {
				// The other side may be framed now, in the memory that the FPDU is in.
				f = f.Clone()
				if c.Trace.IsMPA && !h.gap && (h.hasOrigin || c.tcp.Direction(side).StartKnown()) {
					c.streamed(side, f.Offset)
				}
				c.inferred(side)
			}
			c.fpdu(side, f, false)
		case mpa.Unframed:
			if found := h.dec.Loose(); h.phase == full && !found.AfterGap {
				from, to := found.From, found.To
				c.Trace.Flow[c.Dir(side)].Rarely().Unframed += uint64(to - from) //nolint:gosec // not negative
				l := c.outside(side)
				acked := c.searched(side, from, to)
				kind := trace.KindStreaming
				if found.Lied {
					kind = trace.KindUnframed
				}
				c.emitLoose(kind, side, from, to, found.Stray, found.Bare, acked)
				l.frames, l.omitted, l.noted = l.frames[:0], 0, 0
			}
		case mpa.Hopeless:
			c.undecode(side)
		}
	}
}

// inferred begins full operation of a side whose FPDUs were found without a startup
// frame.
func (c *Conn) inferred(side int) {
	peer := &c.dirs[1-side]
	c.inside(side)
	c.Trace.IsMPA, c.wanted = true, true
	c.force(1 - side)
	switch {
	case peer.dec != nil:
		peer.dec.Trust()
	case peer.phase == streaming && !peer.ended && (peer.gap || !c.tcp.Direction(1-side).StartKnown()):
		c.search(1-side, c.tcp.Direction(1-side).Next())
	}
}

// fpdu processes one FPDU. single says that the current packet holds exactly this FPDU.
func (c *Conn) fpdu(side int, f *mpa.FPDU, single bool) {
	dir := c.Dir(side)
	c.count(dir, f)
	c.seen(side, dir)
	p := c.fpduRecord(side, dir, f, single)
	c.faults(side, dir, f, p, single)
	if c.Trace.Flow[1-dir].Waiting || weighsOrder(f) { // else only the sink needs it
		p.LastAcked = c.tcp.Acked()
		if !single {
			p.LastAcked = c.acked(side, f.Offset+int64(f.Size)-1)
		}
	}
	c.header(side, dir, f, p)
	if c.env.wantsPDUs() {
		c.show(side, f, p, single)
	}
	if len(c.env.done) > 0 {
		c.flushTransactions()
	}
}

// count counts an FPDU.
func (c *Conn) count(dir trace.Dir, f *mpa.FPDU) {
	fl := &c.Trace.Flow[dir]
	fl.FPDUs++
	fl.FPDUOctets += uint64(f.Size) //nolint:gosec // not negative
	switch f.CRCStatus {
	case mpa.CRCGood:
		fl.CRCGood++
	case mpa.CRCBad:
		fl.CRCBad++
	case mpa.CRCUnverifiable:
		fl.Rarely().CRCUnverifiable++
	case mpa.CRCOff:
		fl.CRCOff++
	}
	if f.Sync != mpa.InSync {
		fl.Faulty().Resyncs[f.Sync]++
	}
	if len(f.Missing) > 0 {
		k := fl.Rarely()
		k.Partial++
		if f.Unsent > 0 {
			k.Unsent, k.UnsentOf = uint64(f.Unsent), uint64(f.Size) //nolint:gosec // not negative
		}
	}
	fl.Markers += uint64(len(f.Markers))
	if f.PadKnown && !f.PadZero() {
		fl.Faulty().PadBad++
	}
}

// seen notes whether a side uses markers and CRCs, if that was not negotiated or differs
// from it.
func (c *Conn) seen(side int, dir trace.Dir) {
	t, dec := c.Trace, c.dirs[side].dec
	if m := mpa.TriOf(dec.Markers()); t.Markers[dir] != m {
		if t.Negotiated {
			t.Flow[dir].MarkersSeen = m
		} else {
			t.Markers[dir] = m
		}
	}
	if !t.Negotiated && dec.CRC() {
		t.CRC = mpa.Yes
	}
}

// fpduRecord fills in the record of an FPDU, with the frame that completed it.
func (c *Conn) fpduRecord(side int, dir trace.Dir, f *mpa.FPDU, single bool) *trace.PDU {
	h, p := &c.dirs[side], &c.env.pdu
	// Field by field: clearing the whole of it shows in the profile.
	p.Number, p.Conn, p.Kind, p.Dir, p.Frames = c.env.pdus, c.Trace, trace.KindFPDU, dir, p.Frames[:0]
	p.From, p.Length, p.FPDU, p.Chunk, p.Segment, p.Message = f.Offset, int64(f.Size), f, nil, nil, nil
	p.Offset, p.HasOffset = f.Offset-h.origin, h.hasOrigin
	p.Startup, p.StartupRaw, p.Partial, p.Since, p.FramesOmitted, p.TermSwapped, p.Terminate = nil, nil, false, 0, 0, false, nil
	p.Octets = nil
	c.env.pdus++
	if p.Frame = 0; !single {
		p.Frame, p.Time = c.tcp.Direction(side).Delivered(f.Offset + int64(f.Size))
		if len(f.Missing) > 0 {
			c.lastPart(side, f, p)
		}
	}
	if p.Frame == 0 {
		p.Frame, p.Time = c.Trace.LastFrame, c.Trace.LastTime
	}
	return p
}

// weighsOrder reports whether an FPDU carries a request that gets an answer, or a Terminate, which is about what its
// sender had received.
func weighsOrder(f *mpa.FPDU) bool {
	if len(f.Head) < 2 {
		return false
	}
	op := rdmap.ControlOf(f.Head[1]).Opcode
	return op == rdmap.OpReadRequest || op == rdmap.OpAtomicRequest || op == rdmap.OpTerminate
}

// header decodes the DDP header, and processes the segment.
func (c *Conn) header(side int, dir trace.Dir, f *mpa.FPDU, p *trace.PDU) {
	h := &c.dirs[side]
	indicates := h.first && dir == trace.I2R
	h.first = false
	if err := ddp.DecodeTo(&c.env.segment, f.Head); err != nil {
		c.Trace.Flow[dir].Rarely().Malformed++
		if indicates && f.ULPDULength == 0 {
			c.indicated(indication{sent: trace.RTRSend, frame: p.Frame, bare: true})
		}
		// The record may have been that of another FPDU.
		if p.Control, p.HasControl = (rdmap.Control{}), len(f.Head) > 1; p.HasControl {
			p.Control = rdmap.ControlOf(f.Head[1])
		}
		return
	}
	p.Segment = &c.env.segment
	p.Control, p.HasControl = rdmap.ControlOf(p.Segment.RsvdULP), true
	if indicates {
		c.indicated(indicationOf(p))
	}
	c.segment(side, p)
}

// show hands an FPDU to the sink, with the frames that carried it.
func (c *Conn) show(side int, f *mpa.FPDU, p *trace.PDU, single bool) {
	end := f.Offset + int64(f.Size)
	switch {
	case single:
		p.Retransmitted, p.OutOfOrder = p.Retransmitted[:0], p.OutOfOrder[:0]
		p.Frames, p.Bounds = append(p.Frames, p.Frame), append(p.Bounds[:0], 0)
		p.Begun, p.Inner = 0, 0
		p.Acked = c.tcp.Acked()
		p.LastAcked = p.Acked
	case c.env.Brief && c.dirs[side].unusual.none():
		c.evidence(side, p, f.Offset, end)
	default:
		p.Frames = c.tcp.Direction(side).Carriers(p.Frames, f.Offset, end)
		if len(p.Frames) == 0 {
			p.Frames = append(p.Frames, p.Frame)
		}
		c.evidence(side, p, f.Offset, end)
	}
	if !single {
		c.dirs[side].unusual.mark(p)
	}
	c.hand(p)
}

// lastPart sets the frame of an FPDU whose end was not captured: the last frame that
// carried some of it.
func (c *Conn) lastPart(side int, f *mpa.FPDU, p *trace.PDU) {
	tcp := c.tcp.Direction(side)
	end := f.Offset + int64(f.Size)
	c.env.frames = tcp.Carriers(c.env.frames[:0], end-1, end)
	if last := f.Missing[len(f.Missing)-1]; len(c.env.frames) == 0 && last.From > 0 {
		p.Frame, p.Time = tcp.Delivered(f.Offset + int64(last.From))
	}
}

// indication is the initiator's first FPDU.
type indication struct {
	sent  trace.RTR
	frame uint64
	bare  bool // an empty ULPDU, which only draft -01 has
}

// indicationOf classifies the initiator's first FPDU (RFC 6581 section 9.1).
func indicationOf(p *trace.PDU) indication {
	octets, body := payload(p)
	switch op := p.Control.Opcode; {
	case op == rdmap.OpSend && octets == 0:
		return indication{sent: trace.RTRSend, frame: p.Frame}
	case op == rdmap.OpWrite && octets == 0:
		return indication{sent: trace.RTRWrite, frame: p.Frame}
	case op == rdmap.OpTerminate:
		return indication{sent: trace.RTRTerminate, frame: p.Frame}
	case op == rdmap.OpReadRequest:
		if r, err := rdmap.DecodeReadRequest(body); err == nil && r.Size == 0 {
			return indication{sent: trace.RTRRead, frame: p.Frame}
		}
	}
	return indication{frame: p.Frame}
}

// indicated notes what the initiator sent first. If the Reply comes later, as where its
// direction does, that waits for it.
func (c *Conn) indicated(first indication) {
	if c.Trace.Outcome != trace.Accepted {
		c.first = &first
		return
	}
	c.readied(first)
}

// readied notes what the initiator sent first on a connection whose Reply awaits a
// ready-to-receive indication, and decides the layout by it.
func (c *Conn) readied(first indication) {
	t, kind := c.Trace, first.sent.Type()
	ini, res := &t.Side[trace.I2R], &t.Side[trace.R2I]
	if !ini.HasEnhanced || !res.HasEnhanced {
		return
	}
	t.LayoutOpen = false
	if !c.env.LayoutForced && onlyDraft01(ini.Enhanced, res.Enhanced, first) {
		t.Layout = mpa.LayoutDraft01
		t.RTRExpected = mpa.RTRTypes(res.Enhanced, mpa.LayoutDraft01)
	}
	if t.RTRExpected == 0 && (kind != 0 || !ini.Enhanced.A || !res.Enhanced.A) {
		return // no RTR message was requested
	}
	if t.RTRSent = first.sent; first.sent != trace.NoRTR {
		t.RTRFrame = first.frame
	}
}

// leavesLayout reports whether the flags of a Reply make no sense by RFC 6581, but may in draft -01, which has them in
// other places.
func leavesLayout(reply mpa.Enhanced) bool {
	return !reply.D && (!reply.A && (reply.B || reply.C) || reply.A && !reply.B && !reply.C)
}

// opensLayout reports whether a startup frame may be in the layout of draft -01, as far as its flags, and those of the
// Request before a Reply, tell.
func (c *Conn) opensLayout(e mpa.Enhanced, kind trace.Kind) bool {
	if kind == trace.KindRequest {
		return !e.D && (e.A || e.B || e.C)
	}
	ini := &c.Trace.Side[trace.I2R]
	return leavesLayout(e) && !(ini.HasEnhanced && ini.Enhanced.D)
}

// onlyDraft01 reports whether the flags of both words and what the initiator sent first go together in draft -01 and not
// by RFC 6581, where a single wrong flag of the Reply does not explain them either: the A that it does not repeat, or the
// types that it does not name.
func onlyDraft01(request, reply mpa.Enhanced, first indication) bool {
	sent := first.sent.Type()
	in := func(e mpa.Enhanced, l mpa.Layout) bool { return mpa.RTRTypes(e, l).Has(sent) }
	if sent == 0 || request.D || !leavesLayout(reply) || !in(request, mpa.LayoutDraft01) || !in(reply, mpa.LayoutDraft01) {
		return false
	}
	repeated := reply
	repeated.A = true
	explained := in(request, mpa.LayoutRFC6581) && (reply.A || in(repeated, mpa.LayoutRFC6581))
	return first.bare || !explained
}

// emitStartup hands out a startup frame whose octets are in tail.
func (c *Conn) emitStartup(side int, s *mpa.Startup) {
	h := &c.dirs[side]
	p := &c.env.pdu
	kind := trace.KindRTR
	switch s.Kind {
	case mpa.StartupRequest:
		kind = trace.KindRequest
	case mpa.StartupReply:
		kind = trace.KindReply
	case mpa.StartupRTR, mpa.StartupUnknown:
	}
	if e, _, ok := s.Word(); ok && s.Rev >= 2 && !c.env.LayoutForced {
		c.Trace.LayoutOpen = c.opensLayout(e, kind)
	}
	to := h.tailOff() + int64(len(h.tail()))
	length := int64(mpa.StartupLen + int(s.PDLength))
	if s.PDLength > mpa.MaxPrivateData && !h.partial {
		length = int64(len(h.tail())) // its length field is impossible
	}
	*p = trace.PDU{
		Kind: kind, Frames: p.Frames[:0], Bounds: p.Bounds[:0], From: h.tailOff(), Length: length,
		Startup: s, StartupRaw: h.tail(), Partial: h.partial,
	}
	if end, ok := c.tcp.Direction(side).Bound(to - 1); ok {
		p.Behind = int(end - to)
	}
	_, p.Since = c.tcp.Direction(side).Delivered(h.tailOff() + 1)
	c.emit(side, p, h.tailOff(), to)
}

// evidence notes the acknowledgements and boundaries of the segments that carried a PDU.
func (c *Conn) evidence(side int, p *trace.PDU, from, to int64) {
	h := c.tcp.Direction(side)
	if !isLoose(p) {
		p.Acked = c.acked(side, from)
	}
	p.LastAcked = p.Acked
	p.Bounds = h.Bounds(p.Bounds[:0], from, to)
	p.Begun, p.Inner = 0, 0
	if n := len(p.Bounds); n > 0 && p.Bounds[n-1] > 0 {
		p.LastAcked = c.acked(side, to-1)
		c.unprobed(side, p, from)
		i := slices.IndexFunc(p.Bounds, func(at int) bool { return at > 0 })
		if i < 0 {
			return
		}
		inner := p.Bounds[i]
		p.Begun, p.Inner = h.Carrier(from), h.Carrier(from+int64(inner))
	}
}

// acked returns what was acknowledged by the segment that first carried an octet.
func (c *Conn) acked(side int, off int64) int64 {
	ack, _ := c.tcp.Direction(side).AckedBy(off)
	return ack
}

// isLoose reports whether a PDU is of octets in no frame and no FPDU.
func isLoose(p *trace.PDU) bool { return p.Kind == trace.KindStreaming || p.Kind == trace.KindUnframed }

// emitLoose hands out octets in no frame and no FPDU: octets are the first of them, acked is
// what their segment acknowledged, which may have been long ago.
func (c *Conn) emitLoose(kind trace.Kind, side int, from, to int64, octets []byte, bare int, acked int64) {
	h := &c.dirs[side]
	p := &c.env.pdu
	l := c.outside(side)
	*p = trace.PDU{
		Kind: kind, Frames: append(p.Frames[:0], l.frames...), FramesOmitted: l.omitted,
		From: from, Length: to - from, Offset: from - h.origin, HasOffset: h.hasOrigin,
		Octets: octets[:min(int64(len(octets)), to-from)], Bare: bare, Bounds: p.Bounds[:0], Acked: acked,
	}
	if len(octets) == 0 {
		p.Acked = -1
	}
	c.emit(side, p, from, to)
}

func (c *Conn) emit(side int, p *trace.PDU, from, to int64) {
	p.Number, p.Conn, p.Dir = c.env.pdus, c.Trace, c.Dir(side)
	c.env.pdus++
	p.Frame, p.Time = c.tcp.Direction(side).Delivered(to)
	if isLoose(p) {
		if l := c.outside(side); l.frame > 0 {
			p.Frame, p.Time = l.frame, l.time
		}
	}
	if p.Frame == 0 {
		p.Frame, p.Time = c.Trace.LastFrame, c.Trace.LastTime
		if n := len(p.Frames); n > 0 {
			p.Frame = p.Frames[n-1]
		}
	}
	if c.env.Sink == nil && c.env.Upper == nil {
		return
	}
	if !isLoose(p) {
		p.Frames = c.tcp.Direction(side).Carriers(p.Frames, from, to)
	}
	if len(p.Frames) == 0 {
		p.Frames = append(p.Frames, p.Frame)
	}
	c.evidence(side, p, from, to)
	c.dirs[side].unusual.mark(p)
	c.hand(p)
}
