package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// steady is a direction in the middle of a long Write: each FPDU or chunk differs from the
// one before only in its position. All rules have judged that shape and found it valid, so
// such an FPDU is only counted here; the model catches up when something else happens on
// the connection.
type steady struct {
	on     bool
	chunks bool // of SCTP, no FPDUs
	// The expected next one: its header and its position.
	cut, padKnown bool
	marked        bool
	crc           mpa.Tri
	hasOffset     bool    // of the last one
	clean         bool    // see there
	control       [2]byte // of DDP and of RDMAP
	ulpdu         uint16
	gates, have   catalogue.Gate // as they were, and what rules about FPDUs were given
	stag          uint32
	octets        uint32
	to            uint64
	message       *Message
	// n of them are not in the model yet; the last of them is this one.
	n uint32
	// early is how many of the first FPDUs also update the opening, if their sender had received
	// more than what is recorded there.
	early      uint32
	frame, pdu uint64
	offset     int64
	knows      int64
	start      int64 // of its ULPDU_Length, if it has markers
	last
	time int64
}

// steadies readies the short way for what follows an FPDU that went the long one.
func (c *Conn) steadies(e *FPDU, s *Segment, known bool, gates, have catalogue.Gate) {
	h, f, p := e.Direction, e.FPDU, e.PDU
	y := &h.steady
	y.on = false
	if !known || !c.within(s) {
		return
	}
	k, z := &h.CRC, &h.Sizes
	switch {
	case f.CRCStatus != mpa.CRCGood, !oneSegment(p), c.Trace.Outcome == trace.Rejected && h.Opening.Refused == nil, h.Opening.Good == 0:
	case len(f.Markers) > 0 && (!c.Trace.Negotiated || f.Size < 2*mpa.MarkerInterval), len(f.Markers) == 0 && len(k.Starts()) > 0, z.open != f.ULPDULength, z.open < LeastMULPDU, z.Partial.N == 0, z.tail, !z.whole:
	default:
		y.begin(s, f.ULPDULength)
		y.cut, y.padKnown, y.crc, y.gates, y.have, y.marked, y.knows = c.Trace.Flow[h.Dir].Cut, f.PadKnown, c.Trace.CRC, gates, have, len(f.Markers) > 0, h.Knows
		y.clean = gates&catalogue.Bidir != 0 && c.clean(h)
		if o := &h.Opening; o.Count < maxKnowing {
			y.early = uint32(maxKnowing - o.Count)
		}
	}
}

// within reports whether a segment that went the long way is one of a long Write, all
// is well with it, and nothing else is under way that the next one could settle.
func (c *Conn) within(s *Segment) bool {
	h := s.Direction
	switch {
	case c.Capture.Long, !s.known, s.Noise, s.DDP == nil, s.rel != GoesOn:
	case !s.DDP.Tagged, s.DDP.Last, s.Op != OpWrite, s.Octets == 0, s.msg.More > 0, !s.untouched():
	case !h.HasVersions, h.Terminates > 0, h.Extended != 0, h.Awaited, !c.Tell.Settled():
	default:
		return true
	}
	return false
}

// begin foresees what follows a segment.
func (y *steady) begin(s *Segment, ulpdu uint16) {
	*y = steady{
		on: true, control: [2]byte{s.Head[0], s.Head[1]}, ulpdu: ulpdu, stag: s.DDP.STag, message: s.msg, to: s.msg.Next(),
		octets: uint32(s.Octets), //nolint:gosec // not negative
	}
}

// goesOn reports whether a segment has the header that was foreseen.
func (y *steady) goesOn(g *ddp.Segment, head []byte) bool {
	return g != nil && g.Tagged && g.TO == y.to && g.STag == y.stag && [2]byte(head) == y.control
}

// oneSegment reports whether a TCP segment begins with the PDU, and none inside it.
func oneSegment(p *trace.PDU) bool { return len(p.Bounds) == 1 && p.Bounds[0] == 0 }

