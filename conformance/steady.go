package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// steady is a half in the middle of a long Write: FPDU after FPDU, or chunk after
// chunk, differs from the one before in its place alone. All rules were asked about that shape and found
// nothing, so such an FPDU is only counted here, and the model catches up with all
// of them once something else happens on the connection.
type steady struct {
	on     bool
	chunks bool // of SCTP, no FPDUs
	// What the next one looks like, and where it goes.
	cut, padKnown bool
	marked        bool
	crc           mpa.Tri
	hasOffset     bool    // of the last one
	control       [2]byte // of DDP and of RDMAP
	ulpdu         uint16
	gates, have   Gate // as they were, and what rules about FPDUs were given
	stag          uint32
	octets        uint32
	to            uint64
	message       *message
	// n of them are not in the model yet; the last of them is this one.
	n          uint64
	frame, pdu uint64
	offset     int64
	knows      int64
	start      int64 // of its ULPDU_Length, if it has markers
	last
	time int64
	// The first early of them tell more of the beginning if their sender had received
	// more than what comes to knowing.
	early   uint32
	clean   bool // see there
	knowing int64
}

// steadies readies the short way for what follows an FPDU that went the long one.
func (c *conn) steadies(e *fpdu, s *segment, known bool, gates, have Gate) {
	h, f, p := e.half, e.f, e.p
	y := &h.steady
	y.on = false
	if !known || !c.within(s) {
		return
	}
	k, z := &h.crc, &h.sizes
	switch {
	case f.CRCStatus != mpa.CRCGood, !oneSegment(p), c.t.Outcome == trace.Rejected && h.opening.refused == nil, h.opening.good == 0:
	case len(f.Markers) > 0 && (!c.t.Negotiated || f.Size < 2*mpa.MarkerInterval), len(f.Markers) == 0 && len(k.starts) > 0, z.open != int(f.ULPDULength), z.open < leastMULPDU, z.partial.n == 0, z.tail, !z.whole:
	default:
		y.begin(s, f.ULPDULength)
		y.cut, y.padKnown, y.crc, y.gates, y.have, y.marked, y.knows = c.t.Flow[h.dir].Cut, f.PadKnown, c.t.CRC, gates, have, len(f.Markers) > 0, h.knows
		y.clean = gates&Bidir != 0 && c.clean(h)
		if o := &h.opening; o.count < maxKnowing {
			y.early, y.knowing = uint32(maxKnowing-o.count), o.most().acked
		}
	}
}

// within reports whether a segment that went the long way is one of a long Write, all
// is well with it, and nothing else is under way that the next one could settle.
func (c *conn) within(s *segment) bool {
	h := s.half
	switch {
	case c.capture.long, !s.known, s.noise, s.seg == nil, s.rel != goesOn:
	case !s.seg.Tagged, s.seg.Last, s.op != opWrite, s.octets == 0, s.msg.more > 0, !s.untouched():
	case !h.hasVersions, h.terminates > 0, h.extended != 0, h.awaited, !c.tell.Settled():
	default:
		return true
	}
	return false
}

// begin foresees what follows a segment.
func (y *steady) begin(s *segment, ulpdu uint16) {
	*y = steady{
		on: true, control: [2]byte{s.head[0], s.head[1]}, ulpdu: ulpdu, stag: s.seg.STag, message: s.msg, to: s.msg.next(),
		octets: uint32(s.octets), //nolint:gosec // not negative
	}
}

// goesOn reports whether a segment has the header that was foreseen.
func (y *steady) goesOn(g *ddp.Segment, head []byte) bool {
	return g != nil && g.Tagged && g.TO == y.to && g.STag == y.stag && [2]byte(head) == y.control
}

// oneSegment reports whether a TCP segment begins with the PDU, and none in it.
func oneSegment(p *trace.PDU) bool { return len(p.Bounds) == 1 && p.Bounds[0] == 0 }

