package model

import (
	"cmp"
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/internal/fifo"
	"github.com/iwdissect/iwdissect/trace"
)

// flight are the requests of a direction whose answers it need not have yet. There may be
// thousands, and each request and each answer asks for their number: so they are counted, and
// in lists from which the first ones are taken.
type flight struct {
	// waiting have no answer, in the order in which they were sent. Those that got one stay
	// until all before them have one; gone counts them.
	waiting     []flying
	waitingRoom fifo.Room[flying]
	gone        int
	// landed have an answer, in the order of the ends of those.
	landed     []flying
	landedRoom fifo.Room[flying]
	// reads and atomics are how many there are in waiting and landed, atomics by their STag
	// and their places as well.
	reads, atomics int
	places         map[uint32][atomicLen]uint16
	count          uint64 // of all requests
	since          uint64 // those before were given up, as there were too many
	steps          uint64 // entries that were looked at, for tests
	// muddled: an answer may have been taken for that of another request, or there
	// were too many to keep.
	muddled bool
}

// flying is a request in it.
type flying struct {
	nth    uint64
	atomic bool
	gone   bool // from waiting
	source TaggedAddress
	// end of the answer in the other direction.
	end int64
}

// Has reports whether requests of a kind are in it.
func (f *flight) Has(atomic bool) bool {
	if atomic {
		return f.atomics > 0
	}
	return f.reads > 0
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
	d = s.Flight.awaited(acked)
	d.Known = c.Trace.Transport == trace.TCP && acked >= 0 && acked <= c.Trace.Flow[s.Peer.Dir].Sent && !s.Flight.muddled
	d.add(s.Op == OpAtomicRequest)
	return d
}

// awaited counts the requests whose complete answer a sender that has all octets up to acked
// does not have.
func (f *flight) awaited(acked int64) depth {
	d := depth{Reads: f.reads, Atomics: f.atomics}
	for i := range f.landed {
		x := &f.landed[i]
		switch {
		case x.awaited(acked):
			return d
		case x.atomic:
			d.Atomics--
		default:
			d.Reads--
		}
	}
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
// answer, which has landed.
func (x *flying) awaited(acked int64) bool { return x.end > acked }

// retire drops the requests whose answers have arrived at a sender that has all octets up to
// acked.
func (f *flight) retire(acked int64) {
	n := 0
	for n < len(f.landed) && !f.landed[n].awaited(acked) {
		f.tally(&f.landed[n], -1)
		n++
	}
	f.steps += uint64(n)
	if n > 0 {
		f.landedRoom.Drop(&f.landed, n)
	}
}

// tally counts a request that comes or goes.
func (f *flight) tally(x *flying, n int) {
	if !x.atomic {
		f.reads += n
		return
	}
	f.atomics += n
	if f.places == nil {
		f.places = map[uint32][atomicLen]uint16{}
	}
	at := f.places[x.source.STag]
	at[x.source.TO%atomicLen] += uint16(n) //nolint:gosec // at most maxRequests
	if at == [atomicLen]uint16{} {
		delete(f.places, x.source.STag)
	} else {
		f.places[x.source.STag] = at
	}
}

// launch records a request.
func (f *flight) launch(r *Request) {
	if f.reads+f.atomics >= maxRequests {
		*f = flight{
			waitingRoom: f.waitingRoom, waiting: f.waiting[:0], landedRoom: f.landedRoom, landed: f.landed[:0],
			count: f.count, since: f.count, steps: f.steps, muddled: true,
		}
	}
	x := flying{nth: f.count, atomic: r.Atomic, source: r.source}
	f.tally(&x, 1)
	f.waitingRoom.Push(&f.waiting, x)
	f.count++
}

// land notes the end of the answer to a request, if that is in it.
func (f *flight) land(nth uint64, end int64) {
	if nth < f.since {
		return
	}
	i, waits := f.find(nth)
	if !waits {
		// Its answer goes on behind what seemed to be its end.
		i = slices.IndexFunc(f.landed, func(x flying) bool { f.steps++; return x.nth == nth })
		if i < 0 {
			return
		}
		x := f.landed[i]
		f.landedRoom.Remove(&f.landed, i)
		f.arrive(x, end)
		return
	}
	x := &f.waiting[i]
	f.arrive(*x, end)
	x.gone = true
	f.gone++
	f.tidy()
}

// find returns the place of a request among those that wait, if it does.
func (f *flight) find(nth uint64) (i int, waits bool) {
	if len(f.waiting) == 0 || f.waiting[0].nth == nth {
		return 0, len(f.waiting) > 0
	}
	i, ok := slices.BinarySearchFunc(f.waiting, nth, func(x flying, nth uint64) int {
		f.steps++
		return cmp.Compare(x.nth, nth)
	})
	return i, ok && !f.waiting[i].gone
}

// arrive adds a request to those that have landed.
func (f *flight) arrive(x flying, end int64) {
	x.end = end
	f.landedRoom.Push(&f.landed, x)
	for i := len(f.landed) - 1; i > 0 && f.landed[i-1].end > end; i-- { // over SCTP only
		f.landed[i-1], f.landed[i] = f.landed[i], f.landed[i-1]
		f.steps++
	}
}

// tidy takes away what has gone from waiting: in front at once, else when it is half.
func (f *flight) tidy() {
	n := 0
	for n < len(f.waiting) && f.waiting[n].gone {
		n++
	}
	if f.gone -= n; n > 0 {
		f.waitingRoom.Drop(&f.waiting, n)
	}
	f.steps += uint64(n)
	if f.gone > len(f.waiting)/2 {
		f.steps += uint64(len(f.waiting))
		f.waiting = slices.DeleteFunc(f.waiting, func(x flying) bool { return x.gone })
		f.gone = 0
	}
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
		f.muddled = f.muddled || !c.synced(s.Peer)
	}
	if r == nil || !s.DDP.Last && !(s.Answer.Fits && r.Got+uint64(s.Octets) >= r.Size) { //nolint:gosec // not negative
		return // an answer with all octets may lack its L
	}
	f.land(r.nth, max(SpanOf(s.PDU).End, 0))
}

