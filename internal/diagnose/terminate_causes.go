package diagnose

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// rightCause says why a side sent a Terminate where the capture tells more than its code does.
func (a *about) rightCause(d *Diagnosis, dir trace.Dir, t *trace.Terminate, caused []*conformance.Finding) {
	a.quotesNothingSent(d, dir, t, caused)
	a.unserved(d, dir, t, caused)
	a.ownAnswer(d, dir, t, caused)
	a.wrappedSink(d, dir, t)
	a.upToTheEnd(d, dir, t)
	a.answeredAlready(d, dir, t)
	a.lessGranted(d, dir, t)
}

// quotesNothingSent says of a Terminate about a header that the other side did not send no more than that: its code is what the side
// that sent it says of that header.
func (a *about) quotesNothingSent(d *Diagnosis, dir trace.Dir, t *trace.Terminate, caused []*conformance.Finding) {
	if t.Quote.Match != trace.NeverSent || len(caused) > 0 {
		return
	}
	side := dir.Sender()
	d.Text = fmt.Sprintf("The %s %s the Terminate %s (frame %d)%s.", side, a.endedWith(dir), t.Code.Name(), t.Frame, a.andEnded(dir))
	d.Advice = fmt.Sprintf("check the log of the %s for that time, and look for something that changes octets between the capture point and the %s.", side, side)
}

// unserved says why the side that sent a Terminate may have been unable to do what it was asked for.
func (a *about) unserved(d *Diagnosis, dir trace.Dir, t *trace.Terminate, caused []*conformance.Finding) {
	quoted := t.Quote.Match.Found()
	if !unservable(t.Code) || t.Quote.Answered > 0 || !quoted && !slices.Contains(rulesOf(caused), misaligned) {
		return
	}
	if t.Code.Layer == rdmap.LayerRDMAP && t.Code.EType == rdmap.ETypeRemoteOperation && slices.Contains(rulesOf(caused), misaligned) {
		d.Title = "ended by an error: misaligned atomic operation"
		if !quoted {
			d.Dir = 1 - dir
			d.Text = fmt.Sprintf("The %s %s the Terminate %s (frame %d)%s.", dir.Sender(), a.endedWith(dir), t.Code.Name(), t.Frame, a.andEnded(dir))
		}
		d.Also = append(d.Also, "RFC 7306 section 8.2 names this Terminate for an atomic operation whose address is not a multiple of 8.")
		d.Advice = fmt.Sprintf("let the %s use addresses that are a multiple of 8 for atomic operations.", (1 - dir).Sender())
		return
	}
	if why := a.noDepth(dir, &t.Quote); why != "" {
		d.Title, d.Also = "ended by an error, perhaps for IRD 0", append(d.Also, why)
	}
}

// misaligned is the rule that the address of an atomic operation is aligned.
const misaligned = "RDMAX-AREQ-ALIGN-01"

// wrappedSink says that what a side refuses is the answer to its own Read, whose sink extends beyond 2^64.
func (a *about) wrappedSink(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	q := &t.Quote
	if q.Opcode != rdmap.OpReadResponse || !q.Match.Found() || !q.Header.Tagged || q.Header.TO+uint64(max(q.Message.Octets, 0)) >= q.Header.TO {
		return
	}
	found := a.explainIn(dir, "RDMAP-READREQ-WRAP-02")
	if len(found) == 0 {
		return
	}
	side, f := dir.Sender(), found[0]
	d.Dir, d.Title = dir, "ended by an error: a Read beyond the end of the address space"
	d.Text = fmt.Sprintf("The %s sent the Terminate %s (frame %d)%s. It is about: %s. The %s's own Read Request in frame %d names that place: %s.",
		side, t.Code.Name(), t.Frame, a.andEnded(dir), quotedMessage(q), side, f.Frame, f.Message)
	d.Advice = fmt.Sprintf("check the sink that the %s names in its Reads: offset and length must stay below 2^64.", side)
	if !slices.Contains(d.Frames, f.Frame) {
		d.Frames = append(d.Frames, f.Frame)
	}
	d.Rules = append(d.Rules, rulesOf(found)...)
}

// lessGranted says what the initiator means that ends the connection for the depth where the Reply grants fewer Reads than it
// asked for, and itself asks for no more than was offered (RFC 6581 section 9.1).
func (a *about) lessGranted(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	const depth, open = 6, mpa.DepthNotNegotiated
	ini, res := &a.Side[trace.I2R], &a.Side[trace.R2I]
	q, r := &ini.Enhanced, &res.Enhanced
	if t.Code.Layer != rdmap.LayerLLP || t.Code.EType != rdmap.ETypeMPA || t.Code.Code != depth || dir != trace.I2R || !ini.HasEnhanced || !res.HasEnhanced ||
		q.ORD == open || r.IRD == open || r.IRD >= q.ORD || q.IRD != open && r.ORD != open && r.ORD > q.IRD {
		return
	}
	d.Text = fmt.Sprintf("The Reply (frame %d) grants IRD %d, but the Request asks for ORD %d: the initiator %s the Terminate %s (frame %d)%s.",
		res.StartupFrame, r.IRD, q.ORD, a.endedWith(dir), t.Code.Name(), t.Frame, a.andEnded(dir))
	d.Advice = "lower the ORD of the initiator, or raise the IRD of the responder."
}

