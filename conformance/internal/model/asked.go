package model

import (
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/deltas"
)

// asked is what is kept of a request that may have been answered.
type asked struct {
	Request rdmap.ReadRequest // of a Read
	Atomic  bool
	Source  TaggedAddress
	aop     rdmap.AOpCode
	msn     uint32
	Nth     uint64
	PDU     uint64
	Depth   depth
}

// askedRing are the latest requests of a direction. They are searched only when one was
// refused or is not answered, and thousands of connections have some: they are packed.
type askedRing struct {
	kept  deltas.List
	n     uint32 // how many are kept
	count uint64 // of all requests
	// latest is the last one; base the last one that was dropped, nil if none was.
	latest packedAsked
	base   *packedAsked
}

const maxAsked = 256

// packedAsked is a request in words. Its number is left to its place in the ring.
type packedAsked [8]uint64

func (x *asked) pack() packedAsked {
	q := &x.Request
	return packedAsked{
		q.SinkTO, q.SrcTO, uint64(q.SinkSTag) | uint64(q.SrcSTag)<<32, uint64(q.Size) | uint64(x.msn)<<32, x.PDU,
		x.Source.TO, uint64(x.Source.STag) | uint64(x.aop)<<32 | uint64(Bit(x.Atomic))<<40, //nolint:gosec // 0 or 1
		uint64(x.Depth.Reads) | uint64(x.Depth.Atomics)<<24 | uint64(Bit(x.Depth.Known))<<48, //nolint:gosec // at most maxRequests and one
	}
}

// set copies the words one by one, see packedBursts.add.
func (p *packedAsked) set(next *packedAsked) {
	p[0], p[1], p[2], p[3] = next[0], next[1], next[2], next[3]
	p[4], p[5], p[6], p[7] = next[4], next[5], next[6], next[7]
}

// foresee makes it what follows most likely: the next message, of memory that goes on there.
func (p *packedAsked) foresee() {
	size := p[3] & 0xffffffff
	p[0] += size
	p[1] += size
	p[5] += size
	p[3] += 1 << 32
}

func (p *packedAsked) unpack() asked {
	const octet = 0xff
	return asked{
		Request: rdmap.ReadRequest{
			SinkSTag: uint32(p[2]), SinkTO: p[0], Size: uint32(p[3]), SrcSTag: uint32(p[2] >> 32), SrcTO: p[1], //nolint:gosec // its halves
		},
		Atomic: p[6]>>40&1 != 0, Source: TaggedAddress{uint32(p[6]), p[5]}, aop: rdmap.AOpCode(p[6] >> 32 & octet), //nolint:gosec // its lower half
		msn: p.msn(), PDU: p.pdu(), Depth: p.depth(),
	}
}

func (p *packedAsked) pdu() uint64 { return p[4] }
func (p *packedAsked) msn() uint32 { return uint32(p[3] >> 32) }

func (p *packedAsked) depth() depth {
	const low = 1<<24 - 1
	return depth{Reads: int(p[7] & low), Atomics: int(p[7] >> 24 & low), Known: p[7]>>48&1 != 0}
}

func (a *askedRing) add(r *Request, s *Segment) {
	x := asked{Atomic: r.Atomic, Source: r.source, aop: r.AtomicOp, msn: r.MSN, PDU: s.PDU.Number, Depth: s.Depth}
	if !r.Atomic {
		x.Request, _ = rdmap.DecodeReadRequest(s.Header)
	}
	if a.n == maxAsked {
		if a.base == nil {
			a.base = &packedAsked{}
		}
		a.base.foresee()
		oldest := a.kept.Read()
		oldest.Next(a.base[:])
		a.kept.Drop(&oldest)
		a.n--
	}
	next := x.pack()
	a.latest.foresee()
	a.kept.Add(0, next[:], a.latest[:])
	a.latest.set(&next)
	a.n++
	a.count++
}

// askedReader reads the requests of a ring, the oldest first.
type askedReader struct {
	rest deltas.Reader
	p    packedAsked // the one that was read last
	nth  uint64      // its number
}

func (a *askedRing) read() askedReader {
	r := askedReader{rest: a.kept.Read(), nth: a.count - uint64(a.n) - 1}
	if a.base != nil {
		r.p = *a.base
	}
	return r
}

// next reads the next request, if there is one.
func (r *askedReader) next() bool {
	if !r.rest.More() {
		return false
	}
	r.p.foresee()
	r.rest.Next(r.p[:])
	r.nth++
	return true
}

// All iterates over the requests, the oldest first. They are borrowed.
func (a *askedRing) All(yield func(*asked) bool) {
	var x asked
	for r := a.read(); r.next(); {
		x = r.p.unpack()
		if x.Nth = r.nth; !yield(&x) {
			return
		}
	}
}

// find returns the latest request with a number.
func (a *askedRing) find(msn uint32) (found *asked) {
	for r := a.read(); r.next(); {
		if r.p.msn() == msn {
			x := r.p.unpack()
			x.Nth = r.nth
			found = &x
		}
	}
	return found
}
