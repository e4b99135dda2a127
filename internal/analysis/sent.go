package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/trace"
)

// sent are the DDP headers that a side sent last. They are searched only when a Terminate
// quotes one, and segments are many: those whose places are at equal distances and that are
// otherwise alike are one run.
type sent struct {
	run sentRun // the latest, if there are runs
	*packedRuns
	runs uint16 // how many are kept
	room uint16 // how many may be
	lost bool   // runs were given up
	// pdu, frame and offset are those of the latest segment, end is where it ends in the
	// stream.
	placed      bool // the offsets are known
	pdu, frame  uint64
	offset, end int64
}

const (
	// maxSentRuns bounds the runs of a direction, and so its memory: 8 KiB, if nothing in
	// them is as foreseen.
	maxSentRuns = 64
	someRuns    = 4 // many connections take no more
	// fewRuns are those that each direction may have, sharedRuns those that the directions of
	// a capture have beyond that, together: 16 MiB, and a quarter of that in nearly all.
	fewRuns, sharedRuns = 8, 1 << 17
	// sentMore is how many segments a run has room for behind the first one, so that it
	// fills two cache lines.
	sentMore = 19
	// unit is that of the offsets: FPDUs end at multiples of it.
	unit = 4
)

// sentRun are n segments, the first one at place key, those behind it each step further.
// It has no pointers.
type sentRun struct {
	key, step  uint64 // tagged: TO; untagged: MSN and MO
	pdu, frame uint64 // of the first one
	offset     int64
	name       uint32 // tagged: STag; untagged: QN
	length     uint32 // of each ULPDU, header included
	control    [2]byte
	n          uint8
	// Of those behind the first one, as the distance from the one before.
	pdus, frames [sentMore]uint8
	offsets      [sentMore]uint16
}

// placeOf is where a segment goes, in one number.
func placeOf(seg *ddp.Segment) (key uint64, name uint32) {
	if seg.Tagged {
		return seg.TO, seg.STag
	}
	return uint64(seg.MSN)<<32 | uint64(seg.MO), seg.QN
}

// sharing counts the runs that the directions of a capture have beyond the few of each.
type sharing int

// grow is how many runs a direction that has n may have next, n if no more.
func (t *sharing) grow(n int) int {
	to := min(max(2*n, someRuns), maxSentRuns)
	more := sharing(max(to-max(n, fewRuns), 0))
	if *t+more > sharedRuns {
		return n
	}
	*t += more
	return to
}

// release gives back what a direction has.
func (h *sent) release(t *sharing) {
	*t -= sharing(max(int(h.room)-fewRuns, 0))
	*h = sent{}
}

// add records a segment whose ULPDU has length octets, of which head are the first ones.
func (h *sent) add(t *sharing, seg *ddp.Segment, p *trace.PDU, head []byte, length int) {
	key, name := placeOf(seg)
	control := [2]byte(head)
	pdus, frames := p.Number-h.pdu, p.Frame-h.frame
	offsets := p.Offset - h.offset
	h.pdu, h.frame, h.offset, h.end, h.placed = p.Number, p.Frame, p.Offset, p.From+p.Length, p.HasOffset
	if h.runs > 0 {
		r := &h.run
		if r.name == name && r.length == uint32(length) && r.control == control && r.n <= sentMore && //nolint:gosec // a ULPDU
			pdus <= 0xff && frames <= 0xff && offsets>>18 == 0 && offsets%unit == 0 && (r.n == 1 || key == r.key+uint64(r.n)*r.step) {
			r.step = (key - r.key) / uint64(r.n)
			r.pdus[r.n-1], r.frames[r.n-1], r.offsets[r.n-1] = uint8(pdus), uint8(frames), uint16(offsets/unit)
			r.n++
			return
		}
	}
	h.next(t)
	h.run = sentRun{key: key, pdu: p.Number, frame: p.Frame, offset: p.Offset, name: name, length: uint32(length), control: control, n: 1} //nolint:gosec // a ULPDU
}

// next makes room for a run. Once it had to give up one, their number stays.
func (h *sent) next(t *sharing) {
	if h.runs > 0 {
		if h.packedRuns == nil {
			h.packedRuns = &packedRuns{}
		}
		h.packedRuns.add(&h.run)
	}
	if h.runs == h.room && !h.lost {
		h.room = uint16(t.grow(int(h.room))) //nolint:gosec // at most maxSentRuns
	}
	if h.runs < h.room {
		h.runs++
		return
	}
	h.lost = true
	h.packedRuns.drop()
}

// latest appends the segments, the latest one first.
func (h *sent) latest(all []sentSegment) []sentSegment {
	from := len(all)
	if h.packedRuns != nil {
		for u := h.unpack(); u.read.More(); {
			all = u.next().segments(all)
		}
	}
	if h.runs > 0 {
		all = h.run.segments(all)
	}
	slices.Reverse(all[from:])
	return all
}

// segments appends those of a run, the first one first.
func (r *sentRun) segments(all []sentSegment) []sentSegment {
	x := sentSegment{r.key, r.pdu, r.frame, r.offset, r.name, r.length, r.control}
	for k := range int(r.n) {
		if k > 0 {
			x.key += r.step
			x.pdu += uint64(r.pdus[k-1])
			x.frame += uint64(r.frames[k-1])
			x.offset += int64(r.offsets[k-1]) * unit
		}
		all = append(all, x)
	}
	return all
}

// sentSegment is a segment that was sent.
type sentSegment struct {
	key, pdu, frame uint64
	offset          int64
	name, length    uint32
	control         [2]byte
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
