package diagnose

import (
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// session tells of what is wrong with a DDP stream session over SCTP (RFC 5043).
func (p *problems) session(c *trace.Connection) {
	switch {
	case c.Outcome == trace.Refused:
		p.add("the responder answered the Initiate with a Terminate: refused without the upper layer")
	case c.Outcome == trace.Incomplete && !c.SYN:
		p.add("an answer without a captured Initiate")
	case c.Outcome == trace.Incomplete:
		p.add("no captured answer to the Initiate")
	}
	if n := c.Flow[0].Rare().Chunks + c.Flow[1].Rare().Chunks; n > 0 && (c.Outcome == trace.Rejected || c.Outcome == trace.Refused) {
		p.add(Counted(n, "DDP segment", "DDP segments") + " although the session was not accepted")
	}
	switch c.Ending {
	case trace.Superseded:
		if c.Outcome == trace.Accepted && c.Flow[0].Rare().Gaps+c.Flow[1].Rare().Gaps+c.Side[0].SCTP.GapTSNs+c.Side[1].SCTP.GapTSNs == 0 {
			p.addf("no Terminate before another session began on the stream in frame %d", c.EndFrame)
		}
	case trace.Abort:
		p.addf("association aborted by the %s in frame %d%s", c.EndedBy.Sender(), c.EndFrame, causeNames(c.Side[c.EndedBy].SCTP))
	default:
	}
}

// association tells of what is wrong with the association that carries the session.
func (p *problems) association(c *trace.Connection) {
	for d := range c.Side {
		who, s := trace.Dir(d).Sender(), c.Side[d].SCTP
		if s.HasInit && !s.InitCut && (!s.HasAdaptation || s.Adaptation != sctpddp.Adaptation) {
			p.addf("the %s did not indicate DDP when the association began", who)
		}
		if s.Damaged > 0 {
			p.addf("association: %s of the %s with a wrong checksum, left out, the first in frame %d",
				Counted(s.Damaged, "packet", "packets"), who, s.FirstDamaged)
		}
		if s.Wrong > 0 {
			p.addf("association: all checksums of the %s are wrong: not filled in before the capture, or not CRC32c", who)
		}
		if s.Errors.Count > 0 {
			p.addf("association: %s of the %s, the first in frame %d: %s (%d)", Counted(s.Errors.Count, "ERROR", "ERRORs"), who, s.Errors.Frame,
				trace.SCTPCause(s.Errors.Value), s.Errors.Value) //nolint:gosec // 16 bits
		}
		if s.WrongTags.Count > 0 {
			p.addf("association: %s in the name of the %s with a wrong verification tag, left out, the first in frame %d",
				Counted(s.WrongTags.Count, "packet", "packets"), who, s.WrongTags.Frame)
		}
		if s.Unread > 0 {
			p.addf("association: %s of the %s with a chunk that cannot be read, the first in frame %d",
				Counted(s.Unread, "packet", "packets"), who, s.FirstUnread)
		}
	}
}
