package dialogue

import (
	"cmp"
	"maps"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Message is a DDP message, as far as it is known.
type Message struct {
	// Conn is the number of its connection, Dir the direction that it went.
	Conn uint64
	Dir  trace.Dir
	// Segment is the header of its first segment that is known, Op the opcode in it.
	Segment ddp.Segment
	Op      rdmap.Opcode
	// First and Last are the numbers of its first and last PDU, FirstFrame and LastFrame the
	// frames that completed them, at the times Began and Ended, in nanoseconds since the Unix
	// epoch.
	First, Last           uint64
	FirstFrame, LastFrame uint64
	Began, Ended          int64
	// Length counts the octets behind the DDP headers, Segments the segments.
	Length   int64
	Segments int
	// Start says that it begins with the first segment of the message, Done that it ends
	// with the last.
	Start, Done bool
	// Data belongs to the caller.
	Data any

	key  key
	next uint64 // the offset that continues it
	nth  int    // of the segments of the message, the one that came last, from 1
	turn uint64 // of all that began, the one it was
}

// Whole reports whether nothing of the message is missing in between, as far as its headers
// say.
func (m *Message) Whole() bool { return m.Start && m.Done }

// Name is what the message is called: its opcode.
func (m *Message) Name() string { return m.Op.String() }

// key tells the messages apart that may be under way on a connection at the same time: those
// of each queue, and of the tagged ones Writes and Read Responses.
type key struct {
	conn uint64
	dir  trace.Dir
	slot uint8
}

const (
	slotWrite, slotResponse, slotQueue = 0, 1, 2
	queues                             = 5 // the last one stands for those that do not exist
)

func keyOf(p *trace.PDU) key {
	k := key{conn: p.Conn.Number, dir: p.Dir}
	switch s := p.Segment; {
	case !s.Tagged:
		k.slot = uint8(slotQueue + min(s.QN, queues-1))
	case p.Control.Opcode == rdmap.OpReadResponse:
		k.slot = slotResponse
	default:
		k.slot = slotWrite
	}
	return k
}

// Messages puts segments together. The zero value keeps [Most] messages open.
type Messages struct {
	// Broken is called with each message that will not be completed, before the message that
	// comes in its place; it may be nil.
	Broken func(*Message)
	// Most is how many may be open at once, 0 for the default.
	Most int

	// Those that are open: the first ones in few, which is searched faster than a map, and the
	// others in open.
	few  []*Message
	open map[key]*Message
	turn uint64
	free []*Message
}

// Most is how many messages are open at once at most.
const Most = 4096

// Add returns the message that a PDU belongs to, with the PDU; nil if it has no DDP segment.
// The message is valid until the next call if it is done, else until it is done or broken.
func (m *Messages) Add(p *trace.PDU) *Message {
	if p.Segment == nil {
		return nil
	}
	k := keyOf(p)
	msg := m.of(k)
	if msg != nil && !msg.continuedBy(p) {
		m.broken(msg)
		msg = nil
	}
	if msg == nil {
		msg = m.begin(k, p)
	}
	_, length, _ := p.ULPDU()
	octets := max(int64(length-p.Segment.HeaderLen), 0)
	msg.Last, msg.LastFrame, msg.Ended = p.Number, p.Frame, p.Time
	msg.Length += octets
	msg.Segments++
	msg.next = offset(p.Segment) + uint64(octets)
	if msg.Done = false; p.Message != nil {
		msg.Done, msg.nth = p.Message.Done, p.Message.Segments
	}
	if msg.Done {
		m.end(msg)
		m.free = append(m.free[:0], msg)
	}
	return msg
}

// begin begins a message with a PDU.
func (m *Messages) begin(k key, p *trace.PDU) *Message {
	if len(m.few)+len(m.open) >= cmp.Or(m.Most, Most) {
		m.broken(m.oldest())
	}
	msg := new(Message)
	if n := len(m.free); n > 0 {
		msg, m.free = m.free[0], m.free[:0]
	}
	m.turn++
	*msg = Message{
		Conn: p.Conn.Number, Dir: p.Dir, Segment: *p.Segment, Op: p.Control.Opcode,
		First: p.Number, FirstFrame: p.Frame, Began: p.Time, key: k, turn: m.turn,
		Start: p.Message != nil && p.Message.StartKnown && p.Message.Segments == 1,
	}
	switch {
	case len(m.few) < mostFew:
		m.few = append(m.few, msg)
	case m.open == nil:
		m.open = map[key]*Message{k: msg}
	default:
		m.open[k] = msg
	}
	return msg
}

// mostFew is how many messages are searched one by one: those of a connection, in most cases.
const mostFew = 8

// of is the message of a key that is open; nil: there is none.
func (m *Messages) of(k key) *Message {
	for _, msg := range m.few {
		if msg.key == k {
			return msg
		}
	}
	return m.open[k]
}

// end takes a message out of those that are open.
func (m *Messages) end(msg *Message) {
	i := slices.Index(m.few, msg)
	if i < 0 {
		delete(m.open, msg.key)
		return
	}
	last := len(m.few) - 1
	m.few[i], m.few[last] = m.few[last], nil
	m.few = m.few[:last]
}

// oldest is the message that began first of those that are open.
func (m *Messages) oldest() *Message {
	return slices.MinFunc(slices.AppendSeq(slices.Clone(m.few), maps.Values(m.open)), byTurn)
}

func byTurn(a, b *Message) int { return cmp.Compare(a.turn, b.turn) }

// offset is where a segment stands in its message, or in the tagged buffer.
func offset(s *ddp.Segment) uint64 {
	if s.Tagged {
		return s.TO
	}
	return uint64(s.MO)
}

// continuedBy reports whether a PDU goes on where the message ends. If the caller left out
// its first segments, the message has fewer than those that were counted on the stream.
func (m *Message) continuedBy(p *trace.PDU) bool {
	s := p.Segment
	same := s.STag == m.Segment.STag
	if !s.Tagged {
		same = s.MSN == m.Segment.MSN && s.QN == m.Segment.QN
	}
	return same && p.Control.Opcode == m.Op && offset(s) == m.next && p.Message != nil && p.Message.Segments == m.nth+1
}

// broken gives a message up.
func (m *Messages) broken(msg *Message) {
	m.end(msg)
	if m.Broken != nil {
		m.Broken(msg)
	}
}

// Gap breaks off what a direction of a connection has under way: octets are missing.
func (m *Messages) Gap(conn uint64, dir trace.Dir) {
	for slot := range uint8(slotQueue + queues) {
		if msg := m.of(key{conn, dir, slot}); msg != nil {
			m.broken(msg)
		}
	}
}

// All are the messages that are open, in the order in which they began.
func (m *Messages) All() []*Message {
	all := slices.AppendSeq(slices.Clone(m.few), maps.Values(m.open))
	slices.SortFunc(all, byTurn)
	return all
}

// Close breaks off all that is under way.
func (m *Messages) Close() {
	for _, msg := range m.All() {
		m.broken(msg)
	}
}
