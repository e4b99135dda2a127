package model

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Unchained reports whether an FPDU that was found by search proves, without the help of CRCs, that the length of an FPDU leads
// elsewhere: it lies in the FPDU before it, or in the one that would begin behind that. at is the FPDU whose end is no beginning.
func (e *FPDU) Unchained(c *Conn) (at Place, ok bool) {
	h := e.Direction
	if e.FPDU.Sync == mpa.InSync || c.Trace.CRC != mpa.No || !c.Trace.Negotiated || !h.Began || h.Count == 0 || c.offGrid(h) || !c.Streamed(h) {
		return at, false
	}
	marked, behind := c.Trace.Markers[h.Dir] == mpa.Yes, h.looses()
	if marked && len(behind) > 0 && behind[0].From != h.Latest.End {
		return at, false // its sender may not count the octets before, when it places markers
	}
	if e.PDU.From < h.Latest.End && !e.BeginsSegment() {
		return at, false // perhaps it is in the payload of that one, the end of which did not come
	}
	if s := e.before(); e.PDU.From >= h.Latest.End && (s == nil || Keyed(s.Octets) || !s.leadsOn(marked)) {
		return at, false
	}
	return h.LastFPDU(), true
}

// BeginsSegment reports whether an FPDU begins with a TCP segment.
func (e *FPDU) BeginsSegment() bool { return len(e.PDU.Bounds) > 0 && e.PDU.Bounds[0] == 0 }

// LastFPDU is the place of the last FPDU of a direction that makes sense, in the frame in which its length left.
func (h *Direction) LastFPDU() Place {
	at := Place{Dir: h.Dir, HasDir: true, Frame: h.CRC.begun, PDU: h.CRC.PDU, HasPDU: true}
	if h.Noise {
		at.Misread = h.Chain.noise
	}
	return at
}

// Between returns the octets between an FPDU with a right CRC and the next one, which was found by its CRC: no FPDU begins with them,
// though it looks so. It is nil if there are none, or if they are a startup frame.
func (e *FPDU) Between(c *Conn) *Loose {
	h := e.Direction
	if e.FPDU.Sync != mpa.ByCRC || !h.CRC.sound || !c.Trace.Negotiated || c.offGrid(h) || !c.Streamed(h) {
		return nil
	}
	if s := e.before(); s != nil && !Keyed(s.Octets) && !s.plain(c) {
		return s
	}
	return nil
}

// before returns all octets between an FPDU and the one before it, nil if there are none.
func (e *FPDU) before() *Loose {
	if s := e.LooseAt(e.Latest.End); s != nil && s.End == e.PDU.From {
		return s
	}
	return nil
}

// leadsOn reports whether an FPDU that began with these octets would have an impossible length, or end behind them.
func (s *Loose) leadsOn(marked bool) bool {
	b := s.Octets
	if marked && s.hasOffset && s.offset%mpa.MarkerInterval == 0 {
		b = b[min(mpa.MarkerSize, len(b)):]
	}
	if len(b) < LengthSize {
		return false
	}
	n := int(binary.BigEndian.Uint16(b))
	return n < mpa.MinULPDU || n > mpa.MaxULPDU || int64(LengthSize+n+mpa.PadLen(n)+CrcSize) > s.Length
}
