package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// phaseChecks are about when each phase begins: startup, the FPDUs of the
// initiator, those of the responder (RFC 5044 section 7.1).
var phaseChecks = []check{
	{id: "MPA-CONN-POINT-01", shape: true, needs: Start | Neg | Full, transport: onTCP, fpdu: func(c *conn, e *fpdu) {
		if e.count > 0 || !e.p.HasOffset || !c.accepted() || c.rtr != nil && e.dir == trace.I2R {
			return
		}
		if e.p.Offset == 0 {
			c.applies()
			return
		}
		const most = 2048
		n := len(e.looses)
		if n == 0 || e.looses[n-1].end != e.p.From || e.looses[n-1].offset != 0 || e.looses[n-1].length > most {
			return
		}
		s := &e.looses[n-1]
		damaged := s.length >= minFPDU && headed(s.octets) && (len(e.f.Markers) > 0 || s.length%4 == 0)
		if damaged || keyed(s.octets) || !c.applies() {
			return
		}
		x := s.found()
		x.HasPDU = false // of the half: it gives way to whatever explains it there
		x.Message = "the FPDUs do not begin where the startup frame ends"
		x.Observed, x.Expected = fmt.Sprintf("the first one %d octets behind it", s.length), "at once"
		c.fire(x)
	}},
	{id: "MPA-CONN-BOTH-01", needs: Neg | Start | Contig, transport: onTCP, end: func(c *conn) {
		if !c.accepted() {
			return
		}
		c.about(&c.half[0], &c.half[1])
		if s := c.plainOctets(); s != nil {
			if !s.gap {
				c.have |= Contig
			}
			if c.t.Flow[s.dir].Cut {
				c.have &^= Full // perhaps there is an FPDU further on
			}
			if c.applies(Full) {
				x := s.found()
				x.Message = "octets that are no FPDU, after an accepting Reply"
				x.Observed, x.Expected = fmt.Sprintf("%d octets, %q", s.length, s.octets[:min(len(s.octets), mpa.KeyLen)]), "FPDUs in both directions"
				c.fire(x)
			}
			return
		}
		c.applies()
	}},
	{id: "MPA-START-01", needs: Start | Contig | Bidir, transport: onTCP, end: func(c *conn) {
		if n := c.unstarted(); n != nil && c.applies() {
			x := n.at()
			x.Message, x.Observed, x.Expected = "FPDUs without MPA startup", "an FPDU", "a Request"
			c.fire(x)
		}
	}},
	{id: "RNIC-IOP-NOSTART-01", needs: Start | Contig, transport: onTCP, end: func(c *conn) {
		n := c.unstarted()
		if n == nil || !c.applies() {
			return
		}
		if h := &c.half[n.dir]; n.lead && n.from == 0 && h.opening.good > 0 && h.hasVersions && h.dv == 0 {
			x := n.at()
			x.Message = "an RNIC of the RDMA Consortium begins without MPA startup"
			x.Observed, x.Expected = "markers and DDP version 0", "a Request"
			c.fire(x)
		}
	}},
	{id: "MPA-START-02A", needs: Start | Bidir | Contig, transport: onTCP, end: func(c *conn) {
		asks, answers := &c.half[trace.I2R], &c.half[trace.R2I]
		requests, replies := asks.ofKind(trace.KindRequest), answers.ofKind(trace.KindReply)
		if len(replies) == 0 {
			return
		}
		c.about(asks)
		if !c.starts(asks) {
			c.have &^= Start // there may have been others before
		}
		s, _ := c.badRequest()
		if len(requests) == 0 {
			if s == nil && c.backwards() == nil && c.allOf(asks) && c.applies() {
				c.frame(replies[0], "a Reply although no Request was sent", "no Request", "a Request")
			}
			return
		}
		for i, r := range replies {
			if i >= len(requests) {
				return
			}
			switch q := requests[i]; {
			case r.knew(q.end) == unproven:
				c.lacks(Causal)
			case c.applies() && r.knew(q.end) == without:
				c.frame(r, "the Reply was sent before all of the Request had arrived", fmt.Sprintf("%d of %d octets acknowledged", max(r.acked-q.from, 0), q.end-q.from), "all")
			}
		}
	}},
	{id: "MPA-START-02E", needs: Start | Contig, transport: onTCP, end: func(c *conn) {
		_, r := c.pair()
		if r == nil {
			return
		}
		for i := range c.half {
			h := &c.half[i]
			c.about(h)
			n := h.opening.refused
			switch {
			case n == nil && r.R && h.mayGoOn():
				c.lacks(Sync)
			case n == nil:
				if r.R {
					c.applies()
				}
			case h.dir == trace.I2R && n.knew(r.end) == unproven:
				c.lacks(Causal)
			case h.dir == trace.I2R && n.knew(r.end) == without: // it could not know
			case c.copied():
			default:
				if c.have |= Contig; c.applies() { // it was found by what it is
					x := n.at()
					x.Message, x.Observed, x.Expected = "an FPDU after a rejecting Reply", n.op.String(), "no FPDU"
					c.fire(x)
				}
			}
		}
	}},
	{id: "MPA-START-02F", needs: Start | Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		h := &c.half[trace.I2R]
		if q == nil || r == nil {
			return
		}
		c.about(h)
		x, sent, what := h.opening.first.at(), &h.opening.first.span, "an FPDU"
		if s := h.looseAt(q.end); s != nil && r.M && zeroMarker(s.octets) {
			x, sent, what = s.found(), &s.span, "a marker"
		} else if !h.opening.seen() || sent.from < q.end {
			return
		}
		switch sent.knew(r.end) {
		case unproven:
			c.lacks(Causal)
		case having:
			c.applies()
		case without:
			if c.applies() {
				x.Message, x.Observed, x.Expected = what+" of the initiator that was sent before it had the Reply", what, "nothing before the Reply"
				c.fire(x)
			}
		}
	}},
	{id: "MPA-START-03A", needs: Start | Bidir | Contig | Full, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		n := &c.half[trace.I2R].opening.first
		if q == nil || !n.seen || n.from < q.end {
			return
		}
		peer := &c.half[trace.R2I]
		if _, bad := c.badReply(); bad || len(peer.frames) > 0 && r == nil {
			return // that is another fault
		}
		c.about(peer)
		if c.t.Flow[peer.dir].Cut {
			c.have &^= Full
		}
		if r != nil {
			c.have |= Start | Contig | Full
		}
		if r == nil && !peer.opening.seen() && c.t.Ending == trace.Open {
			c.lacks(End) // it may still come
			return
		}
		if c.applies() && r == nil {
			x := n.at()
			x.Message, x.Observed, x.Expected = "the initiator sends FPDUs, and there is no Reply", "an FPDU", "nothing before the Reply"
			c.fire(x)
		}
	}},
	{id: "MPA-START-04A", needs: Neg | Start | Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		n := &c.half[trace.R2I].opening.first
		if q == nil || r == nil || !c.accepted() || !n.seen || c.rtr != nil || n.refuses() && c.bad(&c.half[trace.I2R]) {
			return
		}
		knew := n.acked
		if n.alone {
			knew = n.lastAcked // the marker before it is another matter
		}
		if c.speaks(q, r, n.from, knew) {
			c.early(n, "the responder sends an FPDU before it has one of the initiator", "nothing before the first FPDU of the initiator")
		}
	}},
	{id: "MPA-START-04B", needs: Neg | Start | Bidir, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		h := &c.half[trace.R2I]
		if q == nil || r == nil || !c.accepted() || !q.M || c.rtr != nil {
			return
		}
		x, sent := h.opening.first.at(), &h.opening.first.span
		if s := h.looseAt(r.end); s != nil && s.length == mpa.MarkerSize && zeroMarker(s.octets) {
			x, sent = s.found(), &s.span
		} else if !h.opening.first.alone {
			if h.opening.seen() && h.opening.first.from == r.end {
				c.applies()
			}
			return
		}
		if c.speaks(q, r, sent.from, sent.acked) {
			x.Message = "the responder sends a marker before it has an FPDU of the initiator"
			x.Observed, x.Expected = "a marker alone", "nothing before the first FPDU of the initiator"
			c.fire(x)
		}
	}},
	{id: "MPA-START-04C", needs: Neg | Sync | Full | Sum, transport: onTCP, end: func(c *conn) {
		a, b := &c.half[trace.I2R].opening, &c.half[trace.R2I].opening
		if c.t.CRC != mpa.Yes || !a.seen() || !b.seen() || !c.accepted() || a.first.from < c.half[trace.I2R].started() {
			return
		}
		c.about(&c.half[trace.I2R])
		n := &b.first
		switch {
		case a.first.crc == mpa.CRCUnverifiable:
			c.lacks(Full)
		case a.first.crc != mpa.CRCBad:
			c.applies()
		case c.t.Flow[trace.I2R].Faults().Conflicts > 0: // another copy of it may be right
			c.lacks(Sum)
		case n.acked < 0 || c.half[trace.I2R].hole && a.good == 0:
			c.lacks(Causal)
		case n.acked < a.first.end: // it had none at all
		case (a.good == 0 || n.acked < a.good) && c.t.Flow[trace.I2R].Cut:
			c.lacks(Full) // another one may be right
		case (a.good == 0 || n.acked < a.good) && c.applies():
			c.early(n, "the responder sends an FPDU, and all of the initiator that it has is one with a wrong CRC", "nothing before a valid FPDU of the initiator")
		}
	}},
	{id: "MPA-START-07B", needs: Neg | Start | Full, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			if !c.accepted() || c.t.Markers[i] != mpa.No || !h.opening.seen() {
				continue
			}
			c.about(h)
			if c.applies() && c.oneMarker(h) {
				x := h.opening.first.at()
				x.Message = "a marker in front of the first FPDU, and none behind it, although the receiver wants none"
				x.Observed, x.Expected = "00 00 00 00", "ULPDU_Length"
				c.fire(x)
			}
		}
	}},
	{id: "MPA-DUAL-01", needs: Start | Contig, transport: onTCP, end: func(c *conn) {
		q, r := c.pair()
		if q == nil || r == nil {
			return
		}
		h := &c.half[trace.R2I]
		c.about(h)
		for i := range h.looses {
			s := &h.looses[i]
			if s.end != r.from || h.marked(s) {
				continue
			}
			if s.gap {
				c.have &^= Contig
			} else {
				c.have |= Contig
			}
			switch late := max(s.acked, s.lastAcked); {
			case late < 0:
				c.lacks(Causal)
			case c.applies() && late >= q.end:
				x := s.found()
				x.Message = "the responder talks in streaming mode between the Request and its Reply"
				x.Observed, x.Expected = fmt.Sprintf("%d octets, %q", s.length, s.octets[:min(len(s.octets), mpa.KeyLen)]), "the Reply"
				c.fire(x)
			}
			return
		}
		c.applies()
	}},
}

