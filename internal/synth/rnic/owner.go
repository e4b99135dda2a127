package rnic

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// EventKind is what an event tells.
type EventKind uint8

// The events.
const (
	// Received: a Send or Immediate Data of the peer has come whole.
	Received EventKind = iota
	// Written: an RDMA Write of the peer has come whole. A RNIC tells nobody.
	Written
	// Answered: the answer to a request of the peer has been handed out by Next to its
	// last segment. A RNIC tells nobody.
	Answered
	// Completed: work of this end is done: its last segment has been handed out, and the
	// answer to a Read or an atomic is there.
	Completed
	// TerminateReceived: the peer has sent a Terminate.
	TerminateReceived
	// Streamed: octets of the peer have come before the startup began here. Size counts them;
	// the Request may be among them.
	Streamed
	// Unasked: an answer has come that no request of this end asks for.
	Unasked
)

// Event is something that happened at an end.
type Event struct {
	Kind EventKind
	// Name and Number are those of the work, of a completion.
	Name   string
	Number int
	// Opcode of the message; of a completion that of the request.
	Opcode rdmap.Opcode
	// Size of the message in octets, Data what of it is at hand: of Sends the beginning up to
	// 1 MiB, or all of it if there are receive buffers; of an Atomic Response the old value.
	// It is valid during the call.
	Size uint64
	Data []byte
	// STag and TO are where a tagged message began; of a Send with Invalidate STag is what it
	// invalidated.
	STag uint32
	TO   uint64
	// Terminate is what was received, if TerminateReceived.
	Terminate rdmap.Terminate
	// Err tells of an answer that is not one to the request.
	Err error
}

// Cause is why a connection ends, or is about to.
type Cause uint8

// The causes.
const (
	// NotEnded: nothing ends it.
	NotEnded Cause = iota
	// ClosedHere: the owner closes.
	ClosedHere
	// ClosedByPeer and ResetByPeer: the peer sent a FIN, or a RST.
	ClosedByPeer
	ResetByPeer
	// RejectedHere and RejectedByPeer: the Reply had R=1.
	RejectedHere
	RejectedByPeer
	// StartupFailed: the startup frame of the peer was not acceptable.
	StartupFailed
	// TerminatedHere and TerminatedByPeer: a Terminate was sent, or received.
	TerminatedHere
	TerminatedByPeer
	// Aborted: the owner resets.
	Aborted
)

// End is why a connection ends.
type End struct {
	Cause Cause
	// Code is that of the Terminate, if there is one.
	Code rdmap.TermCode
}

// String says it in words.
func (e End) String() string {
	code := func() string {
		return fmt.Sprintf("%x/%x/%02x (%s)", e.Code.Layer, e.Code.EType, e.Code.Code, e.Code.Name())
	}
	switch e.Cause {
	case NotEnded:
		return "open"
	case ClosedHere:
		return "closed by this side"
	case ClosedByPeer:
		return "closed by the peer"
	case ResetByPeer:
		return "reset by the peer"
	case RejectedHere:
		return "rejected by this side"
	case RejectedByPeer:
		return "rejected by the peer"
	case StartupFailed:
		return "the startup frame of the peer is not acceptable"
	case TerminatedHere:
		return "this side sent Terminate " + code()
	case TerminatedByPeer:
		return "the peer sent Terminate " + code()
	case Aborted:
		return "reset by this side"
	}
	return "unknown"
}

// End returns why the connection ends: the first reason stays.
func (e *Endpoint) End() End { return e.ending }

// PeerSpoke reports whether an FPDU of the peer, or its third frame, has come, PeerDone
// whether the peer has closed or reset.
func (e *Endpoint) PeerSpoke() bool { return e.peerFirst }

// PeerDone see PeerSpoke.
func (e *Endpoint) PeerDone() bool { return e.peerDone }

// PeerStrays reports whether octets of the peer have come that are no FPDU: a part of one, or one that is damaged.
func (e *Endpoint) PeerStrays() bool { return e.spoiled || e.deframer.begun() }

func (e *Endpoint) ends(c Cause, code rdmap.TermCode) {
	if e.ending.Cause == NotEnded {
		e.ending = End{c, code}
	}
}

// tells tells the owner.
func (e *Endpoint) tells(v *Event) {
	if e.cfg.Told != nil {
		e.cfg.Told(v)
	}
}

// Agreed is what the startup has agreed on, with the frames of both sides as they were
// understood. Before it is over it is what is known so far.
func (e *Endpoint) Agreed() startup.Result {
	if e.phase == Full || e.phase == Ready || e.phase == Terminated {
		return e.agreed
	}
	return e.mach.Result()
}

// MULPDU is the longest ULPDU that this end sends, in octets, once the startup is over.
func (e *Endpoint) MULPDU() int { return e.limit() }

// PeerPrivate is the private data of the peer's upper layer, and whether its startup frame
// has come.
func (e *Endpoint) PeerPrivate() (b []byte, ok bool) {
	if e.cfg.Session != nil {
		return e.session.private, e.session.spoke
	}
	if s := e.mach.State(); s != startup.Done && s != startup.Rejected {
		return nil, false
	}
	r := e.mach.Result()
	s := &r.Request
	if e.cfg.Startup.Initiator {
		s = &r.Reply
	}
	if _, ulp, has := s.Word(); has {
		return ulp, true
	}
	return s.PrivateData, true
}

// SetPrivate sets the private data of this end's startup frame, which has not been sent yet:
// it may name what was registered.
func (e *Endpoint) SetPrivate(b []byte) {
	e.cfg.Startup.Private = b
	e.mach.SetPrivate(b)
}

