package analysis

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// handshake measures the round trip: from the INIT to the COOKIE ECHO of the same side.
func (a *Association) handshake(t sctp.Type) {
	switch {
	case t == sctp.TypeInit:
		a.syn = a.cur.Time
	case t == sctp.TypeCookieEcho && a.syn != 0 && a.rtt == 0:
		a.rtt = max(between(a.syn, a.cur.Time), 0)
	}
}

// tsnState is what was known of the TSNs of a direction before a chunk.
type tsnState struct {
	high, missing int64
}

func (a *Association) before(side int) tsnState {
	return tsnState{a.asm.High(side), a.asm.FirstMissing(side)}
}

// waits reports whether TSNs were missing before others.
func (t *tsnState) waits() bool { return t.missing < t.high }

func (a *Association) now() trace.Moment {
	return trace.Moment{Frame: a.cur.Frame, Time: a.cur.Time}
}

// acked is what the other side of a direction has acknowledged; where nothing was, all
// before the TSN.
func (a *Association) acked(side int, high int64) int64 {
	if acked, ok := a.asm.Acked(side); ok {
		return acked
	}
	return high
}

// chunked notes the progress that a chunk of user data makes, which was taken in but not
// handed on yet.
func (a *Association) chunked(side int, tsn int64, note reassembly.Note, was tsnState) {
	if note&(reassembly.Retransmission|reassembly.BeforeStart) != 0 {
		return
	}
	if a.quiet(side, a.cur.Time) {
		u := undone{Stall: trace.Stall{End: trace.StallData, Unacked: max(was.high-a.acked(side, was.high), 0), Hole: was.waits()}}
		u.filled = u.Hole && tsn == was.missing
		if tsn <= was.high { // else the capture missed something
			a.paused(side, &u, a.now())
		}
	}
	a.moved[side] = progress{a.cur.Time, a.cur.Frame}
	a.shook.sent[side] = a.cur.Time
	if missing := a.asm.FirstMissing(side) < a.asm.High(side); missing && !was.waits() {
		a.trouble().sides[side].opens(a.cur.Time)
	}
}

// sacked takes in a SACK of a side.
func (a *Association) sacked(side int, c *sctp.Chunk, cumulative uint32, blocks sctp.Blocks) {
	peer := 1 - side
	was, knew := a.asm.Acked(peer)
	a.asm.Ack(side, cumulative, blocks)
	now, _ := a.asm.Acked(peer)
	if a.asm.Started(peer) {
		a.shook.overtaken(peer, a.asm.High(peer), now)
	}
	switch {
	case !knew || now > was:
		if now == a.asm.High(peer) {
			a.shook.acked(peer, a.cur.Time)
		}
		if a.quiet(peer, a.cur.Time) {
			high := a.asm.High(peer)
			u := undone{Stall: trace.Stall{End: trace.StallAck, Hole: a.asm.FirstMissing(peer) < high}}
			if knew {
				u.Unacked = max(high-was, 0)
			}
			if now <= high {
				a.paused(peer, &u, a.now())
			}
		}
		a.moved[peer] = progress{a.cur.Time, a.cur.Frame}
	case len(blocks) > 0:
		a.trouble().sides[peer].duplicate(now, true, false)
	}
	if len(c.Value) >= 8 {
		a.window(side, binary.BigEndian.Uint32(c.Value[4:]) == 0)
	}
}

// window notes that a side closed its receive window, or opened it again. It is told of
// the session at hand.
func (a *Association) window(side int, shut bool) {
	if shut == a.shut[side] {
		return
	}
	if shut {
		if a.latest == nil || a.latest.now == nil {
			return
		}
		a.shutOf[side] = a.latest.now
	}
	s := a.shutOf[side]
	a.announce(side, shut, a.blocked(1-side), &s.Trace.Flow[s.Dir(side)], a.now())
}

// blocked reports whether a side has something to send for certain.
func (a *Association) blocked(side int) bool {
	for _, st := range a.streams {
		if s := st.now; s != nil && s.running() {
			var u undone
			if u.waits(&s.queues, side); u.Open || u.Owed > 0 {
				return true
			}
		}
	}
	return false
}

// running reports whether segments are under way, or may be.
func (s *Session) running() bool {
	t := s.Trace
	return !s.over && t.Ending == trace.Open && t.Outcome != trace.Rejected && t.Terminates == [2]*trace.Terminate{}
}

// paused looks at a direction that made no progress for long. The stall is one of the
// sessions that had something to do in it; of that of the latest message, if all that is known
// is that chunks were not acknowledged.
func (a *Association) paused(side int, u *undone, now trace.Moment) {
	m := &a.moved[side]
	if !m.timed() || now.Time == 0 || a.latest == nil || a.latest.now == nil {
		return
	}
	latest := a.latest.now
	if now.Time < m.time {
		a.steppedBack(m.time-now.Time, now.Frame, &latest.Trace.Flow[latest.Dir(side)])
		return
	}
	if a.ending != trace.Open || a.hidden[0] || a.hidden[1] || a.asm.Lost(0, 0) || a.asm.Lost(1, 0) {
		return
	}
	concerned := map[*Session]undone{}
	for _, st := range a.streams {
		for _, s := range [...]*Session{st.before, st.now} {
			if s == nil || !s.running() {
				continue
			}
			own := undone{}
			own.waits(&s.queues, side)
			u.waits(&s.queues, side)
			if own.Owed > 0 || own.Open {
				concerned[s] = own
			}
		}
	}
	if !a.judge(side, u, now) {
		return
	}
	if len(concerned) == 0 && latest.running() {
		concerned[latest] = *u
	}
	for s, own := range concerned {
		stall := u.Stall
		stall.Owed, stall.Asked, stall.Open = own.Owed, own.Asked, own.Open
		stalled(&s.Trace.Flow[s.Dir(side)], &stall)
	}
}

// stops looks at both directions when the association ends, or the capture.
func (a *Association) stops(now trace.Moment, end trace.StallEnd) {
	for side := range 2 {
		if now.Time <= a.moved[side].time || !a.quiet(side, now.Time) {
			continue
		}
		high := a.asm.High(side)
		u := undone{Stall: trace.Stall{
			End: end, Unacked: max(high-a.acked(side, high), 0), Hole: a.asm.FirstMissing(side) < high,
		}}
		a.paused(side, &u, now)
	}
}
