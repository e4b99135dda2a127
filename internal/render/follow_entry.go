package render

import (
	"hash/fnv"
	"math/bits"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/trace"
)

// spoken is something in a dialogue: a message, another PDU, or an event.
type spoken struct {
	kind   trace.Kind
	conn   *trace.Connection // borrowed until it was shown
	dir    trace.Dir
	hasDir bool
	// op and message are set of a message, if hasOp; begins says that it only begins here, and
	// is shown again when it ends. announced: it was shown so; part: what it lacks may only be
	// left out.
	op                             rdmap.Opcode
	hasOp, begins, announced, part bool
	message                        dialogue.Message
	// event is what happened, "" of a PDU.
	event string
	// pdu to lastPDU are its PDUs, if hasPDU; first and last the frames that completed them, at
	// the times began and ended, 0 for none.
	hasPDU       bool
	pdu, lastPDU uint64
	first, last  uint64
	began, ended int64
	// text is what it is, if it is said; of most messages it is made only when they are shown,
	// see words. below stands beneath it.
	text, below []byte
	unsaid      bool
	colour      string
	// length is its payload in octets, payload the first of them.
	length                   int64
	payload                  []byte
	complete                 bool
	retransmitted            int
	outOfOrder, badCRC, rest int
	missing, unsent          int64 // octets of it that are not there; those behind which the stream ends too early
	// trouble says what is wrong with the first of the rest: segments that are unusual in
	// another way.
	trouble []byte
	// answers says that it completes the answer to the PDU request, in the frame requestFrame,
	// with a latency in nanoseconds.
	answers               bool
	request, requestFrame uint64
	latency               int64
	// answered says the same of a request whose answer was shown before it: the PDU response,
	// in the frame responseFrame.
	answered                bool
	response, responseFrame uint64
	// agrees says that a startup ends with it: what was agreed is shown.
	agrees bool
	// rules are the ids of its findings, findings how many there are.
	rules    []string
	findings int
	// shape is the same for entries that are alike, 0 if it is like none. rhythm has the pause
	// before it as well.
	shape, rhythm uint64
	// verb is the name of its operation in the upper layer, hashed, failed whether it tells of an error there.
	verb   uint64
	failed bool
	// octets is when octets came before it that completed nothing, 0 if they did not; pause is
	// how long nothing was shown.
	octets, pause int64
	// bare is when the last packet came before it of which nothing was shown, such as an acknowledgement or a probe.
	bare int64
}

// mostRules bounds the findings that are shown of an entry.
const mostRules = 16

// finding notes a finding. placed says where it is.
func (e *spoken) finding(f *conformance.Finding, placed bool) {
	if e.findings++; e.findings > mostRules {
		return
	}
	e.rules = append(e.rules, f.Rule.ID)
	b := e.below
	if placed {
		b = e.text
	} else if len(b) > 0 {
		b = append(b, '\n')
	}
	b = append(b, f.Severity.String()...)
	b = append(b, ' ')
	b = append(b, f.Rule.ID...)
	if placed {
		b = append(b, ' ')
		b = append(b, place(f)...)
	}
	b = append(b, ": "...)
	b = append(b, said(f)...)
	if placed {
		e.text = b
	} else {
		e.below = b
	}
	switch {
	case f.Severity == conformance.Error:
		e.colour = red
	case f.Severity == conformance.Warning && e.colour != red:
		e.colour = yellow
	}
}

// settle completes an entry, now that all is known of its frame.
func (e *spoken) settle(f *Follow) {
	if e.agrees && e.conn != nil {
		e.below = appendAgreed(e.below, e.conn)
	}
	if e.findings > mostRules {
		e.below = append(appendUint(append(e.below, "\nand "...), uint64(e.findings-mostRules)), " more findings"...)
	}
	if e.shape == 0 && e.plain() && f.opt.Hex == 0 {
		e.shape = shapeOf(e, e.length)
	}
	e.conn = nil // it is borrowed
}