// Abort drops all that is to be sent and asks for a RST.
func (e *Endpoint) Abort() {
	e.ends(Aborted, rdmap.TermCode{})
	e.drop()
	e.out, e.head = e.out[:0], 0
	e.phase, e.closing, e.want = Failed, true, WantReset
}

// drop forgets what is to be sent, up to the PDU at hand.
func (e *Endpoint) drop() {
	e.works, e.cur, e.answers, e.terminate = queue[Work]{}, nil, queue[answer]{}, nil
}

// PostReceive adds buffers of so many octets for Sends and Immediate Data, if
// Config.Buffers is set: each takes one message, in order.
func (e *Endpoint) PostReceive(size, count int) {
	for range count {
		e.buffers.push(size)
	}
}

// Buffers is how many receive buffers are left.
func (e *Endpoint) Buffers() int { return e.buffers.len() }

// buffered checks a segment for queue 0 against the receive buffers, and reports whether it
// is to be dropped (RFC 5041 section 7.2). The ready-to-receive indication takes none: it is
// not the upper layer's.
func (e *Endpoint) buffered(s *ddp.Segment, n int) (drop bool) {
	if !e.cfg.Buffers || s.QN != rdmap.QueueSend || e.indicates(n, mpa.RTRSend) {
		return false
	}
	if e.buffers.len() == 0 {
		return e.found(errNoBuffer)
	}
	return uint64(s.MO)+uint64(n) > uint64(*e.buffers.peek()) && e.found(errTooLong) //nolint:gosec // sizes
}

// indicates reports whether a segment with n octets of payload is the one that indicates that
// the initiator is ready to receive (RFC 6581 section 9.2).
func (e *Endpoint) indicates(n int, kind mpa.RTRSet) bool {
	return !e.cfg.Startup.Initiator && n == 0 && e.received == 1 && e.agreed.RTRs.Has(kind)
}

// collect keeps the payload of a segment of a Send or of Immediate Data, and tells the owner
// of the message that it ends.
func (e *Endpoint) collect(s *ddp.Segment, op rdmap.Opcode, payload []byte) {
	if s.QN != rdmap.QueueSend || e.indicates(len(payload), mpa.RTRSend) {
		return
	}
	if e.cfg.Told != nil {
		most := maxTold
		if e.cfg.Buffers && e.buffers.len() > 0 {
			most = *e.buffers.peek()
		}
		if s.MO == 0 {
			e.open = e.open[:0]
		}
		e.open = append(e.open, payload[:min(len(payload), max(most-len(e.open), 0))]...)
	}
	if !s.Last {
		return
	}
	if e.cfg.Buffers && e.buffers.len() > 0 {
		e.buffers.pop()
	}
	if e.cfg.Told == nil {
		return // an Event takes memory, for each message of a big trace
	}
	v := Event{Kind: Received, Opcode: op, Size: uint64(s.MO) + uint64(len(payload)), Data: e.open}
	if op.Invalidates() {
		v.STag = s.RsvdULP32
	}
	e.tells(&v)
}

// completed tells the owner that a request has its answer.
func (e *Endpoint) completed(r *request, old []byte, err error) {
	if e.cfg.Told == nil {
		return
	}
	v := Event{
		Kind: Completed, Name: r.name, Number: r.number, Opcode: rdmap.OpReadRequest,
		Size: r.size, STag: r.sink.STag, TO: r.sink.TO, Data: old, Err: err,
	}
	if r.atomic {
		v.Opcode = rdmap.OpAtomicRequest
	}
	e.tells(&v)
}

// unasked refuses an answer, or a segment of one, that no request asks for, and tells the owner.
func (e *Endpoint) unasked(s *ddp.Segment, op rdmap.Opcode) {
	if e.found(errOpcode) || s.Last {
		e.tells(&Event{Kind: Unasked, Opcode: op})
	}
}

// written accounts for the segments of a Write, and tells the owner of its end.
func (e *Endpoint) written(s *ddp.Segment, n uint64) {
	if e.cfg.Told == nil || e.indicates(int(n), mpa.RTRWrite) { //nolint:gosec // an ULPDU
		return
	}
	if e.writing == nil {
		e.writing = &Event{Kind: Written, Opcode: rdmap.OpWrite, STag: s.STag, TO: s.TO}
	}
	e.writing.Size += n
	if s.Last {
		v := e.writing
		e.writing = nil
		e.tells(v)
	}
}

// Payload is what the work carries: its Data, or what the seed makes for its name and number.
// It fills b, from the beginning.
func (e *Endpoint) Payload(w Work, b []byte) {
	if w.Data != nil {
		copy(b, w.Data)
		return
	}
	p := e.pattern(w.Name, w.Number)
	p.read(b, 0)
}

// oldValue reads an Atomic Response to a request. What is wrong with it is told to the owner
// alone: the RFC has no error for the requester.
func (r *request) oldValue(payload []byte) (old []byte, err error) {
	a, err := rdmap.DecodeAtomicResponse(payload)
	if err != nil {
		return nil, err
	}
	if a.RequestID != r.id {
		return nil, fmt.Errorf("the Atomic Response has request identifier %d, the request %d", a.RequestID, r.id)
	}
	return payload[len(payload)-8:], nil
}

// receivedTerminate tells the owner of a Terminate, read as the RFC lays it out or, where only
// that makes sense, as little-endian bit fields.
func (e *Endpoint) receivedTerminate(payload []byte) {
	t, _ := rdmap.DecodeTerminate(payload)
	if _, swapped := t.Swapped(false); swapped {
		t, _ = rdmap.DecodeTerminateSwapped(payload)
	}
	e.ends(TerminatedByPeer, t.TermCode)
	e.tells(&Event{Kind: TerminateReceived, Opcode: rdmap.OpTerminate, Size: uint64(len(payload)), Data: payload, Terminate: t})
}