// steadily takes in an FPDU if it is as foreseen.
func (c *conn) steadily(h *half, p *trace.PDU) bool {
	y, f := &h.steady, p.FPDU
	if !y.on || f.ULPDULength != y.ulpdu || !y.goesOn(p.Segment, f.Head) {
		return false
	}
	if f.CRCStatus != mpa.CRCGood || y.marked != (len(f.Markers) > 0) || f.Sync != mpa.InSync || f.Unsent > 0 || len(f.Missing) > 0 ||
		f.PadKnown != y.padKnown || !f.PadZero() {
		return false
	}
	m := y.message
	if !oneSegment(p) || p.Message == nil || p.Message.Segments < 2 || m.segments() >= maxPieces ||
		c.t.CRC != y.crc || c.t.Flow[h.dir].Cut != y.cut || !c.asBefore(h) || y.n < uint64(y.early) && p.Acked > y.knowing {
		return false
	}
	if y.marked {
		if e := (fpdu{h, p, f}); !seen(h.shapes.fpdus[:]).has(e.shape(c, y.have)) {
			return false
		}
		y.start = f.Offset
		if f.Lead {
			y.start += mpa.MarkerSize
		}
	}
	y.add(h, p, f.Head)
	h.sizes.note(endingAt(p.From+p.Length, p.Frame, false, true))
	y.end, y.lastAcked = p.From+p.Length, p.LastAcked
	y.knows = max(y.knows, p.Acked)
	return true
}

// add counts one.
func (y *steady) add(h *half, p *trace.PDU, head []byte) {
	y.message.hashes = append(y.message.hashes, hashOf(p, head))
	h.sent.number(p.Number)
	y.n++
	y.to += uint64(y.octets)
	y.frame, y.pdu, y.offset, y.hasOffset, y.time = p.Frame, p.Number, p.Offset, p.HasOffset, p.Time
}

// catchUp takes the FPDUs that were counted into the model; then the next one goes
// the long way.
func (h *half) catchUp() {
	y := &h.steady
	if !y.on {
		return
	}
	y.on = false
	if y.n == 0 {
		return
	}
	n, m := uint32(y.n), y.message //nolint:gosec // FPDUs of a message
	h.count += y.n
	m.lengthen(siteAt(y.frame, y.pdu, h.count, y.offset, y.hasOffset, y.end, y.time))
	m.sum += y.n * uint64(y.octets)
	m.high = max(m.high, m.next())
	h.sent.lengthen(n)
	if y.chunks {
		h.chunks += int(n)
		return
	}
	h.to, h.latest, h.knows = y.end, y.last, y.knows
	h.crc.good += int(n)
	h.crc.frame, h.crc.pdu = y.frame, y.pdu
	if y.marked { // none before stands within the distance of two markers
		h.crc.starts = append(h.crc.starts[:0], y.start)
	}
	h.opening.count += y.n
	h.opening.sound = true
	h.sizes.partial.addSome(int(y.ulpdu), n)
	h.sizes.segments += n
	h.sizes.aligned += n
}

// catchUp does so for both halves.
func (c *conn) catchUp() {
	c.half[0].catchUp()
	c.half[1].catchUp()
}

// asBefore reports whether the gates are those of the FPDUs before. Nearly always
// all is well with both directions, as it was then: what else they depend on changes
// with something that ends the short way, or never falls back.
func (c *conn) asBefore(h *half) bool {
	if y := &h.steady; y.clean && c.clean(h) && c.sized(h) == (y.gates&Size != 0) {
		return true
	}
	return c.gates(h) == h.steady.gates
}

// clean reports whether nothing is missing of either direction at present, as far as
// the transport tells.
func (c *conn) clean(h *half) bool {
	f, g := &c.t.Flow[h.dir], &c.t.Flow[h.peer.dir]
	return !f.Cut && !g.Cut && !f.Waiting && !g.Waiting && f.Unframed|g.Unframed == 0 && !f.SumsUnsure &&
		(h.peer.count > 0 || h.peer.to >= g.Sent)
}
