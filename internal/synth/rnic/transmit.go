package rnic

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// maxTold is the longest payload that Config.Sent is shown, in octets.
const maxTold = 1 << 20

// message is one that is being sent, segment by segment.
type message struct {
	place
	op     rdmap.Opcode
	head   ddp.Segment // of the next segment
	src    source
	size   uint64
	at     uint64
	number int  // of the next segment
	own    bool // posted, not owed
	owed   bool // an answer
}

// mostFixed is the longest message that is a header alone, in octets.
const mostFixed = rdmap.AtomicRequestLen

// request is one of this end's that is not answered.
type request struct {
	place
	atomic bool
	id     uint32
	sink   Address
	size   uint64
	got    uint64
}

// Next returns the next octets for the stream. ok is false when there is
// nothing to send at present.
func (e *Endpoint) Next() (u pdu.Unit, ok bool) {
	for e.head == len(e.out) {
		e.out, e.head = e.out[:0], 0
		if !e.produce() {
			if e.closing {
				e.out = e.framer.Flush(e.out)
			}
			if len(e.out) == 0 && !e.end() {
				return pdu.Unit{}, false
			}
		}
	}
	u = e.out[e.head]
	e.out[e.head] = pdu.Unit{}
	e.head++
	return u, true
}

// produce makes the next PDU, and reports whether there was one to make.
func (e *Endpoint) produce() bool {
	if e.want != Nothing {
		return false
	}
	if e.terminate != nil {
		e.sendTerminate()
		return true
	}
	if e.phase == Terminated && !e.ignores(IgnoreTerminate) || e.phase == Failed {
		e.closing = true
		return false
	}
	if e.cur == nil && !e.begin() {
		return false
	}
	if e.cur != nil {
		e.segment()
	}
	return true
}

// begin takes the next thing to say: an answer that is owed, else work. Work
// without a message is sent at once.
func (e *Endpoint) begin() bool {
	may := e.phase == Ready || e.phase == Terminated || e.phase == Rejected && e.ignores(IgnoreReject)
	if may && e.answers.len() > 0 {
		e.cur = e.answer(e.answers.pop())
		return true
	}
	if e.works.len() == 0 {
		return false
	}
	w := e.works.peek()
	switch w.Op {
	case OpRaw:
		e.raw(e.works.pop())
		return true
	case OpControl:
		w := e.works.pop()
		e.sessionControl(w.Name, w.Number, sctpddp.Control{Function: sctpddp.Function(w.Function), PrivateData: w.Data})
		e.undone.add(w.Name, -1, 0)
		return true
	case OpRead, OpFetchAdd, OpCmpSwap:
		// The indication is due whatever the ORD (RFC 6581 section 9.1).
		if !w.RTR && !e.ignores(IgnoreDepth) && len(e.requests) >= int(e.agreed.ORD) {
			return false
		}
	case OpSend, OpWrite, OpImmediate, OpTerminate, OpSegment, OpResponse:
	}
	if !may {
		return false
	}
	work := e.works.pop()
	switch work.Op {
	case OpSegment:
		e.out = e.framer.Append(e.out, pdu.PDU{
			Place: pdu.Place{Message: work.Name, Number: work.Number, Segment: 1, Last: true}, Kind: pdu.Segment, Octets: work.Data,
		})
		e.undone.add(work.Name, -1, 0)
	case OpTerminate:
		e.undone.add(work.Name, -1, 0)
		e.raise(rdmap.TermCode{Layer: work.Layer, EType: work.EType, Code: work.Code}, work.QuoteLast)
		e.sendTerminateAs(work.Name, work.Number)
	default:
		e.cur = e.begun(work)
		e.cur.own = true
	}
	return true
}

// raw sends octets outside any FPDU.
func (e *Endpoint) raw(w Work) {
	b := w.Data
	if b == nil {
		b = make([]byte, min(w.Size, maxTold))
		lines{}.read(b, 0)
	}
	e.out = e.framer.Append(e.out, pdu.PDU{
		Place: pdu.Place{Message: w.Name, Number: w.Number, Segment: 1, Last: true}, Kind: pdu.Raw, Octets: b,
	})
	e.undone.add(w.Name, -1, 0)
}

