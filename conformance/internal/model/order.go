package model

import (
	"bytes"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Span is the place of something in the TCP stream of its direction, and what its sender
// had received when it sent it. Only these acknowledgements establish the order between
// the directions, never time stamps: captures are merged, and packets cross.
type Span struct {
	From, End        int64
	Acked, LastAcked int64 // of its first and its last octet; negative: not known
	Time             int64
}

// SpanOf places a PDU. Over SCTP nothing of it is known; see heard.
func SpanOf(p *trace.PDU) Span {
	if p.Conn.Transport == trace.SCTP {
		return Span{Acked: -1, LastAcked: -1, Time: timeOf(p)}
	}
	return Span{p.From, p.From + p.Length, p.Acked, p.LastAcked, p.Time}
}

// Order is what acknowledgements prove about two things that the two sides sent.
type Order uint8

const (
	// Unproven means that the numbers are not in the capture.
	Unproven Order = iota
	// Without means that it was sent before its sender had all of the other one.
	Without
	// Having means that its sender had all of the other one.
	Having
)

// Knew returns whether the sender of a had received everything of the other direction up
// to end when it sent the first octet of a.
func (a *Span) Knew(end int64) Order {
	switch {
	case a.Acked < 0:
		return Unproven
	case a.Acked < end:
		return Without
	}
	return Having
}

// Heard returns whether the sender of a chunk had received a TSN of the other side when it
// sent it. Without only means that no copy of that TSN was captured before.
func Heard(a *trace.Arrival, tsn int64) Order {
	switch {
	case a.Heard > tsn:
		return Having
	case a.OnePlace && tsn >= a.Passed:
		return Without
	}
	return Unproven
}

// Loose is a run of octets that are in no startup frame and in no FPDU.
type Loose struct {
	*Direction
	Span
	frame, pdu uint64
	Start      uint64 // the frame of the first of them
	offset     int64
	hasOffset  bool
	Length     int64
	Octets     []byte // the first of them
	// Gap: something before them is missing; Placed: the octets before them say that an FPDU
	// begins here.
	Gap, Placed bool
	// Bare is how many FPDUs they begin with if those have no CRC field.
	Bare int
}

// maxLoose bounds those that are kept of a direction.
const maxLoose = 16

// looses are octets of the direction outside startup frames and FPDUs, the first few of them.
func (h *Direction) looses() []Loose {
	if h.apart == nil {
		return nil
	}
	return *h.apart
}

func (h *Direction) keepLoose(s *Loose) {
	if h.apart == nil {
		h.apart = new([]Loose)
	}
	if len(*h.apart) < maxLoose {
		*h.apart = append(*h.apart, *s)
	}
}

// Where is the place of loose octets.
func (s *Loose) Where() Place {
	return Place{Dir: s.Dir, HasDir: true, Frame: s.frame, PDU: s.pdu, HasPDU: true, Offset: s.offset, HasOffset: s.hasOffset}
}

// HasPos reports whether they begin at an offset of full operation.
func (s *Loose) HasPos(offset int64) bool { return s.hasOffset && s.offset == offset }

// OnGrid reports whether they begin where an FPDU ends, and a marker must be.
func (s *Loose) OnGrid() bool {
	return s.hasOffset && s.offset > 0 && s.offset%mpa.MarkerInterval == 0 && s.From == s.Latest.End
}

// Next reports whether they come right behind an FPDU of a direction without CRCs.
func (s *Loose) Next(c *Conn) bool {
	return c.Trace.CRC == mpa.No && s.Count > 0 && s.From == s.Latest.End
}

// LoneMarker reports whether they may be the marker of an FPDU that was never sent, or its beginning, and nothing else.
func (s *Loose) LoneMarker(c *Conn) bool {
	onGrid := c.Marking(s.Dir) != mpa.No && s.hasOffset && s.offset%mpa.MarkerInterval == 0
	return onGrid && s.Length <= mpa.MarkerSize && bytes.Count(s.Octets, []byte{0}) == len(s.Octets)
}

// Remnant returns the octets between the last FPDU of a direction and its FIN, nil if there are none.
func (c *Conn) Remnant(h *Direction) *Loose {
	s, fin := h.LooseAt(h.Latest.End), c.Trace.Flow[h.Dir].FIN
	if s == nil || fin == nil || s.End != fin.At || !c.Trace.Negotiated || c.offGrid(h) || !c.Streamed(h) {
		return nil
	}
	return s
}

func (c *Conn) loose(p *trace.PDU) {
	h := &c.Directions[p.Dir]
	h.sends(&c.Capture.pool)
	s := Loose{
		Direction: h, Span: SpanOf(p), frame: p.Frame, pdu: p.Number, offset: p.Offset, hasOffset: p.HasOffset, Length: p.Length,
		Octets: bytes.Clone(p.Octets), Gap: h.Hole, Start: p.Frame, Bare: p.Bare,
	}
	if f := p.FPDU; f != nil {
		s.Length = int64(len(f.Wire) - f.Unsent)
		s.Octets, s.End = bytes.Clone(f.Wire[:s.Length]), s.From+s.Length
	}
	if len(p.Frames) > 0 {
		s.Start = p.Frames[0]
	}
	s.Placed = s.hasOffset && (s.offset == 0 || h.CRC.sound && h.Latest.End == s.From)
	h.keepLoose(&s)
	have := c.Gates(h)
	if c.Astray(h) {
		have &^= catalogue.Sync
	}
	c.Tell.Loose(&s, have)
	h.shifted = h.shifted || h.Began && s.hasOffset
	if h.Count > 0 || h.Began {
		h.lost() // messages may have been in there
	}
}

// Closing is how a connection came to its end.
type Closing struct {
	*trace.Closing
	Dir   trace.Dir
	Reset bool
	// Crossed: the other side closed as well before it knew of this.
	Crossed bool
}

// Closed returns which side closed the connection first, if known. The result is complete
// at the end only.
func (c *Conn) Closed() (k Closing, ok bool) {
	if c.Trace.Transport == trace.SCTP || c.Trace.Ending != trace.FIN && c.Trace.Ending != trace.RST {
		return k, false
	}
	first := func(f *trace.Flow) (*trace.Closing, bool) {
		if f.RST != nil && (f.FIN == nil || f.RST.Frame < f.FIN.Frame) {
			return f.RST, true
		}
		return f.FIN, false
	}
	a, resetA := first(&c.Trace.Flow[0])
	b, resetB := first(&c.Trace.Flow[1])
	// The acknowledgement of the other side's FIN comes after it, whichever copy of it was
	// captured.
	answers := func(x, of *trace.Closing, reset bool) bool { return !reset && x.Acked > of.At }
	switch {
	case a == nil && b == nil:
		return k, false
	case b == nil, a != nil && a.Frame < b.Frame && !answers(a, b, resetB), a != nil && answers(b, a, resetA):
		k = Closing{Closing: a, Dir: trace.I2R, Reset: resetA}
		k.Crossed = b != nil && b.Acked >= 0 && b.Acked < a.At+1 && !resetB
	default:
		k = Closing{Closing: b, Dir: trace.R2I, Reset: resetB}
		k.Crossed = a != nil && a.Acked >= 0 && a.Acked < b.At+1 && !resetA
	}
	// A FIN that was not captured may have been acknowledged.
	x := &c.Trace.Flow[Other(k.Dir)]
	return k, x.FIN != nil || x.RST != nil || k.Acked <= x.Sent
}

// Other is the opposite direction.
func Other(d trace.Dir) trace.Dir { return 1 - d }
