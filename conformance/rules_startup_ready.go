package conformance

import (
	"time"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// indicationTimeout is how long an initiator may keep silent after an accept, in
// nanoseconds.
const indicationTimeout = int64(3 * time.Second)

// readyRules judge what follows an enhanced startup: the indication that the initiator
// is ready, Terminates that take its place, silence (RFC 6581 sections 8 and 9.2).
var readyRules = []Rule{
	{
		ID: "MPA2-REV-03", Needs: Bidir | End, Transport: onTCP,
		Capture: &On[*endedConnection]{
			Applies: func(c *Case, p *endedConnection) Scope {
				f := p.request
				if f == nil || f.partial || f.Rev != 1 {
					return OutOfScope
				}
				if p.dropped == "" {
					return InScopeIf(p.t.Outcome == trace.Accepted)
				}
				return InScopeIf(takesRevision2(c.Ended().to[p.responder()]) && !c.BlamedBefore(f.pdu))
			},
			Judge: func(r *Report, p *endedConnection) {
				switch {
				case p.dropped == "":
				case r.Ended().crowded(p):
					r.Unproven(Full)
				default:
					r.On(p.request, "a responder that speaks revision 2 closes on a Request of revision 1", p.dropped, "a Reply")
				}
			},
		},
	},
	{
		ID: "MPA2-CTRL-A-01", Needs: Neg | Layout | Sync, Transport: onTCP, Reacts: true,
		End: agreedWords(func(r *Report, q, _ mpa.Enhanced) {
			if q.A || !r.rfc6581() {
				return
			}
			if r.halfRead() {
				r.Unproven(Full)
				return
			}
			kind, ok := r.indication()
			ini, res := &r.half[trace.I2R], &r.half[trace.R2I]
			if !ok || kind == mpa.RTRSend || !res.first.segment || res.first.op == opTerminate {
				return
			}
			switch looksLikeIndication(ini, res) {
			case without:
			case unproven:
				r.Unproven(Causal)
			case having:
				r.On(ini.atFirst(), "client-server model, and the initiator begins with what looks like an indication", kind.String()+" of length 0", "A=1 in the Request")
			}
		}),
	},
	{
		ID: "MPA2-RTR-TERM-01", Needs: Neg | Layout | Start | Bidir, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if !c.peerToPeer() || c.offers(c.reply) == 0 {
					return OutOfScope
				}
				if _, leaves := leavesUnmatched(c); leaves {
					return InScope.Needing(End)
				}
				return InScope
			},
			Judge: func(r *Report, c *conn) {
				request, reply := c.bothOffer()
				h := &c.half[trace.I2R]
				noMatch := h.first.segment && h.first.op == opTerminate && startupError(h.first.code) == 7
				if request&reply != 0 && noMatch {
					r.OnAs(Warning, h.atFirst(), "the initiator finds no indication that fits, although one is common", reply.String(), (request & reply).String())
				}
				if k, leaves := leavesUnmatched(c); leaves {
					severity := None
					if k.reset {
						severity = Warning
					}
					r.OnAs(severity, k.where(), "no indication fits, and the initiator leaves without a Terminate", k.packet(), "Terminate 2/0/07, or "+reply.String())
				}
			},
		},
	},
	{
		ID: "MPA2-RTR-MISSING-01", Needs: Neg | Layout | Start | Bidir, Transport: onTCP, Reacts: true,
		YieldsTo: []string{"MPA2-RTR-FIRST-01", "MPA2-RTR-TERM-01", "MPA-START-04A"},
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				return InScopeIf(c.peerToPeer() && c.t.Flow[trace.R2I].StartAcked != 0 && c.half[trace.R2I].count == 0)
			},
			Judge: missingIndication,
		},
	},
	{
		ID: "MPA2-TERM-05", Needs: Neg, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				if c.half[trace.I2R].count > 0 {
					return InScopeIf(c.hasAgreed())
				}
				return InScopeIf(c.hasAgreed()).Needing(End)
			},
			Judge: func(r *Report, c *conn) {
				k, ok := c.leaves(trace.I2R)
				if !ok || c.half[trace.I2R].count > 0 || r.FoundBy("MPA2-RTR-MISSING-01") != nil || r.FoundBy("MPA2-RTR-TERM-01") != nil {
					return
				}
				r.On(k.where(), "the initiator leaves after the accept without a word", k.packet(), "Terminate 2/0/05, if there was a local error")
			},
		},
	},
	{
		ID: "MPA2-TERM-07", Needs: Neg, Transport: onTCP,
		Terminate: &On[*terminate]{
			Applies: func(_ *Case, t *terminate) Scope {
				n := startupError(t.code)
				return InScopeIf(n >= 5 && n <= 7)
			},
			Judge: func(r *Report, t *terminate) {
				if swappable(r, t) {
					return
				}
				plain := !r.request.S || r.request.Rev < 2 || !r.reply.S || r.reply.Rev < 2
				before := [2]uint64{r.half[0].count, r.half[1].count}
				before[t.dir]-- // without the Terminate itself
				switch {
				case plain && t.code.Code == 5:
					r.OnAs(Note, t.segment, "an error of the enhanced startup on a connection without one", codeText(t.code), "another code")
				case plain:
					r.On(t.segment, "an error of the enhanced startup on a connection without one", codeText(t.code), "another code")
				case t.code.Code != 5 && r.peerToPeer() && before[trace.I2R] > 1 && before[trace.R2I] > 0:
					r.On(t.segment, "an error of the startup after FPDUs were exchanged", codeText(t.code), "another code")
				}
			},
		},
	},
	{
		ID: "MPA2-D01-RTR-01", Needs: Neg | Start | Contig, Transport: onTCP,
		End: &On[*conn]{
			Applies: func(_ *Case, c *conn) Scope {
				switch {
				case c.t.Layout != mpa.LayoutDraft01 || !c.accepted() || !c.half[trace.I2R].first.segment:
					return OutOfScope
				case c.halfRead():
					return Lacking(Full)
				}
				return InScope
			},
			Judge: func(r *Report, c *conn) {
				if !c.request.hasWord || c.reply.Rev < 2 {
					return // the draft is not in use
				}
				types := mpa.RTRSend | mpa.RTRWrite | mpa.RTRRead
				if c.reply.hasWord {
					types = mpa.RTRTypes(c.reply.word, mpa.LayoutDraft01)
				}
				h := &c.half[trace.I2R]
				op := h.first.op
				kind, ok := c.indication()
				switch {
				case op == opTerminate, ok && types.Has(kind), types == 0 && op >= opSend && op <= rdmap.OpSendSEInv:
				case types == 0:
					r.On(h.atFirst(), "the Reply names no indication, and the first FPDU is no Send", op.String(), "a Send")
				default:
					r.On(h.atFirst(), "the first FPDU is no indication of a type that the Reply names", op.String(), types.String())
				}
			},
		},
	},
}