// plainOctets returns the first octets of full operation that are in no FPDU and
// look like none.
func (c *conn) plainOctets() *loose {
	for i := range c.half {
		h := &c.half[i]
		for k := range h.looses {
			s := &h.looses[k]
			const enough = 8
			if s.placed && s.from >= h.started() && (s.length >= enough || s.from+enough <= c.t.Flow[i].Sent) && len(s.octets) > 0 && !headed(s.octets) && !zeroMarker(s.octets) {
				return s
			}
		}
	}
	return nil
}

// unstarted returns the first FPDU of a connection on which none of both sides
// sent a startup frame, as far as that is sure.
func (c *conn) unstarted() *fpduNote {
	a, b := &c.half[0], &c.half[1]
	if len(a.frames)+len(b.frames) > 0 || !a.opening.seen() && !b.opening.seen() {
		return nil
	}
	c.about(a, b)
	h := a
	if !a.opening.seen() {
		h = b
	}
	if s := h.looseAt(0); s != nil && (keyed(s.octets) || mpa.NearKey(s.octets)) {
		return nil // that is another fault
	}
	const chain = 3
	if h.opening.good == 0 && h.opening.count < chain {
		return nil
	}
	for _, g := range [...]*half{a, b} {
		if c.t.Flow[g.dir].Cut && (!g.opening.seen() || g.opening.first.from > 0) {
			c.have &^= Contig // a key may be among what was cut off
		}
	}
	return &h.opening.first
}

