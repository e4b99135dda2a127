package conformance

import "github.com/iwdissect/iwdissect/trace"

// looks is what a rule looks at, as far as that tells what it may not have seen.
type looks uint8

const (
	looksAtStream   looks = 1 << iota // see onStream
	looksAtFirst                      // at the first FPDU of the initiator
	looksAnywhere                     // at other sessions of the association, too
	looksAtParts                      // see onParts
	looksAtMessages                   // at whole ones
	looksAtReaction                   // at what the other side does about it
	looksAtEnd                        // at what the connection had come to in the end
	allLooks        = iota
)

// unseen returns what a rule would need for that: something that it speaks of may be
// in what was not captured. What comes behind the end of a capture is not meant.
func (c *conn) unseen(l looks) Gate {
	if l&looksAtStream == 0 && c.request != nil && c.reply != nil {
		if l&looksAtFirst != 0 {
			return c.unseenFirst()
		}
		return 0 // it speaks of the startup, or has told what it lacks at the end
	}
	for i := range c.half {
		h, f := &c.half[i], &c.t.Flow[i]
		switch {
		case !h.began && !c.t.SYN, c.t.Transport == trace.TCP && !h.began && !c.starts(h):
			return Start
		case f.Frames == 0:
			return Bidir
		case h.hole || f.Waiting:
			return Contig
		case l&looksAnywhere != 0 && c.t.Transport == trace.SCTP && c.t.Side[i].SCTP.GapTSNs > 0:
			return Contig
		case c.t.Transport == trace.TCP && (f.Unframed > 0 || f.Cut && h.to < f.Sent):
			return Sync
		case h.headless, h.part && l&looksAtParts != 0:
			return Full
		case l&looksAtMessages != 0 && h.cutShort != nil && c.t.Ending == trace.Open:
			return MsgSync
		case l&looksAtReaction != 0 && c.t.Ending == trace.Open:
			return End
		case l&looksAtEnd != 0 && f.FIN == nil && f.Acked > f.Sent:
			return End // a FIN that was acknowledged
		}
	}
	return 0
}

// unseenFirst returns what it lacks to say that the initiator sent no FPDU.
func (c *conn) unseenFirst() Gate {
	h, f := &c.half[trace.I2R], &c.t.Flow[trace.I2R]
	switch {
	case h.count > 0:
		return 0
	case h.hole || f.Waiting:
		return Contig
	case f.Unframed > 0 || f.Cut:
		return Sync
	case c.t.Ending == trace.Open:
		return End
	}
	return 0
}
