package render

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/trace"
)

// terminateMembers writes the first Terminate of a direction.
func terminateMembers(o *object, d trace.Dir, t *trace.Terminate) {
	o.open()
	o.str("dir", d.String())
	o.uint("frame", t.Frame)
	o.str("name", t.Code.Name())
	o.bool("swapped", t.Swapped)
	o.uint("pdu", t.PDU)
	if t.Why != "" {
		o.str("why", t.Why)
	}
	o.key("quote")
	quoteMembers(o, &t.Quote)
	o.close()
}

// quoteMembers writes what a Terminate quotes, and the PDU that it is about.
func quoteMembers(o *object, q *trace.Quote) {
	o.open()
	o.str("match", q.Match.String())
	if q.HasLength {
		o.uint("segment_length", uint64(q.Length))
	}
	if h := &q.Header; q.HasHeader {
		o.str("opcode", q.Opcode.String())
		if h.Tagged {
			numberMember(o, "stag", uint64(h.STag), 8)
			numberMember(o, "to", h.TO, 16)
		} else {
			o.uint("qn", uint64(h.QN))
			o.uint("msn", uint64(h.MSN))
			o.uint("mo", uint64(h.MO))
		}
		o.bool("last", h.Last)
	}
	if r := &q.Read; q.HasRead {
		o.key("read_request")
		o.open()
		numberMember(o, "sink_stag", uint64(r.SinkSTag), 8)
		numberMember(o, "sink_to", r.SinkTO, 16)
		o.uint("size", uint64(r.Size))
		numberMember(o, "source_stag", uint64(r.SrcSTag), 8)
		numberMember(o, "source_to", r.SrcTO, 16)
		o.close()
	}
	if q.Match.Found() {
		o.uint("pdu", q.PDU)
		o.uint("frame", q.Frame)
		o.int("candidates", int64(q.Candidates))
		o.int("octets", q.Octets)
		m := &q.Message
		o.key("message")
		o.open()
		o.int("octets", m.Octets)
		o.int("segments", int64(m.Segments))
		o.uint("first_frame", m.FirstFrame)
		o.uint("last_frame", m.LastFrame)
		o.close()
	}
	o.close()
}

// numberMember writes a number as a string of hex digits.
func numberMember(o *object, name string, v uint64, digits int) {
	o.key(name)
	o.b = dissect.AppendHex(append(o.b, '"'), v, digits)
	o.b = append(o.b, '"')
	o.comma = true
}

// appendAbout names the PDU that a Terminate is about.
func appendAbout(b []byte, t *trace.Terminate) []byte {
	if t == nil || !t.Quote.Match.Found() {
		return b
	}
	q := &t.Quote
	b = append(b, ", about the "...)
	b = append(b, q.Opcode.String()...)
	b = append(b, " in frame "...)
	b = appendUint(b, q.Frame)
	if n := q.Candidates - 1; n == 1 {
		b = append(b, " or another one"...)
	} else if n > 1 {
		b = append(b, " or "...)
		b = appendInt(b, int64(n))
		b = append(b, " others"...)
	}
	return b
}

// appendReading tells how the control word of a Terminate is read, and why if the octets
// alone do not say so.
func appendReading(b []byte, p *trace.PDU) []byte {
	why := ""
	if p.Terminate != nil {
		why = p.Terminate.Why
	}
	switch {
	case p.TermSwapped && why != "":
		b = append(b, " [control word has its halves swapped: "...)
	case p.TermSwapped:
		return append(b, " [control word has its halves swapped]"...)
	case why != "":
		b = append(b, " [control word is not swapped: "...)
	default:
		return b
	}
	return append(append(b, why...), ']')
}
