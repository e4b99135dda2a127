package conformance

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// said is the startup frame of a side, nil if none was seen.
func (c *conn) said(d trace.Dir) *frame {
	if d == trace.I2R {
		return c.request
	}
	return c.reply
}

// mute reports whether a side provably sent nothing behind its startup frame; of
// one that sent none, nothing since it had that of the other side.
func (c *conn) mute(d trace.Dir) bool {
	h, f, own := &c.half[d], &c.t.Flow[d], c.said(d)
	if h.count > 0 || h.gap || f.Waiting || f.Unframed > 0 || own == nil && !c.starts(h) {
		return false
	}
	end := f.Sent
	if own != nil {
		end = own.end
	} else if peer := c.said(other(d)); peer != nil {
		for i := range h.looses {
			if h.looses[i].knew(peer.end) != without {
				return false
			}
		}
	}
	by := func(k *trace.Closing) bool { return k == nil || k.At <= end }
	return (own == nil || !own.partial) && f.Sent <= end && by(f.FIN) && by(f.RST)
}

// leaves tells how a side closed first once it had the startup frame of the
// other side, without a word behind its own.
func (c *conn) leaves(d trace.Dir) (k closing, ok bool) {
	k, ok = c.closed()
	peer := c.said(other(d))
	if !ok || k.dir != d || k.crossed || peer == nil || peer.partial || !c.mute(d) {
		return k, false
	}
	return k, c.had(&k) >= peer.end
}

// had is up to where the side that closes provably had the octets of the other
// one. A RST is its last word: all that it ever acknowledged counts.
func (c *conn) had(k *closing) int64 {
	if k.reset {
		return max(k.Acked, c.t.Flow[other(k.dir)].Acked)
	}
	return k.Acked
}

// How a side leaves, for advice; "" if it does not.

// dropped: the responder closes first, and there is no Reply.
func (c *conn) dropped() string {
	if k, ok := c.leaves(trace.R2I); ok && c.reply == nil {
		return fmt.Sprintf("the responder %s in frame %d without a Reply", k.verb(), k.Frame)
	}
	return ""
}

// givenUp: the initiator closes first after an accepting Reply, without an FPDU.
func (c *conn) givenUp() string {
	if k, ok := c.leaves(trace.I2R); ok && c.accepted() {
		return fmt.Sprintf("the initiator %s in frame %d without an FPDU", k.verb(), k.Frame)
	}
	return ""
}

// backsOut: as givenUp, or with a Terminate for its first FPDU.
func (c *conn) backsOut() string {
	if s := c.half[trace.I2R].terminatesFirst(); s != "" {
		return "the initiator " + s
	}
	return c.givenUp()
}

// refused: the responder answers the first FPDU of the initiator with a
// Terminate, or closes first without an FPDU of its own. within bounds the time
// that a close may take; 0: any.
func (c *conn) refused(within int64) string {
	first := &c.half[trace.I2R].first
	if !first.seen {
		return ""
	}
	h := &c.half[trace.R2I]
	if s := h.terminatesFirst(); s != "" && h.first.knew(first.end) == having {
		return "the responder " + s
	}
	k, ok := c.leaves(trace.R2I)
	if !ok || c.had(&k) < first.end || within > 0 && k.Time-first.time > within {
		return ""
	}
	return fmt.Sprintf("the responder %s in frame %d without an FPDU", k.verb(), k.Frame)
}

// terminatesFirst tells of a Terminate that is the first FPDU.
func (h *half) terminatesFirst() string {
	if !h.first.segment || h.first.op != opTerminate {
		return ""
	}
	return fmt.Sprintf("sends Terminate %s in frame %d", codeText(h.first.code), h.first.frame)
}

func (k *closing) verb() string {
	if k.reset {
		return "resets"
	}
	return "closes"
}

// String says how the connection was closed.
func (k closing) String() string {
	if k.reset {
		return "RST"
	}
	return "FIN"
}

// where is the place of a close.
func (k *closing) where() Place { return Place{Dir: k.dir, HasDir: true, Frame: k.Frame} }

// placeIn is the place of something in a frame of the direction that is no PDU.
func (h *half) placeIn(frame uint64) Place { return Place{Dir: h.dir, HasDir: true, Frame: frame} }

// complete reports whether nothing that a half has sent can be missing, up to its
// close: there may have been a Terminate.
func (c *conn) complete(h *half) bool {
	fl := &c.t.Flow[h.dir]
	end := fl.Sent
	if fl.FIN != nil {
		if fl.FIN.At > end {
			return false
		}
		end++
	}
	apart := slices.ContainsFunc(h.looses, func(s loose) bool { return s.from >= h.started() && (len(h.frames) > 0 || !c.t.SYN) })
	return !h.gap && !h.unsure && !apart && !fl.Waiting && !hides(fl) && (fl.RST == nil || fl.RST.At <= end)
}

// tolerates reports whether a side neither sent a Terminate nor was the first to
// close.
func (c *conn) tolerates(h *half) bool {
	k, ok := c.closed()
	return h.terminates == 0 && !(ok && k.dir == h.dir)
}
