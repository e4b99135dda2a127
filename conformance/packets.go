package conformance

import (
	"fmt"

	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/trace"
)

// side is one side of an SCTP association at hand.
type side struct {
	*trace.SCTPSide
	peer *trace.SCTPSide
	dir  trace.Dir
}

// onSides asks about each side of an association, once all of it is known. What is
// found stands with the session of it that was seen first.
func onSides(judge func(*conn, *side)) func(*book, *past) {
	return func(_ *book, p *past) {
		if !p.t.Lead {
			return
		}
		for d := range p.t.Side {
			if s := p.t.Side[d].SCTP; s.HasTag || s.HasInit || s.Chunks > 0 {
				judge(p.c, &side{s, p.t.Side[1-d].SCTP, trace.Dir(d)})
			}
		}
	}
}

// association fires on a side of an association.
func (c *conn) association(s *side, frame uint64, message, observed, expected string) {
	c.fire(Finding{
		Dir: s.dir, HasDir: true, Frame: frame, Message: message + " (of the whole association)", Observed: observed, Expected: expected,
	})
}

// odd reports what to say of something that is wrong with packets of a side, if the
// rule at hand was broken by it.
func (c *conn) odd(s *side, what trace.Oddity) (t trace.Tally, broken bool) {
	if t = s.Odd[what]; t.Count > 0 && t.Doubtful && s.Good > 0 {
		c.lacks(Sum)
		return t, false
	}
	return t, c.applies() && t.Count > 0
}

// times says how often something was seen.
func times(n uint64) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", %d times", n)
}

// checksums judges the checksums of a side. Those that are all wrong show packets
// as they were before the adapter filled the checksum in; so do those that are
// zero, unless packets beside them that it could have filled in are right.
func checksums(c *conn, s *side) {
	bad, first := s.Damaged, s.FirstDamaged
	switch {
	case s.Good > 0, s.Wrong == s.Reversed:
		bad += s.Wrong
		if s.Wrong > 0 && (first == 0 || s.FirstWrong < first) {
			first = s.FirstWrong
		}
	case s.Wrong > 0:
		c.lacks(Sum)
	}
	if s.Zero > 0 && !s.peer.TakesZero {
		switch {
		case s.GoodWhole == 0:
			c.lacks(Sum)
		case !s.peer.HasInit || s.peer.InitCut:
			c.lacks(Start)
		default:
			bad += s.Zero
			if first == 0 || s.FirstZero < first {
				first = s.FirstZero
			}
		}
	}
	switch {
	case bad > 0:
		c.have |= Full | Sum | Start
		c.applies()
		c.association(s, first, "the checksum of an SCTP packet is wrong", fmt.Sprintf("%d of %d packets", bad, bad+s.Good), "CRC32c in all of them")
	case s.Uncertain > 0:
		c.lacks(Full)
	case s.Good > 0:
		c.applies()
	}
}

