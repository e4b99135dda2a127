package conformance

import (
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
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

// heard reports whether a PDU is among them whose TSN is below.
func (r *recent) heard(pdu uint64, below int64) bool {
	for _, x := range r.last {
		if x.has && x.pdu == pdu {
			return x.tsn < below
		}
	}
	return false
}

// misplaced is how a chunk stands where the pattern of a session has no place for it
// (RFC 5043 section 6).
type misplaced uint8

const (
	inPlace         misplaced = iota
	behindTerminate           // of the same side
	noInitiate                // the session does not begin with one
	initiateWithin            // the session, which has begun
	strayAnswer               // to no Initiate
	segmentFirst              // the passive side begins with a segment
)

// misplaced tells whether a session control chunk is.
func (e *control) misplaced() misplaced {
	f := e.function
	asks := initiates(f)
	answers := f >= sctpddp.Accept && f <= sctpddp.EnhancedReject && !asks && f != sctpddp.Terminate
	switch {
	case !e.ok || e.k.Order == trace.Duplicate:
	case e.ended():
		return behindTerminate
	case e.p.Dir == trace.I2R && e.chunks == 0 && !asks:
		return noInitiate
	case asks && e.chunks > 0:
		return initiateWithin
	case answers && (e.chunks > 0 || e.p.Dir == trace.I2R):
		return strayAnswer
	}
	return inPlace
}

// misplaced tells whether a segment is, in a chunk.
func (s *segment) misplaced(c *conn) misplaced {
	switch {
	case s.p.Chunk.Order == trace.Duplicate:
	case s.ended():
		return behindTerminate
	case s.chunks == 0 && s.dir == trace.R2I && c.t.SYN:
		return segmentFirst
	}
	return inPlace
}

func initiates(f sctpddp.Function) bool {
	return f == sctpddp.Initiate || f == sctpddp.EnhancedInitiate
}

// ended reports whether the side has sent the Terminate of the session.
func (h *half) ended() bool {
	for _, x := range h.controls {
		if x.function == sctpddp.Terminate {
			return true
		}
	}
	return false
}

// offends notes a chunk that fits no pattern of a session, if that is certain.
func (h *half) offends(p *trace.PDU, have Gate) {
	if sure := Start | Contig; !h.offended && p.Chunk.Arrival.Complete && have&sure == sure {
		h.offended, h.offence = true, p.Chunk.Arrival.TSN
	}
}
