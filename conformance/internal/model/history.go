package model

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/deltas"
)

// history are the DDP headers that a direction has sent, the latest ones. It is searched
// only when a Terminate quotes one, and segments are many: those that go on where
// the one before ends, as long as it and otherwise alike, are one burst.
type history struct {
	pdus   numbers
	bursts ring
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

// ring keeps the latest bursts, up to maxBursts. The latest one goes on; those before it
// are packed, each as what differs from the one foreseen after the last of its kind.
type ring struct {
	latest burst // n is 0: there is none
	*packedBursts
}

// packedBursts are those before the latest one.
type packedBursts struct {
	n    uint32
	kept deltas.List // n of them, the oldest first
	last ofKinds
	base *ofKinds // of those that were dropped; nil: none was
}

// packedBurst is a burst in words: the two control octets and the next four, the next eight
// octets of the header, the length with the last four, and the two numbers.
type packedBurst [4]uint64

// ofKinds are bursts, one of each kind.
type ofKinds [kinds]packedBurst

// kinds is how many kinds of messages are told apart, by the lower bits of their opcode:
// nearly all are Writes, Read Requests, Read Responses and Sends.
const kinds = 4

func (b *burst) pack(p *packedBurst) {
	h := &b.key.b
	p[0] = uint64(binary.LittleEndian.Uint16(h[:])) | uint64(binary.LittleEndian.Uint32(h[2:]))<<16
	p[1] = binary.BigEndian.Uint64(h[6:])
	p[2] = uint64(b.length) | uint64(binary.BigEndian.Uint32(h[14:]))<<32
	p[3] = uint64(b.n) | uint64(b.key.n)<<32
}

func (p *packedBurst) unpack() (b burst) {
	h := &b.key.b
	binary.LittleEndian.PutUint64(h[:], p[0])
	binary.BigEndian.PutUint64(h[6:], p[1])
	binary.BigEndian.PutUint32(h[14:], uint32(p[2]>>32))
	b.key.n, b.length, b.n = uint8(p[3]>>32), uint32(p[2]), uint32(p[3]) //nolint:gosec // their parts
	return b
}

// lastFlag is that of a DDP header.
const lastFlag = 0x40

// kind is that of the message.
func (p *packedBurst) kind() uint8 { return uint8(p[0]>>8) % kinds } //nolint:gosec // the opcode

// foresee makes it what most likely follows: a tagged message that goes on, or the next one.
func (p *packedBurst) foresee() {
	const low = 1<<32 - 1
	size := p[2]&low - p[3]>>32
	switch {
	case p[3]>>32 == ddp.TaggedLen:
		p[1] += p[3] & low * size
	case p[0]&lastFlag != 0: // the next message number, from its beginning
		p[1], p[2] = p[1]&^low|(p[1]+1)&low, p[2]&low
	default:
		p[2] += p[3] & low * size << 32
	}
}

// keep packs the latest burst, in whose place there will be another one.
func (r *ring) keep(k *pool) {
	if r.latest.n == 0 {
		return
	}
	if r.packedBursts == nil {
		r.packedBursts = k.bursts.Take()
	}
	r.packedBursts.add(&r.latest)
}

// dropped reports whether bursts were given up.
func (r *ring) dropped() bool { return r.packedBursts != nil && r.base != nil }

// add packs a burst. Words are copied one by one: a processor waits until all is written that is to be copied
// in larger parts than it was written in.
func (r *packedBursts) add(b *burst) {
	var p packedBurst
	b.pack(&p)
	k := p.kind()
	foreseen := &r.last[k]
	foreseen.foresee()
	r.kept.Add(k, p[:], foreseen[:])
	foreseen[0], foreseen[1], foreseen[2], foreseen[3] = p[0], p[1], p[2], p[3]
	if r.n++; r.n < maxBursts {
		return
	}
	if r.base == nil {
		r.base = &ofKinds{}
	}
	oldest := r.kept.Read()
	r.base.next(&oldest)
	r.kept.Drop(&oldest)
	r.n--
}

// next reads the next burst.
func (o *ofKinds) next(r *deltas.Reader) *packedBurst {
	p := &o[r.Tag(len(packedBurst{}))]
	p.foresee()
	r.Next(p[:])
	return p
}

// all are the bursts, the oldest first.
func (r *ring) all() (list []burst) {
	if r.packedBursts != nil {
		list = make([]burst, 0, r.n+1)
		var o ofKinds
		if r.base != nil {
			o = *r.base
		}
		for read := r.kept.Read(); read.More(); {
			list = append(list, o.next(&read).unpack())
		}
	}
	if r.latest.n > 0 {
		list = append(list, r.latest)
	}
	return list
}

// Dropped reports whether there were more than it holds.
func (h *history) Dropped() bool { return h.bursts.dropped() || h.pdus.dropped() }

func (h *history) add(s *Segment) {
	n := s.DDP.HeaderLen
	head, length := s.Head[:min(n, len(s.Head))], uint32(int64(n)+s.Octets) //nolint:gosec // a ULPDU or a user message
	h.number(s.PDU.Number)
	b := &h.bursts.latest
	if b.n > 0 && b.length == length && b.goesOn(head) {
		b.n++
		return
	}
	h.bursts.keep(s.pool)
	b.key.set(head)
	b.length, b.n = length, 1
}

// number records the PDU number of a segment.
func (h *history) number(pdu uint64) { h.pdus.add(pdu) }

// lengthen records that n more segments continue the latest burst; their numbers are
// recorded already.
func (h *history) lengthen(n uint32) { h.bursts.latest.n += n }

// goesOn reports whether a header continues the burst. It compares octets where they are: to copy what was just
// written in parts takes a processor longer.
func (b *burst) goesOn(head []byte) bool {
	k := &b.key
	octets := uint64(b.length) - uint64(k.n)
	if int(k.n) != len(head) || octets == 0 || len(head) < ddp.TaggedLen || head[0]&^reserved0 != k.b[0] || head[1]&^reserved1 != k.b[1] ||
		binary.LittleEndian.Uint32(head[2:]) != binary.LittleEndian.Uint32(k.b[2:]) {
		return false
	}
	from, was := binary.BigEndian.Uint64(head[6:]), binary.BigEndian.Uint64(k.b[6:])
	switch len(head) {
	case ddp.TaggedLen:
		return from == was+uint64(b.n)*octets
	case ddp.UntaggedLen:
		return from == was && binary.BigEndian.Uint32(head[14:]) == binary.BigEndian.Uint32(k.b[14:])+b.n*uint32(octets) //nolint:gosec // modulo 2^32 by design
	default:
		return false
	}
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
	all, j := h.bursts.all(), uint32(0)
	for pdu := range h.pdus.latest {
		for ; len(all) > 0 && j == all[len(all)-1].n; j = 0 {
			all = all[:len(all)-1]
		}
		if len(all) == 0 {
			return
		}
		b := &all[len(all)-1]
		j++
		k, _ := b.nth(b.n - j)
		if x := (Sent{pdu, k, b.length}); !yield(&x) {
			return
		}
	}
}

// tagged reports whether a tagged segment with payload used an STag.
func (h *history) tagged(stag uint32) bool {
	all := h.bursts.all()
	for i := range all {
		b := &all[i]
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
	k.set(b)
	return k
}

// The reserved bits of the first two octets: those of DDP, and of the octet that is for RDMAP.
const reserved0, reserved1 = 0x3c, 0x30

func (k *headerKey) set(b []byte) {
	*k = headerKey{}
	k.n = uint8(copy(k.b[:], b)) //nolint:gosec // at most 18
	k.b[0] &^= reserved0
	k.b[1] &^= reserved1
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
	at    Place
	quote headerKey // what it quotes
	// Over SCTP sacked is the first TSN that its sender lacked, as it said in the packet of it; proven: the chunk with that TSN came
	// later.
	sacked int64
	proven bool
}

// keep makes a copy that outlives the PDU.
func (t *Terminate) keep() *SentTerminate {
	w := &SentTerminate{Span: SpanOf(t.PDU), Terminate: *t, at: t.Where(), quote: plain(t.Quote.DDPHeader), sacked: -1}
	if k := t.PDU.Chunk; k != nil {
		w.sacked = k.Arrival.Sacked
	}
	w.Segment, w.Straight, w.Quote = nil, rdmap.Terminate{}, rdmap.Terminate{}
	return w
}

// Where is the place of the Terminate.
func (w *SentTerminate) Where() Place { return w.at }