// beside returns the offsets modulo 8 of the atomics that are outstanding on an STag while
// the current request is sent.
func (f *flight) beside(s *Segment, stag uint32) (places uint8) {
	if !s.Depth.Known {
		return 0
	}
	for i, n := range f.places[stag] {
		if n > 0 {
			places |= 1 << i
		}
	}
	return places
}

// Depths looks up how many requests of a direction were outstanding with each of some, in the
// order in which they were asked: one walk through what is kept finds all of them.
type Depths struct {
	rest askedReader
	more bool
}

// Depths begins with the oldest request.
func (h *Direction) Depths() *Depths {
	d := &Depths{rest: h.Asked.read()}
	d.more = d.rest.next()
	return d
}

// Of is how many requests were outstanding with this one, if that is known. It was asked after
// the one of the call before.
func (d *Depths) Of(r *Request) (n int, known bool) {
	for d.more && d.rest.p.pdu() < r.At.PDU {
		d.more = d.rest.next()
	}
	if !d.more || d.rest.p.pdu() != r.At.PDU {
		return 0, false
	}
	x := d.rest.p.depth()
	return x.Reads + x.Atomics, x.Known
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

// SettledGate is [Conn.RequestGate] although octets may wait.
func (c *Conn) SettledGate(asks *Direction) catalogue.Gate {
	if c.settled(asks) {
		return catalogue.ReadSync
	}
	return 0
}

// IsRTR reports whether a request is the ready-to-receive indication.
func (s *Segment) IsRTR(c *Conn) bool {
	return s.IsFirst && s.Op == OpReadRequest && s.Dir == trace.I2R && s.First.size == 0 && c.PeerToPeer()
}
