package pipeline

import (
	"encoding/binary"
	"hash/maphash"
	"time"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/packet"
)

// A capture of two places, or of both ports of a path at a switch, has packets twice. A copy is no
// retransmission: it is the same IP packet, but for what a router changes, or on another VLAN or interface. What a sender
// sends again has another IP identification. Packets are remembered only where some repeats octets, for a while: a capture
// that has each only once does without.

// taps are the packets of a part of the connections that were captured of late, see settleParts.
type taps struct {
	seen  []passed // a ring, nil while there was no need of it
	at    int
	place []uint16 // in seen, plus 1, by the sum
	// Packets are remembered up to the frame until, and not again before the frame from.
	until, from, pause uint64
	seed               maphash.Seed
}

// passed is a packet that was captured.
type passed struct {
	sum  uint64
	time int64
	by   uint64 // the side of the connection that sent it
	hop  hop
	id   uint16
	next uint16 // in seen, plus 1, of the one before in the same place
}

// hop is where a packet was captured, as far as its frame tells.
type hop struct {
	at        int // the interface
	tag       uint16
	tags, ttl uint8
}

const (
	// maxPassed is how many packets are remembered in a part.
	maxPassed = 1 << 12
	places    = 4 * maxPassed
	// maxChain bounds how many packets of one place are looked at.
	maxChain = 16
	// tapsWeight is what they take in memory.
	tapsWeight = 48*maxPassed + 2*places
	// watch is for how many frames, firstPause how many follow in which nothing is remembered if
	// no copy came; each pause is longer than the one before.
	watch      = 2 * maxPassed
	firstPause = 1 << 16
	pauseGrows = 4
	maxPause   = 1 << 40
	// apartAtMost is how far copies are apart: a sender waits longer before it sends again what nobody acknowledged.
	// apartByHop is the same for those that only the hop proves.
	apartAtMost = int64(100 * time.Millisecond)
	apartByHop  = int64(10 * time.Millisecond)
	// neighbours are looked at for whether a sender numbers its packets.
	neighbours = 256
	// tapped octets of a packet are compared: its headers, of which checksums cover the rest.
	tapped = 192
)

// tapsOf are those of the part that a flow is in.
func (r *Run) tapsOf(fl *flow) *taps { return &r.taps[fl.ends.Hash()%settleParts] }

// watching reports whether packets of a flow are remembered at a frame.
func (r *Run) watching(fl *flow, frame uint64) bool { return r.tapping && frame < r.tapsOf(fl).until }

// doubtful notes that the packet at hand repeats octets, or a SYN: others of the part may be copies from now on.
func (r *Run) doubtful(fl *flow) {
	t, frame := r.tapsOf(fl), r.seg.Frame
	if frame < t.until || frame < t.from {
		return
	}
	t.pause = min(max(firstPause, t.pause*pauseGrows), maxPause)
	t.until = frame + watch
	t.from = t.until + t.pause
	if t.seen == nil {
		t.seen, t.place, t.seed = make([]passed, maxPassed), make([]uint16, places), maphash.MakeSeed()
		r.memory.Take(tapsWeight)
	}
	clear(t.seen)
	clear(t.place)
	r.tapping = true
}

// untap forgets all packets.
func (r *Run) untap() {
	for i := range r.taps {
		if t := &r.taps[i]; t.seen != nil {
			*t = taps{}
			r.memory.Take(-tapsWeight)
		}
	}
	r.tapping = false
}

// copied reports whether the packet at hand is a copy of another one for certain, and remembers it.
func (t *taps) copied(f *capture.Frame, p *packet.Packet, sum *Totals) bool {
	x, ok := t.packet(f, p)
	if !ok {
		return false
	}
	alike := false
	if o := t.find(x.sum); o != nil {
		if t.copyOf(&x, o) {
			t.until, t.pause = f.Number+watch, 0
			t.from = t.until
			return true
		}
		alike = o.by == x.by && max(x.time-o.time, o.time-x.time) <= apartAtMost
	}
	sum.compared(p.PayloadLen == 0, alike)
	t.add(x)
	return false
}

