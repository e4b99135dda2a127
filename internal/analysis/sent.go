package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/trace"
)

// sent are the DDP headers that a side sent last. They are searched only when a Terminate
// quotes one, and segments are many: what is foreseen of a segment takes no room, and a row
// of segments that are as foreseen takes one octet.
type sent struct {
	next  sentSegment // what is foreseen for the next segment, if there was one
	first int64       // where the first one ends in the stream
	end   int64       // where the latest ends there
	again uint8       // segments as foreseen that are not in newer yet
	some  bool        // there was a segment
	lost  bool        // segments were given up
	// placed: the offsets are known.
	placed bool
	// newer and older are records of segments, in the order in which they were sent. The
	// first record of each says everything, so that the older ones are given up together.
	newer, older []byte
}

const (
	// maxSent bounds the octets of each of newer and older, fewSent is what each has at first.
	maxSent, fewSent = 1 << 10, 64
	// ownSent is how large both may become in every direction, sharedSent what the directions
	// of a capture have beyond that, together.
	ownSent, sharedSent = 128, 8 << 20
)

// sharing counts the octets that the directions of a capture have beyond those of their own.
type sharing int

// grow is how many octets follow n octets: twice as many, or n if there are no more.
func (t *sharing) grow(n int) int {
	to := min(max(2*n, fewSent), maxSent)
	more := beyond(to) - beyond(n)
	if *t+more > sharedSent {
		return n
	}
	*t += more
	return to
}

// beyond is what a direction takes of the shared octets if newer and older have n at most.
func beyond(n int) sharing { return sharing(2 * max(n-ownSent, 0)) }

// release gives back what a direction has.
func (h *sent) release(t *sharing) {
	*t -= beyond(cap(h.newer))
	*h = sent{}
}

// placeOf is where a segment goes, in one number.
func placeOf(seg *ddp.Segment) (key uint64, name uint32) {
	if seg.Tagged {
		return seg.TO, seg.STag
	}
	return uint64(seg.MSN)<<32 | uint64(seg.MO), seg.QN
}

// add records a segment whose ULPDU has length octets, of which head are the first ones.
func (h *sent) add(t *sharing, seg *ddp.Segment, p *trace.PDU, head []byte, length int) {
	key, name := placeOf(seg)
	h.end, h.placed = p.From+p.Length, p.HasOffset
	f := &h.next
	if h.some && h.again < maxAgain && f.key == key && f.pdu == p.Number && f.frame == p.Frame && f.offset == p.Offset &&
		f.name == name && f.length == uint32(length) && f.control == [2]byte(head) { //nolint:gosec // a ULPDU
		h.again++
		f.goOn(h.placed)
		return
	}
	if !h.some {
		h.first = h.end
	}
	h.record(t, &sentSegment{key, p.Number, p.Frame, p.Offset, name, uint32(length), [2]byte(head)}) //nolint:gosec // a ULPDU
}

// record adds a segment that is not as foreseen.
func (h *sent) record(t *sharing, x *sentSegment) {
	if h.again > 0 { // there is an octet for it
		h.newer = append(h.newer, h.again-1)
		h.again = 0
	}
	var b [maxSentRecord]byte
	n := sentRecord(&b, x, &h.next)
	if !h.hasRoom(t, n+1) {
		h.turn()
		n = sentRecord(&b, x, &sentSegment{})
	}
	h.newer = append(h.newer, b[:n]...)
	h.next, h.some = *x, true
	h.next.goOn(h.placed)
}

// hasRoom makes room in newer, if there may be more.
func (h *sent) hasRoom(t *sharing, octets int) bool {
	if cap(h.newer)-len(h.newer) < octets {
		if n := t.grow(cap(h.newer)); n > cap(h.newer) {
			h.newer = append(make([]byte, 0, n), h.newer...)
		}
	}
	return cap(h.newer)-len(h.newer) >= octets
}

// turn makes newer older, and gives up what was older.
func (h *sent) turn() {
	h.lost = len(h.older) > 0
	room := h.older
	if cap(room) < cap(h.newer) {
		room = make([]byte, 0, cap(h.newer))
	}
	h.newer, h.older = room[:0], h.newer
}

// latest appends the segments, the latest one first.
func (h *sent) latest(all []sentSegment) []sentSegment {
	from := len(all)
	all = readSent(all, h.older, h.placed)
	all = readSent(all, h.newer, h.placed)
	if h.again > 0 {
		all = repeatSent(all, int(h.again), h.placed)
	}
	slices.Reverse(all[from:])
	return all
}

// sentSegment is a segment that was sent.
type sentSegment struct {
	key        uint64 // tagged: TO; untagged: MSN and MO
	pdu, frame uint64
	offset     int64
	name       uint32 // tagged: STag; untagged: QN
	length     uint32 // of the ULPDU, header included
	control    [2]byte
}

// Masks of the bits of the two control octets that are not reserved: a receiver may
// clear those.
const (
	plainDDP   = 0xc3
	plainRDMAP = 0xcf
	maskTagged = 0x80
	maskLast   = 0x40
)

func (x *sentSegment) tagged() bool { return x.control[0]&maskTagged != 0 }
func (x *sentSegment) last() bool   { return x.control[0]&maskLast != 0 }

// octets is the payload.
func (x *sentSegment) octets() int64 {
	return max(int64(x.length)-int64(ddp.HeaderLen(x.control[0])), 0)
}

// has reports whether the header of the segment is the quoted one.
func (x *sentSegment) has(quote []byte, key uint64, name uint32) bool {
	return x.key == key && x.name == name && x.control[0]&plainDDP == quote[0]&plainDDP && x.control[1]&plainRDMAP == quote[1]&plainRDMAP
}

// end is the place where the message goes on behind the segment.
func (x *sentSegment) end() uint64 { return x.key + uint64(x.octets()) } //nolint:gosec // not negative

// follows reports whether a segment goes on with the message of another one.
func (x *sentSegment) follows(before *sentSegment) bool {
	return !before.last() && x.key == before.end() && x.name == before.name && (x.control[0]|maskLast) == (before.control[0]|maskLast) && x.control[1] == before.control[1]
}