// plain reports whether there is nothing about a message that has to be seen.
func (e *spoken) plain() bool {
	return e.hasOp && e.op != rdmap.OpTerminate && (e.begins || e.complete) && e.findings == 0 && len(e.below) == 0 &&
		e.retransmitted+e.outOfOrder+e.badCRC+e.rest == 0 && e.missing+e.unsent == 0
}

// shapeOf is a number that entries have in common which are alike: of the same kind in the same
// direction, of about the same length, and of the same operation of the upper layer with the same outcome. It is never 0.
func shapeOf(e *spoken, length int64) uint64 {
	v := uint64(bits.Len64(uint64(max(length, 0))))<<8 | uint64(e.op)<<4 | uint64(e.dir)<<1 | 1 //nolint:gosec // not negative
	if e.begins {
		v |= 1 << 20
	}
	if e.event != "" {
		v |= 1 << 21
	}
	if e.failed {
		v |= 1 << 22
	}
	return v | e.verb<<40 // behind the pause
}

// talk is what is gathered of a message while it goes on.
type talk struct {
	payload   []byte
	colour    string
	announced bool
	found     spoken // its findings
	whole     []byte // of a message that has fields, these
	upper     []byte // what it is to the upper layer
	verb      uint64 // the name of its operation there, hashed
	failed    bool   // it tells of an error there

	retransmitted, outOfOrder, badCRC, rest int
	missing, unsent                         int64
	trouble                                 []byte
}

// reset makes it that of another message. What the entry of the last one has is not used again.
func (t *talk) reset() {
	*t = talk{whole: t.whole[:0], upper: t.upper[:0], found: spoken{below: t.found.below[:0]}}
}

// segment takes in a segment.
func (t *talk) segment(f *Follow, p *trace.PDU) {
	seg, op := p.Segment, p.Control.Opcode
	head, n, _ := p.ULPDU()
	body := head[min(seg.HeaderLen, len(head)):]
	n = max(n-seg.HeaderLen, 0)
	switch u := p.Upper; {
	case u == nil:
	case len(t.upper) > 0: // what its first segment begins to answer may end with this one
		if o := &u.Operation; u.HasOperation && o.Ended && o.Latency >= 0 {
			t.upper = append(append(t.upper, ", "...), diagnose.Duration(o.Latency)...)
		}
	case len(u.Info) > 0:
		t.upper = appendUpper(t.upper, u)
		t.failed = u.Errors > 0
		if u.HasOperation {
			h := fnv.New32a()
			_, _ = h.Write([]byte(u.Operation.Name)) // it never fails
			t.verb = uint64(h.Sum32()) >> 21
		}
	}
	if op.HeaderLen() > 0 && (p.Message == nil || p.Message.Segments == 1 || p.Message.Header != nil) {
		t.whole = appendBody(t.whole[:0], p, body, n)
		if op == rdmap.OpTerminate && p.Terminate != nil && f.opt.Explain != nil {
			if why := f.opt.Explain(p.Terminate.Code); why != "" {
				t.found.below = append(t.found.below, why...)
			}
		}
	}
	t.retransmitted += len(p.Retransmitted)
	t.outOfOrder += len(p.OutOfOrder)
	if c := colourOf(p); c != "" && t.colour != red {
		t.colour = c
	}
	t.octets(f, p, int64(n))
	t.faults(p)
}

// octets takes in the payload of a segment, n octets, as far as it is shown, and counts what
// was not captured.
func (t *talk) octets(f *Follow, p *trace.PDU, n int64) {
	if f.opt.Hex == 0 && p.FPDU != nil && len(p.FPDU.Missing) == 0 {
		return
	}
	got := int64(0)
	dialogue.Pieces(p, func(_ int64, b []byte) {
		got += int64(len(b))
		if room := f.opt.Hex - len(t.payload); room > 0 {
			t.payload = append(t.payload, b[:min(room, len(b))]...)
		}
	})
	t.missing += n - got
	if fl := &p.Conn.Flow[p.Dir]; p.FPDU != nil && (fl.FIN != nil || fl.RST != nil) { // else the capture ends, and the stream may go on
		t.unsent += int64(p.FPDU.Unsent)
	}
}

