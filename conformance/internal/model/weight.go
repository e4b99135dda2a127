package model

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

const (
	// mapEntry is what an entry of a map takes besides its key and its value, roughly: maps
	// are half empty.
	mapEntry = 24
	// smallParts is what a direction has of parts with a small bound, roughly.
	smallParts = 768

	frameWeight   = int(unsafe.Sizeof(Frame{}))
	wireWeight    = int(unsafe.Sizeof(wire{}))
	sliceWeight   = int(unsafe.Sizeof([]int{}))
	requestWeight = int(unsafe.Sizeof(Request{}))
	flyingWeight  = int(unsafe.Sizeof(flying{}))
	areaWeight    = int(unsafe.Sizeof(Area{})) + mapEntry
	trainWeight   = int(unsafe.Sizeof(block{}))
	runWeight     = int(unsafe.Sizeof(Stretch{}))
	endedWeight   = int(unsafe.Sizeof(EndedConnection{})) + smallParts
)

// Weight is the memory that the model of the connection takes, in octets, as far as it is
// the connection's own. Only what may grow is counted one by one.
func (c *Conn) Weight() int {
	n := int(unsafe.Sizeof(*c))
	for i := range c.Directions {
		n += c.Directions[i].weight()
	}
	return n
}

func (h *Direction) weight() (n int) {
	for f := range h.Frames {
		n += f.weight()
	}
	if h.apart != nil {
		n += sliceWeight + cap(*h.apart)*int(unsafe.Sizeof(Loose{}))
	}
	if h.own&ownSending != 0 {
		n += int(unsafe.Sizeof(*h.sending)) + smallParts + h.sending.weight()
	}
	if h.own&ownAsking != 0 {
		n += int(unsafe.Sizeof(*h.asking)) + h.asking.weight()
	}
	if h.own&ownSession != 0 {
		n += int(unsafe.Sizeof(*h.session)) + cap(h.Controls)*(int(unsafe.Sizeof(Control{}))+8)
	}
	return n
}

// weight is the frame with its octets; private data is nearly always a part of them.
func (f *Frame) weight() int {
	n := frameWeight
	if f.bounds != nil {
		n += sliceWeight + 8*cap(*f.bounds)
	}
	if f.flags&sharesWire != 0 {
		return n
	}
	n += wireWeight + cap(f.Raw)
	if len(f.Raw) < mpa.StartupLen+len(f.PrivateData) {
		n += cap(f.PrivateData)
	}
	return n
}

func (s *sending) weight() (n int) {
	for i := range s.Queues {
		n += s.Queues[i].Msg.weight()
	}
	for i := range s.Tagged {
		n += s.Tagged[i].Msg.weight()
	}
	if s.incomplete != nil {
		n += int(unsafe.Sizeof(*s.incomplete)) + len(s.incomplete.inside)*int(unsafe.Sizeof(Inside{}))
		n += cap(s.incomplete.interrupted) * int(unsafe.Sizeof(interrupted{}))
	}
	r := &s.Sent
	if b := r.pdus.blocks; b != nil {
		n += int(unsafe.Sizeof(*b)) + 8*cap(b.more) + int(r.pdus.held)*trainWeight
	}
	if r.pdus.far != nil {
		n += 8 * cap(*r.pdus.far)
	}
	if r.bursts.packedBursts != nil {
		n += int(unsafe.Sizeof(packedBursts{})) + r.bursts.kept.Cap()
	}
	return n
}

func (m *Message) weight() int {
	if m == nil {
		return 0
	}
	return int(unsafe.Sizeof(*m)) + cap(m.Runs)*runWeight + 4*cap(m.hashes)
}

func (a *asking) weight() int {
	f := &a.Flight
	n := a.room.Cap()*requestWeight + (f.waitingRoom.Cap()+f.landedRoom.Cap())*flyingWeight
	n += len(a.atomicIDs)*(8+mapEntry) + len(f.places)*(4+2*atomicLen+mapEntry) + len(a.gone)*(4+mapEntry)
	n += cap(a.early) * int(unsafe.Sizeof(EarlyAnswer{}))
	n += cap(a.around) * 8
	for _, m := range a.around {
		n += m.weight()
	}
	if a.Overtaking != nil {
		n += int(unsafe.Sizeof(*a.Overtaking)) + 8*cap(a.Overtaking.Related)
	}
	n += len(a.shortEnds) * (8 + int(unsafe.Sizeof(site{})) + mapEntry)
	n += len(a.Areas)*areaWeight + len(a.PastAreas)*areaWeight
	return n + a.Asked.kept.Cap() + 4*cap(a.shared) + cap(a.Reused)*int(unsafe.Sizeof(reuse{}))
}

// Weight is the memory that is kept of a connection that is over, in octets.
func (p *EndedConnection) Weight() int {
	n := endedWeight
	for _, f := range [...]*Frame{p.Request, p.Reply} {
		if f != nil {
			n += f.weight()
		}
	}
	return n
}
