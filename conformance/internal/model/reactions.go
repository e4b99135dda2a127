package model

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// Sequel is what a side went on with after a startup frame of the other one.
type Sequel struct {
	// What is the first thing that the side sent to continue, with its place; "" if it did
	// not continue.
	What string
	At   Place
	// Order says whether it had all of the frame by then.
	Order Order
}

// Sequel returns how the other side continued after it had all of a bad startup frame of a
// direction, up to end: an accepting Reply, or FPDUs. Another rule judges a Terminate that
// reports the frame.
func (c *Conn) Sequel(dir trace.Dir, end int64) (x Sequel) {
	h := c.Directions[dir].Peer
	add := func(what string, how Order, at Placed) {
		if x.What == "" || how == Having || how == Unproven && x.Order == Without {
			x = Sequel{what, at.Where(), how}
		}
	}
	if r := c.Reply; r != nil && r.Dir == h.Dir && !r.R && dir == trace.I2R {
		add("an accepting Reply", r.Knew(end), r)
	}
	if n := h.Opening.knew(end); x.Order != Having && h.Opening.Seen() && !n.refuses {
		add("an FPDU", n.Knew(end), n.in(h.Dir))
	}
	return x
}

// Refuses reports whether an FPDU is a Terminate that speaks of the startup (RFC
// 5044 section 8, code 4).
func (n *FPDUNote) Refuses() bool { return refuses(n.Op, n.code) }

func refuses(op rdmap.Opcode, code rdmap.TermCode) bool {
	const invalidStartup = 4
	return op == OpTerminate && code.Layer == rdmap.LayerLLP && code.EType == rdmap.ETypeMPA && code.Code == invalidStartup
}

// WrongLength reports whether the length of the private data does not match PD_Length or
// exceeds the maximum, and up to which offset the other side must have the stream to
// notice.
func (c *Conn) WrongLength(f *Frame) (end int64, ok bool) {
	if f == nil {
		return 0, false
	}
	if f.PDLength > mpa.MaxPrivateData {
		return f.End, true
	}
	if s, how := c.Surplus(f); s != nil && how == Without {
		return f.End + 1, true
	}
	return 0, false
}

// NoRoom reports whether a frame announces the establishment word but has no room for it.
func NoRoom(f *Frame) bool { return f.S && f.Rev >= 2 && f.PDLength < mpa.EnhancedLen }

// Sound reports whether a startup frame is valid, apart from certain reserved bits and R.
func Sound(f *Frame, res uint8) bool {
	return !f.Partial && f.Res == res && (f.Rev == 1 || f.Rev == 2) && (!f.S || f.Rev == 2) && !NoRoom(f) && f.PDLength <= mpa.MaxPrivateData
}

// Bad reports whether the startup frame of a direction, or what is sent in its place, must
// not be answered.
func (c *Conn) Bad(h *Direction) bool {
	if s := h.LooseAt(0); s != nil && mpa.NearKey(s.Octets) {
		return true
	}
	q, r := c.Pair()
	for _, f := range [...]*Frame{q, r} {
		if f == nil || f.Dir != h.Dir {
			continue
		}
		if _, misfit := c.WrongLength(f); misfit || NoRoom(f) || f.Rev >= 3 {
			return true
		}
	}
	return c.SecondRequest() != nil
}

// SecondReply is the Reply of the responder, if the initiator has sent one as well.
func (c *Conn) SecondReply() *Frame {
	if first, second := c.Directions[0].OfKind(trace.KindReply), c.Directions[1].OfKind(trace.KindReply); len(first) > 0 && len(second) > 0 {
		return second[0]
	}
	return nil
}

// Enhanced reports whether both sides of an ended connection sent the establishment word.
func (p *EndedConnection) Enhanced() bool {
	return p.Request != nil && p.Reply != nil && p.Request.HasWord && p.Reply.HasWord
}
