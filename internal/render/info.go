package render

import (
	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/fields"
	"github.com/iwdissect/iwdissect/trace"
)

// AppendInfo says in one line what a PDU is, in the words of the field, and how it came.
func AppendInfo(b []byte, p *trace.PDU) []byte { return appendInfo(b, p) }

func appendInfo(b []byte, p *trace.PDU) []byte {
	b = appendKind(b, p)
	if len(p.Retransmitted) > 0 {
		b = append(b, " [retransmission]"...)
	}
	if len(p.OutOfOrder) > 0 {
		b = append(b, " [out of order]"...)
	}
	return b
}

// appendKind says what a PDU is.
func appendKind(b []byte, p *trace.PDU) []byte {
	switch p.Kind {
	case trace.KindRequest, trace.KindReply, trace.KindRTR:
		return appendUpper(appendStartup(b, p), p.Upper)
	case trace.KindStreaming:
		b = append(b, "streaming octets len "...)
		return appendInt(b, p.Length)
	case trace.KindUnframed:
		b = append(b, "unframed octets len "...)
		return appendInt(b, p.Length)
	case trace.KindSCTPControl:
		return appendUpper(appendControl(b, p), p.Upper)
	case trace.KindSCTPSegment:
		b = appendChunk(b, p.Chunk)
	case trace.KindFPDU:
		if p.Segment == nil {
			b = append(b, "FPDU "...)
		}
	}
	if p.Segment == nil {
		_, length, _ := p.ULPDU()
		b = appendNumber(b, "ulpdu ", uint64(max(length, 0)))
		b = append(b, " (DDP header not readable)"...)
	} else {
		b = appendUpper(appendMessage(b, p), p.Upper)
	}
	if s := p.Segment; s != nil {
		if s.DV != 1 {
			b = appendNumber(b, " [DDP version ", uint64(s.DV))
			b = append(b, ']')
		}
		if p.Control.RV != 1 {
			b = appendNumber(b, " [RDMAP version ", uint64(p.Control.RV))
			b = append(b, ']')
		}
	}
	if p.FPDU != nil {
		b = appendTrouble(b, p)
	} else {
		b = appendChunkTrouble(b, p.Chunk)
	}
	return b
}

func appendStartup(b []byte, p *trace.PDU) []byte {
	s := p.Startup
	switch p.Kind {
	case trace.KindRequest:
		b = append(b, "MPA Request"...)
	case trace.KindReply:
		b = append(b, "MPA Reply"...)
	default:
		b = append(b, "MPA RTR frame"...)
	}
	b = append(b, " rev "...)
	b = appendUint(b, uint64(s.Rev))
	b = appendBit(b, " C=", s.C)
	b = appendBit(b, " M=", s.M)
	if p.Kind == trace.KindReply || s.R {
		if b = appendBit(b, " R=", s.R); s.R && p.Kind == trace.KindReply {
			b = append(b, " rejected"...)
		}
	}
	if s.Res != 0 || s.S && s.Rev < 2 {
		b = append(b, " res "...)
		res := uint64(s.Res)
		if s.S && s.Rev < 2 {
			res |= 0x10
		}
		b = dissect.AppendHex(b, res, 2)
	}
	pd := int(s.PDLength)
	if e, _, ok := s.Word(); ok && s.Rev >= 2 {
		pd -= mpa.EnhancedLen
		b = appendWordOf(b, e, p.Conn.Layout)
	} else if ok {
		b = append(appendNumber(b, " [S in rev ", uint64(s.Rev)), ':')
		b = append(appendWordOf(b, e, p.Conn.Layout), ']')
	}
	b = appendPrivate(b, pd)
	if p.Partial {
		b = append(b, " [not captured whole]"...)
	}
	return b
}

// appendPrivate says how much private data there is.
func appendPrivate(b []byte, octets int) []byte {
	if octets == 0 {
		return append(b, " no private data"...)
	}
	b = append(b, " private data "...)
	b = appendInt(b, int64(octets))
	return append(b, " B"...)
}

// appendWordOf says what the enhanced connection establishment data says.
func appendWordOf(b []byte, e mpa.Enhanced, layout mpa.Layout) []byte {
	b = append(b, " ird "...)
	b = appendUint(b, uint64(e.IRD))
	b = append(b, " ord "...)
	b = appendUint(b, uint64(e.ORD))
	if layout == mpa.LayoutRFC6581 && e.A {
		b = append(b, " p2p"...)
	}
	if set := mpa.RTRTypes(e, layout); set != 0 {
		b = append(b, " rtr "...)
		b = append(b, set.String()...)
	}
	if layout != mpa.LayoutRFC6581 {
		b = append(b, " layout "...)
		b = append(b, layout.String()...)
	}
	return b
}

func appendBit(b []byte, name string, v bool) []byte {
	b = append(b, name...)
	if v {
		return append(b, '1')
	}
	return append(b, '0')
}

func appendSTag(b []byte, name string, v uint32) []byte {
	b = append(b, name...)
	return dissect.AppendHex(b, uint64(v), 8)
}

