package analysis

import (
	"github.com/iwdissect/iwdissect/dissect/sctpddp"
	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// utterance is a message that a side has sent in a session; tsn is its last one.
type utterance struct {
	frame     uint64 // 0: there is none
	time, tsn int64
	function  sctpddp.Function
}

// note records the state of the session when a message arrives: the message may have to
// wait for its turn, and the state changes until then.
func (s *Session) note(side int, m *reassembly.Message) {
	a, h, r := s.assoc, &s.dirs[side], &m.Arrival
	end := m.First + int64(len(m.TSNs))
	r.Frame, r.Time, r.Heard, r.Passed, r.Sacked = a.cur.Frame, a.cur.Time, -1, a.asm.High(1-side), a.told
	if m.Torn {
		return // recorded earlier
	}
	r.TooLarge = a.tooLarge(m)
	r.Complete = a.asm.FirstMissing(side) >= m.First && !a.asm.Lost(side, h.from) && s.follows(side, m)
	// A message that arrives after a later one may be a retransmission.
	if heard, ok := a.asm.Acked(1 - side); ok && end >= a.asm.High(side) {
		r.Heard = heard
	}
	if h.spoken.frame != 0 && h.spoken.tsn < m.First && !a.overtakes(m, side, side, &h.spoken) {
		h.spoken = utterance{}
	}
	now := utterance{frame: a.cur.Frame, time: a.cur.Time, tsn: end - 1}
	if m.PPID == sctpddp.PPIDControl {
		if c, err := sctpddp.DecodeControl(m.Octets); err == nil {
			now.function = c.Function
			h.spoken = now
			s.dirs[1-side].spoken = utterance{} // it is answered
		}
	}
	if h.last.frame == 0 || now.tsn > h.last.tsn {
		h.last = now
	}
	if len(m.Octets) >= sctpddp.SegmentLen {
		ssn := uint16(m.Octets[0])<<8 | uint16(m.Octets[1])
		if h.open.add(&a.asm, side, m, ssn) {
			a.wide = append(a.wide, wideDirection{s, side})
			s.Trace.Flow[s.Dir(side)].Crowded = true
		}
	}
}

// follows reports whether it is known what its side sent before a message in the session. Where the capture begins
// late, that is not known of the first chunk of a side: the session of which the other side has sent the Initiate
// may be over.
func (s *Session) follows(side int, m *reassembly.Message) bool {
	asm := &s.assoc.asm
	first := asm.First(side)
	return m.First > first || s.dirs[side].from >= first || asm.StartKnown(side)
}

// tooLarge reports whether a message without others was too large for one IP fragment
// of its packet. All fragments but the last have the same size, less than the packet.
func (a *Association) tooLarge(m *reassembly.Message) bool {
	if m.Fragments < 2 || len(m.TSNs) > 1 {
		return false
	}
	unbundled := sctp.HeaderLen + sctp.DataHeaderLen + m.Length
	return (m.Fragments-1)*((unbundled+3)&^3) >= a.octets
}

// arrival returns the state recorded when the message of a chunk arrived.
func (s *Session) arrival(k *trace.Chunk, m *reassembly.Message) {
	r, a := &m.Arrival, &k.Arrival
	a.Frame, a.Time, a.TSN, a.End, a.Heard, a.Passed = r.Frame, r.Time, m.First, m.First+int64(len(m.TSNs)), r.Heard, r.Passed
	a.Sacked = r.Sacked
	a.OnePlace, a.Shuffled = s.assoc.onePlace(), s.assoc.shook.shuffled
	a.Mixed = s.reused && a.Shuffled
	a.Complete = r.Complete && !a.Mixed
	if a.HasPending {
		a.HasPending, a.Pending = false, trace.Pending{}
	}
	if r.Pending != 0 {
		a.HasPending = true
		a.Pending = trace.Pending{
			Dir: s.Dir(r.PendingSide), Frame: r.Pending, Function: sctpddp.Function(r.PendingFunction), Certain: r.Certain,
		}
	}
}

// overtakes notes that a message of side may arrive before one that was sent by
// from, if no acknowledgement of that was captured.
func (a *Association) overtakes(m *reassembly.Message, side, from int, u *utterance) bool {
	tsn, ok := a.asm.Unacked(from, u.tsn)
	if !ok || tsn != u.tsn {
		return false
	}
	r := &m.Arrival
	r.Pending, r.PendingSide, r.PendingFunction = u.frame, from, uint16(u.function)
	r.Certain = u.frame == a.cur.Frame || a.witnessed(from) && a.tooSoon(side, from, u)
	return true
}

// tooSoon reports whether a message of side was sent before it can have known that a message of from had arrived. An
// acknowledgement may have passed that was not captured, so that no SACK proves it: the time that passed does, if it is less than
// one takes, or a SACK in the same packet that does not reach so far.
func (a *Association) tooSoon(side, from int, u *utterance) bool {
	if from != side && a.told >= 0 {
		return a.told <= u.tsn
	}
	return a.shook.tooSoon(a.cur.Time-u.time, side, from != side)
}

// reuses notes for the Initiate of a session which chunks of the previous session may
// still be in flight (RFC 5043 section 6.6).
func (a *Association) reuses(side int, m *reassembly.Message, before *Session) {
	for _, from := range [...]int{side, 1 - side} {
		u := &before.dirs[from].last
		if u.frame != 0 && (from != side || u.tsn < m.First) && a.overtakes(m, side, from, u) {
			return
		}
	}
}
