package analysis

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// message is one that is being assembled.
type message struct {
	next     uint64 // tagged: the offset that continues it; untagged: where it ends, 0 if the last segment did not come
	octets   int64
	name     uint32 // tagged: its STag; untagged: its MSN
	segments uint32
	row      row
	open     bool
	known    bool // it was seen from its start
}

// row is a row of messages of a direction, of which one at a time is under way.
type row uint8

const (
	// none: of no message yet.
	none row = iota
	writes
	readResponses
	// untagged is the first queue of untagged messages. The last row is a queue that does
	// not exist.
	untagged
	noQueue = untagged + 4
)

// messages assembles the messages of one direction: tagged messages by STag and TO,
// Writes and Read Responses separately, and untagged messages by queue, MSN and MO (RFC
// 5041 sections 5.1 and 5.2).
type messages struct {
	// first is the latest message of one row, more are those of others: most directions
	// have one, and none has many.
	first message
	more  []message
	cut   *headers // nil: no message of a fixed header was cut
	lost  bool     // octets are missing before what follows
}

// taggedRow is that of tagged messages of an opcode, untaggedRow that of a queue.
func taggedRow(op rdmap.Opcode) row {
	if op == rdmap.OpReadResponse {
		return readResponses
	}
	return writes
}

func untaggedRow(qn uint32) row {
	return untagged + row(min(qn, uint32(noQueue-untagged)))
}

// seen is the latest message of a row, nil if there was none.
func (m *messages) seen(s row) *message {
	if m.first.row == s {
		return &m.first
	}
	for i := range m.more {
		if m.more[i].row == s {
			return &m.more[i]
		}
	}
	return nil
}

// of is the latest message of a row, which is a new one if there was none.
func (m *messages) of(s row) *message {
	if g := m.seen(s); g != nil {
		return g
	}
	if m.first.row == none {
		m.first.row = s
		return &m.first
	}
	m.more = append(m.more, message{row: s})
	return &m.more[len(m.more)-1]
}

// gap says that octets are missing.
func (m *messages) gap() {
	m.first.open = false
	for i := range m.more {
		m.more[i].open = false
	}
	if m.cut != nil {
		*m.cut = headers{}
	}
	m.lost = true
}

// anyOpen reports whether a message has begun that is not whole yet.
func (m *messages) anyOpen() bool {
	open := func(g *message) bool { return g.open && g.row != noQueue }
	if m.lost || open(&m.first) {
		return !m.lost
	}
	for i := range m.more {
		if open(&m.more[i]) {
			return true
		}
	}
	return false
}

// add processes a segment with octets of payload and describes its message.
func (m *messages) add(seg *ddp.Segment, op rdmap.Opcode, octets int64, out *trace.Message) *trace.Message {
	if seg.Tagged {
		s := taggedRow(op)
		g := m.of(s)
		if !g.open || g.name != seg.STag || g.next != seg.TO {
			*g = message{row: s, open: true, known: !m.lost, name: seg.STag}
		}
		g.next = seg.TO + uint64(octets) //nolint:gosec // not negative
		m.lost = m.lost && !seg.Last
		return g.more(octets, seg.Last, out)
	}
	g := m.queue(seg.QN)
	if !g.open || g.name != seg.MSN {
		*g = message{row: g.row, open: true, known: seg.MO == 0, name: seg.MSN}
	}
	if seg.MO == 0 {
		g.known = true
	}
	if seg.Last {
		g.next = uint64(int64(seg.MO) + octets) //nolint:gosec // not negative
	}
	m.lost = m.lost && !seg.Last
	whole := g.next > 0 && uint64(g.octets+octets) >= g.next //nolint:gosec // not negative
	return g.more(octets, whole || seg.Last && (!g.known || octets == 0), out)
}

// queue is the message of an untagged queue.
func (m *messages) queue(qn uint32) *message {
	return m.of(untaggedRow(qn))
}

func (g *message) more(octets int64, done bool, out *trace.Message) *trace.Message {
	g.octets += octets
	g.segments++
	*out = trace.Message{Length: g.octets, Segments: int(g.segments), Done: done, StartKnown: g.known}
	if done {
		g.open = false
	}
	return out
}