func appendTO(b []byte, name string, v uint64) []byte {
	b = append(b, name...)
	return dissect.AppendHex(b, v, 16)
}

func appendNumber(b []byte, name string, v uint64) []byte {
	b = append(b, name...)
	return appendUint(b, v)
}

func appendMessage(b []byte, p *trace.PDU) []byte {
	seg, op := p.Segment, p.Control.Opcode
	head, length, _ := p.ULPDU()
	body := head[min(seg.HeaderLen, len(head)):]
	n := max(length-seg.HeaderLen, 0)
	b = append(b, op.String()...)
	if seg.Tagged {
		b = appendSTag(b, " stag ", seg.STag)
		b = appendTO(b, " to ", seg.TO)
	} else {
		b = appendQueue(b, seg, op)
	}
	b = appendBody(b, p, body, n)
	if seg.Last {
		b = append(b, " last"...)
	}
	if m := p.Message; m != nil && m.Done && m.Segments > 1 {
		b = appendNumber(b, ", message ", uint64(m.Length)) //nolint:gosec // not negative
		b = appendNumber(b, " in ", uint64(m.Segments))
		b = append(b, " segments"...)
		if !m.StartKnown {
			b = append(b, ", its beginning not captured"...)
		}
	}
	return b
}

// appendQueue says where an untagged segment goes.
func appendQueue(b []byte, seg *ddp.Segment, op rdmap.Opcode) []byte {
	if qn, ok := op.Queue(); !ok || qn != seg.QN {
		b = appendNumber(b, " qn ", uint64(seg.QN))
	}
	b = appendNumber(b, " msn ", uint64(seg.MSN))
	if op.Payload() || seg.MO != 0 {
		b = appendNumber(b, " mo ", uint64(seg.MO))
	}
	if op.Invalidates() {
		b = appendSTag(b, " inv stag ", seg.RsvdULP32)
	}
	return b
}

// appendBody says what follows the DDP header: the fields of a message that has
// some, or the n octets of payload.
func appendBody(b []byte, p *trace.PDU, body []byte, n int) []byte {
	op := p.Control.Opcode
	head, _, ok := fields.MessageHeader(p, body, n)
	switch want := op.HeaderLen(); {
	case op == rdmap.OpTerminate && p.Segment.Tagged: // none, whatever its opcode says
		return appendNumber(append(b, ' '), "len ", uint64(n)) //nolint:gosec // not negative
	case op == rdmap.OpTerminate:
		if ok && len(head) >= rdmap.TerminateLen {
			b = append(b, ' ')
			b = append(b, p.TermCode.Name()...)
			b = appendAbout(b, p.Terminate)
			b = appendReading(b, p)
		}
		return b
	case want == 0:
		return appendNumber(append(b, ' '), "len ", uint64(n)) //nolint:gosec // not negative
	case !ok:
		b = appendNumber(b, " [", uint64(n)) //nolint:gosec // not negative
		b = append(b, " octets of its header]"...)
	default:
		if b = appendHeader(b, op, head); len(head) < want {
			b = appendNumber(b, " [", uint64(len(head)))
			b = appendNumber(b, " of ", uint64(want)) //nolint:gosec // not negative
			b = append(b, " octets]"...)
		}
	}
	return b
}

// appendTrouble marks what is wrong with an FPDU.
func appendTrouble(b []byte, p *trace.PDU) []byte {
	f := p.FPDU
	switch f.CRCStatus {
	case mpa.CRCBad:
		b = append(b, " [BAD CRC "...)
		b = dissect.AppendHex(b, uint64(f.CRC), 8)
		b = append(b, ", expected "...)
		b = dissect.AppendHex(b, uint64(f.WantCRC), 8)
		b = append(b, ']')
	case mpa.CRCUnverifiable:
		b = append(b, " [CRC unverifiable]"...)
	case mpa.CRCGood, mpa.CRCOff:
	}
	for i := range f.Markers {
		m := &f.Markers[i]
		if m.Status() == mpa.MarkerOK {
			continue
		}
		b = append(b, " [MARKER "...)
		b = append(b, m.Status().String()...)
		if p.HasOffset {
			b = append(b, " at "...)
			b = appendInt(b, m.Offset-(f.Offset-p.Offset))
		}
		b = append(b, ": pointer "...)
		b = appendUint(b, uint64(m.Pointer))
		b = append(b, ", expected "...)
		b = appendInt(b, int64(m.Expected))
		b = append(b, ']')
	}
	if f.PadKnown && !f.PadZero() {
		b = append(b, " [PAD not zero]"...)
	}
	if len(f.Missing) > 0 {
		missing := 0
		for _, m := range f.Missing {
			missing += m.To - m.From
		}
		if n := f.Unsent; n > 0 {
			b = appendNumber(b, " [the stream ends ", uint64(n))
			b = append(b, " octets short]"...)
			missing -= n
		}
		if missing > 0 {
			b = appendNumber(b, " [", uint64(missing))
			b = append(b, " octets not captured]"...)
		}
	}
	if f.Sync != mpa.InSync {
		b = append(b, " [place found by "...)
		b = append(b, f.Sync.String()...)
		b = append(b, ']')
	}
	return b
}
