package annotate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/internal/fifo"
)

// held is a block of the capture that is not written yet, with its comments.
type held struct {
	// frame is the number of a packet; that of another block is the one before it.
	frame  uint64
	packet bool
	block  []byte
	own    []byte // memory for the block
	big    bool   // byte order
	came   int64  // when, in nanoseconds, if it matters
	// comments are texts in the order in which they came, behind each other in text.
	comments []comment
	text     []byte
	more     int  // comments for which there was no room
	shows    bool // what was diagnosed: see [Copier.Shows]
}

type comment struct {
	place    place
	from, to int
}

// maxText bounds the octets of comments that are added to a packet.
const maxText = 64 << 10

// reset makes it another block, whose octets may be borrowed.
func (h *held) reset(b *held, borrowed bool) {
	h.frame, h.packet, h.big, h.block, h.came, h.more, h.shows = b.frame, b.packet, b.big, b.block, b.came, 0, false
	if !borrowed {
		h.own = append(h.own[:0], b.block...)
		h.block = h.own
	}
	h.comments, h.text = h.comments[:0], h.text[:0]
}

// size is how many octets it takes.
func (h *held) size() int { return len(h.block) + len(h.text) }

// add adds what text appends.
func (h *held) add(p place, text func([]byte) []byte) {
	from := len(h.text)
	h.text = text(h.text)
	switch n := len(h.text) - from; {
	case n == 0:
		return
	case len(h.text) > maxText:
		h.text = h.text[:from]
		h.more++
		return
	}
	// Nearly always it is the last one.
	i := len(h.comments)
	for i > 0 && p.compare(h.comments[i-1].place) < 0 {
		i--
	}
	h.comments = append(h.comments, comment{})
	copy(h.comments[i+1:], h.comments[i:])
	h.comments[i] = comment{p, from, len(h.text)}
}

// texts appends the comments to list, in their order.
func (h *held) texts(list [][]byte) [][]byte {
	for i := range h.comments {
		c := &h.comments[i]
		list = append(list, h.text[c.from:c.to])
	}
	return lacking(list, h.more)
}

// lacking says how many comments there is no room for.
func lacking(list [][]byte, n int) [][]byte {
	if n > 0 {
		list = append(list, fmt.Appendf(nil, Prefix+"%d more, for which there is no room here", n))
	}
	return list
}

// Prefix begins each comment of ours.
const Prefix = "iwdissect: "

// window are the blocks that are held back, first in, first out, in memory that is used again.
type window struct {
	// most is how many packets are held back. If it is 0, a block is borrowed: it is written
	// before the next one is read.
	most int

	held    []*held
	room    fifo.Room[*held]
	free    []*held
	octets  int
	packets int
}

const (
	// maxHeld bounds the octets that are held back.
	maxHeld = 64 << 20
	// maxSpare bounds the octets of a block whose memory is used again, and maxFree how many
	// of them there are.
	maxSpare = 16 << 10
	maxFree  = 1 << 10
)

// push adds a block.
func (w *window) push(b held) {
	var h *held
	if n := len(w.free); n > 0 {
		h, w.free = w.free[n-1], w.free[:n-1]
	} else {
		h = new(held)
	}
	h.reset(&b, w.most == 0)
	w.room.Push(&w.held, h)
	w.octets += h.size()
	if h.packet {
		w.packets++
	}
}

// full reports whether the oldest block has to be written.
func (w *window) full() bool {
	return len(w.held) > 0 && (w.packets > w.most || w.octets > maxHeld || !w.held[0].packet)
}

// pop removes the oldest one.
func (w *window) pop() {
	h := w.held[0]
	w.room.Drop(&w.held, 1)
	w.octets -= h.size()
	if h.packet {
		w.packets--
	}
	if cap(h.own)+cap(h.text) <= maxSpare && len(w.free) < maxFree {
		w.free = append(w.free, h)
	}
}

// find is the packet of a frame; nil: it is not held back.
func (w *window) find(frame uint64) *held {
	// Other blocks have the number of the packet before them: the first one that is found is it.
	i, found := slices.BinarySearchFunc(w.held, frame, func(h *held, n uint64) int { return cmp.Compare(h.frame, n) })
	if !found || !w.held[i].packet {
		return nil
	}
	return w.held[i]
}

// add adds a comment to the packet of a frame, and reports whether it is held back.
func (w *window) add(frame uint64, p place, text func([]byte) []byte) bool {
	h := w.find(frame)
	if h == nil {
		return false
	}
	w.addTo(h, p, text)
	return true
}

// addTo adds a comment to a packet that is held back.
func (w *window) addTo(h *held, p place, text func([]byte) []byte) {
	w.octets -= h.size()
	h.add(p, text)
	w.octets += h.size()
}