// copyOf reports whether a packet is a copy of an earlier one for certain.
func (t *taps) copyOf(x, o *passed) bool {
	apart := max(x.time-o.time, o.time-x.time)
	if o.sum != x.sum || o.by != x.by || apart > apartAtMost {
		return false
	}
	return x.hop != o.hop && apart <= apartByHop || x.id != 0 && t.numbers(x)
}

// compared counts a packet that is no copy for certain.
func (t *Totals) compared(bare, alike bool) {
	t.Compared++
	if bare {
		t.ComparedBare++
	}
	if !alike {
		return
	}
	if t.Alike++; bare {
		t.AlikeBare++
	}
}

// find returns the last packet that had a sum. Others may have taken the places of those that it looks at in the ring, so that what
// follows them is of no place in particular, and yet is compared.
func (t *taps) find(sum uint64) *passed {
	at := t.place[sum%places]
	for range maxChain {
		if at == 0 {
			return nil
		}
		o := &t.seen[at-1]
		if o.sum == sum {
			return o
		}
		at = o.next
	}
	return nil
}

func (t *taps) add(x passed) {
	place := &t.place[x.sum%places]
	x.next = *place
	t.seen[t.at] = x
	*place = uint16(t.at) + 1 //nolint:gosec // at most maxPassed
	t.at = (t.at + 1) % maxPassed
}

// numbers reports whether the sender of a packet gives others another IP identification.
func (t *taps) numbers(x *passed) bool {
	for i := range neighbours {
		o := &t.seen[(t.at-1-i+maxPassed)%maxPassed]
		if o.by == x.by && o.sum != x.sum {
			return o.id != x.id
		}
	}
	return false
}

// packet is the packet at hand, as it is remembered. What a router changes counts as zero.
func (t *taps) packet(f *capture.Frame, p *packet.Packet) (x passed, ok bool) {
	if p.Fragments != nil || p.NetworkOffset < 0 || p.NetworkOffset >= len(f.Data) {
		return x, false
	}
	var head [tapped]byte
	n := copy(head[:], f.Data[p.NetworkOffset:])
	if n < 40 {
		return x, false
	}
	switch head[0] >> 4 {
	case 4:
		x.id, x.hop.ttl = binary.BigEndian.Uint16(head[4:]), head[8]
		head[1], head[8], head[10], head[11] = 0, 0, 0, 0 // type of service, TTL, checksum
		n = min(n, int(binary.BigEndian.Uint16(head[2:])))
	case 6:
		x.hop.ttl, head[7] = head[7], 0
		head[0], head[1] = head[0]&0xf0, head[1]&0x0f // traffic class
		n = min(n, 40+int(binary.BigEndian.Uint16(head[4:])))
	default:
		return x, false
	}
	if x.hop.at, x.hop.tags = f.Interface, p.NumVLANs; p.NumVLANs > 0 {
		x.hop.tag = p.VLANs[0]
	}
	e, swap := p.Endpoints()
	if x.by = e.Hash() << 1; swap {
		x.by++
	}
	x.sum, x.time = maphash.Bytes(t.seed, head[:n]), f.Time
	return x, true
}

// tellCopy counts a packet that was captured twice, and tells the sink. Nothing more is made of it.
func (r *Run) tellCopy(f *capture.Frame, p *packet.Packet, fl *flow, side int) {
	t := &r.totals
	if t.Copies++; t.FirstCopy == 0 {
		t.FirstCopy = f.Number
	}
	r.frame = Frame{Frame: *f, Packet: p, Tunnels: r.tunnels, Conn: fl.conn.Trace, Dir: fl.conn.Dir(side)}
	r.frame.Duplicate = true
	r.told(&r.frame)
}
