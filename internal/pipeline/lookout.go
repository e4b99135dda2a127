package pipeline

import (
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// lookout decodes the headers of TCP segments in the goroutine that reads a file ahead,
// whose cache they are in, and finds out which have the same endpoints. It knows
// nothing of order, so that what it says holds whatever the run makes of it.
type lookout struct {
	blocks [capture.Blocks][capture.MaxGlances / earlyPage]*[earlyPage]early
	tuples tuples
	packet packet.Packet
}

// earlyPage is how many of a block stand together.
const earlyPage = 128

// early is a whole TCP segment that was decoded before it was read, in a cache line: what
// it takes to hand it to a connection that is known.
type early struct {
	segment  []byte
	captured uint32 // octets of the frame; 0: it has to be decoded like any other
	orig     uint32 // octets of it on the wire
	seq, ack uint32
	flags    uint16
	header   uint8 // octets
	sack     bool
	tuple
}

// look is told of packets as they are read ahead.
func (l *lookout) look(at capture.Early, data []byte, orig uint32) {
	page := &l.blocks[at.Block][(at.Nth-1)/earlyPage]
	if *page == nil {
		*page = new([earlyPage]early)
	}
	e, p := &(*page)[(at.Nth-1)%earlyPage], &l.packet
	if !packet.Plain(data, p) || p.Proto != packet.ProtoTCP {
		e.captured = 0
		return
	}
	e.captured, e.orig = uint32(len(data)), orig //nolint:gosec // in a block
	e.segment, e.seq, e.ack, e.flags = p.Segment, p.Seq, p.Ack, p.Flags
	e.header = uint8(packet.TCPLen + len(p.Options)) //nolint:gosec // at most 60
	e.sack = len(p.Options) > 0 && packet.SACK(p.Options) != nil
	e.tuple = l.tuples.of(p)
}

// of is the segment in a frame, if it was decoded.
func (l *lookout) of(at capture.Early) *early {
	i := at.Nth - 1
	if e := &l.blocks[at.Block][i/earlyPage][i%earlyPage]; e.captured > 0 {
		return e
	}
	return nil
}

// in is that in a frame that was read.
func (l *lookout) in(f *capture.Frame) *early {
	if l == nil || f.Early.Nth == 0 || uint16(f.Link) != packet.LinkEthernet {
		return nil
	}
	if e := l.of(f.Early); e != nil && int(e.captured) == len(f.Data) {
		return e
	}
	return nil
}

// tuple stands for the endpoints of a packet: the same number for those of both
// directions, until they are counted anew in another epoch.
type tuple struct {
	n, epoch uint32
	front    uint32 // of the checksums, see [packet.Packet.Front]
	swap     bool   // the sender is the larger endpoint
}

// maxTuples bounds the endpoints that are told apart.
const maxTuples = 1 << 17

func newLookout(bound int) *lookout { return &lookout{tuples: tuples{bound: bound}} }

// tuples numbers endpoints. It is a hash table with open addressing.
type tuples struct {
	pages []*[keysPage]pair // by number
	n     int
	slots []tupleSlot
	mask  uint64
	epoch uint32
	last  tuple
	bound int // of n
}

// keysPage is how many keys stand together; they are never moved.
const keysPage = 256

// tupleSlot is 1 more than the number of a key, 0: none, and part of its hash.
type tupleSlot struct{ n, tag uint32 }

// pair are two endpoints.
type pair struct {
	key
	front uint32
}

func (t *tuples) pair(n uint32) *pair { return &t.pages[n/keysPage][n%keysPage] }

// of is the tuple of a packet.
func (t *tuples) of(p *packet.Packet) tuple {
	if t.n > 0 {
		// Packets come in trains.
		if swap, ok := t.pair(t.last.n).of(p); ok {
			t.last.swap = swap
			return t.last
		}
	}
	if t.slots == nil {
		t.grow()
	}
	k, swap := keyOf(p)
	hash := k.hash()
	s := t.slot(hash, &k)
	if s.n == 0 {
		if t.n == t.bound || 2*t.n >= len(t.slots) {
			t.grow()
			s = t.slot(hash, &k)
		}
		if t.n%keysPage == 0 {
			t.pages = append(t.pages, new([keysPage]pair))
		}
		t.n++
		*s = tupleSlot{uint32(t.n), tagOf(hash)} //nolint:gosec // at most maxTuples
		*t.pair(s.n - 1) = pair{k, p.Front()}
	}
	t.last = tuple{s.n - 1, t.epoch, t.pair(s.n - 1).front, swap}
	return t.last
}

// slot is where a key stands, or would; nil stands for one that is not there.
func (t *tuples) slot(hash uint64, k *key) *tupleSlot {
	for i := hash & t.mask; ; i = (i + 1) & t.mask {
		s := &t.slots[i]
		if s.n == 0 || k != nil && s.tag == tagOf(hash) && t.pair(s.n-1).key == *k {
			return s
		}
	}
}

func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

// grow makes more room, or begins anew.
func (t *tuples) grow() {
	const start = 1 << 10
	if t.n == t.bound {
		*t = tuples{epoch: t.epoch + 1, bound: t.bound}
	}
	t.slots = make([]tupleSlot, max(start, 2*len(t.slots)))
	t.mask = uint64(len(t.slots) - 1) //nolint:gosec // a power of two
	for n := range uint32(t.n) {      //nolint:gosec // at most maxTuples
		hash := t.pair(n).hash()
		*t.slot(hash, nil) = tupleSlot{n + 1, tagOf(hash)}
	}
}