// begun begins a message of the upper layer.
func (e *Endpoint) begun(w Work) *message {
	m := &e.message
	*m = message{place: place{w.Name, w.Number}, size: w.Size, number: 1}
	if w.Data != nil {
		m.size, m.src = uint64(len(w.Data)), source{octets: w.Data}
	} else {
		m.src = e.pattern(w.Name, w.Number)
	}
	if w.RTR {
		m.size = 0
	}
	switch w.Op {
	case OpWrite:
		e.tagged(m, rdmap.OpWrite, w.Remote)
	case OpResponse:
		if w.Atomic {
			e.fixed(m, rdmap.OpAtomicResponse, rdmap.AtomicResponse{RequestID: w.RequestID, Original: w.Operand}.Append(e.header[:0]))
			break
		}
		e.tagged(m, rdmap.OpReadResponse, w.Remote)
	case OpImmediate:
		op := rdmap.OpImmediate
		if w.Solicited {
			op = rdmap.OpImmediateSE
		}
		e.fixed(m, op, rdmap.ImmediateData{Data: w.Immediate}.Append(e.header[:0]))
	case OpRead:
		r := rdmap.ReadRequest{
			SinkSTag: w.Local.STag, SinkTO: w.Local.TO, SrcSTag: w.Remote.STag, SrcTO: w.Remote.TO,
			Size: uint32(m.size), //nolint:gosec // the most that a Read can ask for; bounded by whoever posts
		}
		e.fixed(m, rdmap.OpReadRequest, r.Append(e.header[:0]))
		e.ask(m, request{sink: w.Local, size: uint64(r.Size)})
	case OpFetchAdd, OpCmpSwap:
		r := rdmap.AtomicRequest{
			RequestID: w.RequestID, RemoteSTag: w.Remote.STag, RemoteTO: w.Remote.TO,
			AOpCode: rdmap.FetchAddOp, Data: w.Operand, Mask: w.Mask, CompareMask: ^uint64(0),
		}
		if w.Op == OpCmpSwap {
			r.AOpCode, r.CompareData, r.CompareMask = rdmap.CmpSwapOp, w.Compare, w.CompareMask
		}
		e.fixed(m, rdmap.OpAtomicRequest, r.Append(e.header[:0]))
		e.ask(m, request{atomic: true, id: w.RequestID})
	default:
		m.op = rdmap.OpSend
		switch {
		case w.HasInvalidate && w.Solicited:
			m.op = rdmap.OpSendSEInv
		case w.HasInvalidate:
			m.op = rdmap.OpSendInv
		case w.Solicited:
			m.op = rdmap.OpSendSE
		}
		e.untagged(m)
		m.head.RsvdULP32 = w.Invalidate
		if !w.HasInvalidate {
			m.head.RsvdULP32 = 0
		}
	}
	return m
}

// ask remembers a request until it is answered.
func (e *Endpoint) ask(m *message, r request) {
	r.place = m.place
	e.requests = append(e.requests, r)
	e.undone.add(m.name, 0, 1)
	e.named.add(m.head.MSN, m.place)
}

// fixed makes an untagged message of a header alone.
func (e *Endpoint) fixed(m *message, op rdmap.Opcode, header []byte) {
	m.op, m.src, m.size = op, source{octets: header}, uint64(len(header))
	e.untagged(m)
}

func (e *Endpoint) untagged(m *message) {
	qn, _ := m.op.Queue()
	e.msn[qn]++
	m.head = ddp.Segment{DV: e.agreed.Version, RsvdULP: e.control(m.op), QN: qn, MSN: e.msn[qn]}
}

func (e *Endpoint) tagged(m *message, op rdmap.Opcode, a Address) {
	m.op = op
	m.head = ddp.Segment{Tagged: true, DV: e.agreed.Version, RsvdULP: e.control(op), STag: a.STag, TO: a.TO}
}

func (e *Endpoint) control(op rdmap.Opcode) uint8 {
	return rdmap.Control{RV: e.agreed.Version, Opcode: op}.Octet()
}

// segment sends the next segment of the message under way.
func (e *Endpoint) segment() {
	m := e.cur
	if m.at == 0 && m.number == 1 {
		e.tell(m)
	}
	h := ddp.UntaggedLen
	if m.head.Tagged {
		h = ddp.TaggedLen
	}
	n := min(m.size-m.at, uint64(e.limit()-h)) //nolint:gosec // more than a header
	m.head.Last = m.at+n == m.size
	e.buf = m.head.Append(e.buf[:0])
	from := len(e.buf)
	e.buf = slices.Grow(e.buf, int(n))[:from+int(n)] //nolint:gosec // less than the MULPDU
	m.src.read(e.buf[from:], m.at)
	e.out = e.framer.Append(e.out, pdu.PDU{
		Place: pdu.Place{Message: m.name, Number: m.place.number, Segment: m.number, Last: m.head.Last},
		Kind:  pdu.Segment, Octets: e.buf,
	})
	m.at += n
	m.number++
	if m.head.Tagged {
		m.head.TO += n
	} else {
		m.head.MO += uint32(n) //nolint:gosec // less than the MULPDU
	}
	if !m.head.Last {
		return
	}
	if m.own {
		e.undone.add(m.name, -1, 0)
	}
	e.cur = nil
	e.handedOut(m)
}

// handedOut tells the owner of a message that is all sent, unless an answer to it is awaited.
func (e *Endpoint) handedOut(m *message) {
	if e.cfg.Told == nil {
		return // an Event takes memory, for each message of a big trace
	}
	v := Event{Kind: Completed, Name: m.name, Number: m.place.number, Opcode: m.op, Size: m.size}
	switch {
	case m.owed:
		v.Kind = Answered
	case !m.own, m.op == rdmap.OpReadRequest, m.op == rdmap.OpAtomicRequest:
		return
	}
	e.tells(&v)
}

// tell tells of a message that begins.
func (e *Endpoint) tell(m *message) {
	if e.cfg.Sent == nil {
		return
	}
	t := Message{Name: m.name, Number: m.place.number, Opcode: m.op, STag: m.head.STag, TO: m.head.TO, MSN: m.head.MSN}
	if !m.head.Tagged {
		t.STag = m.head.RsvdULP32
	}
	if m.size <= maxTold {
		t.Data = make([]byte, m.size)
		m.src.read(t.Data, 0)
	}
	e.cfg.Sent(t)
}
