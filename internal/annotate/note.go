package annotate

import (
	"cmp"
	"encoding/binary"
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
	// chunk is how many octets are kept in one piece.
	chunk = 1 << 20
)

// Notes keep texts for frames, in little more memory than their octets. Nearly all come in the
// order in which they are asked for: those are kept one behind the other, and need no sorting.
type Notes struct {
	ordered pieces
	last    key // the last one of ordered
	late    []note
	texts   pieces // of late
	size    int
	room    int
	// From is the frame from which on notes that are known with their frame are not kept, 0 if
	// all are. Dropped counts others for which there was no room.
	From, Dropped uint64

	// of take
	next     cursor
	nextLate int
}

// key is what notes are ordered by.
type key struct {
	frame uint64
	place place
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.frame, o.frame), k.place.compare(o.place))
}

// note is one that did not come in order.
type note struct {
	key
	chunk    uint32
	from, to uint32
}

// noteSize is what such a note takes besides its text.
const noteSize = int(unsafe.Sizeof(note{}))

// NewNotes returns notes that take no more than so many octets; 0 stands for the usual bound.
func NewNotes(octets int) *Notes {
	return &Notes{room: cmp.Or(octets, usualRoom)}
}

// spare reports whether there is room for what can be found out again.
func (n *Notes) spare() bool { return n.size < n.room/4*3 }

// add keeps what text appends, if it is anything.
func (n *Notes) add(frame uint64, p place, text func([]byte) []byte) {
	if n.size >= n.room {
		n.Dropped++
		return
	}
	k := key{frame, p}
	if k.compare(n.last) < 0 {
		c := n.texts.open(n.room)
		from := len(*c)
		*c = text(*c)
		n.late = append(n.late, note{k, uint32(len(n.texts) - 1), uint32(from), uint32(len(*c))}) //nolint:gosec // small numbers
		n.size += len(*c) - from + noteSize
		return
	}
	c := n.ordered.open(n.room)
	start := len(*c)
	b := appendHead(*c, n.last, k)
	from := len(b)
	if b = text(b); len(b) == from {
		return
	}
	binary.LittleEndian.PutUint32(b[from-lengthSize:], uint32(len(b)-from)) //nolint:gosec // less than a chunk
	*c, n.last = b, k
	n.size += len(b) - start
}

// lengthSize is how many octets the length of a text takes.
const lengthSize = 4

// appendHead appends what stands before a text: how its key differs from the last one, and room
// for its length.
func appendHead(b []byte, last, k key) []byte {
	b = binary.AppendUvarint(b, k.frame-last.frame)
	b = binary.AppendVarint(b, int64(k.place.pdu-last.place.pdu)) //nolint:gosec // wraps both ways
	return append(b, byte(k.place.kind), 0, 0, 0, 0)
}

// pieces are octets in pieces that do not move.
type pieces [][]byte

// open is the piece to append to.
func (p *pieces) open(room int) *[]byte {
	last := len(*p) - 1
	if last < 0 || cap((*p)[last])-len((*p)[last]) < chunk/64 {
		*p = append(*p, make([]byte, 0, min(chunk, room)))
		last++
	}
	return &(*p)[last]
}

// cursor is where take has come to in what is ordered.
type cursor struct {
	key  key // of text
	text []byte
	has  bool

	piece int
	at    int
}

// advance goes to the next one.
func (c *cursor) advance(p pieces) {
	for c.piece < len(p) && c.at == len(p[c.piece]) {
		c.piece, c.at = c.piece+1, 0
	}
	if c.has = c.piece < len(p); !c.has {
		return
	}
	b := p[c.piece]
	frame, n := binary.Uvarint(b[c.at:])
	c.at += n
	pdu, n := binary.Varint(b[c.at:])
	c.at += n
	c.key.frame += frame
	c.key.place.pdu += uint64(pdu) //nolint:gosec // wraps both ways
	c.key.place.kind = kind(b[c.at])
	from := c.at + 1 + lengthSize
	c.at = from + int(binary.LittleEndian.Uint32(b[c.at+1:]))
	c.text = b[from:c.at]
}

// sort prepares take.
func (n *Notes) sort() {
	slices.SortStableFunc(n.late, func(a, b note) int { return a.compare(b.key) })
	n.next.advance(n.ordered)
}

// take calls f with the notes of a frame, in their order. Frames are asked for in ascending
// order.
func (n *Notes) take(frame uint64, f func(place, []byte)) {
	for {
		hasLate := n.nextLate < len(n.late) && n.late[n.nextLate].frame <= frame
		switch {
		case n.next.has && n.next.key.frame <= frame && !(hasLate && n.late[n.nextLate].compare(n.next.key) < 0):
			if n.next.key.frame == frame {
				f(n.next.key.place, n.next.text)
			}
			n.next.advance(n.ordered)
		case hasLate:
			if t := &n.late[n.nextLate]; t.frame == frame {
				f(t.place, n.texts[t.chunk][t.from:t.to])
			}
			n.nextLate++
		default:
			return
		}
	}
}
