package conformance

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// keyChecks are about what stands where a startup frame has to be: its key, and
// its end (RFC 5044 section 7.1.1).
var keyChecks = []check{
	{id: "MPA-REQ-KEY-01", needs: Start | Full, transport: onTCP, end: func(c *conn) {
		c.about(&c.half[trace.I2R])
		if f := c.backwards(); f != nil {
			if c.applies() {
				c.frame(f, "the side that opens the exchange sends a Reply", "MPA ID Rep Frame", "MPA ID Req Frame")
			}
			return
		}
		s, ok := c.badRequest()
		switch {
		case s == nil && c.request != nil:
			c.applies()
		case s == nil:
		case !ok:
			c.lacks(Full)
		case c.applies():
			x := s.found()
			x.Message, x.Observed, x.Expected = "the key of the Request is wrong", inQuotes(s.octets), "MPA ID Req Frame"
			c.fire(x)
		}
	}},
	{id: "MPA-REP-KEY-01", needs: Start | Contig | Full, transport: onTCP, end: func(c *conn) {
		h := &c.half[trace.R2I]
		q, _ := c.pair()
		if q == nil {
			return
		}
		c.about(h)
		if len(h.frames) > 0 {
			c.applies()
			return
		}
		s := h.answers(q)
		if s == nil {
			return
		}
		if s.gap {
			c.have &^= Contig
		} else {
			c.have |= Contig // whatever is missing is behind it
		}
		x := s.found()
		x.Observed, x.Expected = inQuotes(s.octets), "MPA ID Rep Frame"
		switch {
		case len(s.octets) < mpa.KeyLen:
			c.lacks(Full)
		case mpa.NearKey(s.octets):
			x.Message = "the key of the Reply is wrong"
			if c.applies() {
				c.fire(x)
			}
		case c.t.Flow[trace.R2I].Cut || h.hole:
			c.lacks(Full)
		case headed(s.octets): // an FPDU: it speaks MPA, but has sent no Reply
		case c.applies():
			x.Severity, x.Message = Note, "the peer does not speak MPA here"
			c.fire(x)
		}
	}},
	{id: "MPA-START-08A", needs: Start | Bidir, transport: onTCP, end: func(c *conn) {
		c.about(&c.half[0], &c.half[1])
		if c.request == nil || !c.applies() {
			return
		}
		if f := c.secondRequest(); f != nil {
			c.frame(f, "both sides send a Request", "MPA ID Req Frame", "MPA ID Rep Frame")
		}
	}},
	{
		id: "MPA-START-08C", needs: Start | Sync, transport: onTCP,
		startup: func(c *conn, f *frame) {
			if f.kind != trace.KindRequest || len(c.half[f.dir].ofKind(f.kind)) < 2 || c.reply == nil || !c.reply.R {
				return
			}
			if c.have |= Sync; c.applies() {
				x := f.at()
				x.Severity, x.Message, x.Observed, x.Expected = Note, "another Request after a reject", "a second Request", "legal, and worth knowing"
				c.fire(x)
			}
		},
		loose: func(c *conn, s *loose) {
			if !keyed(s.octets) || !s.placed || !c.accepted() || !c.applies() || !c.once(s.half) {
				return
			}
			x := s.found()
			x.Message, x.Observed, x.Expected = "another startup frame in full operation", inQuotes(s.octets), "an FPDU"
			c.fire(x)
		},
		end: func(c *conn) {
			if c.accepted() {
				c.applies()
			}
		},
	},
	{id: "MPA-PHASE-PLAIN-01", needs: Start | Full, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			c.about(h)
			for _, f := range h.frames {
				if s := h.looseAt(f.end); s != nil && c.framed(f, s) && c.applies() {
					c.glued(s, "the startup frame has a CRC behind it, as if it were an FPDU")
				} else if s == nil && !f.partial {
					c.applies()
				}
			}
			if s := h.looseAt(0); s != nil && h.marked(s) && c.applies() {
				c.glued(s, "the startup frame has a marker in front")
			}
		}
	}},
	{id: "TCP-FIN-STARTUP-01", needs: Start | Contig | Full, transport: onTCP, end: func(c *conn) {
		for i := range c.half {
			h := &c.half[i]
			c.about(h)
			mine, its := &c.t.Flow[h.dir], &c.t.Flow[h.peer.dir]
			if mine.Cut {
				c.have &^= Full
			}
			p := h.pending()
			switch {
			case p == nil:
				if len(h.frames) > 0 {
					c.applies()
				}
			case mine.FIN == nil, mine.RST != nil, its.RST != nil:
			case its.FIN != nil && mine.FIN.Acked > its.FIN.At: // nobody waits for the rest any more
			case c.applies():
				x := p.Finding
				x.Frame = mine.FIN.Frame
				x.Message = "a FIN in the middle of a startup frame: the stream was cut, or PD_Length is too large"
				x.Observed, x.Expected = fmt.Sprintf("%d octets", p.have), fmt.Sprint(p.need)
				c.fire(x)
			}
		}
	}},
}

// backwards returns a Reply that is the first that anybody sent, by the side that
// opened the connection.
func (c *conn) backwards() *frame {
	replies := c.half[trace.R2I].ofKind(trace.KindReply)
	if c.request != nil || len(replies) == 0 || !c.t.Flow[trace.R2I].Opens {
		return nil
	}
	if len(c.half[trace.I2R].frames) > 0 || replies[0].from != 0 || replies[0].acked != 0 {
		return nil
	}
	return replies[0]
}

// badRequest returns what stands where the Request should. ok is false if that was
// not captured.
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
	if len(c.half[trace.I2R].ofKind(trace.KindRequest)) > 0 {
		if second := c.half[trace.R2I].ofKind(trace.KindRequest); len(second) > 0 {
			return second[0]
		}
	}
	return nil
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

// marked reports whether octets are a marker in front of a startup frame.
func (h *half) marked(s *loose) bool {
	return s.length == mpa.MarkerSize && zeroMarker(s.octets) && len(h.frames) > 0 && h.frames[0].from == s.end
}

func (c *conn) glued(s *loose, message string) {
	x := s.found()
	x.Message, x.Observed, x.Expected = message, fmt.Sprintf("% x", s.octets), "the frame alone"
	c.fire(x)
}

// pending is a startup frame of a half that never became whole.
type pending struct {
	Finding
	since      int64 // the time of its last octets
	have, need int64 // how much of it there is, and how long it says to be
}

func (h *half) pending() *pending {
	if n := len(h.frames); n > 0 {
		f := h.frames[n-1]
		have, need := int64(len(f.raw)), mpa.StartupLen+int64(f.PDLength)
		if !f.partial || have >= need {
			return nil
		}
		return &pending{f.at(), f.time, have, need}
	}
	for i := range h.looses {
		if s := &h.looses[i]; keyed(s.octets) && s.length < mpa.StartupLen && !s.placed {
			return &pending{s.found(), s.time, s.length, mpa.StartupLen}
		}
	}
	return nil
}

// quoted is a key for people.
func inQuotes(b []byte) string { return fmt.Sprintf("%q", b[:min(len(b), mpa.KeyLen)]) }
