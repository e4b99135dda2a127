package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/trace"
)

// Looks is what a rule looks at, as far as that tells what it may not have seen.
type Looks uint8

// What a rule may depend on; AllLooks is the number of them.
const (
	looksAtStream   Looks = 1 << iota // see onStream
	looksAtFirst                      // at the first FPDU of the initiator
	looksAnywhere                     // at other sessions of the association, too
	looksAtParts                      // see onParts
	looksAtMessages                   // at whole ones
	looksAtReaction                   // at what the other side does about it
	looksAtEnd                        // at what the connection had come to in the end
	looksAtRequest                    // at the MPA Request only
	// AllLooks is how many there are.
	AllLooks = iota
)

// Unseen returns the evidence that a rule would need: what it judges may be in the part
// that was not captured. What follows the end of the capture is not considered.
func (c *Conn) Unseen(l Looks) catalogue.Gate {
	if l&looksAtRequest != 0 && c.Request != nil {
		return 0
	}
	if l&looksAtStream == 0 && c.Request != nil && c.Reply != nil {
		if l&looksAtFirst != 0 {
			return c.unseenFirst()
		}
		return 0 // it judges the startup, or has reported at the end what it lacks
	}
	if c.Trace.EndedEarly {
		return catalogue.End
	}
	for i := range c.Directions {
		if g := c.unseenFrom(&c.Directions[i], l); g != 0 {
			return g
		}
		if g := c.unseenBehind(&c.Directions[i], l); g != 0 {
			return g
		}
	}
	return 0
}

// unseenFrom returns what it lacks to have seen all octets of a direction.
func (c *Conn) unseenFrom(h *Direction, l Looks) catalogue.Gate {
	f, onTCP := &c.Trace.Flow[h.Dir], c.Trace.Transport == trace.TCP
	switch known := c.Trace.SYN || c.Trace.Unasked; {
	case f.Frames == 0 && !c.Trace.Unasked && !(c.Trace.Unanswered && h.Dir == trace.R2I): // else it is known to have sent nothing
		return catalogue.Bidir
	case !h.Began && !known, onTCP && !h.Began && !c.Starts(h):
		return catalogue.Start
	case h.Hole || f.Waiting:
		return catalogue.Contig
	case l&looksAnywhere != 0 && !onTCP && c.Trace.Side[h.Dir].SCTP.GapTSNs > 0:
		return catalogue.Contig
	case onTCP && (f.Rare().Unframed > 0 || f.Cut && h.NextOffset < f.Sent):
		return catalogue.Sync
	}
	return 0
}

// unseenBehind returns what it lacks where the octets of a direction were seen: their
// headers, the rest of a message, or how the connection ended.
func (c *Conn) unseenBehind(h *Direction, l Looks) catalogue.Gate {
	f, open := &c.Trace.Flow[h.Dir], c.Trace.Ending == trace.Open
	switch {
	case h.headless, h.part && l&looksAtParts != 0:
		return catalogue.Full
	case l&looksAtMessages != 0 && h.CutShort() != nil && open:
		return catalogue.MsgSync
	case l&looksAtReaction != 0 && open:
		return catalogue.End
	case l&looksAtEnd != 0 && f.FIN == nil && f.Acked > f.Sent:
		return catalogue.End // a FIN that was acknowledged
	}
	return 0
}

// unseenFirst returns what it lacks to say that the initiator sent no FPDU.
func (c *Conn) unseenFirst() catalogue.Gate {
	h, f := &c.Directions[trace.I2R], &c.Trace.Flow[trace.I2R]
	switch {
	case h.Count > 0:
		return 0
	case h.Hole || f.Waiting:
		return catalogue.Contig
	case f.Rare().Unframed > 0 || f.Cut:
		return catalogue.Sync
	case c.Trace.Ending == trace.Open:
		return catalogue.End
	}
	return 0
}

// Contiguous reports whether no octets or chunks of a direction are missing so far. Not all of them need to be readable.
func (c *Conn) Contiguous(h *Direction) bool {
	return !h.Hole && !h.NeverSent && !c.Trace.Flow[h.Dir].Waiting
}

// Reason returns the evidence that is missing indeed where a rule lacks some: if all octets were captured, up to the end, it is
// what the FPDUs with a wrong CRC say that is not known.
func (c *Conn) Reason(lack catalogue.Gate) catalogue.Gate {
	if lack != catalogue.Contig && (lack != catalogue.End || c.Trace.Ending == trace.Open) {
		return lack
	}
	unread := false
	for i := range c.Directions {
		h := &c.Directions[i]
		if !c.Contiguous(h) || c.Trace.Flow[i].Cut {
			return lack
		}
		unread = unread || h.Gap
	}
	if unread {
		return catalogue.MsgSync
	}
	return lack
}
