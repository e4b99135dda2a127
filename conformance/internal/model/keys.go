package model

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/trace"
)

// Begin is the place at which the octets begin.
func (s *Loose) Begin() Place {
	p := s.Where()
	p.Frame = s.Start
	return p
}

// Backwards returns a Reply that is the first frame on the connection, sent by the
// side that opened it.
func (c *Conn) Backwards() *Frame {
	f := c.Directions[trace.R2I].FirstOf(trace.KindReply)
	if f == nil || c.Request != nil || !c.Trace.Flow[trace.R2I].Opens {
		return nil
	}
	if c.Directions[trace.I2R].HasFrames() || f.From != 0 || f.Acked != 0 {
		return nil
	}
	return f
}

// BadRequest returns the octets in place of the Request. ok is false if not enough of them
// were captured.
func (c *Conn) BadRequest() (s *Loose, ok bool) {
	h := &c.Directions[trace.I2R]
	s = h.LooseAt(0)
	switch {
	case s == nil || !c.Starts(h) || s.Length < mpa.KeyLen || Keyed(s.Octets):
		return nil, false
	case mpa.NearKey(s.Octets):
		return s, s.Acked == 0 || c.Reply != nil // else it may be meant for a Reply
	case h.HasFrames() || h.Opening.Seen() && c.Reply == nil || c.Reply == nil && !c.Trace.Configured:
		return nil, false
	}
	return s, len(s.Octets) >= mpa.KeyLen && c.AllOf(h)
}

// LostRequest reports whether a Reply was captured, and what it answers was not.
func (c *Conn) LostRequest() bool {
	h := &c.Directions[trace.I2R]
	return c.Reply != nil && c.Request == nil && !h.HasFrames() && h.Hole && c.Starts(h)
}

// Answers returns the first octets of a direction that answer the Request.
func (h *Direction) Answers(q *Frame) *Loose {
	for i := range h.looses() {
		s := &h.looses()[i]
		if s.Length < mpa.KeyLen || Keyed(s.Octets) {
			continue
		}
		if s.Knew(q.End) == Having || s.From == 0 && mpa.NearKey(s.Octets) {
			return s
		}
	}
	return nil
}

// BadReply returns the end of the octets in place of the Reply: a key that is almost
// right, or the key of a Request.
func (c *Conn) BadReply() (end int64, ok bool) {
	if f := c.SecondRequest(); f != nil {
		return f.End, true
	}
	h := &c.Directions[trace.R2I]
	q, _ := c.Pair()
	if q == nil || h.HasFrames() {
		return 0, false
	}
	if s := h.Answers(q); s != nil && mpa.NearKey(s.Octets) {
		return s.StartupEnd(), true
	}
	return 0, false
}

// MayHaveRejected reports whether the responder may have rejected the Request before what was captured of it: octets are
// missing there, enough for a Reply. After a reject either side may send another Request.
func (c *Conn) MayHaveRejected() bool {
	f := c.Directions[trace.R2I].frames
	return f != nil && f.From >= mpa.StartupLen && f.gates&catalogue.Contig == 0
}

// MayAskAgain reports whether octets of the initiator may be a Request behind a reject, as far as that or what it answers was not captured:
// their sender did not have the Reply that accepts.
func (c *Conn) MayAskAgain(s *Loose) bool {
	_, reply := c.Pair()
	early := reply == nil || reply.R || s.Knew(reply.End) != Having
	return s.Dir == trace.I2R && early && (c.Directions[0].LostBetween() || c.Directions[1].LostBetween())
}

// MayHaveRetried reports whether a Request behind a reject, and the Reply that accepts it, may be among the octets that are
// missing, as far as they were not captured. Either side may have sent the Request.
func (c *Conn) MayHaveRetried() bool {
	var requests, rejects, accepts, room [2]int64
	for d := range c.Directions {
		room[d] = int64(c.Trace.Flow[d].Rare().GapOctets / mpa.StartupLen) //nolint:gosec // less than 2^63 octets
		for f := range c.Directions[d].Frames {
			switch {
			case f.Kind == trace.KindRequest:
				requests[d]++
			case f.Kind == trace.KindReply && f.R:
				rejects[d]++
			case f.Kind == trace.KindReply:
				accepts[d]++
			}
		}
		for i := range c.Directions[d].looses() { // it may be one that was taken for something else
			if kind, ok := mpa.KeyKind(c.Directions[d].looses()[i].Octets); ok && kind == mpa.StartupRequest {
				requests[d]++
			}
		}
	}
	for asks := range room {
		answers := 1 - asks
		lacks := [2]int64{max(rejects[1]-requests[0], 0), max(rejects[0]-requests[1], 0)}
		lacks[asks] = max(rejects[answers]+1-requests[asks], 0)
		if accepts[answers] == 0 {
			lacks[answers]++
		}
		if lacks[0]+lacks[1] > 0 && lacks[0] <= room[0] && lacks[1] <= room[1] {
			return true
		}
	}
	return false
}