// canCause tells the messages that can cause an error (RFC 5040 section 4.8, RFC 5041 section 8.2, RFC 7306 section 8.1); ok is
// false if it may have another cause.
func canCause(c rdmap.TermCode) (can func(rdmap.Opcode) bool, ok bool) {
	const unspecified, cannotInvalidate, badVersion, crc, marker = 0xff, 9, 5, 2, 3
	message := func(rdmap.Opcode) bool { return true }
	switch {
	case c.Code == unspecified:
		return nil, false
	case c.Layer == rdmap.LayerRDMAP && c.EType == rdmap.ETypeRemoteProtection && c.Code == cannotInvalidate,
		c.Layer == rdmap.LayerRDMAP && c.EType == rdmap.ETypeRemoteOperation && c.Code == cannotInvalidate:
		return invalidates, true
	case c.Layer == rdmap.LayerRDMAP && c.EType == rdmap.ETypeRemoteProtection:
		return func(op rdmap.Opcode) bool {
			return invalidates(op) || op == rdmap.OpReadRequest || op == rdmap.OpAtomicRequest
		}, true
	case c.Layer == rdmap.LayerRDMAP && c.EType == rdmap.ETypeRemoteOperation && c.Code == badVersion:
		return message, true
	case c.Layer == rdmap.LayerRDMAP && c.EType == rdmap.ETypeRemoteOperation && c.Code == unexpectedOpcode:
		return mayBeUnexpected, true
	case c.Layer == rdmap.LayerDDP && c.EType == rdmap.ETypeTagged:
		return rdmap.Opcode.Tagged, true
	case c.Layer == rdmap.LayerDDP && c.EType == rdmap.ETypeUntagged:
		return func(op rdmap.Opcode) bool { return !op.Tagged() }, true
	case c.Layer == rdmap.LayerLLP && c.EType == rdmap.ETypeMPA && (c.Code == crc || c.Code == marker):
		return message, true
	}
	return nil, false
}

// mayBeUnexpected tells messages that not every side expects at any time: on its own queue, a Send always is, and so is a Write.
func mayBeUnexpected(op rdmap.Opcode) bool {
	return op != rdmap.OpSend && op != rdmap.OpSendSE && op != rdmap.OpSendInv && op != rdmap.OpSendSEInv && op != rdmap.OpWrite
}

// invalidates tells messages that invalidate an STag.
func invalidates(op rdmap.Opcode) bool { return op == rdmap.OpSendInv || op == rdmap.OpSendSEInv }

// uncaused says of a Terminate that quotes nothing that the other side sent nothing that can cause the error. It is at
// fault no more: a side may also name an error of its own so (RFC 5040 section 7.1).
func (a *about) uncaused(d *Diagnosis, dir trace.Dir, t *trace.Terminate) {
	f, peer := &a.Flow[1-dir], (1 - dir).Sender()
	can, ok := canCause(t.Code)
	if !ok || t.Quote.Match != trace.NoQuote || !a.allSeen(1-dir) {
		return
	}
	unexpected := t.Code.Layer == rdmap.LayerRDMAP && t.Code.EType == rdmap.ETypeRemoteOperation && t.Code.Code == unexpectedOpcode
	for i := range f.Ops {
		if unexpected && rdmap.Opcode(i) == rdmap.OpReadResponse && a.answersAll(1-dir) {
			continue // it was asked for
		}
		if op := rdmap.Opcode(i); f.Ops[i].Segments > 0 && (can(op) || !op.Assigned()) {
			return
		}
	}
	d.Dir = dir
	d.Text = fmt.Sprintf("The %s %s the Terminate %s (frame %d)%s.", dir.Sender(), a.endedWith(dir), t.Code.Name(), t.Frame, a.andEnded(dir))
	d.Also = append(d.Also, fmt.Sprintf("Nothing that the %s sent can cause that error, and the Terminate quotes nothing: it may be an error of the %s itself.", peer, dir.Sender()))
	d.Advice = checkLog(dir.Sender())
}

// allSeen reports whether all that a side sent was captured and could be read, with the T bits and the queues that the opcodes ask for.
func (a *about) allSeen(dir trace.Dir) bool {
	f, r, s := &a.Flow[dir], a.Flow[dir].Rare(), &a.Side[dir]
	began := a.SYN && (s.HasStartup || a.Transport == trace.SCTP && s.HasFunction)
	return began && r.Gaps == 0 && r.Partial == 0 && r.Malformed == 0 && r.Unframed == 0 && r.Unsent == 0 && !f.Cut && !f.Waiting && !a.finds(wrongTFlag) && !a.finds(wrongQueue)
}

// The rules that T is as the opcode asks for, and that a message is on the queue of its opcode.
const wrongTFlag, wrongQueue = "RDMAP-TFLAG-01", "RDMAP-QN-01"

// noDepth says that the read depth may be why a Read or an atomic operation was refused.
func (a *about) noDepth(dir trace.Dir, q *trace.Quote) string {
	if q.Opcode != rdmap.OpReadRequest && q.Opcode != rdmap.OpAtomicRequest {
		return ""
	}
	switch depth, ok := a.Depth(1 - dir); {
	case ok && depth == 0:
		return fmt.Sprintf("The %s announced IRD 0, so it serves no such request.", dir.Sender())
	case !ok && a.Negotiated && a.Transport == trace.TCP && !a.Side[trace.I2R].HasEnhanced:
		return fmt.Sprintf("The startup carries no IRD and ORD, so the %s may be set to serve no such request (IRD 0).", dir.Sender())
	}
	return ""
}
