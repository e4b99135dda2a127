package model

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// history are the DDP headers that a direction has sent, the latest ones. It is searched
// only when a Terminate quotes one, and segments are many: those that go on where
// the one before ends, as long as it and otherwise alike, are one burst.
type history struct {
	pdus   numbers
	bursts ring
	lost   bool // bursts were given up
}

// burst are n segments, the first of which has the header key.
type burst struct {
	key    headerKey
	length uint32 // of each ULPDU, header and payload
	n      uint32
}

// Sent is a segment of the history.
type Sent struct {
	PDU    uint64
	key    headerKey
	Length uint32 // ULPDU, header and payload
}

const (
	// maxHistory is how many segments are kept, as many as the catalogue asks for;
	// maxBursts is less: single segments would need 140 KiB of a direction. A quote of what
	// went before is not judged.
	maxHistory = 4096
	maxBursts  = 512
)

// usual is the room that nearly all take.
const usual = 8

// ring keeps the latest bursts, and grows until there are as many as it may keep.
type ring struct {
	kept []burst
	at   int // the oldest of a full ring
}

// add records a burst, and reports whether an older one was dropped.
func (r *ring) add(x burst) (dropped bool) {
	if len(r.kept) == 0 {
		r.kept = make([]burst, 0, usual)
	}
	if len(r.kept) < maxBursts {
		r.kept = append(r.kept, x)
		return false
	}
	r.kept[r.at] = x
	if r.at++; r.at == maxBursts {
		r.at = 0
	}
	return true
}

// back is the burst that came n before the latest one, nil if it is not kept.
func (r *ring) back(n int) *burst {
	if n >= len(r.kept) {
		return nil
	}
	i := r.at - 1 - n
	if i < 0 {
		i += len(r.kept)
	}
	return &r.kept[i]
}

// Dropped reports whether there were more than it holds.
func (h *history) Dropped() bool { return h.lost || h.pdus.dropped() }

func (h *history) add(s *Segment) {
	n := s.DDP.HeaderLen
	k, length := plain(s.Head[:min(n, len(s.Head))]), uint32(int64(n)+s.Octets) //nolint:gosec // a ULPDU or a user message
	h.number(s.PDU.Number)
	if b := h.bursts.back(0); b != nil && b.length == length && b.goesOn(&k) {
		b.n++
		return
	}
	h.lost = h.bursts.add(burst{k, length, 1}) || h.lost
}

// number records the PDU number of a segment.
func (h *history) number(pdu uint64) { h.pdus.add(pdu) }

// lengthen records that n more segments continue the latest burst; their numbers are
// recorded already.
func (h *history) lengthen(n uint32) { h.bursts.back(0).n += n }

// goesOn reports whether a header continues the burst.
func (b *burst) goesOn(k *headerKey) bool {
	next, ok := b.nth(b.n)
	return ok && next == *k
}

// nth is the header of the nth segment of the burst, or of one after it.
func (b *burst) nth(i uint32) (k headerKey, ok bool) {
	k = b.key
	octets := uint64(b.length) - uint64(k.n)
	switch {
	case i == 0:
	case octets == 0:
		return k, false
	case k.n == ddp.TaggedLen:
		to := k.b[ddp.TaggedLen-8 : ddp.TaggedLen]
		binary.BigEndian.PutUint64(to, binary.BigEndian.Uint64(to)+uint64(i)*octets)
	case k.n == ddp.UntaggedLen:
		mo := k.b[ddp.UntaggedLen-4:]
		binary.BigEndian.PutUint32(mo, binary.BigEndian.Uint32(mo)+i*uint32(octets)) //nolint:gosec // modulo 2^32 by design
	default:
		return k, false
	}
	return k, true
}

// find returns the segments with a header, the latest one first.
func (h *history) find(b []byte) (all []Sent) {
	k := plain(b)
	for x := range h.Latest {
		if x.key == k {
			all = append(all, *x)
		}
	}
	return all
}

// Latest iterates over the segments, the latest one first.
func (h *history) Latest(yield func(*Sent) bool) {
	b, i, j := h.bursts.back(0), 0, uint32(0)
	for pdu := range h.pdus.latest {
		for ; b != nil && j == b.n; j = 0 {
			i++
			b = h.bursts.back(i)
		}
		if b == nil {
			return
		}
		j++
		k, _ := b.nth(b.n - j)
		if x := (Sent{pdu, k, b.length}); !yield(&x) {
			return
		}
	}
}

// tagged reports whether a tagged segment with payload used an STag.
func (h *history) tagged(stag uint32) bool {
	for i := range h.bursts.kept {
		b := &h.bursts.kept[i]
		var g ddp.Segment
		if ddp.DecodeTo(&g, b.key.b[:b.key.n]) == nil && g.Tagged && g.STag == stag && b.length > uint32(b.key.n) {
			return true
		}
	}
	return false
}

// Header is that of the segment, without its reserved bits.
func (x *Sent) Header() (h ddp.Segment, ok bool) {
	return h, ddp.DecodeTo(&h, x.key.b[:x.key.n]) == nil
}

// Octets of payload.
func (x *Sent) Octets() int64 { return int64(x.Length) - int64(x.key.n) }

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

// Every reports whether a segment was found for the quote, and f holds for each
// segment that the quote fits.
func (t *Terminate) Every(f func(*Sent) bool) bool {
	for i := range t.Sent {
		if !f(&t.Sent[i]) {
			return false
		}
	}
	return len(t.Sent) > 0
}

// Payload reports whether every segment that may have been quoted had payload.
func (t *Terminate) Payload() bool { return t.Every(func(x *Sent) bool { return x.Octets() > 0 }) }

// Empty reports whether every segment that may have been quoted had none.
func (t *Terminate) Empty() bool { return t.Every(func(x *Sent) bool { return x.Octets() == 0 }) }

// SentTerminate is what is kept of the first Terminate of a direction.
type SentTerminate struct {
	Span
	Terminate
	at Place
}

// keep makes a copy that outlives the PDU.
func (t *Terminate) keep() *SentTerminate {
	w := &SentTerminate{Span: SpanOf(t.PDU), Terminate: *t, at: t.Where()}
	w.Segment, w.Straight, w.Quote = nil, rdmap.Terminate{}, rdmap.Terminate{}
	return w
}

// Where is the place of the Terminate.
func (w *SentTerminate) Where() Place { return w.at }
