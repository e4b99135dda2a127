package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/trace"
)

// flight are the requests of a direction whose answers it need not have yet, in their
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
	source TaggedAddress
	// end of the answer in the other direction; negative while there is none.
	end int64
}

// Has reports whether requests of a kind are in it.
func (f *flight) Has(atomic bool) bool {
	for i := range f.list {
		if f.list[i].atomic == atomic {
			return true
		}
	}
	return false
}

// depth is how many requests are outstanding, if that is known.
type depth struct {
	Reads, Atomics int
	Known          bool
}

// outstanding counts the requests whose complete answer the sender of the current request
// did not have yet, including the current one.
func (s *Segment) outstanding(c *Conn) (d depth) {
	acked := s.PDU.LastAcked
	if !s.hasHeader() {
		return d
	}
	f := &s.Flight
	d.Known = c.Trace.Transport == trace.TCP && acked >= 0 && acked <= c.Trace.Flow[s.Peer.Dir].Sent && !f.muddled
	for i := range f.list {
		if x := &f.list[i]; x.awaited(acked) {
			d.add(x.atomic)
		}
	}
	d.add(s.Op == OpAtomicRequest)
	return d
}

func (d *depth) add(atomic bool) {
	if atomic {
		d.Atomics++
	} else {
		d.Reads++
	}
}

// awaited reports whether a sender that has all octets up to acked lacks the
// answer.
func (x *flying) awaited(acked int64) bool { return x.end < 0 || x.end > acked }

// launch records a request, and drops those whose answers have arrived.
func (f *flight) launch(r *Request, s *Segment) {
	kept := f.list[:0]
	for i := range f.list {
		if x := &f.list[i]; x.awaited(s.PDU.LastAcked) {
			kept = append(kept, *x)
		}
	}
	if f.list = kept; len(f.list) >= maxRequests {
		f.list, f.muddled = f.list[:0], true
	}
	f.list = append(f.list, flying{f.count, r.Atomic, r.source, -1})
	f.count++
}

// deepest is the most that was outstanding at once.
type deepest struct {
	Reads int
	At    site // the request that made so many Reads
	// Mixed is the most Reads and atomics together that were too many, while the Reads alone
	// were not, or the atomics alone were.
	Mixed int
}

// Mixed is how many Reads and atomics there are together, if atomics are among them and
// it is because of them that they exceed the limit; else 0.
func (d depth) Mixed(limit int) int {
	if all := d.Reads + d.Atomics; d.Atomics > 0 && all > limit && (d.Reads <= limit || d.Atomics > limit) {
		return all
	}
	return 0
}

func (m *deepest) add(d depth, limit int, at *site) {
	if !d.Known {
		return
	}
	m.Mixed = max(m.Mixed, d.Mixed(limit))
	if d.Reads > m.Reads {
		m.Reads, m.At = d.Reads, *at
	}
}

// lands records the end of a response.
func (s *Segment) lands(c *Conn) {
	f := &s.Peer.Flight
	r := s.Answer.Request
	if r == nil || !s.Answer.Fits {
		// If nothing is missing, it answers no request or the oldest one; otherwise the
		// request is unknown.
		f.muddled = f.muddled || c.Gates(s.Direction)&catalogue.ReadSync == 0
	}
	if r == nil || !s.DDP.Last {
		return
	}
	for i := range f.list {
		if f.list[i].nth == r.nth {
			f.list[i].end = max(SpanOf(s.PDU).End, 0)
			return
		}
	}
}

// beside returns the offsets modulo 8 of the atomics that are outstanding on an STag while
// the current request is sent.
func (f *flight) beside(s *Segment, stag uint32) (places uint8) {
	if !s.Depth.Known {
		return 0
	}
	for i := range f.list {
		if x := &f.list[i]; x.atomic && x.source.STag == stag && x.awaited(s.PDU.LastAcked) {
			places |= x.source.Bit()
		}
	}
	return places
}

// DepthOf is how many requests of a direction were outstanding with this one, if that is
// known.
func (h *Direction) DepthOf(r *Request) (n int, known bool) {
	for x := range h.Asked.All {
		if x.PDU == r.At.PDU {
			return x.Depth.Reads + x.Depth.Atomics, x.Depth.Known
		}
	}
	return 0, false
}

// Outstanding returns the request of a direction that is not answered.
func (h *Direction) Outstanding(nth uint64) *Request {
	for i := range h.Requests {
		if r := &h.Requests[i]; r.nth == nth && !r.HasShort {
			return r
		}
	}
	return nil
}

// SettledGate is ReadSync although octets may wait.
func (c *Conn) SettledGate() catalogue.Gate {
	if c.settled() {
		return catalogue.ReadSync
	}
	return 0
}

// IsRTR reports whether a request is the ready-to-receive indication.
func (s *Segment) IsRTR(c *Conn) bool {
	return s.IsFirst && s.Op == OpReadRequest && s.Dir == trace.I2R && s.First.size == 0 && c.PeerToPeer()
}
