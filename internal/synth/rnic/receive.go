package rnic

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// quoted is what of a segment a Terminate may quote, in octets.
const quoted = ddp.UntaggedLen + rdmap.ReadRequestLen

// Receive takes octets of the peer, in order and in any split.
func (e *Endpoint) Receive(b []byte) {
	if e.phase == Streaming {
		e.streaming(b)
		return
	}
	for e.listens() && len(b) > 0 {
		before := len(b)
		if b = e.starting(b); len(b) == before && e.listens() {
			return
		}
	}
	if e.waitsForFrame() {
		b = e.thirdFrame(b)
	}
	switch e.phase {
	case Full, Ready:
	case Terminated:
		if !e.ignores(IgnoreTerminate) {
			return
		}
	case Rejected, Failed, Streaming, Starting:
		return
	}
	if len(b) > 0 {
		e.deframe(b)
	}
}

// waitsForFrame reports whether the third frame of 2007 is awaited.
func (e *Endpoint) waitsForFrame() bool {
	return e.phase == Full && e.agreed.Frame && !e.cfg.Startup.Initiator && !e.peerFirst
}

// thirdFrame takes the third frame of 2007 and returns what follows.
func (e *Endpoint) thirdFrame(b []byte) []byte {
	e.early = append(e.early, b...)
	if kind, ok := mpa.KeyKind(e.early); len(e.early) >= mpa.KeyLen && (!ok || kind != mpa.StartupRTR) {
		rest := e.early
		e.early, e.agreed.Frame = nil, false
		return rest
	}
	_, n, err := mpa.DecodeStartup(e.early)
	if err != nil {
		return nil
	}
	rest := e.early[n:]
	e.early = nil
	e.first()
	return rest
}

// first is told that the initiator has spoken: a responder may send now (RFC
// 5044 section 7.1.3).
func (e *Endpoint) first() {
	e.peerFirst = true
	if e.phase == Full {
		e.phase = Ready
	}
}

// deframe takes octets of full operation.
func (e *Endpoint) deframe(b []byte) {
	e.deframer.in = b
	for {
		f, ok := e.deframer.next()
		if !ok {
			return
		}
		e.fpdu(&f)
		if e.phase >= Rejected && !e.ignores(IgnoreTerminate|IgnoreReject) {
			e.deframer.in = nil
			return
		}
	}
}

// fpdu takes one FPDU (RFC 5044 section 6).
func (e *Endpoint) fpdu(f *framed) {
	e.last = append(e.last[:0], f.ulpdu[:min(len(f.ulpdu), quoted)]...)
	e.lastSize = len(f.ulpdu)
	e.spoiled = e.spoiled || f.badCRC || f.badMark
	if f.badCRC && e.found(errCRC) {
		return
	}
	if f.badMark && e.found(errMarkers) {
		return
	}
	e.first()
	e.takeULPDU(f.ulpdu)
}

// takeULPDU takes a DDP segment.
func (e *Endpoint) takeULPDU(b []byte) {
	e.received++
	var s ddp.Segment
	if ddp.DecodeTo(&s, b) != nil {
		e.found(errCatastrophic) // shorter than its header: DDP has no other code for it
		return
	}
	payload := b[s.HeaderLen:]
	if s.Tagged {
		e.takeTagged(&s, payload)
	} else {
		e.takeUntagged(&s, payload)
	}
}

// takeTagged places the payload of a Write or a Read Response.
func (e *Endpoint) takeTagged(s *ddp.Segment, payload []byte) {
	c := rdmap.ControlOf(s.RsvdULP)
	n := uint64(len(payload))
	switch {
	case s.DV != e.agreed.Version && e.found(errTaggedVersion):
		return
	case c.RV != e.agreed.Version && e.found(errVersion):
		return
	case !c.Opcode.Tagged():
		e.found(errOpcode)
		return
	}
	response := c.Opcode == rdmap.OpReadResponse
	if response && !e.awaitsRead() {
		e.unasked(s, c.Opcode)
		return
	}
	r, fault, bad := e.buffer(s, c.Opcode, n)
	if bad && e.found(fault) {
		return
	}
	done := false
	if response {
		var right bool
		if right, done = e.takeResponse(s, n); !right {
			return
		}
	}
	if r != nil && !bad {
		r.place(s.TO, payload)
	}
	switch {
	case done:
		e.answered(nil, nil)
	case !response:
		e.written(s, n)
	}
}

// buffer returns the memory that a tagged segment of n octets goes to, or what is wrong
// with its address (RFC 5041 section 7.1). The STag of nothing is not looked at (section
// 5.2): it goes nowhere.
func (e *Endpoint) buffer(s *ddp.Segment, op rdmap.Opcode, n uint64) (r *region, fault rdmap.TermCode, bad bool) {
	if n == 0 {
		return nil, fault, false
	}
	r = e.find(s.STag)
	switch {
	case r == nil:
		return nil, errTaggedSTag, true
	case op == rdmap.OpWrite && !r.Write:
		// RFC 5041 has no code for access rights: for a Write this is no STag.
		return r, errTaggedSTag, true
	case s.TO+n < s.TO:
		return r, errTaggedWrap, true
	case !r.holds(s.TO, n):
		return r, errTaggedBounds, true
	}
	return r, fault, false
}

// awaitsRead reports whether the oldest request without its answer is a Read.
func (e *Endpoint) awaitsRead() bool { return len(e.requests) > 0 && !e.requests[0].atomic }

