package analysis

import (
	"fmt"
	"net/netip"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// A control word without header control bits may be right as RFC 5040 lays it out and in
// the order that siw writes, with another meaning each time. Then what happened on the
// connection decides, and after that what else the sender wrote.

// sender is what the Terminates of one sender showed: a frame with one that is certainly
// swapped, and a frame with one that certainly is not.
type sender struct{ swapped, straight uint64 }

// word are the first octets of a control word, from one sender.
type word struct {
	from trace.Endpoint
	code rdmap.TermCode
}

// maxSenders bounds the senders and the words that are remembered for their Terminates.
const maxSenders = 4096

// read decides how a Terminate that was captured in full is read. fits says that what it
// announces is there.
func (c *upper) read(side int, p *trace.PDU, t *rdmap.Terminate, fits bool, to *trace.Terminate) {
	from := c.from(p.Dir)
	whole := p.FPDU == nil || p.FPDU.CRCStatus != mpa.CRCBad || crcZero(p.FPDU)
	if code, ok := t.Swapped(false); ok {
		to.Code, to.Swapped = code, true
		if whole {
			c.env.wrote(from, sender{swapped: p.Frame})
		}
		return
	}
	if t.D && fits && whole && t.Assigned() && t.Rsvd == 0 {
		c.env.wrote(from, sender{straight: p.Frame})
	}
	code, ok := t.Ambiguous()
	if !ok {
		if _, ok := t.Swapped(true); ok {
			c.env.crossed()
		}
		seen := c.env.senders[from]
		if code, ok := t.Swapped(seen.straight == 0); ok && seen.swapped > 0 {
			to.Code, to.Swapped, to.Why = code, true, asBefore(seen.swapped)
		}
		return
	}
	c.env.crossed()
	k := word{from, to.Code}
	before, known := c.env.words[k]
	swapped, why, settled := c.decide(side, p, to.Code, code)
	if !settled {
		if known {
			swapped = before // the same octets have the same reading
		} else if swapped {
			why = asBefore(c.env.senders[from].swapped)
		}
	}
	if !known && whole && len(c.env.words) < maxSenders {
		if c.env.words == nil {
			c.env.words = map[word]bool{}
		}
		c.env.words[k] = swapped
	}
	switch {
	case swapped:
		to.Code, to.Swapped, to.Why = code, true, why
	case known && before || c.env.senders[from].swapped > 0:
		to.Why = why
	}
}

// asBefore is the reason for a reading that follows from another Terminate.
func asBefore(frame uint64) string {
	return fmt.Sprintf("the sender wrote its Terminate in frame %d so", frame)
}

// from is the sender of a direction, for what holds in other connections, too: its address,
// or that and its port if both ends have one address.
func (c *upper) from(d trace.Dir) trace.Endpoint {
	a, b := c.Trace.Side[d].Addr, c.Trace.Side[1-d].Addr
	if a.Addr() == b.Addr() {
		return a
	}
	return netip.AddrPortFrom(a.Addr(), 0)
}

// wrote records what a Terminate showed of its sender.
func (e *Env) wrote(from trace.Endpoint, s sender) {
	if e.senders == nil {
		e.senders = map[trace.Endpoint]sender{}
	}
	x, known := e.senders[from]
	if !known && len(e.senders) >= maxSenders {
		return
	}
	if x.swapped == 0 {
		x.swapped = s.swapped
	}
	if x.straight == 0 {
		x.straight = s.straight
	}
	e.senders[from] = x
}

// decide chooses between the two readings of a control word. settled says that the
// connection itself decides, why what does.
func (c *upper) decide(side int, p *trace.PDU, straight, other rdmap.TermCode) (swapped bool, why string, settled bool) {
	if fit, why := c.fitting(side, p, straight); fit == fitsWell {
		return false, why, true
	}
	fit, why := c.fitting(side, p, other)
	switch {
	case fit == fitsWell:
		return true, why, true
	case fit == cannotBe:
		return false, "", true
	}
	seen := c.env.senders[c.from(p.Dir)]
	// One address may stand for several hosts, which write differently.
	return seen.swapped > 0 && seen.straight == 0, "", false
}

// fit says how well an error fits what happened on the connection.
type fit uint8

const (
	// mayBe: nothing speaks for it, and nothing against it.
	mayBe fit = iota
	// cannotBe: there is nothing that it could be about.
	cannotBe
	// fitsWell: what it is about was seen.
	fitsWell
)

// fitting reports how well an error that a Terminate of a side reports fits, and what it is
// about in that case.
func (c *upper) fitting(side int, p *trace.PDU, k rdmap.TermCode) (fit, string) {
	peer := &c.queues[1-side]
	silent := !c.heard(side, p) && c.allKnown(1-side, c.Dir(1-side))
	switch {
	case k.Layer == rdmap.LayerLLP:
		return c.fitsStartup(side, p, k.Code)
	case k.Layer == rdmap.LayerRDMAP && k.EType == rdmap.ETypeRemoteProtection && silent:
		return cannotBe, ""
	case k.Layer != rdmap.LayerRDMAP || k.EType != rdmap.ETypeRemoteOperation:
		return mayBe, ""
	case k.Code == 7:
		// The indication of readiness may be a Read Request, and what is wrong with it is
		// another error.
		all := peer.requests()
		n := len(all)
		for n > 0 && !c.mayConcern(p, &all[n-1]) {
			n--
		}
		if n > 0 && all[n-1].frame != c.Trace.RTRFrame {
			return fitsWell, fmt.Sprintf("the request in frame %d has no answer", all[n-1].frame)
		}
		return mayBe, ""
	case silent:
		return cannotBe, ""
	}
	executes := c.Trace.Flow[p.Dir].Op(rdmap.OpAtomicResponse).Segments > 0
	c.env.sent = peer.history().latest(c.env.sent[:0])
	for i := range c.env.sent {
		x := &c.env.sent[i]
		op, version := rdmap.Opcode(x.control[1]&0x0f), x.control[1]>>6
		switch {
		case k.Code == 5 && version != p.Control.RV:
			return fitsWell, fmt.Sprintf("the segment in frame %d has RDMAP version %d", x.frame, version)
		case k.Code == 6 && op > rdmap.OpTerminate && (!op.Assigned() || !executes):
			return fitsWell, fmt.Sprintf("the segment in frame %d has opcode %d", x.frame, op)
		case k.Code == 6 && op.Assigned() && op.Tagged() != x.tagged():
			return fitsWell, fmt.Sprintf("the segment in frame %d has an opcode of the other buffer model", x.frame)
		}
	}
	return mayBe, ""
}

// had reports whether the sender of a PDU may have had the octets of the other side up to an offset when it sent
// that: the order in which they were captured says nothing.
func (c *upper) had(p *trace.PDU, end int64) bool {
	return c.Trace.Transport != trace.TCP || p.LastAcked < 0 || p.LastAcked >= end
}

// mayConcern reports whether a Terminate may be about a request of the other side: its sender may have had that, and
// the request was not sent by one who had the Terminate.
func (c *upper) mayConcern(p *trace.PDU, r *request) bool {
	return c.had(p, r.end) && (c.Trace.Transport != trace.TCP || r.acked < p.From+p.Length)
}

// heard reports whether the sender of a PDU may have had segments of the other side when it sent that.
func (c *upper) heard(side int, p *trace.PDU) bool {
	h := c.queues[1-side].history()
	return h.some && c.had(p, h.first)
}

// fitsStartup is fitting for the errors of the enhanced startup, which the initiator reports
// in place of its first message (RFC 6581 sections 8 and 9).
func (c *upper) fitsStartup(side int, p *trace.PDU, code uint8) (fit, string) {
	const depth, indication, open = 6, 7, 0x3fff
	t, d := c.Trace, p.Dir
	spoke := c.queues[side].history().some || c.heard(side, p)
	switch {
	case code != depth && code != indication, !t.RolesKnown:
		return mayBe, ""
	case code == indication && d == trace.R2I && t.RTRFrame > 0 && !t.RTRExpected.Has(t.RTRSent.Type()):
		return fitsWell, fmt.Sprintf("the ready-to-receive indication in frame %d is a %s, which the Reply does not name", t.RTRFrame, t.RTRSent)
	case spoke || d == trace.R2I:
		return cannotBe, ""
	case !t.Side[0].HasEnhanced || !t.Side[1].HasEnhanced || t.Outcome != trace.Accepted:
		return mayBe, ""
	}
	q, a := t.Side[0].Enhanced, t.Side[1].Enhanced
	switch {
	case code == indication && q.A && mpa.RTRTypes(q, t.Layout)&mpa.RTRTypes(a, t.Layout) == 0:
		return fitsWell, "the Request and the Reply name no ready-to-receive indication in common"
	case code == depth && a.ORD > q.IRD && a.ORD != open && q.IRD != open:
		return fitsWell, fmt.Sprintf("the ORD of the Reply is %d, above the IRD of the Request, %d", a.ORD, q.IRD)
	case code == depth && a.IRD < q.ORD && a.IRD != open && q.ORD != open:
		return fitsWell, fmt.Sprintf("the IRD of the Reply is %d, below the ORD of the Request, %d", a.IRD, q.ORD)
	}
	return mayBe, ""
}
