package reassembly

import "slices"

// Sequence puts the messages of a direction in order by a number of 16 bits that
// each of them has, one more than that before it (the DDP-SSN, RFC 5043 section
// 5.2.1). Those that come early are kept, within the budget.
type Sequence struct {
	budget *Budget
	// begun: next, the number that is awaited, is known; early: numbers below
	// the first one may still come.
	begun, early bool
	first, next  int64
	held         []heldMessage // above next, in order
	lost         []span        // numbers that were given up
	seenEarly    []span        // numbers below first that came
	bytes        int
	out          Message
	lent         []byte // octets of the message handed out last
}

type heldMessage struct {
	number int64
	Message
}

// Place is how a message stands to the others of its sequence.
type Place uint8

// The places.
const (
	// Next: it is the one that is awaited.
	Next Place = iota
	// Held: it has to wait for others, and was kept.
	Held
	// Late: its number had been given up, or lies before the first one seen.
	Late
	// Duplicate: a message with its number was there before.
	Duplicate
)

// Init prepares the sequence. The zero Sequence is not usable.
func (q *Sequence) Init(b *Budget) { q.budget = b }

// Begin says with which number the sequence begins. Without it the first message
// tells, and lower numbers are let in later.
func (q *Sequence) Begin(n uint16) {
	if !q.begun {
		q.begun = true
		q.first, q.next = int64(n), int64(n)
	}
}

// Begun reports whether it is known which number is awaited.
func (q *Sequence) Begun() bool { return q.begun }

// Expected is the number that is awaited.
func (q *Sequence) Expected() uint16 { return uint16(q.next) } //nolint:gosec // modulo 65536 by design

// Had reports whether a message with that number was there.
func (q *Sequence) Had(n uint16) bool {
	if !q.begun {
		return false
	}
	v := q.unwrap(n)
	if v >= q.next {
		return slices.ContainsFunc(q.held, func(h heldMessage) bool { return h.number == v })
	}
	return v >= q.first && !has(q.lost, v)
}

// Above reports whether a number is above those of all messages that were there.
func (q *Sequence) Above(n uint16) bool {
	v := q.unwrap(n)
	return q.begun && v >= q.next && (len(q.held) == 0 || v > q.held[len(q.held)-1].number)
}

// First is the number that the sequence began with.
func (q *Sequence) First() uint16 { return uint16(q.first) } //nolint:gosec // modulo 65536 by design

// Waiting is the number of messages that are kept.
func (q *Sequence) Waiting() int { return len(q.held) }

// unwrap returns the number nearest to the one that is awaited.
func (q *Sequence) unwrap(n uint16) int64 {
	return q.next + int64(int16(n-uint16(q.next))) //nolint:gosec // modulo 65536 by design
}

// Push processes a message. What is Held was copied; of all others the caller
// makes what it likes.
func (q *Sequence) Push(n uint16, m *Message) Place {
	if !q.begun {
		q.Begin(n)
		q.early = true
	}
	v := q.unwrap(n)
	switch {
	case v == q.next:
		q.next++
		return Next
	case v < q.next:
		return q.behind(v)
	}
	i, dup := slices.BinarySearchFunc(q.held, v, func(h heldMessage, v int64) int {
		switch {
		case h.number < v:
			return -1
		case h.number > v:
			return 1
		}
		return 0
	})
	if dup {
		return Duplicate
	}
	h := heldMessage{number: v, Message: *m}
	h.Octets = append(q.budget.take(len(m.Octets)), m.Octets...)
	h.TSNs, h.Frames = slices.Clone(m.TSNs), slices.Clone(m.Frames)
	q.bytes += h.cost()
	q.held = slices.Insert(q.held, i, h)
	return Held
}

func (h *heldMessage) cost() int {
	return cap(h.Octets) + heldCost + 4*len(h.TSNs) + 8*len(h.Frames)
}

// behind places a number that is below the awaited one.
func (q *Sequence) behind(v int64) Place {
	if i := find(q.lost, v); i >= 0 {
		q.lost = bound(cut(q.lost, i, v))
		return Late
	}
	if v < q.first && q.early && !has(q.seenEarly, v) && len(q.seenEarly) < maxSpans {
		q.seenEarly = insert(q.seenEarly, span{v, v + 1})
		return Late
	}
	return Duplicate
}

// Pop returns the next message that was kept, if it is its turn. It is borrowed
// until the next call.
func (q *Sequence) Pop() (*Message, bool) {
	if q.lent != nil {
		q.budget.give(q.lent)
		q.lent = nil
	}
	if len(q.held) == 0 || q.held[0].number != q.next {
		return nil, false
	}
	h := &q.held[0]
	q.bytes -= h.cost()
	q.out, q.lent = h.Message, h.Octets
	q.held = slices.Delete(q.held, 0, 1)
	q.next++
	return &q.out, true
}

// Full reports whether more is kept than there is room for.
func (q *Sequence) Full() bool {
	return len(q.held) > 0 && (q.bytes > q.budget.perDirection || q.budget.over() || len(q.held) > maxHeldMessages)
}

// maxHeldMessages bounds the messages that wait, whatever their size.
const maxHeldMessages = 4096

// Skip gives up the numbers before the first message that is kept; n is 0 if
// none is missing there.
func (q *Sequence) Skip() (from uint16, n int64) {
	if len(q.held) == 0 || q.held[0].number == q.next {
		return 0, 0
	}
	x := span{q.next, q.held[0].number}
	q.lost = bound(insert(q.lost, x))
	q.next = x.to
	return uint16(x.from), x.to - x.from //nolint:gosec // modulo 65536 by design
}

// Again notes that chunks of a message that is kept came once more.
func (q *Sequence) Again(tsn int64, wire uint32, c *Carriage) {
	for i := range q.held {
		h := &q.held[i]
		if (h.First == tsn || slices.Contains(h.TSNs, wire)) && len(h.Frames) < maxAgainFrames {
			q.bytes -= h.cost()
			h.Frames = c.frames(h.Frames)
			slices.Sort(h.Frames)
			h.Frames = slices.Compact(h.Frames)
			q.bytes += h.cost()
			return
		}
	}
}