// faults notes what is wrong with a segment, besides octets that are missing.
func (t *talk) faults(p *trace.PDU) {
	f := p.FPDU
	switch {
	case f == nil && p.Chunk.Whole && p.Chunk.Order == trace.InOrder && p.Chunk.Unordered,
		f != nil && f.CRCStatus != mpa.CRCBad && f.MarkersOK() && f.PadZero() && f.Sync == mpa.InSync:
	case f != nil && f.CRCStatus == mpa.CRCBad:
		t.badCRC++
	default:
		if t.rest++; t.rest > 1 {
			break
		}
		if f == nil {
			t.trouble = appendChunkTrouble(nil, p.Chunk)
		} else {
			t.trouble = appendTrouble(nil, p)
		}
	}
}

// appendPlace says which message of its queue an untagged one is.
func appendPlace(b []byte, seg *ddp.Segment, op rdmap.Opcode) []byte {
	if qn, ok := op.Queue(); !ok || qn != seg.QN {
		b = appendNumber(b, " qn ", uint64(seg.QN))
	}
	b = appendNumber(b, " msn ", uint64(seg.MSN))
	if seg.MO != 0 { // its beginning is missing
		b = appendNumber(b, " mo ", uint64(seg.MO))
	}
	if op.Invalidates() {
		b = appendSTag(b, " inv stag ", seg.RsvdULP32)
	}
	return b
}

// message makes an entry of a message that is over.
func (f *Follow) message(m *dialogue.Message, c *trace.Connection) *spoken {
	t, _ := m.Data.(*talk)
	e := f.entry(trace.KindFPDU, c, m.Dir)
	if c != nil && c.Transport == trace.SCTP {
		e.kind = trace.KindSCTPSegment
	}
	e.hasOp, e.op, e.message, e.announced, e.part = true, m.Op, *m, t.announced, f.opt.Part
	e.message.Data = nil
	e.hasPDU, e.pdu, e.lastPDU = true, m.First, m.Last
	e.first, e.last, e.began, e.ended = m.FirstFrame, m.LastFrame, m.Began, m.Ended
	e.length, e.complete = m.Length, m.Whole()
	e.retransmitted, e.outOfOrder, e.badCRC, e.rest, e.missing, e.unsent = t.retransmitted, t.outOfOrder, t.badCRC, t.rest, t.missing, t.unsent
	e.payload, e.trouble = t.payload, t.trouble
	e.rules, e.findings = t.found.rules, t.found.findings
	e.below = append(e.below, t.found.below...)
	if e.colour = t.colour; t.found.colour != "" {
		e.colour = t.found.colour
	}
	e.verb, e.failed = t.verb, t.failed
	switch {
	case m.Op.HeaderLen() > 0:
		e.text = append(append(appendSubject(e.text, m), t.whole...), t.upper...)
	case len(t.upper) > 0:
		e.text = append(appendWhole(e.text, m), t.upper...)
	default:
		e.unsaid = true
	}
	return e
}

// words is the text of an entry.
func (e *spoken) words() []byte {
	if e.unsaid {
		e.text, e.unsaid = appendWhole(e.text, &e.message), false
	}
	return e.text
}

// appendSubject says which message it is.
func appendSubject(b []byte, m *dialogue.Message) []byte {
	b = append(b, m.Op.String()...)
	if m.Segment.Tagged {
		return appendTO(appendSTag(b, " stag ", m.Segment.STag), " to ", m.Segment.TO)
	}
	return appendPlace(b, &m.Segment, m.Op)
}

// appendWhole says which message it is, and how long.
func appendWhole(b []byte, m *dialogue.Message) []byte {
	b = append(appendSubject(b, m), ", "...)
	b = append(b, diagnose.Counted(uint64(m.Length), "octet", "octets")...) //nolint:gosec // not negative
	if m.Segments > 1 {
		b = append(appendNumber(b, " in ", uint64(m.Segments)), " segments"...)
		if took := m.Ended - m.Began; took > 0 && m.Began != 0 {
			b = append(append(b, ", "...), diagnose.Duration(took)...)
		}
	}
	return b
}

