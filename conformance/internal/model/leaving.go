package model

import (
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/trace"
)

// StartupFrameOf is the startup frame of a side, nil if none was seen.
func (c *Conn) StartupFrameOf(d trace.Dir) *Frame {
	if d == trace.I2R {
		return c.Request
	}
	return c.Reply
}

// SilentAfterStartup reports whether a side provably sent nothing after its startup frame; if it sent no
// startup frame, nothing since it had that of the other side.
func (c *Conn) SilentAfterStartup(d trace.Dir) bool {
	h, f, own := &c.Directions[d], &c.Trace.Flow[d], c.StartupFrameOf(d)
	if h.Count > 0 || h.Gap || f.Waiting || f.Rare().Unframed > 0 || own == nil && !c.Starts(h) || own != nil && c.Swallows(own) > 0 {
		return false
	}
	end := f.Sent
	if own != nil {
		end = own.End
	} else if peer := c.StartupFrameOf(Other(d)); peer != nil {
		for i := range h.looses() {
			if h.looses()[i].Knew(peer.End) != Without {
				return false
			}
		}
	}
	by := func(k *trace.Closing) bool { return k == nil || k.At <= end }
	return (own == nil || !own.Partial) && f.Sent <= end && by(f.FIN) && by(f.RST)
}

// Leaves returns how a side closed first, after it had the startup frame of the other side
// and without sending anything after its own.
func (c *Conn) Leaves(d trace.Dir) (k Closing, ok bool) {
	k, ok = c.Closed()
	peer := c.StartupFrameOf(Other(d))
	if !ok || k.Dir != d || k.Crossed || peer == nil || peer.Partial || !c.SilentAfterStartup(d) {
		return k, false
	}
	return k, c.had(&k) >= peer.End
}

// had is the offset up to which the closing side provably had the octets of the other one.
// A RST ends the connection at once, so everything it ever acknowledged counts.
func (c *Conn) had(k *Closing) int64 {
	if k.Reset {
		return max(k.Acked, c.Trace.Flow[Other(k.Dir)].Acked)
	}
	return k.Acked
}

// Dropped says how the responder closed first without a Reply, "" if it did not.
func (c *Conn) Dropped() string {
	if k, ok := c.Leaves(trace.R2I); ok && c.Reply == nil {
		return fmt.Sprintf("the responder %s in frame %d without a Reply", k.Verb(), k.Frame)
	}
	return ""
}

// GivenUp says how the initiator closed first after an accepting Reply without an FPDU, ""
// if it did not.
func (c *Conn) GivenUp() string {
	if k, ok := c.Leaves(trace.I2R); ok && c.Accepted() {
		return fmt.Sprintf("the initiator %s in frame %d without an FPDU", k.Verb(), k.Frame)
	}
	return ""
}

// Aborted is GivenUp with a RST, which shows that something failed. A FIN does not: the upper layer may close in order, right after the
// accept too (RFC 5044 section 7.1.2 item 6).
func (c *Conn) Aborted() string {
	if k, ok := c.Closed(); !ok || !k.Reset {
		return ""
	}
	return c.GivenUp()
}

// BacksOut is GivenUp, and also covers a Terminate as the first FPDU.
func (c *Conn) BacksOut() string {
	if s := c.Directions[trace.I2R].terminatesFirst(); s != "" {
		return "the initiator " + s
	}
	return c.GivenUp()
}

// Refused says how the responder answered the first FPDU of the initiator with a
// Terminate, or closed first without an FPDU of its own; "" if it did neither. within
// bounds the time until that close, in nanoseconds; 0 is no bound.
func (c *Conn) Refused(within int64) string {
	first := c.Directions[trace.I2R].FirstSpan()
	if !c.Directions[trace.I2R].First.Seen {
		return ""
	}
	h := &c.Directions[trace.R2I]
	if answer := h.FirstSpan(); answer.Knew(first.End) == Having && h.terminatesFirst() != "" {
		s := h.terminatesFirst()
		return "the responder " + s
	}
	k, ok := c.Leaves(trace.R2I)
	if !ok || c.had(&k) < first.End || within > 0 && !soon(first.Time, k.Time, within) {
		return ""
	}
	return fmt.Sprintf("the responder %s in frame %d without an FPDU", k.Verb(), k.Frame)
}

// soon reports whether one packet came within a time of another, as far as both have times.
func soon(from, to, within int64) bool { return from != 0 && to != 0 && to-from <= within }

// terminatesFirst describes a Terminate that is the first FPDU.
func (h *Direction) terminatesFirst() string {
	if !h.First.Segment || h.First.Op != OpTerminate {
		return ""
	}
	return fmt.Sprintf("sends Terminate %s in frame %d", CodeText(h.First.Code), h.AtFirst().Frame)
}

// Verb is "resets" or "closes".
func (k *Closing) Verb() string {
	if k.Reset {
		return "resets"
	}
	return "closes"
}

// String says how the connection was closed.
func (k Closing) String() string {
	if k.Reset {
		return "RST"
	}
	return "FIN"
}

// Where is the place of a close.
func (k *Closing) Where() Place { return Place{Dir: k.Dir, HasDir: true, Frame: k.Frame} }

// PlaceIn is the place of something other than a PDU, in a frame of the direction.
func (h *Direction) PlaceIn(frame uint64) Place { return Place{Dir: h.Dir, HasDir: true, Frame: frame} }

// Complete reports whether nothing that a direction has sent can be missing, up to its
// close: there may have been a Terminate.
func (c *Conn) Complete(h *Direction) bool {
	fl := &c.Trace.Flow[h.Dir]
	end := fl.Sent
	if fl.FIN != nil {
		if fl.FIN.At > end {
			return false
		}
		end++
	}
	apart := slices.ContainsFunc(h.looses(), func(s Loose) bool { return s.From >= h.Started() && (h.HasFrames() || !c.Trace.SYN) })
	return !h.Gap && !h.Unsure && !apart && !fl.Waiting && !Hides(fl) && (fl.RST == nil || fl.RST.At <= end)
}

// NoTerminate reports whether a direction certainly sent no Terminate besides those that were seen: all that its
// peer acknowledged was captured, and nothing is missing of that. A Terminate is the last that a side sends, so one
// FPDU shows that there was none before the capture.
func (c *Conn) NoTerminate(h *Direction) bool {
	f := &c.Trace.Flow[h.Dir]
	return (h.Began || c.Starts(h) || h.Count > 0) && c.Complete(h) && f.Acked <= f.SeqEnd()
}

// Tolerates reports whether a side neither sent a Terminate nor was the first to
// close.
func (c *Conn) Tolerates(h *Direction) bool {
	k, ok := c.Closed()
	return h.Terminates == 0 && !(ok && k.Dir == h.Dir)
}
