package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// sequel is what a side went on with after a startup frame of the other one.
type sequel struct {
	// what it sent first that goes on, and where; "" if it sent nothing that does.
	what string
	at   Place
	// order tells whether it had all of the frame by then.
	order order
}

// sequel returns what the other side went on with when it had all of a bad startup
// frame of a direction, up to end: an accepting Reply, or FPDUs. A Terminate that
// says so is judged by a rule of its own.
func (c *conn) sequel(dir trace.Dir, end int64) (x sequel) {
	h := c.half[dir].peer
	add := func(what string, how order, at Placed) {
		if x.what == "" || how == having || how == unproven && x.order == without {
			x = sequel{what, at.where(), how}
		}
	}
	if r := c.reply; r != nil && r.dir == h.dir && !r.R && dir == trace.I2R {
		add("an accepting Reply", r.knew(end), r)
	}
	if n := h.opening.most(); x.order != having && n.seen && !n.refuses() {
		add("an FPDU", n.knew(end), n)
	}
	return x
}

// refuses reports whether an FPDU is a Terminate that speaks of the startup (RFC
// 5044 section 8, code 4).
func (n *fpduNote) refuses() bool {
	const invalidStartup = 4
	return n.op == opTerminate && n.code.Layer == rdmap.LayerLLP && n.code.EType == rdmap.ETypeMPA && n.code.Code == invalidStartup
}

// misfit reports whether the private data of a frame is not as long as it says, or
// longer than it may be, and up to where the other side must have the stream to
// know.
func (c *conn) misfit(f *frame) (end int64, ok bool) {
	if f == nil {
		return 0, false
	}
	if f.PDLength > mpa.MaxPrivateData {
		return f.end, true
	}
	if s, how := c.surplus(f); s != nil && how == without {
		return f.end + 1, true
	}
	return 0, false
}

// noRoom reports whether a frame announces the establishment word and has no room
// for it.
func noRoom(f *frame) bool { return f.S && f.Rev >= 2 && f.PDLength < mpa.EnhancedLen }

// sound reports whether a startup frame is as it should be, besides some reserved
// bits and R.
func sound(f *frame, res uint8) bool {
	return !f.partial && f.Res == res && (f.Rev == 1 || f.Rev == 2) && (!f.S || f.Rev == 2) && !noRoom(f) && f.PDLength <= mpa.MaxPrivateData
}

// bad reports whether the startup frame of a half, or what stands for it, is none
// that may be answered.
func (c *conn) bad(h *half) bool {
	if s := h.looseAt(0); s != nil && mpa.NearKey(s.octets) {
		return true
	}
	q, r := c.pair()
	for _, f := range [...]*frame{q, r} {
		if f == nil || f.dir != h.dir {
			continue
		}
		if _, misfit := c.misfit(f); misfit || noRoom(f) || f.Rev >= 3 {
			return true
		}
	}
	return c.secondRequest() != nil
}

// secondReply is the Reply of the responder, if the initiator has sent one as well.
func (c *conn) secondReply() *frame {
	if first, second := c.half[0].ofKind(trace.KindReply), c.half[1].ofKind(trace.KindReply); len(first) > 0 && len(second) > 0 {
		return second[0]
	}
	return nil
}

// enhanced reports whether both sides of a connection that is over sent the word.
func (p *endedConnection) enhanced() bool {
	return p.request != nil && p.reply != nil && p.request.hasWord && p.reply.hasWord
}
