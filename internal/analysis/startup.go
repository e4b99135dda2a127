package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// stream looks for a startup frame in streaming octets and returns what follows
// it, if one begins among them.
func (c *Conn) stream(side int, off int64, b []byte) (rest []byte) {
	h := &c.dirs[side]
	tcp := c.tcp.Direction(side)
	if h.dec == nil && !h.hasOrigin && off == c.outside(side).from && !h.gap && (!tcp.StartKnown() || c.forced || off == 0 && opens(b)) {
		c.search(side, off)
	}
	c.begun(side, off, b)
	if h.dec != nil && !(off == c.outside(side).from && c.opensStartup(side, off, b)) {
		h.dec.Write(b)
		if c.drain(side); h.phase == full {
			return nil
		}
	}
	if len(h.tail()) > 0 {
		b = append(h.tail(), b...)
		off = h.tailOff()
		h.kept = nil // it is in b
	}
	at := 0
	for {
		i, whole := mpa.FindKey(b[at:])
		at += i
		if at == len(b) {
			c.note(side, off+int64(at))
			return nil
		}
		if !whole || len(b)-at < mpa.StartupLen {
			h.await(slices.Clone(b[at:]), off+int64(at))
			c.note(side, off+int64(at))
			return nil
		}
		if c.believable(side, off+int64(at), b[at:]) {
			break
		}
		at++
	}
	c.undecode(side)
	if s, _, _ := mpa.DecodeStartup(b[at:]); s.Kind == mpa.StartupRequest {
		c.keyed(side)
	} else {
		c.keyed(1 - side)
	}
	h.phase, h.rtr, h.partial = startup, false, false
	h.await(make([]byte, 0, len(b)-at), off+int64(at))
	return b[at:]
}

// maxLead is how many of the first octets of a run of streaming octets are kept.
const maxLead = 64

// begun keeps the first octets of a run of streaming octets. If they are a startup key,
// or nearly one, the connection is meant for MPA.
func (c *Conn) begun(side int, off int64, b []byte) {
	l := c.outside(side)
	if skip := l.from + int64(len(l.lead)) - off; len(l.lead) < maxLead && skip >= 0 && skip < int64(len(b)) {
		if len(l.lead) == 0 {
			l.leadAck = c.acked(side, l.from)
		}
		l.lead = append(l.lead, b[skip:min(int64(len(b)), skip+int64(maxLead-len(l.lead)))]...)
	}
	if l.from != 0 || len(l.lead) < mpa.KeyLen || off >= mpa.KeyLen || !c.tcp.Direction(side).StartKnown() {
		return
	}
	if k, exact := mpa.KeyKind(l.lead); exact && k != mpa.StartupRTR || mpa.NearKey(l.lead) {
		c.Trace.IsMPA = true
	}
}

// believable reports whether a key belongs to a startup frame. At the start of the stream
// it always does. Later it might be text that mentions MPA, so the frame must have a
// possible size, or reserved bits of zero and a revision of the RFCs: text has neither.
func (c *Conn) believable(side int, off int64, b []byte) bool {
	s, _, _ := mpa.DecodeStartup(b)
	if s.Kind == mpa.StartupRTR {
		return false
	}
	if off == 0 && c.tcp.Direction(side).StartKnown() {
		return true
	}
	if c.perhapsPayload(side, off) {
		return false
	}
	return s.PDLength <= mpa.MaxPrivateData || s.Res == 0 && (s.Rev == 1 || s.Rev == 2)
}

// perhapsPayload reports whether a key may lie in the payload of an FPDU: the capture begins late, and the key does not begin
// its TCP segment, as that of a sender that writes its startup frame by itself does, or FPDUs seem to lead over it.
func (c *Conn) perhapsPayload(side int, off int64) bool {
	h := c.tcp.Direction(side)
	if h.StartKnown() {
		return false
	}
	from, _, ok := h.Segment(off)
	return ok && from < off || c.dirs[side].dec != nil && c.dirs[side].dec.Covers(off)
}

