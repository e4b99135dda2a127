package model

import (
	"slices"

	"github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/ahead"
	"github.com/iwdissect/iwdissect/trace"
)

// recent are the last few chunks of a direction, with their TSNs.
type recent struct {
	at   int
	last [maxRecent]struct {
		pdu uint64
		tsn int64
		has bool
	}
}

// maxRecent is how many chunks may lie between an error and what is a reaction to
// it.
const maxRecent = 8

func (r *recent) add(p *trace.PDU) {
	x := &r.last[r.at%maxRecent]
	x.pdu, x.tsn, x.has = p.Number, p.Chunk.Arrival.TSN, true
	r.at++
}

// after reports whether the last one of them came behind a PDU.
func (r *recent) after(pdu uint64) bool {
	x := &r.last[(r.at+maxRecent-1)%maxRecent]
	return x.has && x.pdu > pdu
}

// SpokeAfter reports whether the direction has a chunk behind a PDU.
func (h *Direction) SpokeAfter(pdu uint64) bool { return h.recent.after(pdu) }

// Heard reports whether a PDU is among them whose TSN is below.
func (r *recent) Heard(pdu uint64, below int64) bool {
	for _, x := range r.last {
		if x.has && x.pdu == pdu {
			return x.tsn < below
		}
	}
	return false
}

// Misplaced is how a chunk stands where the pattern of a session has no place for it
// (RFC 5043 section 6).
type Misplaced uint8

// The ways in which a chunk is misplaced.
const (
	InPlace         Misplaced = iota
	BehindTerminate           // of the same side
	NoInitiate                // the session does not begin with one
	InitiateWithin            // the session, which has begun
	StrayAnswer               // to no Initiate
	InitiateBack              // of the passive side, which begins with it
	SegmentFirst              // the passive side begins with a segment
)

// Misplaced tells whether a session control chunk is.
func (e *Control) Misplaced() Misplaced {
	f := e.Function
	asks, answers := Initiates(f), e.Answers()
	switch {
	case !e.Ok || e.Chunk.Order == trace.Duplicate:
	case e.experimental(): // nobody but the two sides knows where it fits
	case e.Ended():
		return BehindTerminate
	case e.PDU.Dir == trace.I2R && e.Chunks == 0 && !asks:
		return NoInitiate
	case asks && e.Chunks > 0 && !e.Experiments():
		return InitiateWithin
	case asks && e.PDU.Dir == trace.R2I:
		return InitiateBack
	case answers && (e.Direction.hasAnswered() || e.PDU.Dir == trace.I2R):
		return StrayAnswer
	}
	return InPlace
}

// Misplaced tells whether a segment is, in a chunk.
func (s *Segment) Misplaced(c *Conn) Misplaced {
	switch {
	case s.PDU.Chunk.Order == trace.Duplicate:
	case s.Ended():
		return BehindTerminate
	case s.Chunks == 0 && s.Dir == trace.R2I && c.Trace.SYN:
		return SegmentFirst
	case s.Chunks == 0 && s.Dir == trace.I2R && !c.Trace.SYN:
		return NoInitiate
	}
	return InPlace
}

// experimental reports whether the chunk is of an experiment (RFC 6580 section 3.5).
func (e *Control) experimental() bool { return e.Function == sctpddp.Experimental }

// Experiments reports whether the side has sent session control of an experiment, which may stand in the place of any other.
func (h *Direction) Experiments() bool {
	return slices.ContainsFunc(h.Controls, (*Control).experimental)
}

// Initiates reports whether a function is an Initiate, plain or enhanced.
func Initiates(f sctpddp.Function) bool {
	return f == sctpddp.Initiate || f == sctpddp.EnhancedInitiate
}

// Answers reports whether a session control chunk is an Accept or a Reject, plain or enhanced.
func (e *Control) Answers() bool {
	f := e.Function
	return f >= sctpddp.Accept && f <= sctpddp.EnhancedReject && !Initiates(f) && f != sctpddp.Terminate
}

// AtFirstChunk is the place of the first chunk of a direction in its session.
func (h *Direction) AtFirstChunk() Place {
	at := h.AtFirst()
	if !h.First.Seen || len(h.Controls) > 0 && h.Controls[0].Place.Frame < at.Frame {
		if at = (Place{Dir: h.Dir, HasDir: true}); len(h.Controls) > 0 {
			at = h.Controls[0].Place
		}
	}
	return at
}

// Initiate returns the Initiate that the side has sent, or nil.
func (h *Direction) Initiate() *Control {
	for _, x := range h.Controls {
		if Initiates(x.Function) {
			return x
		}
	}
	return nil
}

// hasAnswered reports whether the side has answered an Initiate.
func (h *Direction) hasAnswered() bool { return slices.ContainsFunc(h.Controls, (*Control).Answers) }

// TooEarly returns the answer of the other side that the sender of an Initiate had when it sent that,
// nil if there is none: nothing was asked yet. All that the sender has sent in the association before has to
// be known, else an Initiate may be missing. A SACK in another packet may have been sent behind the Initiate, and overtaken it.
func (e *Control) TooEarly() *Control {
	h := e.Peer
	if !e.Ok || !Initiates(e.Function) || e.PDU.Dir != trace.I2R || e.Chunks > 0 || e.Chunk.Order != trace.InOrder || !e.Chunk.Arrival.Complete {
		return nil
	}
	for _, x := range h.Controls {
		with := e.Chunk.Arrival.Sacked > x.TSN || timeOf(e.PDU)-x.Time >= ahead.OutOfOrder
		if x.Answers() && with && Heard(&e.Chunk.Arrival, x.TSN) == Having {
			return x
		}
	}
	return nil
}

// Ended reports whether the side has sent the Terminate of the session.
func (h *Direction) Ended() bool { return h.EndOf() != nil }

// EndOf returns the Terminate of the session that the side has sent, or nil.
func (h *Direction) EndOf() *Control {
	for _, x := range h.Controls {
		if x.Function == sctpddp.Terminate {
			return x
		}
	}
	return nil
}

// Ordered reports whether it is known what stood before a chunk in its session: nothing was
// missing, and it was not itself missing until others were taken to stand in its place.
func Ordered(p *trace.PDU) bool { return p.Chunk.Arrival.Complete && p.Chunk.Order != trace.Late }

// offends notes a chunk that fits no pattern of a session, if that is certain.
func (h *Direction) offends(p *trace.PDU, have catalogue.Gate) {
	if sure := catalogue.Start | catalogue.Contig; !h.Offended && Ordered(p) && have&sure == sure {
		h.Offended, h.Offence = true, p.Chunk.Arrival.TSN
	}
}
