package annotate

import (
	"cmp"
	"slices"
	"unsafe"
)

// kind orders the notes of a PDU.
type kind uint8

const (
	ofGap kind = iota // before the PDU that follows it
	ofPDU
	ofFinding
	ofDiagnosis
)

// place is what the notes of a frame are ordered by: the PDU that they are about, by number.
type place struct {
	pdu  uint64
	kind kind
}

// unplaced is the number of no PDU: what is about none comes last.
const unplaced = ^uint64(0)

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.pdu, q.pdu), cmp.Compare(p.kind, q.kind))
}

const (
	// usualRoom bounds the octets that [Notes] take. What is known with its frame can be found
	// out again: three quarters of that may be such notes.
	usualRoom = 192 << 20
	// chunk is how many octets of text are kept in one piece.
	chunk = 1 << 20
)

// Notes keep texts for frames, in little more memory than their octets.
type Notes struct {
	chunks [][]byte
	all    []note
	size   int
	room   int
	// From is the frame from which on notes that are known with their frame are not kept, 0 if
	// all are. Dropped counts others for which there was no room.
	From, Dropped uint64
	next          int // of take
}

type note struct {
	frame uint64
	place place
	chunk uint32
	from  uint32
	to    uint32
}

// noteSize is what a note takes besides its text.
const noteSize = int(unsafe.Sizeof(note{}))

// NewNotes returns notes that take no more than so many octets; 0 stands for the usual bound.
func NewNotes(octets int) *Notes {
	return &Notes{room: cmp.Or(octets, usualRoom)}
}

// spare reports whether there is room for what can be found out again.
func (n *Notes) spare() bool { return n.size < n.room/4*3 }

// add keeps what text appends.
func (n *Notes) add(frame uint64, p place, text func([]byte) []byte) {
	if n.size >= n.room {
		n.Dropped++
		return
	}
	last := len(n.chunks) - 1
	if last < 0 || cap(n.chunks[last])-len(n.chunks[last]) < chunk/64 {
		n.chunks = append(n.chunks, make([]byte, 0, min(chunk, n.room)))
		last++
	}
	b := n.chunks[last]
	from := len(b)
	b = text(b)
	n.chunks[last] = b
	n.size += len(b) - from + noteSize
	n.all = append(n.all, note{frame, p, uint32(last), uint32(from), uint32(len(b))}) //nolint:gosec // small numbers
}

// sort orders them by frame, for take.
func (n *Notes) sort() {
	slices.SortStableFunc(n.all, func(a, b note) int {
		return cmp.Or(cmp.Compare(a.frame, b.frame), a.place.compare(b.place))
	})
}

// take calls f with the notes of a frame, in their order. Frames are asked for in ascending
// order.
func (n *Notes) take(frame uint64, f func(place, []byte)) {
	for ; n.next < len(n.all) && n.all[n.next].frame <= frame; n.next++ {
		if t := &n.all[n.next]; t.frame == frame {
			f(t.place, n.chunks[t.chunk][t.from:t.to])
		}
	}
}
