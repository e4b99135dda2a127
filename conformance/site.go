package conformance

import "github.com/iwdissect/iwdissect/trace"

// site is where a PDU of a half was, for a finding that may come to speak of it.
type site struct {
	frame, pdu, nth   uint64
	offset, end, time int64
	hasOffset         bool
}

// siteOf is that of a PDU, the nth of its half.
func siteOf(p *trace.PDU, nth uint64) site {
	x := spanOf(p)
	return site{p.Frame, p.Number, nth, p.Offset, x.end, x.time, p.HasOffset}
}

// at places a finding there.
func (x *site) at(d trace.Dir) Finding {
	return Finding{
		Dir: d, HasDir: true, Frame: x.frame, PDU: x.pdu, HasPDU: true, Offset: x.offset, HasOffset: x.hasOffset,
		end: x.end, time: x.time, nth: x.nth,
	}
}
