package analysis

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// message is one that is being assembled.
type message struct {
	next     uint64 // tagged: the offset that continues it
	octets   int64
	end      int64  // untagged: where the message ends, if the last segment came
	name     uint32 // tagged: its STag; untagged: its MSN
	segments uint32
	open     bool
	known    bool // it was seen from its start
}

// messages assembles the messages of one direction: tagged messages by STag and TO,
// Writes and Read Responses separately, and untagged messages by queue, MSN and MO (RFC
// 5041 sections 5.1 and 5.2).
type messages struct {
	tagged   [2]message
	untagged [4]message
	other    *message // a queue that does not exist; nil: there was none
	cut      *headers // nil: no message of a fixed header was cut
	lost     bool     // octets are missing before what follows
}

// gap says that octets are missing.
func (m *messages) gap() {
	for i := range m.tagged {
		m.tagged[i].open = false
	}
	for i := range m.untagged {
		m.untagged[i].open = false
	}
	if m.other != nil {
		m.other.open = false
	}
	if m.cut != nil {
		*m.cut = headers{}
	}
	m.lost = true
}

// anyOpen reports whether a message has begun that is not whole yet.
func (m *messages) anyOpen() bool {
	if m == nil || m.lost {
		return false
	}
	for i := range m.tagged {
		if m.tagged[i].open {
			return true
		}
	}
	for i := range m.untagged {
		if m.untagged[i].open {
			return true
		}
	}
	return false
}

// add processes a segment with octets of payload and describes its message.
func (m *messages) add(seg *ddp.Segment, op rdmap.Opcode, octets int64, out *trace.Message) *trace.Message {
	if seg.Tagged {
		g := &m.tagged[0]
		if op == rdmap.OpReadResponse {
			g = &m.tagged[1]
		}
		if !g.open || g.name != seg.STag || g.next != seg.TO {
			*g = message{open: true, known: !m.lost, name: seg.STag}
		}
		g.next = seg.TO + uint64(octets) //nolint:gosec // not negative
		return g.more(octets, seg.Last, out)
	}
	g := m.queue(seg.QN)
	if !g.open || g.name != seg.MSN {
		*g = message{open: true, known: seg.MO == 0, name: seg.MSN}
	}
	if seg.MO == 0 {
		g.known = true
	}
	if seg.Last {
		g.end = int64(seg.MO) + octets
	}
	return g.more(octets, g.end > 0 && g.octets+octets >= g.end || seg.Last && (!g.known || octets == 0), out)
}

// queue is the message of an untagged queue.
func (m *messages) queue(qn uint32) *message {
	if qn < uint32(len(m.untagged)) {
		return &m.untagged[qn]
	}
	if m.other == nil {
		m.other = new(message)
	}
	return m.other
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
