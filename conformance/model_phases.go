package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// plainOctets returns the first octets of full operation that are in no FPDU and do
// not look like one.
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

// unstarted returns the first FPDU of a connection on which neither side sent a
// startup frame, as far as that is certain.
func (c *conn) unstarted() *fpduNote {
	a, b := &c.half[0], &c.half[1]
	if len(a.frames)+len(b.frames) > 0 || !a.opening.seen() && !b.opening.seen() {
		return nil
	}
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
	return &h.opening.first
}

// unstartedGates is the evidence for it.
func (c *conn) unstartedGates() Gate {
	have := c.startupGates(&c.half[0], &c.half[1])
	for i := range c.half {
		o := &c.half[i].opening
		if c.t.Flow[i].Cut && (!o.seen() || o.first.from > 0) {
			have &^= Contig // a key may be among what was cut off
		}
	}
	return have
}

// mayGoOn reports whether a half sent something behind its startup frames that may be
// FPDUs.
func (h *half) mayGoOn() bool {
	from := h.started()
	for i := range h.looses {
		if s := &h.looses[i]; s.from >= from && headed(s.octets) {
			return true
		}
	}
	return false
}

// copied reports whether the responder answered a Request that had its R bit set with
// the same bit, and both went on as if it were not there.
func (c *conn) copied() bool {
	q, r := c.pair()
	return q != nil && r != nil && q.R && r.R && c.half[0].opening.refused != nil && c.half[1].opening.refused != nil
}

// oneMarker reports whether a stream without markers begins with one, and goes on
// without.
func (c *conn) oneMarker(h *half) bool {
	f := &c.t.Flow[h.dir]
	o := &h.opening.first
	return o.lead && f.MarkersSeen == mpa.Yes && f.Markers-f.Faults().MarkersBad <= 1 && f.Sent-o.from > mpa.MarkerInterval
}

// atFirst is the place of the first FPDU of a half.
func (h *half) atFirst() Place {
	return Place{Dir: h.dir, HasDir: true, Frame: h.first.frame, PDU: h.first.pdu, HasPDU: true}
}

// strayBefore returns the octets between the startup frame and the first FPDU of its
// half, if they belong to neither and are not a damaged FPDU.
func (e *fpdu) strayBefore() *loose {
	const most = 2048
	n := len(e.looses)
	if n == 0 {
		return nil
	}
	s := &e.looses[n-1]
	if s.end != e.p.From || s.offset != 0 || s.length > most {
		return nil
	}
	if damaged := s.length >= minFPDU && headed(s.octets) && (len(e.f.Markers) > 0 || s.length%4 == 0); damaged || keyed(s.octets) {
		return nil
	}
	return s
}

// streamedUpTo returns the octets of a half that end where its Reply begins, but for a
// marker.
func (h *half) streamedUpTo(reply *frame) *loose {
	for i := range h.looses {
		if s := &h.looses[i]; s.end == reply.from && !h.marked(s) {
			return s
		}
	}
	return nil
}