// takesRevision2 reports whether the responder of connections accepts Requests of
// revision 2, and never closes on one.
func takesRevision2(same []*endedConnection) bool {
	took := false
	for _, q := range same {
		if q.request == nil || q.request.Rev != 2 {
			continue
		}
		if q.dropped != "" {
			return false
		}
		took = took || q.t.Outcome == trace.Accepted
	}
	return took
}

// looksLikeIndication reports whether the initiator sent its first FPDU alone, and the
// responder began once it had it (having); or not (without); or whether that cannot be
// told.
func looksLikeIndication(ini, res *half) order {
	next := res.first.span
	if res.first.op == opReadResponse {
		if next = res.second; res.count < 2 {
			return without // it only answers
		}
	}
	answered, alone := next.knew(ini.first.end), having
	if ini.count > 1 {
		alone = ini.second.knew(next.end)
	}
	switch {
	case answered == without || alone == without:
		return without
	case answered == unproven || alone == unproven:
		return unproven
	}
	return having
}

// leavesUnmatched tells how the initiator left without an FPDU where both sides name no
// type of indication in common.
func leavesUnmatched(c *conn) (closing, bool) {
	if request, reply := c.bothOffer(); request&reply != 0 || c.half[trace.I2R].count > 0 {
		return closing{}, false
	}
	return c.leaves(trace.I2R)
}

// missingIndication judges the silence of an initiator that agreed on an indication.
func missingIndication(r *Report, c *conn) {
	if c.half[trace.I2R].count > 0 {
		return
	}
	if !c.mute(trace.I2R) {
		r.Unproven(Contig)
		return
	}
	at, until := Place{Dir: trace.I2R, HasDir: true, Frame: c.t.LastFrame}, c.t.LastTime
	k, closed := c.closed()
	if closed {
		until, at.Frame = k.Time, k.Frame
	}
	silence := until - c.t.Flow[trace.R2I].StartAcked
	expected := c.offers(c.reply).String()
	_, left := c.leaves(trace.I2R)
	switch {
	case silence > indicationTimeout:
		r.On(at, "the indication that was agreed does not come", "nothing for "+time.Duration(silence).Round(time.Millisecond).String(), expected)
	case left && !k.reset && !r.Has(End):
		r.Unproven(End)
	case left && !k.reset:
		r.On(at, "the initiator closes without the indication that was agreed", "FIN", expected)
	}
}

// swappable reports whether a Terminate of the startup may be one of RDMAP whose sender
// writes the control word the other way round: with four octets alone both can be read,
// and what the peer sent fits the other one.
func swappable(r *Report, t *terminate) bool {
	found := r.Found()
	for i := range found {
		if f := &found[i]; f.HasDir && f.Dir == t.peer.dir && f.HasOffset && f.Severity == Error {
			return true
		}
	}
	peer := &r.t.Flow[t.peer.dir]
	sent := func(from, to rdmap.Opcode) bool {
		for op := from; op <= to; op++ {
			if peer.Op(op).Segments > 0 {
				return true
			}
		}
		return false
	}
	// Unexpected opcode; catastrophic error, for which a request may be the cause.
	return t.code.Code == 6 && sent(rdmap.OpImmediate, opAtomicResponse) ||
		t.code.Code == 7 && (sent(opReadRequest, opReadRequest) || sent(opAtomicRequest, opAtomicRequest))
}
