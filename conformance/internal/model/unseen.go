package model

import (
	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/trace"
)

// Looks says what a rule depends on, to determine what it may have missed.
type Looks uint8

// What a rule may depend on; AllLooks is the number of them.
const (
	looksAtStream   Looks = 1 << iota // see onStream
	looksAtFirst                      // at the first FPDU of the initiator
	looksAnywhere                     // at other sessions of the association, too
	looksAtParts                      // see onParts
	looksAtMessages                   // at whole ones
	looksAtReaction                   // at what the other side does about it
	looksAtEnd                        // at the final state of the connection
	AllLooks        = iota
)

// Unseen returns the evidence that a rule would need: what it judges may be in the part
// that was not captured. What follows the end of the capture is not considered.
func (c *Conn) Unseen(l Looks) catalogue.Gate {
	if l&looksAtStream == 0 && c.Request != nil && c.Reply != nil {
		if l&looksAtFirst != 0 {
			return c.unseenFirst()
		}
		return 0 // it judges the startup, or has reported at the end what it lacks
	}
	for i := range c.Directions {
		h, f := &c.Directions[i], &c.Trace.Flow[i]
		switch {
		case !h.Began && !c.Trace.SYN, c.Trace.Transport == trace.TCP && !h.Began && !c.Starts(h):
			return catalogue.Start
		case f.Frames == 0:
			return catalogue.Bidir
		case h.Hole || f.Waiting:
			return catalogue.Contig
		case l&looksAnywhere != 0 && c.Trace.Transport == trace.SCTP && c.Trace.Side[i].SCTP.GapTSNs > 0:
			return catalogue.Contig
		case c.Trace.Transport == trace.TCP && (f.Unframed > 0 || f.Cut && h.NextOffset < f.Sent):
			return catalogue.Sync
		case h.headless, h.part && l&looksAtParts != 0:
			return catalogue.Full
		case l&looksAtMessages != 0 && h.CutShort != nil && c.Trace.Ending == trace.Open:
			return catalogue.MsgSync
		case l&looksAtReaction != 0 && c.Trace.Ending == trace.Open:
			return catalogue.End
		case l&looksAtEnd != 0 && f.FIN == nil && f.Acked > f.Sent:
			return catalogue.End // a FIN that was acknowledged
		}
	}
	return 0
}

// unseenFirst returns the evidence that is missing to say that the initiator sent no FPDU.
func (c *Conn) unseenFirst() catalogue.Gate {
	h, f := &c.Directions[trace.I2R], &c.Trace.Flow[trace.I2R]
	switch {
	case h.Count > 0:
		return 0
	case h.Hole || f.Waiting:
		return catalogue.Contig
	case f.Unframed > 0 || f.Cut:
		return catalogue.Sync
	case c.Trace.Ending == trace.Open:
		return catalogue.End
	}
	return 0
}