// opensStartup reports whether octets begin with a startup frame. Then whatever its private data looks like is in no FPDU.
func (c *Conn) opensStartup(side int, off int64, b []byte) bool {
	at, whole := mpa.FindKey(b)
	return at == 0 && whole && len(b) >= mpa.StartupLen && c.believable(side, off, b)
}

// collect gathers a startup frame and returns what follows it.
func (c *Conn) collect(side int, b []byte) (rest []byte) {
	h := &c.dirs[side]
	need := mpa.StartupLen
	for {
		if n := min(need-len(h.tail()), len(b)); n > 0 {
			h.keep(h.tailOff(), b[:n])
			b = b[n:]
		}
		if len(h.tail()) < need {
			return nil
		}
		if all := mpa.StartupLen + int(mpa.PrivateLen(h.tail())); all > need {
			need = all
			continue
		}
		s, _, _ := mpa.DecodeStartup(h.tail())
		c.started(side, &s)
		return b
	}
}

// bridge continues after missing octets inside the private data of a startup frame.
func (c *Conn) bridge(side int, n int64) bool {
	h := &c.dirs[side]
	if len(h.tail()) < mpa.StartupLen {
		return false
	}
	s, _, _ := mpa.DecodeStartup(h.tail())
	missing := int64(mpa.StartupLen+int(s.PDLength)) - int64(len(h.tail()))
	h.partial = true
	if n < missing {
		h.keep(h.tailOff(), make([]byte, n))
		return true
	}
	h.keep(h.tailOff(), make([]byte, missing))
	s, _, _ = mpa.DecodeStartup(h.tail())
	c.started(side, &s)
	if n == missing {
		return true
	}
	c.drifts(side)
	c.force(side)
	if h.phase == full {
		c.start(side)
		h.dec.Missing(n-missing, true)
		c.drain(side)
	}
	return true
}

// brokenStartup hands out an incomplete startup frame that cannot be completed any more.
func (c *Conn) brokenStartup(side int) {
	h := &c.dirs[side]
	h.phase = streaming
	if len(h.tail()) < mpa.StartupLen {
		h.drop()
		return
	}
	s, _, _ := mpa.DecodeStartup(h.tail())
	if s.Kind == mpa.StartupRequest {
		c.roles(side)
	} else {
		c.roles(1 - side)
	}
	c.streamed(side, h.tailOff())
	h.partial = true
	c.emitStartup(side, &s)
	c.keepStartup(side, &s)
	if c.Trace.Outcome == trace.NoneSeen {
		c.Trace.Outcome = trace.Incomplete
	}
	c.outside(side).restart(c.tcp.Direction(side).Next())
	h.drop()
}

// LeastKey is how many octets of a startup key are no coincidence.
const LeastKey = 4

// halfStartup notes a startup frame in the middle of which the stream ends. Where the capture lacks octets, it is
// not known that it does.
func (c *Conn) halfStartup(side int) {
	h, tcp, b := &c.dirs[side], c.tcp.Direction(side), c.dirs[side].tail()
	if h.gap || c.Trace.Flow[c.Dir(side)].Cut || h.rtr || h.partial {
		return
	}
	needs, least := 0, LeastKey
	if c.Trace.Side[c.Dir(1-side)].HasStartup {
		least = 1 // an answer is expected
	}
	switch {
	case h.phase == startup && len(b) >= mpa.StartupLen:
		needs = mpa.StartupLen + int(mpa.PrivateLen(b))
	case h.phase != streaming || len(b) < least || h.tailOff() != 0 || !tcp.StartKnown() || tcp.Next() != int64(len(b)):
		return
	}
	s := &c.Trace.Side[c.Dir(side)]
	s.StartupHad, s.StartupNeeds = int32(len(b)), int32(needs) //nolint:gosec // at most 64 KB
	if frames := tcp.Carriers(c.env.frames[:0], h.tailOff(), h.tailOff()+int64(len(b))); len(frames) > 0 {
		s.StartupUntil, c.env.frames = frames[len(frames)-1], frames
	}
}

