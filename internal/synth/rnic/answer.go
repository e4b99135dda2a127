package rnic

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// answer is one that this end owes.
type answer struct {
	place
	atomic bool
	read   rdmap.ReadRequest
	ask    rdmap.AtomicRequest
	msn    uint32
}

// maxOwed bounds the answers of an end that ignores the depth or its errors: no
// depth that can be agreed is larger (RFC 6581 section 9, 14 bits).
const maxOwed = 1 << 14

// owe remembers to answer a request.
func (e *Endpoint) owe(a answer) {
	if e.ignores(IgnoreRequests) {
		return
	}
	a.place = place{"response", int(a.msn)}
	if a.atomic {
		a.place.name = "atomic_response"
	}
	if e.cfg.PeerName != nil {
		if name, number := e.cfg.PeerName(a.msn); name != "" {
			if e.asked != name {
				e.asked, e.answerTo = name, name+pdu.Response
			}
			a.place = place{e.answerTo, number}
		}
	}
	if e.answers.len() >= maxOwed {
		return
	}
	e.answers.push(a)
	if e.ignores(IgnoreOrder) && !a.atomic {
		e.readsFirst()
	}
}

// readsFirst moves the youngest answer in front of the atomic ones.
func (e *Endpoint) readsFirst() {
	q := e.answers.items[e.answers.first:]
	for i := len(q) - 1; i > 0 && q[i-1].atomic; i-- {
		q[i-1], q[i] = q[i], q[i-1]
	}
}

// answer begins the answer to a request. An atomic operation is done only now,
// so that it sees what earlier answers and Writes have left.
func (e *Endpoint) answer(a answer) *message {
	m := &e.message
	*m = message{place: a.place, number: 1, owed: true}
	if !a.atomic {
		m.size = uint64(a.read.Size)
		m.src = source{kind: fromMemory, region: e.find(a.read.SrcSTag), at: a.read.SrcTO}
		if m.size <= maxTold {
			// What Config.Sent is told now must be what goes out, whatever is
			// written to the memory by then.
			e.snapshot = slices.Grow(e.snapshot[:0], int(m.size))[:m.size]
			m.src.read(e.snapshot, 0)
			m.src = source{octets: e.snapshot}
		}
		e.tagged(m, rdmap.OpReadResponse, Address{a.read.SinkSTag, a.read.SinkTO})
		return m
	}
	var old uint64
	if r := e.find(a.ask.RemoteSTag); r != nil {
		old = r.word(a.ask.RemoteTO)
		if v, ok := a.ask.Apply(old); ok {
			r.setWord(a.ask.RemoteTO, v)
		}
	}
	e.fixed(m, rdmap.OpAtomicResponse, rdmap.AtomicResponse{RequestID: a.ask.RequestID, Original: old}.Append(e.header[:0]))
	return m
}
