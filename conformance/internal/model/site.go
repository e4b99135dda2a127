package model

import "github.com/iwdissect/iwdissect/trace"

// site is where a PDU of a direction was, for a finding that may come to speak of it.
type site struct {
	Frame, PDU        uint64
	nth               uint64 // above a flag: the offset is known
	offset, end, time int64
}

// siteOf is that of a PDU, the nth of its direction.
func siteOf(p *trace.PDU, nth uint64) (x site) {
	x.set(p, nth)
	return x
}

// set is siteOf in its place: a copy of what was just written takes longer.
func (x *site) set(p *trace.PDU, nth uint64) {
	x.Frame, x.PDU, x.nth, x.offset = frameOf(p), p.Number, nth<<1|uint64(Bit(p.HasOffset)), p.Offset //nolint:gosec // 0 or 1
	x.time = timeOf(p)
	if x.end = p.From + p.Length; p.Conn.Transport == trace.SCTP {
		x.end = 0
	}
}

// frameOf is the frame in which a PDU came. A chunk of SCTP may have had to wait for its
// turn there: what is wrong with it is seen in its own frame.
func frameOf(p *trace.PDU) uint64 {
	if k := p.Chunk; k != nil && k.Arrival.Frame > 0 {
		return k.Arrival.Frame
	}
	return p.Frame
}

// timeOf is when it came.
func timeOf(p *trace.PDU) int64 {
	if k := p.Chunk; k != nil && k.Arrival.Frame > 0 {
		return k.Arrival.Time
	}
	return p.Time
}

func siteAt(frame, pdu, nth uint64, offset int64, hasOffset bool, end, time int64) site {
	return site{frame, pdu, nth<<1 | uint64(Bit(hasOffset)), offset, end, time} //nolint:gosec // 0 or 1
}

// In is the place of a PDU of a direction.
func (x *site) In(d trace.Dir) Place {
	return Place{
		Dir: d, HasDir: true, Frame: x.Frame, PDU: x.PDU, HasPDU: true, Offset: x.offset, HasOffset: x.nth&1 != 0,
		End: x.end, Time: x.time, Nth: x.nth >> 1,
	}
}