// roles notes which side is the initiator, permanently, and that the
// connection carries MPA.
func (c *Conn) roles(initiator int) {
	c.Trace.IsMPA, c.wanted = true, true
	c.keyed(initiator)
}

// keyed sets the initiator as soon as a startup key shows it.
func (c *Conn) keyed(initiator int) {
	c.Trace.IsMPA = true
	if t := c.Trace; !t.RolesKnown {
		t.RolesKnown = true
		c.setInitiator(initiator)
	}
}

// started processes a whole startup frame, whose octets are in tail.
func (c *Conn) started(side int, s *mpa.Startup) {
	h, peer := &c.dirs[side], &c.dirs[1-side]
	t := c.Trace
	if h.rtr {
		c.emitStartup(side, s)
		t.RTRSent, t.RTRFrame = trace.RTR2007, c.env.pdu.Frame
		if !c.env.LayoutForced {
			t.Layout = mpa.LayoutRTR2007
		}
		h.origin = h.tailOff() + int64(len(h.tail()))
		h.drop()
		c.begin(side)
		return
	}
	c.streamed(side, h.tailOff())
	to := h.tailOff() + int64(len(h.tail()))
	request := s.Kind == mpa.StartupRequest
	answered := request && c.reply != nil && c.reply.acked >= to
	if t.Outcome == trace.Rejected && (request && !answered || !request && c.answersAnother(side)) {
		c.forget()
	}
	if request {
		c.roles(side)
	} else {
		c.roles(1 - side)
		c.cutShort(1 - side)
	}
	c.emitStartup(side, s)
	c.keepStartup(side, s)
	if request {
		t.Startups++
		c.reqNum, c.reqAt = c.env.pdu.Number, c.env.pdu.Time
		if answered {
			c.startupDone(c.reply.pdu, c.reply.time, c.env.pdu.Frame)
		}
		c.reply = nil
	} else if c.Dir(side) == trace.R2I {
		if p := &c.env.pdu; t.Side[trace.I2R].HasStartup {
			c.startupDone(p.Number, p.Time, p.Frame)
		} else {
			c.reply = &reply{p.Number, p.Time, c.acked(side, to-1)}
		}
	}
	h.origin = to
	h.hasOrigin, h.phase = true, held
	h.drop()
	c.outside(side).restart(h.origin)
	if t.Outcome == trace.NoneSeen {
		t.Outcome = trace.Incomplete
	}
	req, rep := &t.Side[trace.I2R], &t.Side[trace.R2I]
	switch {
	case s.Kind == mpa.StartupReply && s.R, answered && rep.Startup.R:
		c.rejected()
	case req.HasStartup && rep.HasStartup && rep.Startup.Kind == mpa.StartupReply && !rep.Startup.R:
		c.negotiate()
	case peer.phase == full:
		// The frame of the other side is missing, and its FPDUs were found without it.
		c.force(side)
	}
}

// reply is a Reply that was captured before its Request, and what it acknowledged.
type reply struct {
	pdu         uint64
	time, acked int64
}

// startupDone hands out the transaction of a Request and its Reply, of which a frame was
// captured last.
func (c *Conn) startupDone(pdu uint64, at int64, frame uint64) {
	t := c.Trace
	took := elapsed(c.reqAt, at)
	if took >= 0 {
		t.StartupLatency, t.HasStartupLatency = took, true
	}
	c.transaction(&trace.Transaction{
		Conn: t, Kind: trace.TransactionStartup, Frame: frame, Request: c.reqNum, Responses: []uint64{pdu}, First: took, Last: took,
	})
	c.flushTransactions()
}

// cutShort ends a startup frame that claims more private data than there may
// be, because the other side has answered it.
func (c *Conn) cutShort(side int) {
	h := &c.dirs[side]
	if h.phase != startup || len(h.tail()) < mpa.StartupLen {
		return
	}
	if s, _, _ := mpa.DecodeStartup(h.tail()); s.PDLength > mpa.MaxPrivateData {
		c.started(side, &s)
	}
}