// LostBetween reports whether octets are missing in front of a startup frame of a direction, enough for another one.
func (h *Direction) LostBetween() bool {
	for f := range h.Frames {
		if f.From >= mpa.StartupLen && f.gates&catalogue.Contig == 0 {
			return true
		}
	}
	return false
}

// SecondRequest returns the Request of the side that has to answer one.
func (c *Conn) SecondRequest() *Frame {
	if c.Directions[trace.I2R].FirstOf(trace.KindRequest) == nil || c.MayHaveRejected() {
		return nil
	}
	return c.Directions[trace.R2I].FirstOf(trace.KindRequest)
}

// StartupEnd is the end of octets that are laid out as a startup frame.
func (s *Loose) StartupEnd() int64 {
	if f, _, err := mpa.DecodeStartup(s.Octets); err == nil || len(s.Octets) >= mpa.StartupLen {
		if n := int64(mpa.StartupLen + int(f.PDLength)); f.PDLength <= mpa.MaxPrivateData && n <= s.Length {
			return s.From + n
		}
	}
	return s.End
}

// CRCBehind returns the octets after a startup frame if they are its CRC, and FPDUs follow
// them.
func (c *Conn) CRCBehind(f *Frame) *Loose {
	if s := c.Directions[f.Dir].LooseAt(f.End); s != nil && c.framed(f, s) {
		return s
	}
	return nil
}

// framed reports whether octets are the CRC of the startup frame before them, and
// FPDUs follow them.
func (c *Conn) framed(f *Frame, s *Loose) bool {
	o := &c.Directions[s.Dir].Opening
	if f.Partial || !s.beginWithCRC(f) {
		return false
	}
	behind := s.Octets[CrcSize:]
	return s.Length == CrcSize && o.Seen() && o.First.From == s.End || beginsFPDU(behind) || o.follows(behind, s.From+CrcSize)
}

// beginWithCRC reports whether octets begin with the CRC of a startup frame.
func (s *Loose) beginWithCRC(f *Frame) bool {
	return len(s.Octets) >= CrcSize && binary.BigEndian.Uint32(s.Octets) == CRCOf(f.Raw)
}

// IsCRC reports whether the octets after a startup frame begin with its CRC
// (MPA-PHASE-PLAIN-01).
func (c *Conn) IsCRC(f *Frame) bool {
	s := c.Directions[f.Dir].LooseAt(f.End)
	return s != nil && s.beginWithCRC(f)
}

// marked reports whether octets are a marker in front of a startup frame.
func (h *Direction) marked(s *Loose) bool {
	return s.Length == mpa.MarkerSize && ZeroMarker(s.Octets) && h.HasFrames() && h.frames.From == s.End
}

// LeadingMarker returns a marker at the beginning of the stream, in front of the
// startup frame.
func (h *Direction) LeadingMarker() *Loose {
	if s := h.LooseAt(0); s != nil && h.marked(s) {
		return s
	}
	return nil
}

// Unfinished is a startup frame of which the end never came.
type Unfinished struct {
	Place
	Since      int64 // the time of its last octets
	Have, Need int64 // octets that came, and octets that it announces
}

// Unfinished returns the startup frame of a direction whose end never came, nil if there is
// none.
func (h *Direction) Unfinished() *Unfinished {
	if f := h.lastFrame(); f != nil {
		have, need := int64(len(f.Raw)), mpa.StartupLen+int64(f.PDLength)
		if !f.Partial || have >= need {
			return nil
		}
		return &Unfinished{f.Where(), f.Time, have, need}
	}
	for i := range h.looses() {
		if s := &h.looses()[i]; Keyed(s.Octets) && s.Length < mpa.StartupLen && !s.Placed {
			return &Unfinished{s.Begin(), s.Time, s.Length, mpa.StartupLen}
		}
	}
	return nil
}

// Summary says how many octets there are, and how they begin.
func (s *Loose) Summary() string {
	return fmt.Sprintf("%d octets, %s", s.Length, Quoted(s.Octets))
}

// commands are what a build service takes for the beginning of a command in a log.
var commands = strings.NewReplacer("##", `#\x23`, "::", `:\x3a`)

// Quoted shows the octets that stand in the place of a key as text. Nothing in them is obeyed by
// what shows it.
func Quoted(b []byte) string {
	return commands.Replace(strconv.Quote(string(b[:min(len(b), mpa.KeyLen)])))
}