// steadily records an FPDU if it is as expected.
func (c *Conn) steadily(h *Direction, p *trace.PDU) bool {
	y, f := &h.steady, p.FPDU
	if !y.on || f.ULPDULength != y.ulpdu || !y.goesOn(p.Segment, f.Head) {
		return false
	}
	if f.CRCStatus != mpa.CRCGood || y.marked != (len(f.Markers) > 0) || f.Sync != mpa.InSync || f.Unsent > 0 || len(f.Missing) > 0 ||
		f.PadKnown != y.padKnown || !f.PadZero() {
		return false
	}
	m := y.message
	if !oneSegment(p) || p.Message == nil || p.Message.Segments < 2 || m.Segments() >= maxPieces ||
		c.Trace.CRC != y.crc || c.Trace.Flow[h.Dir].Cut != y.cut || !c.asBefore(h) || y.n < y.early && p.Acked > h.Opening.most {
		return false
	}
	if !c.OutOfStep && c.ahead(h, p) {
		return false
	}
	if y.marked {
		if e := (FPDU{Direction: h, PDU: p, FPDU: f}); !c.Capture.FPDUs(h).Has(e.shape(c, y.have)) {
			return false
		}
		y.start = f.Offset
		if f.Lead {
			y.start += mpa.MarkerSize
		}
	}
	y.add(h, p, f.Head)
	h.Sizes.ends.add(endingAt(p.From+p.Length, p.Frame, false, true))
	y.End, y.LastAcked = p.From+p.Length, p.LastAcked
	y.knows = max(y.knows, p.Acked)
	return true
}

// add counts one.
func (y *steady) add(h *Direction, p *trace.PDU, head []byte) {
	y.message.hashes = append(y.message.hashes, hashOf(p, head))
	h.Sent.number(p.Number)
	y.n++
	y.to += uint64(y.octets)
	y.frame, y.pdu, y.offset, y.hasOffset, y.time = frameOf(p), p.Number, p.Offset, p.HasOffset, timeOf(p)
}

// catchUp takes the FPDUs that were counted into the model; then the next one goes
// the long way.
func (h *Direction) catchUp() {
	y := &h.steady
	if !y.on {
		return
	}
	y.on = false
	if y.n == 0 {
		return
	}
	n, m := y.n, y.message
	h.Count += uint64(n)
	m.lengthen(siteAt(y.frame, y.pdu, h.Count, y.offset, y.hasOffset, y.End, y.time))
	m.sum += uint64(n) * uint64(y.octets)
	m.high = max(m.high, m.Next())
	h.Sent.lengthen(n)
	if y.chunks {
		h.Chunks += int(n)
		return
	}
	h.NextOffset, h.Latest, h.Knows = y.End, y.last, y.knows
	h.CRC.Frame, h.CRC.PDU, h.CRC.begun = y.frame, y.pdu, y.frame
	if y.marked { // no earlier marker is within the distance of two markers
		*h.CRC.starts = append((*h.CRC.starts)[:0], y.start)
	}
	h.Opening.Count += uint64(n)
	h.CRC.sound = true
	h.Sizes.Partial.addSome(int(y.ulpdu), n)
	h.Sizes.Segments += n
	h.Sizes.Aligned += n
}

// catchUp does so for both directions.
func (c *Conn) catchUp() {
	c.Directions[0].catchUp()
	c.Directions[1].catchUp()
}

// asBefore reports whether the gates are those of the FPDUs before. Nearly always
// all is well with both directions, as it was then: what else they depend on changes
// with something that ends the short way, or never falls back.
func (c *Conn) asBefore(h *Direction) bool {
	if y := &h.steady; y.clean && c.clean(h) && c.sized(h) == (y.gates&catalogue.Size != 0) {
		return true
	}
	return c.Gates(h) == h.steady.gates
}

// clean reports whether neither direction has a gap at present, according to the
// transport.
func (c *Conn) clean(h *Direction) bool {
	f, g := &c.Trace.Flow[h.Dir], &c.Trace.Flow[h.Peer.Dir]
	return !f.Cut && !g.Cut && !f.Waiting && !g.Waiting && !unframed(f) && !unframed(g) && !f.SumsUnsure &&
		(h.Peer.Count > 0 || h.Peer.NextOffset >= g.Sent)
}
