package model

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// firstSegment is what the first FPDU or chunk of a direction was, if its segment could be read.
// Where it is stands in the opening.
type firstSegment struct {
	Octets int64
	size   uint32 // of a Read Request, unless it is cut
	// STag is that of a Write or of the source of a Read Request.
	STag uint32
	// Payload are its first octets.
	Payload             [4]byte
	Code                rdmap.TermCode
	Op                  rdmap.Opcode
	Seen, Segment, last bool
	cut                 bool
	// good: its CRC was verified and is right; off: its CRC is not to be verified.
	good, off bool
}

// firstOf is what is kept of the first segment of a direction.
func firstOf(s *Segment) firstSegment {
	p := s.PDU
	f := firstSegment{Seen: true, Segment: true, Op: s.Op, Octets: s.Octets, last: s.DDP.Last, Code: p.TermCode, STag: s.DDP.STag}
	if p.FPDU != nil {
		f.good, f.off = p.FPDU.CRCStatus == mpa.CRCGood, p.FPDU.CRCStatus == mpa.CRCOff
	}
	switch {
	case s.Op != rdmap.OpReadRequest:
	case s.DDP.Tagged: // its header is not where it is searched
		f.cut = true
	default:
		r, err := rdmap.DecodeReadRequest(s.Body)
		f.size, f.cut = r.Size, err != nil && s.Octets >= rdmap.ReadRequestLen
		if err == nil {
			f.STag = r.SrcSTag
		}
	}
	copy(f.Payload[:], s.Body)
	return f
}

// place records where the first FPDU or chunk is, before the rules judge it.
func (o *opening) place(p *trace.PDU) {
	o.First = FPDUNote{Span: SpanOf(p), frame: frameOf(p), pdu: p.Number}
}

// FirstSpan is the place of the first segment in the stream; zero if none could be read.
func (h *Direction) FirstSpan() (x Span) {
	if h.First.Seen {
		x = h.Opening.First.Span
	}
	return x
}

// AtFirst is the place of the first FPDU of a direction, or of its first chunk.
func (h *Direction) AtFirst() Place {
	at := Place{Dir: h.Dir, HasDir: true, HasPDU: true}
	if h.First.Seen {
		at.Frame, at.PDU = h.Opening.First.frame, h.Opening.First.pdu
	}
	return at
}

// second is where the second FPDU ends, and how much its sender had received before.
type second struct{ End, acked int64 }

func secondOf(p *trace.PDU) second {
	x := SpanOf(p)
	return second{x.End, x.Acked}
}

// Knew is [Span.Knew] for the second FPDU.
func (x second) Knew(end int64) Order {
	span := Span{Acked: x.acked}
	return span.Knew(end)
}