// forget prepares the connection for another startup after a reject, of either
// side.
func (c *Conn) forget() {
	t := c.Trace
	t.Outcome, t.Negotiated, t.RolesKnown = trace.NoneSeen, false, false
	for i := range t.Side {
		t.Side[i] = trace.Side{Addr: t.Side[i].Addr}
	}
}

// answersAnother reports whether a Reply of a side, behind a reject, answers a Request that was not captured so far: it comes from the side
// that was rejected, or the rejected Request was not captured either.
func (c *Conn) answersAnother(side int) bool {
	asks := 1 - side
	if c.Dir(side) == trace.R2I && c.Trace.Side[trace.I2R].HasStartup {
		return false
	}
	h := c.tcp.Direction(asks)
	return c.dirs[asks].gap || h.Waiting() || h.Behind()
}

// keepStartup stores the frame with the side that sent it.
func (c *Conn) keepStartup(side int, s *mpa.Startup) {
	sd := &c.Trace.Side[c.Dir(side)]
	if sd.HasStartup && c.Trace.Negotiated {
		return
	}
	sd.Startup, sd.HasStartup = *s, true
	sd.StartupFrame, sd.StartupTime = c.env.pdu.Frame, c.env.pdu.Time
	sd.Startup.PrivateData = append([]byte(nil), s.PrivateData...)
	sd.ULPPrivate = sd.Startup.PrivateData
	sd.HasEnhanced = false
	if e, ulp, ok := sd.Startup.Word(); ok && s.Rev >= 2 {
		sd.Enhanced, sd.ULPPrivate, sd.HasEnhanced = e, ulp, true
	}
}

// rejected leaves MPA: anything may follow on the connection, even another Request.
// Some stacks ignore the reject and send FPDUs, so FPDUs are searched for as on a
// connection without a startup.
func (c *Conn) rejected() {
	c.Trace.Outcome = trace.Rejected
	for side := range c.dirs {
		h := &c.dirs[side]
		if h.phase != held && h.phase != opening {
			continue
		}
		b, off := h.tail(), h.tailOff()
		h.phase, h.kept = streaming, nil
		l := c.outside(side)
		l.frames = l.frames[:0]
		l.restart(h.origin)
		h.hasOrigin = true
		c.decode(side, mpa.Config{CRC: mpa.TriOf(c.Trace.Side[0].Startup.C || c.Trace.Side[1].Startup.C)}, h.origin)
		if len(b) > 0 {
			c.replay(side, off, b)
		}
	}
}

// replay hands octets that waited to the phase that follows.
func (c *Conn) replay(side int, off int64, b []byte) {
	h := &c.dirs[side]
	for len(b) > 0 && h.phase != full {
		before := len(b)
		switch h.phase {
		case streaming:
			b = c.stream(side, off, b)
		case startup:
			b = c.collect(side, b)
		case opening:
			b = c.opening(side, b)
		case held, full:
			h.keep(off, b)
			return
		}
		off += int64(before - len(b))
	}
	if h.phase == full && len(b) > 0 {
		c.start(side)
		h.dec.Write(b)
		c.drain(side)
	}
}

// negotiate applies what both frames say (RFC 5044 section 7.1.1, RFC 6581).
func (c *Conn) negotiate() {
	t := c.Trace
	req, rep := &t.Side[trace.I2R].Startup, &t.Side[trace.R2I].Startup
	t.Outcome, t.Negotiated = trace.Accepted, true
	rdmac := rep.Rev == 0
	t.CRC = mpa.TriOf(req.C || rep.C || rdmac)
	t.Markers[trace.I2R] = mpa.TriOf(rep.M || rdmac)
	t.Markers[trace.R2I] = mpa.TriOf(req.M || rdmac)
	if t.Side[trace.R2I].HasEnhanced && t.Side[trace.I2R].HasEnhanced {
		t.RTRExpected = mpa.RTRTypes(t.Side[trace.R2I].Enhanced, t.Layout)
	}
	if first := c.first; first != nil {
		c.first = nil
		c.readied(*first)
	}
	for _, side := range [2]int{c.ini, 1 - c.ini} {
		switch h := &c.dirs[side]; {
		case h.phase == held:
			c.open(side)
		case h.phase == full && h.dec != nil:
			h.dec.Learn(t.Markers[c.Dir(side)], t.CRC)
		}
	}
}