// packetChecks are about SCTP packets and chunks as such (RFC 9260), and about what
// an association for DDP is (RFC 5043 sections 5.1 and 7.1).
var packetChecks = []check{
	{id: "SCTP-CRC-01", needs: Full, transport: onSCTP, anywhere: true, capture: onSides(checksums)},
	{id: "SCTP-DATA-LEN-01", needs: Sum, transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if t, broken := c.odd(s, trace.OddNoData); broken {
			c.association(s, t.Frame, "a chunk of user data without any", fmt.Sprintf("Length %d%s", t.Value, times(t.Count)), "at least one octet")
		}
	})},
	{id: "SCTP-DATA-PAD-01", needs: Full | Sum, transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if s.Uncertain > 0 && s.Odd[trace.OddPad].Count+s.Odd[trace.OddNoPad].Count == 0 {
			c.lacks(Full)
			return
		}
		if t, broken := c.odd(s, trace.OddPad); broken {
			c.association(s, t.Frame, "the pad of a chunk is not zero", fmt.Sprintf("chunk type %d%s", t.Value, times(t.Count)), "zero")
		}
		if t, broken := c.odd(s, trace.OddNoPad); broken {
			c.association(s, t.Frame, "the last chunk of a packet has no pad", fmt.Sprintf("chunk type %d%s", t.Value, times(t.Count)), "a multiple of four octets")
		}
	})},
	{id: "SCTP-DATA-RES-01", needs: Sum, transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if t, broken := c.odd(s, trace.OddFlags); broken {
			c.association(s, t.Frame, "reserved flags of a chunk of user data are set", fmt.Sprintf("flags %#02x%s", t.Value, times(t.Count)), "the upper four bits zero")
		}
	})},
	{id: "SCTP-TSN-01", needs: Sum, transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if s.Forwarded {
			c.lacks(Contig) // the rest of a message may have been given up
			return
		}
		if t, broken := c.odd(s, trace.OddSplit); broken {
			c.association(s, t.Frame, "the TSNs of the fragments of a message do not follow one another",
				fmt.Sprintf("TSN %d between them%s", t.Value, times(t.Count)), "consecutive ones")
		}
	})},
	{id: "SCTP-DDP-ADAPT-01", transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if s.DDP == 0 {
			return
		}
		c.known(s.HasInit && !s.InitCut)
		if c.applies(Start) && !indicatesDDP(s.SCTPSide) {
			c.association(s, c.t.FirstFrame, "a side that uses DDP did not indicate it when the association began", adaptation(s.SCTPSide), "0x00000001")
		}
	})},
	{id: "SCTP-DDP-ADAPT-02", transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if s.DDP == 0 || s.peer.DDP > 0 {
			return
		}
		c.known(s.peer.HasInit && !s.peer.InitCut)
		if c.applies(Start) && !indicatesDDP(s.peer) {
			c.association(s, c.t.FirstFrame, "DDP towards a side that did not indicate it", adaptation(s.peer), "0x00000001")
		}
	})},
	{id: "SCTP-DDP-STREAMS-01", transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		c.known(s.HasInit && s.peer.HasInit)
		if s.Reconfigured || s.peer.Reconfigured || !c.applies(Start) {
			return
		}
		switch out, in := min(s.Out, s.peer.In), min(s.peer.Out, s.In); {
		case out != in:
			if s.dir == trace.I2R { // one finding for both
				c.association(s, c.t.FirstFrame, "the numbers of streams of the directions differ", fmt.Sprintf("%d and %d", out, in), "the same")
			}
		case s.Out != s.In:
			c.fire(Finding{
				Severity: Warning, Dir: s.dir, HasDir: true, Frame: c.t.FirstFrame,
				Message: "a side asks for different numbers of streams", Observed: fmt.Sprintf("out %d, in %d", s.Out, s.In), Expected: "the same",
			})
		}
	})},
	{id: "SCTP-DDP-ADAPT-03", transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if s.dir != trace.R2I {
			return // one finding for both
		}
		c.known(s.HasInit && !s.InitCut && s.peer.HasInit && !s.peer.InitCut)
		if !c.applies(Start) || !s.HasAdaptation || !s.peer.HasAdaptation || s.Adaptation == s.peer.Adaptation {
			return
		}
		if s.Ended != trace.Abort && s.peer.Ended != trace.Abort {
			c.association(s, c.t.FirstFrame, "the sides indicate different adaptation layers, and none refuses",
				fmt.Sprintf("%s and %s", adaptation(s.peer), adaptation(s.SCTPSide)), "ABORT")
		}
	})},
	{id: "SCTP-DDP-ADAPT-04", needs: Sum, transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		c.known(s.HasInit && !s.InitCut && s.peer.HasInit && !s.peer.InitCut)
		if !indicatesDDP(s.SCTPSide) || !indicatesDDP(s.peer) || !c.applies(Start) {
			return
		}
		if t, broken := c.odd(s, trace.OddPayload); broken {
			c.association(s, t.Frame, "user data that are not DDP's on an association for DDP", fmt.Sprintf("payload protocol %d%s", t.Value, times(t.Count)), "16 or 17")
		}
	})},
	{id: "SCTP-DDP-SIZE-01", transport: onSCTP, chunk: func(c *conn, s *segment) {
		k := s.p.Chunk
		if !k.InFragments || k.Length <= leastSegment {
			c.applies()
			return
		}
		if c.applies() && c.once(s.half) {
			c.at(s, "a DDP segment larger than there has to be room for went out in fragments of IP", fmt.Sprintf("%d octets", k.Length), "segments that need no fragmentation")
		}
	}},
	{id: "SCTP-DDP-HOMING-01", transport: onSCTP, end: func(c *conn) {
		for d := range c.t.Flow {
			if c.half[d].gap {
				c.lacks(Contig)
				continue
			}
			if f := c.t.Flow[d].Spread; c.applies() && f != 0 {
				c.fire(Finding{
					Dir: trace.Dir(d), HasDir: true, Frame: f, Message: "the chunks of a stream take several paths in turn",
					Observed: "more than 100 packets without a retransmission", Expected: "another path in case of failure only",
				})
			}
		}
	}},
	{id: "SCTP-DDP-TERM-01", transport: onSCTP, anywhere: true, capture: onSides(func(c *conn, s *side) {
		if s.Ended != trace.Shutdown && s.Ended != trace.Abort || !c.applies() {
			return
		}
		if t := s.Terminates; t.Count > 1 {
			c.association(s, t.Frame, "a Terminate on each stream before the association is ended", fmt.Sprintf("%d streams, %s in frame %d", t.Count, s.Ended, s.EndFrame), "only the end of the association")
		}
	})},
}

// leastSegment is the size of user data that must always be taken (RFC 5043 section
// 9).
const leastSegment = 516

// indicatesDDP reports whether a side indicated DDP when the association began.
func indicatesDDP(s *trace.SCTPSide) bool {
	return s.HasAdaptation && s.Adaptation == sctpddp.Adaptation
}
