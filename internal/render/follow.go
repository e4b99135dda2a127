package render

import (
	"io"
	"iter"
	"slices"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// FollowOptions choose how a connection is shown.
type FollowOptions struct {
	// Conn is the connection, if HasConn; else it is the first one that carries iWARP.
	Conn    uint64
	HasConn bool
	// Hex shows the first octets of the payload of each message, at most so many.
	Hex int
	// Payload is how these are shown in text.
	Payload PayloadForm
	// All folds nothing.
	All bool
	// Part says that it is handed a selection: what a message lacks may only be left out.
	Part bool
	// Pause is the time in nanoseconds from which on nothing is worth a line; 0: never.
	Pause int64
	// PausePart, if it is not 0, lets Pause grow to that part of the time since the first entry,
	// up to MostPause.
	PausePart, MostPause int64
	// Colour marks trouble; Live hands on each line at once.
	Colour, Live bool
	// Width is how wide text may be, 0 for any width.
	Width int
	// Times is how the time of a line is shown.
	Times TimeFormat
	// Explain says in a sentence what the error of a Terminate means, "" if nothing is known.
	Explain func(rdmap.TermCode) string
}

// Follow shows one connection as a dialogue: what its sides say to each other, message by
// message. It is a sink of a whole run, and takes its connection from it.
type Follow struct {
	outlet
	opt  FollowOptions
	form followForm
	// conn is the connection, once known; others are the first ones with iWARP besides it.
	conn   uint64
	known  bool
	begun  bool
	others []uint64

	messages dialogue.Messages
	pending  []*spoken // of the frame at hand
	spare    []*spoken
	talk     *talk     // of a message that is over, to be used again
	last     uint64    // the number of the last PDU
	lastDir  trace.Dir // its direction
	front    [2]uint64 // by direction, the frame of its last PDU, 0: there is none
	asked    requests
	replied  requests // responses by their last PDU, until it is known what they answer
	shut     [2]bool  // the receive window of the sender is closed
	octets   int64    // when octets came that completed nothing, the first time since the last entry; 0: they did not
	bare     int64    // when the last packet came of which nothing was shown
}

// mostOthers is how many other connections are named.
const mostOthers = 8

// other takes note of another connection.
func (f *Follow) other(conn uint64) {
	if len(f.others) < mostOthers && !slices.Contains(f.others, conn) {
		f.others = append(f.others, conn)
	}
}

// followForm writes what is said.
type followForm interface {
	// begin is called with the connection, before anything else.
	begin(*trace.Connection)
	// entry shows something; it may be kept until it is handed to spare.
	entry(*spoken)
	// end shows what is known at the end.
	end(*trace.Connection)
	close()
}

// NewFollow writes a line a message to w.
func NewFollow(w io.Writer, opt FollowOptions) *Follow {
	f := newFollow(w, opt)
	f.form = newFolder(f, &list{f: f, times: times{format: opt.Times}})
	return f
}

// NewLadder draws a sequence diagram to w.
func NewLadder(w io.Writer, opt FollowOptions) *Follow {
	f := newFollow(w, opt)
	f.form = newFolder(f, newLadder(f))
	return f
}

// NewFollowRecords writes a JSON object for each message to w, or an array of them all.
func NewFollowRecords(w io.Writer, array bool, opt FollowOptions) *Follow {
	f := newFollow(w, opt)
	f.form = &followRecords{f: f, array: array}
	return f
}

func newFollow(w io.Writer, opt FollowOptions) *Follow {
	f := &Follow{outlet: outlet{output{w: w, live: opt.Live}}, opt: opt, conn: opt.Conn, known: opt.HasConn}
	f.messages.Broken = f.broken
	return f
}

// Shown reports which connection was shown, if there was something to show of it.
func (f *Follow) Shown() (conn uint64, ok bool) { return f.conn, f.begun }

// Others are the first connections with iWARP that were not shown.
func (f *Follow) Others() []uint64 { return f.others }

// Saw takes note of the time of each frame of the capture.
func (f *Follow) Saw(ns int64) {
	if t, ok := f.form.(*folder); ok {
		t.to.saw(ns)
	}
}

// is reports whether something is about the connection that is shown.
func (f *Follow) is(c *trace.Connection) bool { return f.known && c.Number == f.conn }

// PDU implements [trace.Sink].
func (f *Follow) PDU(p *trace.PDU) {
	if !f.known {
		f.known, f.conn = true, p.Conn.Number
	}
	if !f.is(p.Conn) {
		f.other(p.Conn.Number)
		return
	}
	if !f.begun {
		f.begun = true
		f.form.begin(p.Conn)
	}
	f.last, f.lastDir, f.front[p.Dir] = p.Number, p.Dir, p.Frame
	if p.Segment == nil {
		f.alone(p)
		return
	}
	if op := p.Control.Opcode; op == rdmap.OpReadRequest || op == rdmap.OpAtomicRequest {
		f.asked.add(p.Number, p.Frame)
	}
	m := f.messages.Add(p)
	t, _ := m.Data.(*talk)
	if t == nil {
		if t = f.talk; t == nil {
			t = new(talk)
		}
		f.talk, m.Data = nil, t
	}
	t.segment(f, p)
	if m.Done {
		if op := p.Control.Opcode; op == rdmap.OpReadResponse || op == rdmap.OpAtomicResponse {
			f.replied.add(p.Number, p.Frame)
		}
		f.hold(f.message(m, p.Conn))
		t.reset()
		f.talk, m.Data = t, nil
	}
}

// alone shows a PDU that is no part of a message.
func (f *Follow) alone(p *trace.PDU) {
	e := f.entry(p.Kind, p.Conn, p.Dir)
	e.hasPDU, e.pdu, e.lastPDU = true, p.Number, p.Number
	e.first, e.last, e.began, e.ended = p.Frame, p.Frame, p.Time, p.Time
	e.length = p.Length
	e.text = appendInfo(e.text, p)
	e.colour = colourOf(p)
	e.retransmitted, e.outOfOrder = len(p.Retransmitted), len(p.OutOfOrder)
	e.complete = !p.Partial
	switch p.Kind {
	case trace.KindRequest:
		f.asked.add(p.Number, p.Frame)
	case trace.KindReply:
		e.agrees = true
		f.replied.add(p.Number, p.Frame)
	case trace.KindSCTPControl:
		if k := p.Chunk; k.HasControl {
			e.agrees = k.Control.Function != sctpddp.Terminate
			f.asked.add(p.Number, p.Frame)
			f.replied.add(p.Number, p.Frame)
		}
	default:
	}
	f.hold(e)
}

// hold keeps an entry until all is known of its frame.
func (f *Follow) hold(e *spoken) { f.pending = append(f.pending, e) }

// Transaction implements [trace.Sink].
func (f *Follow) Transaction(t *trace.Transaction) {
	if !f.is(t.Conn) {
		return
	}
	response, dir := f.last, f.lastDir
	if n := len(t.Responses); n > 0 && t.Request == f.last { // it became known before its request
		response, dir = t.Responses[n-1], 1-dir
	}
	asked, replied := f.asked.answered(t.Request), f.replied.answered(response)
	if e := f.held(response, dir); e != nil {
		e.answers, e.request, e.requestFrame, e.latency = true, t.Request, asked, t.Last
	} else if e := f.held(t.Request, 1-dir); e != nil { // the response was shown
		e.answered, e.response, e.responseFrame, e.latency = true, response, replied, t.Last
	}
}

// held is the entry with a PDU of a side, if that is still to be shown.
func (f *Follow) held(pdu uint64, dir trace.Dir) *spoken {
	for i := len(f.pending) - 1; i >= 0; i-- {
		if e := f.pending[i]; e.hasPDU && e.dir == dir && e.pdu <= pdu && pdu <= e.lastPDU {
			return e
		}
	}
	return nil
}

// Gap implements [trace.Sink].
func (f *Follow) Gap(g *trace.GapEvent) {
	if !f.is(g.Conn) || !g.Conn.IsMPA {
		return
	}
	f.messages.Gap(g.Conn.Number, g.Dir)
	if !f.begun {
		f.begun = true
		f.form.begin(g.Conn)
	}
	e := f.event("gap", g.Conn, g.Dir, g.Frame, g.Time)
	b := append(f.appendPlace(append(e.text, "(missing"...), g), ": "...)
	if g.Conn.Transport == trace.SCTP {
		b = appendInt(b, g.Chunks)
		b = appendNumber(b, " DDP-SSNs from ", uint64(g.SSN))
		b = append(b, " on "...)
		e.length = g.Chunks
	} else {
		b = appendInt(b, g.Octets)
		b = append(b, " octets "...)
		e.length = g.Octets
	}
	e.text = append(append(b, g.Reason...), ')')
	e.colour = yellow
	f.hold(e)
}

// appendPlace says where a hole lies in what its side sent, if it became known farther down than there: what the other side said meanwhile
// stands in front of the line.
func (f *Follow) appendPlace(b []byte, g *trace.GapEvent) []byte {
	front := f.front[g.Dir]
	if g.Conn.Transport == trace.SCTP || front >= g.Behind && g.Behind > 0 { // its order is not that of the frames
		front = 0
	}
	switch {
	case g.Behind == g.Frame:
	case g.Behind > 0 && front > 0:
		b = appendNumber(appendNumber(b, " between frames ", front), " and ", g.Behind)
	case g.Behind > 0:
		b = appendNumber(b, " before frame ", g.Behind)
	case front > 0:
		b = appendNumber(b, " behind frame ", front)
	}
	return b
}

// Finding marks the message that a finding is about, if that is still to be shown.
func (f *Follow) Finding(x *conformance.Finding) {
	if !f.is(x.Conn) {
		return
	}
	for i := len(f.pending) - 1; i >= 0 && x.HasPDU; i-- {
		if e := f.pending[i]; e.hasPDU && e.pdu <= x.PDU && x.PDU <= e.lastPDU && (!x.HasDir || x.Dir == e.dir) {
			e.finding(x, false)
			return
		}
	}
	if x.HasPDU {
		for _, m := range f.messages.All() {
			if t, _ := m.Data.(*talk); t != nil && m.First <= x.PDU && x.PDU <= m.Last && (!x.HasDir || x.Dir == m.Dir) {
				t.found.finding(x, false)
				return
			}
		}
	}
	e := f.event("finding", x.Conn, x.Dir, x.Frame, 0)
	e.hasDir = x.HasDir
	e.finding(x, true)
	f.hold(e)
}

// LeftOut shows what became known with a frame that is not selected.
func (f *Follow) LeftOut() { f.flush() }

// Capture implements the sink of a capture: there is only one.
func (f *Follow) Capture(_, _ string) {}

// flush shows what was held.
func (f *Follow) flush() {
	if len(f.pending) == 0 {
		return
	}
	for _, e := range f.pending {
		f.announce(e)
		f.show(e)
	}
	f.pending = f.pending[:0]
	f.out.done()
}

// show shows an entry.
func (f *Follow) show(e *spoken) {
	if !f.begun && e.conn != nil {
		f.begun = true
		f.form.begin(e.conn)
	}
	e.octets = f.octets
	f.octets = 0
	e.bare = f.bare
	e.settle(f)
	f.form.entry(e)
}

// announce says which messages have begun and are not over, before something else is said.
// That is of use only in a diagram.
func (f *Follow) announce(before *spoken) {
	fold, ok := f.form.(*folder)
	if !ok || !fold.to.announces() {
		return
	}
	for _, m := range f.messages.All() {
		t, _ := m.Data.(*talk)
		if t == nil || t.announced || before.hasPDU && m.First >= before.lastPDU {
			continue
		}
		t.announced = true
		e := f.entry(trace.KindFPDU, nil, m.Dir)
		e.begins, e.hasOp, e.op = true, true, m.Op
		e.first, e.last, e.began, e.ended = m.FirstFrame, m.FirstFrame, m.Began, m.Began
		e.text = append(appendSubject(e.text, m), " begins"...)
		f.show(e)
	}
}

// Connections shows the end of the connection.
func (f *Follow) Connections(cs iter.Seq[*trace.Connection]) {
	f.flush()
	f.messages.Close()
	f.flush()
	for c := range cs {
		if !f.is(c) {
			f.other(c.Number)
			continue
		}
		if !f.begun {
			f.begun = true
			f.form.begin(c)
		}
		f.form.end(c)
	}
	f.out.done()
}

// Close writes what is left.
func (f *Follow) Close() error {
	f.flush()
	f.form.close()
	return f.out.end()
}

// entry is a new entry.
func (f *Follow) entry(kind trace.Kind, c *trace.Connection, dir trace.Dir) *spoken {
	e := new(spoken)
	if n := len(f.spare); n > 0 {
		e, f.spare = f.spare[n-1], f.spare[:n-1]
		*e = spoken{text: e.text[:0], below: e.below[:0]}
	}
	e.kind, e.conn, e.dir, e.hasDir = kind, c, dir, true
	e.complete = true
	return e
}

// release takes back entries that were shown.
func (f *Follow) release(es ...*spoken) {
	if len(f.spare) < 64 {
		f.spare = append(f.spare, es...)
	}
}

// event is an entry for something that is no PDU.
func (f *Follow) event(what string, c *trace.Connection, dir trace.Dir, frame uint64, ns int64) *spoken {
	e := f.entry(trace.KindFPDU, c, dir)
	e.event, e.first, e.last, e.began, e.ended = what, frame, frame, ns, ns
	return e
}

var _ pipeline.Sink = (*Follow)(nil)