// open begins full operation of a side, with what is known by now.
func (c *Conn) open(side int) {
	h := &c.dirs[side]
	b, off := h.tail(), h.tailOff()
	h.kept = nil
	if h.phase == held && c.Dir(side) == trace.I2R && !h.rtr {
		h.phase = opening
		if len(b) == 0 {
			return
		}
		c.replay(side, off, b)
		return
	}
	c.begin(side)
	if len(b) > 0 {
		c.start(side)
		h.dec.Write(b)
		c.drain(side)
	}
}

// opening tells a 2007 RTR frame from the first FPDU of the initiator.
func (c *Conn) opening(side int, b []byte) (rest []byte) {
	h := &c.dirs[side]
	if len(h.tail()) > 0 {
		b = append(h.tail(), b...)
		h.kept = nil
	}
	n := min(len(b), len(mpa.RTRKey))
	switch s := string(b[:n]); {
	case s != mpa.RTRKey[:n] && s != mpa.RtRKey[:n]:
		c.begin(side)
		return b
	case n < len(mpa.RTRKey):
		h.keep(h.origin, b)
		return nil
	}
	h.phase, h.rtr, h.partial = startup, true, false
	h.await(nil, h.origin)
	return append([]byte(nil), b...)
}

// drifts notes that octets are missing where full operation of a side would begin, if the 2007 RTR frame of the
// initiator may be there: with it the first FPDU, and so each marker, stands behind that frame.
func (c *Conn) drifts(side int) {
	h := &c.dirs[side]
	if c.Dir(side) != trace.I2R || h.rtr || h.phase != held && h.phase != opening && (h.phase != full || !h.idle) {
		return
	}
	if n := len(h.tail()); n >= len(mpa.RTRKey) || string(h.tail()) != mpa.RTRKey[:n] && string(h.tail()) != mpa.RtRKey[:n] {
		return // it was there, or another thing was
	}
	for i := range c.Trace.Side {
		s := &c.Trace.Side[i]
		if s.HasStartup && (!s.Startup.S || s.Startup.Rev != 1) {
			return
		}
	}
	h.adrift = true
}

// force begins full operation of a side now, even without the other startup frame.
func (c *Conn) force(side int) {
	h := &c.dirs[side]
	for h.phase == held || h.phase == opening {
		before := h.phase
		c.open(side)
		if h.phase == before {
			return
		}
	}
}

// unhold has a side wait no longer for the startup frame of the other one. Whether a 2007 RTR frame comes first is
// for its own octets to tell.
func (c *Conn) unhold(side int) {
	if c.dirs[side].phase == held {
		c.open(side)
	}
}

// begin begins full operation of a side at its origin. Many sides never send an FPDU, so
// if the configuration of the decoder is known, the decoder is created with the first
// octets.
func (c *Conn) begin(side int) {
	c.inside(side)
	h := &c.dirs[side]
	h.first = true
	if h.idle = true; !c.Trace.Negotiated || h.gap {
		c.start(side)
	}
}

// start starts the decoder of a side in full operation, if it was not.
func (c *Conn) start(side int) {
	h := &c.dirs[side]
	if !h.idle {
		return
	}
	h.idle = false
	t := c.Trace
	d := c.Dir(side)
	cfg := mpa.Config{Start: true, Trusted: true, Markers: t.Markers[d], CRC: t.CRC, AfterGap: h.gap}
	if !t.Negotiated {
		cfg.Markers, cfg.CRC = c.guess(d)
	}
	if h.adrift {
		cfg.Start, h.hasOrigin = false, false
	}
	c.decode(side, cfg, h.origin)
}

