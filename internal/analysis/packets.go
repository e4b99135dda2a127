package analysis

import (
	"slices"
	"time"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/reassembly"
	"github.com/iwdissect/iwdissect/trace"
)

// odd counts something that is wrong with the current packet.
func (a *Association) odd(side int, what trace.Oddity, value uint32) {
	t := &a.side[side].Odd[what]
	if t.Count == 0 || t.Doubtful && !a.wrong {
		t.Frame, t.Value, t.Doubtful = a.cur.Frame, value, a.wrong
	}
	t.Count++
}

// split counts a chunk that was found to stand between the fragments of another
// message, or to lack the beginning of its own.
func (a *Association) split(side int, tsn uint32) {
	if n := a.asm.Splits(side); n != a.splits[side] {
		a.splits[side] = n
		a.odd(side, trace.OddSplit, tsn)
	}
	if n := a.asm.Unbegun(side); n != a.unbegun[side] {
		a.unbegun[side] = n
		a.odd(side, trace.OddUnbegun, tsn)
	}
}

// headless counts a message of which the beginning is missing, in the session that it may belong to.
func (a *Association) headless(side int, m *reassembly.Message) {
	st := a.streams[m.SID]
	if st == nil || st.now == nil {
		return
	}
	s := st.now
	if st.before != nil && m.First < s.dirs[side].from {
		s = st.before
	}
	s.dirs[side].headless = true
	if s.outgoing(side).gap(); m.Gone {
		s.Trace.Flow[s.Dir(side)].Rarely().Headless++
	}
}

// termRun is the last Terminate of RDMAP that a side has sent.
type termRun struct {
	sent bool
	sid  uint16
	time int64
}

// together is how close Terminates must follow one another to have one cause.
const together = int64(time.Second)

// terminates counts the streams that a side ends at once with Terminates of RDMAP
// (RFC 5043 section 11.3). A segment behind them shows that it meant these streams
// and not the association, as does a stream that ends without one; see spares.
func (s *Session) terminates(side int, p *trace.PDU) {
	t, r, k := &s.assoc.side[side].Terminates, &s.assoc.terms[side], p.Chunk
	switch {
	case k.Order == trace.Duplicate:
	case p.Control.Opcode != rdmap.OpTerminate || p.Segment.Tagged:
		if r.sent {
			*r, *t = termRun{}, trace.Tally{}
		}
	default:
		s.dirs[side].terminated = true
		d := k.Arrival.Time - r.time
		switch {
		case !r.sent || d < -together || d > together:
			*t = trace.Tally{Count: 1, Frame: k.Arrival.Frame}
		case r.sid != k.SID:
			t.Count++
			t.Frame = k.Arrival.Frame
		}
		*r = termRun{true, k.SID, k.Arrival.Time}
	}
}

// spares takes down that a side ends a session, or leaves it open to the end of the association. If
// it sent no Terminate of RDMAP in it, it does not send those on each stream.
func (s *Session) spares(side int) {
	if a := s.assoc; !s.dirs[side].terminated {
		a.terms[side], a.side[side].Terminates = termRun{}, trace.Tally{}
	}
}

// spared has each side spare the sessions that are open when the association ends.
func (a *Association) spared() {
	for _, st := range a.streams {
		for side := range 2 {
			if s := st.now; s != nil && !s.over && !s.dirs[side].done {
				s.spares(side)
			}
		}
	}
}

// paths is how the packets of a direction of a session change between the
// addresses of their sender.
type paths struct {
	last uint8
	// run counts packets since one path was kept for long, spell those of the path
	// at hand.
	run, spell int
}

const (
	// manyPackets is after how many packets in turn it is no failover (catalogue,
	// SCTP-DDP-HOMING-01).
	manyPackets = 100
	// longSpell is how many packets a path takes that is kept.
	longSpell = 16
)

// add processes a packet, and reports whether paths have been processed turn for
// long.
func (p *paths) add(path uint8) bool {
	changes := p.run > 0 && path != p.last
	if p.run == 0 || changes {
		p.last, p.spell = path, 0
	}
	p.run++
	if p.spell++; p.spell >= longSpell {
		*p = paths{}
	}
	return changes && p.run >= manyPackets
}

// asked are the sessions in which a side waits for an answer to its Initiate.
type asked []*Session

// maxAsked bounds them: more are not compared.
const maxAsked = 16

// waits reports whether the Initiate of a session is still unanswered.
func (s *Session) waits() bool { return s.Trace.Outcome <= trace.Incomplete && !s.over }

// ask notes that side has sent an Initiate.
func (a *Association) ask(side int, s *Session) {
	l := slices.DeleteFunc(a.asked[side], func(x *Session) bool { return x == s || !x.waits() })
	if len(l) < maxAsked {
		l = append(l, s)
	}
	a.asked[side] = l
}

// astray notes for a session that begins with an answer of side on which other
// stream an Initiate waits for one.
func (a *Association) astray(side int, s *Session) {
	for _, x := range a.asked[1-side] {
		if x.waits() && x.Trace.SID != s.Trace.SID {
			s.Trace.AskedOn, s.Trace.HasAskedOn = x.Trace.SID, true
			return
		}
	}
}

// forget removes an ended session from the lists.
func (a *Association) forget(s *Session) {
	a.wide = slices.DeleteFunc(a.wide, func(w wideDirection) bool { return w.Session == s })
	for i := range a.asked {
		a.asked[i] = slices.DeleteFunc(a.asked[i], func(x *Session) bool { return x == s })
	}
}
