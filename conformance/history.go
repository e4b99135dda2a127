package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// history are the DDP headers that a half has sent, the latest ones. It is a ring
// that is searched only when a Terminate quotes one: segments are many.
type history struct {
	ring  []sent
	count uint64
}

// sent is a segment in it.
type sent struct {
	pdu    uint64
	key    headerKey
	length uint32 // ULPDU, header and payload
}

// maxHistory is less than the 4096 that the catalogue asks for: a half would need
// 128 KiB. A quote of what went before is not judged.
const maxHistory = 512

// dropped reports whether there were more than it holds.
func (h *history) dropped() bool { return h.count > maxHistory }

func (h *history) add(s *segment) {
	n := s.seg.HeaderLen
	x := sent{s.p.Number, plain(s.head[:min(n, len(s.head))]), uint32(int64(n) + s.octets)} //nolint:gosec // a ULPDU or a user message
	if len(h.ring) < maxHistory {
		h.ring = append(h.ring, x)
	} else {
		h.ring[h.count%maxHistory] = x
	}
	h.count++
}

// find returns the segments with a header, the latest one first.
func (h *history) find(b []byte) (all []sent) {
	k := plain(b)
	for x := range h.latest {
		if x.key == k {
			all = append(all, *x)
		}
	}
	return all
}

// latest iterates over the segments, the latest one first.
func (h *history) latest(yield func(*sent) bool) {
	n := uint64(len(h.ring))
	for i := range n {
		if !yield(&h.ring[(h.count-1-i)%n]) {
			return
		}
	}
}

// header is that of the segment, without its reserved bits.
func (x *sent) header() (h ddp.Segment, ok bool) {
	return h, ddp.DecodeTo(&h, x.key.b[:x.key.n]) == nil
}

// octets of payload.
func (x *sent) octets() int64 { return int64(x.length) - int64(x.key.n) }

// plain is a header without its reserved bits, which a receiver may clear.
func plain(b []byte) (k headerKey) {
	k.n = uint8(copy(k.b[:], b)) //nolint:gosec // at most 18
	k.b[0] &^= 0x3c
	k.b[1] &^= 0x30
	return k
}

// headerKey is a DDP header; the longer one is the untagged one.
type headerKey struct {
	b [ddp.UntaggedLen]byte
	n uint8
}

// every reports whether a segment was quoted and something holds of all that it
// may be.
func (t *terminate) every(f func(*sent) bool) bool {
	for i := range t.sent {
		if !f(&t.sent[i]) {
			return false
		}
	}
	return len(t.sent) > 0
}

// payload and empty tell of the quoted segment whether payload followed.
func (t *terminate) payload() bool { return t.every(func(x *sent) bool { return x.octets() > 0 }) }

func (t *terminate) empty() bool { return t.every(func(x *sent) bool { return x.octets() == 0 }) }

// word is what is kept of the first Terminate of a half.
type word struct {
	span
	terminate
	at Finding
}

// keep makes a copy that outlives the PDU.
func (t *terminate) keep() *word {
	w := &word{span: spanOf(t.p), terminate: *t, at: t.at()}
	w.segment, w.straight, w.quote = nil, rdmap.Terminate{}, rdmap.Terminate{}
	return w
}