// mayGoOn reports whether a half sent something behind a rejecting Reply that may be FPDUs.
func (h *half) mayGoOn() bool {
	from := h.started()
	for i := range h.looses {
		if s := &h.looses[i]; s.from >= from && headed(s.octets) {
			return true
		}
	}
	return false
}

// copied reports whether the responder answered a Request that had its R bit set
// with the same bit, and both went on as if it were not there.
func (c *conn) copied() bool {
	q, r := c.pair()
	return q != nil && r != nil && q.R && r.R && c.half[0].opening.refused != nil && c.half[1].opening.refused != nil
}

// speaks reports whether the responder sent what is behind its Reply before it had
// an FPDU of the initiator, as the acknowledgement tells that came with it.
func (c *conn) speaks(q, r *frame, from, knew int64) bool {
	end, exact := c.firstEnd(q)
	c.about(&c.half[trace.I2R], &c.half[trace.R2I])
	switch {
	case from != r.end && c.half[trace.R2I].hole:
		c.lacks(Contig)
	case from != r.end: // other octets come first
	case knew < 0:
		c.lacks(Causal)
	case knew < end && c.t.Flow[trace.R2I].SACKs: // it may have it out of order
		c.lacks(Causal)
	case knew < end:
		return c.applies()
	case exact:
		c.applies()
	default:
		c.lacks(Contig)
	}
	return false
}

// early fires on the first FPDU of a responder that had to wait. A Terminate may be
// the answer to what it waits for, and is a note.
func (c *conn) early(n *fpduNote, message, expected string) {
	x := n.at()
	if n.op == opTerminate {
		x.Severity = Note
	}
	x.Message, x.Observed, x.Expected = message, n.op.String(), expected
	c.fire(x)
}

// oneMarker reports whether a stream without markers begins with one, and goes on
// without.
func (c *conn) oneMarker(h *half) bool {
	f := &c.t.Flow[h.dir]
	o := &h.opening.first
	return o.lead && f.MarkersSeen == mpa.Yes && f.Markers-f.Faults().MarkersBad <= 1 && f.Sent-o.from > mpa.MarkerInterval
}