// takeResponse accounts for a segment of a Read Response, and reports whether it is what
// was asked for (RFC 5040 section 5.2.2), and the last of it. If it is not, DDP has no code
// for it, because its address is a valid one.
func (e *Endpoint) takeResponse(s *ddp.Segment, n uint64) (right, last bool) {
	r := &e.requests[0]
	if !r.answeredBy(s, n) && e.found(errOnStream) {
		return false, false
	}
	r.got += n
	e.came += n
	return true, s.Last
}

// answeredBy reports whether a segment of n octets continues the answer to the request, and
// ends it where it has to.
func (r *request) answeredBy(s *ddp.Segment, n uint64) bool {
	switch {
	case n > 0 && (s.STag != r.sink.STag || s.TO != r.sink.TO+r.got):
		return false
	case r.got+n > r.size:
		return false
	}
	return !s.Last || r.got+n == r.size
}

// answered is told that the oldest request has its answer: the old value if it is an atomic,
// or what is wrong with that.
func (e *Endpoint) answered(old []byte, err error) {
	r := e.requests[0]
	e.undone.add(r.name, 0, -1)
	e.requests = e.requests[:copy(e.requests, e.requests[1:])]
	e.completed(&r, old, err)
}

// takeUntagged takes a segment for one of the queues.
func (e *Endpoint) takeUntagged(s *ddp.Segment, payload []byte) {
	c := rdmap.ControlOf(s.RsvdULP)
	qn, known := c.Opcode.Queue()
	switch {
	case s.DV != e.agreed.Version && e.found(errUntaggedVersion):
		return
	case s.QN > rdmap.QueueAtomicResponse:
		e.found(errQN)
		return
	case s.MSN != e.expect[s.QN] && e.found(errMSN):
		return
	case s.MO != e.partial[s.QN] && e.found(errMO):
		return
	case s.MO+uint32(len(payload)) < s.MO && e.found(errTooLong): //nolint:gosec // an ULPDU
		return
	case c.RV != e.agreed.Version && e.found(errVersion):
		return
	case !known, s.QN != qn:
		e.found(errOpcode)
	case e.buffered(s, len(payload)):
		return
	default:
		e.takeMessage(s, c.Opcode, payload)
	}
	e.partial[s.QN] = s.MO + uint32(len(payload)) //nolint:gosec // an ULPDU
	if s.Last {
		e.expect[s.QN], e.partial[s.QN] = s.MSN+1, 0
	}
}

// takeMessage takes a segment of an untagged message, which is mostly all of it.
func (e *Endpoint) takeMessage(s *ddp.Segment, op rdmap.Opcode, payload []byte) {
	switch {
	case op == rdmap.OpReadRequest:
		e.takeRead(s, payload)
	case op == rdmap.OpAtomicRequest:
		e.takeAtomic(s, payload)
	case op == rdmap.OpAtomicResponse:
		if len(e.requests) == 0 || !e.requests[0].atomic {
			e.unasked(s, op)
			return
		}
		e.answered(e.requests[0].oldValue(payload))
	case op == rdmap.OpTerminate:
		e.receivedTerminate(payload)
		e.phase, e.closing = Terminated, true
		if e.ignores(IgnoreTerminate) {
			e.closing = false
		} else {
			e.cur, e.works, e.answers = nil, queue[Work]{}, queue[answer]{}
		}
	case op.Invalidates() && s.Last:
		r := e.find(s.RsvdULP32)
		if r == nil {
			e.found(errSTag) // RFC 5040 section 7.2 item 4
			return
		}
		r.invalid = true
	}
	e.collect(s, op, payload)
}

// overdrawn reports whether this end holds as many requests as its IRD: one more
// has no buffer. A request is held until the last segment of its answer is out.
func (e *Endpoint) overdrawn() bool {
	held := e.answers.len()
	if e.cur != nil && e.cur.owed {
		held++
	}
	return held >= int(e.agreed.IRD) && !e.ignores(IgnoreDepth)
}

// takeRead takes a Read Request (RFC 5040 section 5.2).
func (e *Endpoint) takeRead(s *ddp.Segment, payload []byte) {
	q, err := rdmap.DecodeReadRequest(payload)
	if err != nil {
		e.found(errOnStream)
		return
	}
	if e.overdrawn() && e.found(errNoBuffer) {
		return
	}
	n := uint64(q.Size)
	if n > 0 {
		r := e.find(q.SrcSTag)
		switch {
		case r == nil:
			e.found(errSTag)
			return
		case q.SrcTO+n < q.SrcTO:
			e.found(errWrap)
			return
		case !r.holds(q.SrcTO, n):
			e.found(errBounds)
			return
		case !r.Read:
			e.found(errAccess)
			return
		}
	}
	e.owe(answer{read: q, msn: s.MSN})
}

// takeAtomic takes an Atomic Request (RFC 7306 section 5).
func (e *Endpoint) takeAtomic(s *ddp.Segment, payload []byte) {
	q, err := rdmap.DecodeAtomicRequest(payload)
	if err != nil {
		e.found(errOnStream)
		return
	}
	if e.overdrawn() && e.found(errNoBuffer) {
		return
	}
	r := e.find(q.RemoteSTag)
	switch {
	case q.AOpCode != rdmap.FetchAddOp && q.AOpCode != rdmap.CmpSwapOp && e.found(errOpcode):
		return
	case q.RemoteTO%8 != 0 && e.found(errOnStream):
		return
	case r == nil:
		e.found(errSTag)
		return
	case !r.holds(q.RemoteTO, 8):
		e.found(errBounds)
		return
	case (!r.Read || !r.Write) && e.found(errAccess):
		return
	}
	e.owe(answer{atomic: true, ask: q, msn: s.MSN})
}
