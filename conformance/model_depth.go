package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// flight are the requests of a half whose answers it need not have yet, in their
// order.
type flight struct {
	list  []flying
	count uint64 // of all requests
	// muddled: an answer may have been taken for that of another request, or there
	// were too many to keep.
	muddled bool
}

// flying is a request in it.
type flying struct {
	nth    uint64
	atomic bool
	source place
	// end of the answer in the other direction; negative while there is none.
	end int64
}

// has reports whether requests of a kind are in it.
func (f *flight) has(atomic bool) bool {
	for i := range f.list {
		if f.list[i].atomic == atomic {
			return true
		}
	}
	return false
}

// depth is how many requests are outstanding, if that is known.
type depth struct {
	reads, atomics int
	known          bool
}

// outstanding counts the requests that the sender of the request at hand had no
// whole answer to, this one included.
func (s *segment) outstanding(c *conn) (d depth) {
	acked := s.p.LastAcked
	if s.seg.MO != 0 {
		return d
	}
	f := &s.flight
	d.known = c.t.Transport == trace.TCP && acked >= 0 && acked <= c.t.Flow[s.peer.dir].Sent && !f.muddled
	for i := range f.list {
		if x := &f.list[i]; x.awaited(acked) {
			d.add(x.atomic)
		}
	}
	d.add(s.op == opAtomicRequest)
	return d
}

func (d *depth) add(atomic bool) {
	if atomic {
		d.atomics++
	} else {
		d.reads++
	}
}

// awaited reports whether a sender that has all octets up to acked lacks the
// answer.
func (x *flying) awaited(acked int64) bool { return x.end < 0 || x.end > acked }

// launch takes in a request, and forgets those whose answers have arrived.
func (f *flight) launch(r *request, s *segment) {
	kept := f.list[:0]
	for i := range f.list {
		if x := &f.list[i]; x.awaited(s.p.LastAcked) {
			kept = append(kept, *x)
		}
	}
	if f.list = kept; len(f.list) >= maxRequests {
		f.list, f.muddled = f.list[:0], true
	}
	f.list = append(f.list, flying{f.count, r.atomic, r.source, -1})
	f.count++
}

// deepest is the most that was outstanding at once.
type deepest struct {
	reads, all int
	at         site // the request that made so many Reads
}

func (m *deepest) add(d depth, at *site) {
	if !d.known {
		return
	}
	if d.reads > m.reads {
		m.reads, m.at = d.reads, *at
	}
	m.all = max(m.all, d.reads+d.atomics)
}

// lands takes in the end of a response.
func (s *segment) lands(c *conn) {
	f := &s.peer.flight
	r := s.ans.r
	if r == nil || !s.ans.fits {
		// With all at hand it answers nothing, or the oldest; without, who knows.
		f.muddled = f.muddled || c.gates(s.half)&ReadSync == 0
	}
	if r == nil || !s.seg.Last {
		return
	}
	for i := range f.list {
		if f.list[i].nth == r.nth {
			f.list[i].end = max(spanOf(s.p).end, 0)
			return
		}
	}
}

// beside tells which places of 8 octets the atomics on an STag have that are
// outstanding while the request at hand is sent.
func (f *flight) beside(s *segment, stag uint32) (places uint8) {
	if !s.depth.known {
		return 0
	}
	for i := range f.list {
		if x := &f.list[i]; x.atomic && x.source.stag == stag && x.awaited(s.p.LastAcked) {
			places |= x.source.bit()
		}
	}
	return places
}

// asked is what is kept of a request when it may have been answered.
type asked struct {
	request rdmap.ReadRequest // of a Read
	atomic  bool
	source  place
	aop     rdmap.AOpCode
	msn     uint32
	nth     uint64
	pdu     uint64
	depth   depth
}

// askedRing are the latest requests of a half.
type askedRing struct {
	ring  []asked
	count int
}

const maxAsked = 256

func (a *askedRing) add(r *request, s *segment) {
	x := asked{atomic: r.atomic, source: r.source, aop: r.aop, msn: r.msn, nth: r.nth, pdu: s.p.Number, depth: s.depth}
	if !r.atomic {
		x.request, _ = rdmap.DecodeReadRequest(s.body)
	}
	if len(a.ring) < maxAsked {
		a.ring = append(a.ring, x)
	} else {
		a.ring[a.count%maxAsked] = x
	}
	a.count++
}

// find returns the latest request with a number.
func (a *askedRing) find(msn uint32) *asked {
	n := len(a.ring)
	for i := range n {
		if x := &a.ring[(a.count-1-i)%n]; x.msn == msn {
			y := *x
			return &y
		}
	}
	return nil
}

// outstanding returns the request of a half that is not answered.
func (h *half) outstanding(nth uint64) *request {
	for i := range h.requests {
		if r := &h.requests[i]; r.nth == nth && !r.hasShort {
			return r
		}
	}
	return nil
}

// settledGate is ReadSync although octets may wait.
func (c *conn) settledGate() Gate {
	if c.settled() {
		return ReadSync
	}
	return 0
}

// isRTR reports whether a request is the ready-to-receive indication.
func (s *segment) isRTR(c *conn) bool {
	return s.isFirst && s.op == opReadRequest && s.dir == trace.I2R && s.first.size == 0 && c.peerToPeer()
}
