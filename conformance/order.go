package conformance

import (
	"bytes"

	"github.com/iwdissect/iwdissect/trace"
)

// span is the place of something in the TCP stream of its direction, and what its
// sender had received when it was sent. Order between the directions is told by
// that alone, never by time: captures are merged, and packets cross.
type span struct {
	from, end        int64
	acked, lastAcked int64 // of its first and its last octet; negative: not known
	time             int64
}

// spanOf places a PDU. Over SCTP nothing of it is known; see heard.
func spanOf(p *trace.PDU) span {
	if p.Conn.Transport == trace.SCTP {
		return span{acked: -1, lastAcked: -1, time: p.Time}
	}
	return span{p.From, p.From + p.Length, p.Acked, p.LastAcked, p.Time}
}

// order is what acknowledgements prove about two things that the two sides sent.
type order uint8

const (
	// unproven: the numbers are not in the capture.
	unproven order = iota
	// without: it was sent before its sender had all of the other one.
	without
	// having: its sender had all of the other one.
	having
)

// knew tells whether the sender of a had received everything of the other
// direction up to end when it sent the first octet of a.
func (a *span) knew(end int64) order {
	switch {
	case a.acked < 0:
		return unproven
	case a.acked < end:
		return without
	}
	return having
}

// heard tells whether the sender of a chunk had received a TSN of the other side when
// it sent it. Without says no more than that no copy of that was captured before.
func heard(a *trace.Arrival, tsn int64) order {
	switch {
	case a.Heard > tsn:
		return having
	case a.OnePlace && tsn >= a.Passed:
		return without
	}
	return unproven
}

// loose is a run of octets that are in no startup frame and in no FPDU.
type loose struct {
	*half
	span
	frame, pdu uint64
	start      uint64 // the frame of the first of them
	offset     int64
	hasOffset  bool
	length     int64
	octets     []byte // the first of them
	// gap: something before them is missing; placed: they are where the octets
	// before them say that an FPDU begins.
	gap, placed bool
	// bare is how many FPDUs they begin with if those have no CRC field.
	bare int
}

// maxLoose bounds those that are kept of a direction.
const maxLoose = 16

// where is the place of loose octets.
func (s *loose) where() Place {
	return Place{Dir: s.dir, HasDir: true, Frame: s.frame, PDU: s.pdu, HasPDU: true, Offset: s.offset, HasOffset: s.hasOffset}
}

func (c *conn) loose(p *trace.PDU) {
	h := &c.half[p.Dir]
	h.sends()
	s := loose{
		half: h, span: spanOf(p), frame: p.Frame, pdu: p.Number, offset: p.Offset, hasOffset: p.HasOffset, length: p.Length,
		octets: bytes.Clone(p.Octets), gap: h.hole, start: p.Frame, bare: p.Bare,
	}
	if len(p.Frames) > 0 {
		s.start = p.Frames[0]
	}
	s.placed = s.hasOffset && (s.offset == 0 || h.opening.sound && h.latest.end == s.from)
	if len(h.looses) < maxLoose {
		h.looses = append(h.looses, s)
	}
	have := c.gates(h)
	if c.astray(h) {
		have &^= Sync
	}
	c.tell.Loose(&s, have)
	h.shifted = h.shifted || h.began && s.hasOffset
	if h.count > 0 || h.began {
		h.lost() // messages may have been in there
	}
}

// closing is how a connection came to its end.
type closing struct {
	*trace.Closing
	dir   trace.Dir
	reset bool
	// crossed: the other side closed as well before it knew of this.
	crossed bool
}

// closed tells which side closed the connection first, as far as it shows. It is
// complete at the end only.
func (c *conn) closed() (k closing, ok bool) {
	if c.t.Transport == trace.SCTP || c.t.Ending != trace.FIN && c.t.Ending != trace.RST {
		return k, false
	}
	first := func(f *trace.Flow) (*trace.Closing, bool) {
		if f.RST != nil && (f.FIN == nil || f.RST.Frame < f.FIN.Frame) {
			return f.RST, true
		}
		return f.FIN, false
	}
	a, resetA := first(&c.t.Flow[0])
	b, resetB := first(&c.t.Flow[1])
	// What acknowledges the FIN of the other side comes behind it, whichever copy of
	// it was captured.
	answers := func(x, of *trace.Closing, reset bool) bool { return !reset && x.Acked > of.At }
	switch {
	case a == nil && b == nil:
		return k, false
	case b == nil, a != nil && a.Frame < b.Frame && !answers(a, b, resetB), a != nil && answers(b, a, resetA):
		k = closing{Closing: a, dir: trace.I2R, reset: resetA}
		k.crossed = b != nil && b.Acked >= 0 && b.Acked < a.At+1 && !resetB
	default:
		k = closing{Closing: b, dir: trace.R2I, reset: resetB}
		k.crossed = a != nil && a.Acked >= 0 && a.Acked < b.At+1 && !resetA
	}
	// A FIN that was not captured may have been acknowledged.
	x := &c.t.Flow[other(k.dir)]
	return k, x.FIN != nil || x.RST != nil || k.Acked <= x.Sent
}

// other is the opposite direction.
func other(d trace.Dir) trace.Dir { return 1 - d }
