package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// begin is the place at which the octets begin.
func (s *loose) begin() Place {
	p := s.where()
	p.Frame = s.start
	return p
}

// backwards returns a Reply that is the first frame on the connection, sent by the
// side that opened it.
func (c *conn) backwards() *frame {
	f := c.half[trace.R2I].firstOf(trace.KindReply)
	if f == nil || c.request != nil || !c.t.Flow[trace.R2I].Opens {
		return nil
	}
	if len(c.half[trace.I2R].frames) > 0 || f.from != 0 || f.acked != 0 {
		return nil
	}
	return f
}

// badRequest returns the octets that stand where the Request should. ok is false if
// not enough of them was captured.
func (c *conn) badRequest() (s *loose, ok bool) {
	h := &c.half[trace.I2R]
	s = h.looseAt(0)
	switch {
	case s == nil || !c.starts(h) || s.length < mpa.KeyLen || keyed(s.octets):
		return nil, false
	case mpa.NearKey(s.octets):
		return s, s.acked == 0 || c.reply != nil // else it may be meant for a Reply
	case len(h.frames) > 0 || h.opening.seen() && c.reply == nil || c.reply == nil && !c.t.Configured:
		return nil, false
	}
	return s, len(s.octets) >= mpa.KeyLen && c.allOf(h)
}

// answers returns the first octets of a half that answer the Request.
func (h *half) answers(q *frame) *loose {
	for i := range h.looses {
		s := &h.looses[i]
		if s.length < mpa.KeyLen || keyed(s.octets) {
			continue
		}
		if s.knew(q.end) == having || s.from == 0 && mpa.NearKey(s.octets) {
			return s
		}
	}
	return nil
}

// badReply returns the end of what stands where the Reply should: a key that is
// nearly right, or the other key.
func (c *conn) badReply() (end int64, ok bool) {
	if f := c.secondRequest(); f != nil {
		return f.end, true
	}
	h := &c.half[trace.R2I]
	q, _ := c.pair()
	if q == nil || len(h.frames) > 0 {
		return 0, false
	}
	if s := h.answers(q); s != nil && mpa.NearKey(s.octets) {
		return s.startupEnd(), true
	}
	return 0, false
}

// secondRequest returns the Request of the side that has to answer one.
func (c *conn) secondRequest() *frame {
	if c.half[trace.I2R].firstOf(trace.KindRequest) == nil {
		return nil
	}
	return c.half[trace.R2I].firstOf(trace.KindRequest)
}

// startupEnd is the end of octets that are laid out as a startup frame.
func (s *loose) startupEnd() int64 {
	if f, _, err := mpa.DecodeStartup(s.octets); err == nil || len(s.octets) >= mpa.StartupLen {
		if n := int64(mpa.StartupLen + int(f.PDLength)); f.PDLength <= mpa.MaxPrivateData && n <= s.length {
			return s.from + n
		}
	}
	return s.end
}

// crcBehind returns the octets behind a startup frame if they are its CRC, and FPDUs
// follow them.
func (c *conn) crcBehind(f *frame) *loose {
	if s := c.half[f.dir].looseAt(f.end); s != nil && c.framed(f, s) {
		return s
	}
	return nil
}

// framed reports whether octets are the CRC of the startup frame before them, and
// FPDUs follow them.
func (c *conn) framed(f *frame, s *loose) bool {
	o := &c.half[s.dir].opening
	if f.partial || !s.beginWithCRC(f) {
		return false
	}
	return s.length == crcSize && o.seen() && o.first.from == s.end || beginsFPDU(s.octets[crcSize:])
}

// beginWithCRC reports whether octets begin with the CRC of a startup frame.
func (s *loose) beginWithCRC(f *frame) bool {
	return len(s.octets) >= crcSize && binary.BigEndian.Uint32(s.octets) == crcOf(f.raw)
}

// isCRC reports whether the octets behind a startup frame begin with its CRC
// (MPA-PHASE-PLAIN-01).
func (c *conn) isCRC(f *frame) bool {
	s := c.half[f.dir].looseAt(f.end)
	return s != nil && s.beginWithCRC(f)
}

// marked reports whether octets are a marker in front of a startup frame.
func (h *half) marked(s *loose) bool {
	return s.length == mpa.MarkerSize && zeroMarker(s.octets) && len(h.frames) > 0 && h.frames[0].from == s.end
}

// leadingMarker returns a marker at the beginning of the stream, in front of the
// startup frame.
func (h *half) leadingMarker() *loose {
	if s := h.looseAt(0); s != nil && h.marked(s) {
		return s
	}
	return nil
}

// unfinished is a startup frame of which the end never came.
type unfinished struct {
	Place
	since      int64 // the time of its last octets
	have, need int64 // octets that came, and octets that it announces
}

// unfinished returns the startup frame of a half whose end never came, nil if there is
// none.
func (h *half) unfinished() *unfinished {
	if n := len(h.frames); n > 0 {
		f := h.frames[n-1]
		have, need := int64(len(f.raw)), mpa.StartupLen+int64(f.PDLength)
		if !f.partial || have >= need {
			return nil
		}
		return &unfinished{f.where(), f.time, have, need}
	}
	for i := range h.looses {
		if s := &h.looses[i]; keyed(s.octets) && s.length < mpa.StartupLen && !s.placed {
			return &unfinished{s.begin(), s.time, s.length, mpa.StartupLen}
		}
	}
	return nil
}

// summary tells how many octets there are, and what they begin with.
func (s *loose) summary() string {
	return fmt.Sprintf("%d octets, %q", s.length, s.octets[:min(len(s.octets), mpa.KeyLen)])
}
