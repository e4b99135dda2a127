package analysis

import (
	"math"

	"github.com/iwdissect/iwdissect/internal/ahead"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/trace"
)

// abort is an ABORT, which ended the association as far as is known. It may have come from somebody else, or be lost behind the place of
// capture. What both sides send behind it shows that.
type abort struct {
	side   int
	record trace.DoubtfulReset
	// high and other are where the TSNs end that were captured before it, of its side and of the other one; unknownHigh where that is not known.
	high, other int64
	time        int64
	final       bool    // the other side has aborted as well
	shut        [2]bool // the side sent a SHUTDOWN behind it
	answered    bool    // its side sent a SHUTDOWN ACK behind that of the other one
	// before is how the association had ended by then, then how it ended behind it, if it had no effect.
	before, then assocEnding
}

// assocEnding is how an association ended.
type assocEnding struct {
	how   trace.Ending
	by    int
	frame uint64
	time  int64
}

// unknownHigh is where TSNs end of which nothing is known: none comes behind it.
const unknownHigh = math.MaxInt64

func (a *Association) knownHigh(side int) int64 {
	if !a.asm.Started(side) {
		return unknownHigh
	}
	return a.asm.High(side)
}

// aborting notes an ABORT of a side, before the association ends with it.
func (a *Association) aborting(side int) {
	r := a.abort
	switch {
	case r != nil && r.side == side:
		r.record.More++
		return
	case r != nil:
		r.final = true
		return
	case a.ending == trace.Abort: // for both sides it is over
		return
	}
	a.abort = &abort{
		side: side, record: trace.DoubtfulReset{Frame: a.cur.Frame}, high: a.knownHigh(side), other: a.knownHigh(1 - side), time: a.cur.Time,
		before: assocEnding{a.ending, a.endedBy, a.endedAt, a.side[a.endedBy].EndTime},
	}
}

// behindAbort looks at a chunk of a side behind an ABORT, after it was taken in. was is where the TSNs of the side ended before it.
func (a *Association) behindAbort(side int, c *sctp.Chunk, was int64) {
	r := a.abort
	own, late := side == r.side, a.cur.Time-r.time >= ahead.OutOfOrder
	switch c.Type {
	case sctp.TypeData, sctp.TypeIData:
		if own && late && r.high != unknownHigh && a.asm.High(side) > was {
			a.contradicts(r)
		}
	case sctp.TypeSack:
		a.behindAbortAcks(r, own)
	case sctp.TypeShutdown:
		r.shut[side] = true
		if own && late {
			a.contradicts(r)
		}
		a.behindAbortAcks(r, own)
	case sctp.TypeShutdownAck:
		switch {
		case own && (late || r.shut[1-side]):
			r.answered = true
			a.contradicts(r)
		case !own && r.shut[1-side]:
			a.passesAbort(r)
		}
	case sctp.TypeShutdownComplete:
		const reflected = 0x01 // its sender has no association (RFC 9260 section 8.5.1)
		switch {
		case c.Flags&reflected != 0:
		case own && r.record.Passed > 0 && r.shut[side]:
			a.contradicts(r)
		case !own && r.answered:
			a.passesAbort(r)
		}
	default:
	}
}

// behindAbortAcks looks at what was acknowledged behind an ABORT: own, by its side. Only what was sent behind it says something.
func (a *Association) behindAbortAcks(r *abort, own bool) {
	side, sent := r.side, r.high
	if own {
		side, sent = 1-r.side, r.other
	}
	acked, ok := a.asm.Acked(side)
	switch {
	case !ok || acked <= sent || acked > a.asm.High(side):
	case own:
		a.contradicts(r)
	default:
		a.passesAbort(r)
	}
}

// contradicts notes that the side in whose name an ABORT came goes on with the association.
func (a *Association) contradicts(r *abort) {
	if r.record.On == 0 {
		r.record.On = a.cur.Frame
		a.abortHad(r)
	}
}

// passesAbort notes that the other side goes on behind an ABORT.
func (a *Association) passesAbort(r *abort) {
	if r.record.Passed == 0 {
		r.record.Passed = a.cur.Frame
		a.abortHad(r)
	}
}

// abortHad keeps what is known of an ABORT, and takes back that it ended the association if both sides go on.
func (a *Association) abortHad(r *abort) {
	if r.record.On == 0 {
		return
	}
	k := &a.side[r.side].DoubtfulAbort
	if k.Frame != 0 && k.Frame != r.record.Frame {
		k.More += 1 + r.record.More
	} else {
		*k = r.record
	}
	if r.record.Passed == 0 || r.final {
		return
	}
	s := &a.side[r.side]
	s.Ended, s.EndFrame, s.EndTime, s.Causes, s.CausesCut, s.Reason = trace.Open, 0, 0, nil, false, ""
	end := r.before
	if end.how == trace.Open {
		end = r.then
	}
	a.abort, a.ending = nil, trace.Open
	if end.how != trace.Open {
		a.ends(&end)
	}
}