// guess returns what a single startup frame, or the head of one whose private data is
// missing, says about a direction.
func (c *Conn) guess(d trace.Dir) (markers, crc mpa.Tri) {
	for i := range c.Trace.Side {
		dir := trace.Dir(i)
		s, ok := c.Trace.Side[i].Startup, c.Trace.Side[i].HasStartup
		if h := &c.dirs[i^c.ini]; !ok && h.phase == startup && len(h.tail()) >= mpa.StartupLen {
			s, _, _ = mpa.DecodeStartup(h.tail())
			ok = true
		}
		if !ok {
			continue
		}
		if s.C {
			crc = mpa.Yes
		}
		if dir != d {
			markers = mpa.TriOf(s.M) // M is about what its sender receives
		}
	}
	return markers, crc
}

// search starts to look for FPDUs without a startup frame.
func (c *Conn) search(side int, off int64) {
	h := &c.dirs[side]
	markers, crc := c.guess(c.Dir(side))
	if c.Trace.Negotiated {
		markers, crc = c.Trace.Markers[c.Dir(side)], c.Trace.CRC
	}
	c.decode(side, mpa.Config{Markers: markers, CRC: crc, AfterGap: h.gap, Trusted: c.wanted}, off)
}

// decode starts a decoder of a side at an offset.
func (c *Conn) decode(side int, cfg mpa.Config, off int64) {
	h := &c.dirs[side]
	if h.dec == nil {
		h.dec = c.env.decs.Take()
	}
	cfg.Gather, cfg.Grammar, cfg.Budget = c.env.wantsPayload(), rdmap.Grammar, c.env.Decoders
	cfg.Segments, cfg.Before = c.tcp.Direction(side), &c.queues[side]
	cfg.Side = uint8(side) //nolint:gosec // 0 or 1
	h.dec.Reset(cfg, off)
}

// note remembers the frames of the streaming octets up to an offset.
func (c *Conn) note(side int, to int64) {
	if l := c.outside(side); to > l.noted {
		c.remember(side, l.noted, to)
		l.noted = to
	}
}

// remember notes the frames of streaming octets, and the one with which the
// last of them became deliverable.
func (c *Conn) remember(side int, from, to int64) {
	l := c.outside(side)
	c.env.frames = c.tcp.Direction(side).Carriers(c.env.frames[:0], from, to)
	l.frame, l.time = c.tcp.Direction(side).Delivered(to)
	for _, f := range c.env.frames {
		switch n := len(l.frames); {
		case n > 0 && l.frames[n-1] >= f:
		case n < maxStreamFrames:
			l.frames = append(l.frames, f)
		default:
			l.omitted++
		}
	}
}

// searched notes the frames of octets in no FPDU, which begin at an offset and are searched up to another one. It returns what the
// segment of the first of them acknowledged.
func (c *Conn) searched(side int, from, to int64) (acked int64) {
	l := c.outside(side)
	if l.from != from || l.noted <= from {
		l.from, l.noted, l.leadAck = from, from, c.acked(side, from)
		l.frames, l.omitted = l.frames[:0], 0
	}
	c.note(side, to)
	return l.leadAck
}

// certain drops the runs behind holes: no startup frame followed them, so one may have been in
// a hole, and they may be FPDUs.
func (c *Conn) certain(side int) {
	l := c.outside(side)
	l.before = slices.DeleteFunc(l.before, func(run loose) bool { return run.torn })
	if l.torn {
		l.restart(c.tcp.Direction(side).Next())
	}
}

// streamed hands out the streaming octets up to an offset.
func (c *Conn) streamed(side int, to int64) {
	l := c.outside(side)
	c.note(side, to)
	if runs := l.before; runs != nil {
		l.before = nil
		for i := range runs {
			run := &runs[i]
			c.dirs[side].loose = run
			c.emitLoose(trace.KindStreaming, side, run.from, run.noted, run.lead, 0, run.leadAck)
		}
		c.dirs[side].loose = l
	}
	if to > l.from {
		c.emitLoose(trace.KindStreaming, side, l.from, to, l.lead, 0, l.leadAck)
	}
	l.restart(to)
	l.frames, l.omitted = l.frames[:0], 0
}