// broken shows a message that is not completed.
func (f *Follow) broken(m *dialogue.Message) {
	e := f.message(m, nil)
	e.complete = false
	if e.colour == "" {
		e.colour = yellow
	}
	f.hold(e)
}

// appendMarks appends what is wrong with a message, or with how it came.
func appendMarks(b []byte, e *spoken) []byte {
	mark := func(n int, one, many string) {
		switch {
		case n == 1:
			b = append(append(append(b, " ["...), one...), ']')
		case n > 1:
			b = append(append(append(appendUint(append(b, " ["...), uint64(n)), ' '), many...), ']')
		}
	}
	if !e.hasOp {
		return b // its text says it
	}
	if e.message.Segments > 0 && !e.begins {
		why := " is missing]"
		if e.part {
			why = " is not shown]"
		}
		if !e.message.Start {
			b = append(append(b, " [its beginning"...), why...)
		}
		if !e.message.Done {
			b = append(append(b, " [its end"...), why...)
		}
	}
	mark(e.retransmitted, "a frame of it is a retransmission", "frames of it are retransmissions")
	mark(e.outOfOrder, "a frame of it came out of order", "frames of it came out of order")
	mark(e.badCRC, "BAD CRC", "BAD CRCs")
	b = append(b, e.trouble...)
	mark(e.rest-1, "another segment like that", "other segments like that")
	if e.unsent > 0 {
		b = append(append(append(b, " [the stream ends "...), diagnose.Counted(uint64(e.unsent), "octet", "octets")...), " short]"...)
	}
	if n := e.missing - e.unsent; n > 0 {
		b = append(append(append(b, " ["...), diagnose.Counted(uint64(n), "octet", "octets")...), " not captured]"...)
	}
	return b
}

// appendAnswer says what a message answers, or what answered it before, and how long that took.
func appendAnswer(b []byte, e *spoken) []byte {
	var frame, pdu uint64
	switch {
	case e.answers:
		b, frame, pdu = append(b, ", answers "...), e.requestFrame, e.request
	case e.answered:
		b, frame, pdu = append(b, ", answered by "...), e.responseFrame, e.response
	default:
		return b
	}
	if frame != 0 {
		b = appendNumber(b, "frame ", frame)
	} else {
		b = appendNumber(b, "PDU ", pdu)
	}
	if e.latency < 0 {
		return b // not known
	}
	b = append(b, " after "...)
	return append(b, diagnose.Duration(e.latency)...)
}

// appendAgreed says what the startup agreed on.
func appendAgreed(b []byte, c *trace.Connection) []byte {
	if len(b) > 0 {
		b = append(b, '\n')
	}
	switch c.Outcome {
	case trace.Accepted:
	case trace.Rejected, trace.Refused:
		return append(append(b, "= "...), c.Outcome.String()...)
	default:
		return b[:max(len(b)-1, 0)]
	}
	b = append(b, "= agreed: "...)
	if c.Transport == trace.SCTP {
		b = appendNumber(b, "stream ", uint64(c.SID))
	} else {
		b = appendNumber(b, "revision ", uint64(c.Side[trace.R2I].Startup.Rev))
		b = append(b, map[mpa.Tri]string{mpa.Yes: ", CRC in force", mpa.No: ", no CRC"}[c.CRC]...)
		switch i, r := c.Markers[trace.I2R] == mpa.Yes, c.Markers[trace.R2I] == mpa.Yes; {
		case i && r:
			b = append(b, ", markers both ways"...)
		case i:
			b = append(b, ", markers i2r"...)
		case r:
			b = append(b, ", markers r2i"...)
		default:
			b = append(b, ", no markers"...)
		}
	}
	sep := ", ORD: "
	for _, d := range []trace.Dir{trace.I2R, trace.R2I} {
		if n, ok := c.Depth(d); ok {
			b = appendNumber(append(append(append(b, sep...), d.Sender()...), ' '), "", uint64(n)) //nolint:gosec // not negative
			sep = ", "
		}
	}
	if set := c.RTRExpected; set != 0 {
		b = append(append(b, ", indication (RTR) by "...), set.String()...)
	}
	return b
}
