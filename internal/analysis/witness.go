package analysis

import (
	"net/netip"
	"slices"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/seq"
)

// witness is what tells whether the place of capture saw all packets of an association
// in the order in which they passed. Then an acknowledgement passes before what its
// receiver sends because of it, wherever on the way that place is: one that was not
// captured by then had not arrived.
type witness struct {
	latest   int64 // the time of a packet
	shuffled bool  // a frame is older than the one before it
	// silent: chunks of a side that may acknowledge something were cut off.
	silent [2]bool
	spoke  [2]bool // there are packets of the side
	// heard is the last TSN of a side that was acknowledged before any chunk of the side
	// was captured; lost: another one was before, so that chunks are missing.
	heard [2]struct {
		tsn  uint32
		seen bool
	}
	lost   [2]bool
	shakes uint8 // the chunks of the handshake, and of the end, that were seen
	data   bool  // user data was seen
	// first and last are the times of the steps of the handshake, of its first and of its last copy before the next step; 0: not seen.
	// opener sent the INIT.
	first, last [handshakes]int64
	opener      int
	// sent is when the last chunk of user data of a side passed that was not there yet, turn the least time until a SACK passed
	// that acknowledged all up to it; 0: none was seen.
	sent, turn [2]int64
	// ahead are the TSNs of a side that were acknowledged before they were captured, the
	// last ones, up to before; none if both are the same.
	ahead [2]struct{ from, to uint32 }
}

// packet processes a packet.
func (w *witness) packet(side int, now int64) {
	w.spoke[side] = true
	w.shuffled = w.shuffled || now < w.latest
	w.latest = max(w.latest, now)
}

// cut processes a chunk of which the snap length has cut off some; data: it is user data,
// or comes behind some. A packet has its user
// data last (RFC 9260 section 6.10), so nothing acknowledges anything behind them.
func (w *witness) cut(side int, data bool) {
	if !data {
		w.silent[side] = true
	}
}

func userData(t sctp.Type) bool { return t == sctp.TypeData || t == sctp.TypeIData }

// acknowledges processes an acknowledgement for a side of which no chunk was captured. It is one for a
// chunk that the capture lacks, if that saw anything of the handshake, which comes before any chunk.
func (w *witness) acknowledges(side int, tsn uint32) {
	x := &w.heard[side]
	w.lost[side] = w.lost[side] || x.seen && x.tsn != tsn || w.shakes&shaken != 0
	x.tsn, x.seen = tsn, true
}

// begins processes the first chunk of user data of a side that was captured.
func (w *witness) begins(side int, tsn uint32) {
	x := &w.heard[side]
	w.lost[side] = w.lost[side] || x.seen && seq.Less(x.tsn+1, tsn)
	w.shuffled = w.shuffled || x.seen && !seq.Less(x.tsn, tsn)
}

// overtaken processes an acknowledgement for a side up to before acked, of which chunks up to
// before high were captured.
func (w *witness) overtaken(side int, high, acked int64) {
	x := &w.ahead[side]
	if acked <= high {
		return
	}
	if x.from == x.to {
		x.from = uint32(high) //nolint:gosec // as a TSN
	}
	x.to = uint32(acked) //nolint:gosec // as a TSN
}

// comes processes a chunk of user data of a side. One that was acknowledged before shows that
// the directions are out of step, or its first copy is missing.
func (w *witness) comes(side int, tsn uint32) {
	x := &w.ahead[side]
	w.shuffled = w.shuffled || x.from != x.to && !seq.Less(tsn, x.from) && seq.Less(tsn, x.to)
}

// shakers are the chunks of the handshake and those of the end, in their order.
var shakers = [...]sctp.Type{
	sctp.TypeInit, sctp.TypeInitAck, sctp.TypeCookieEcho, sctp.TypeCookieAck,
	sctp.TypeShutdown, sctp.TypeShutdownAck, sctp.TypeShutdownComplete,
}

// handshakes of them are of the handshake, which are the bits shaken.
const (
	handshakes = 4
	shaken     = 1<<handshakes - 1
)

// step notes when a step of the handshake passed. One that is sent again counts until the next step shows that it arrived.
func (w *witness) step(i, side int, now int64) {
	if w.shakes&shaken>>(i+1) != 0 {
		return
	}
	w.opener = side ^ i&1
	if w.first[i] == 0 {
		w.first[i] = now
	}
	w.last[i] = now
}

// acked processes a SACK for all that a side has sent so far.
func (w *witness) acked(side int, now int64) {
	if took := now - w.sent[side]; w.sent[side] != 0 && took > 0 && (w.turn[side] == 0 || took < w.turn[side]) {
		w.turn[side] = took
	}
}

// tooSoon reports whether a time is too short for a side to act upon what the other one does upon a packet of its own, or, if half,
// upon a packet of the other one, between their passing the place of capture. An INIT takes its receiver longer than a chunk does,
// and a SACK may be delayed: only half of what they took is too short for certain.
func (w *witness) tooSoon(took int64, side int, half bool) bool {
	least := w.quickest(side, half)
	return least > 0 && took <= least/2
}

// quickest is the least time that this took the sides, in the handshake or with SACKs; 0 if nothing tells.
func (w *witness) quickest(side int, half bool) int64 {
	least := w.handshakeTook(side, half)
	switch way := w.turn[1-side]; {
	case half && way != 0:
		least = min(least, way)
	case !half && way != 0 && w.turn[side] != 0:
		least = min(least, way+w.turn[side])
	}
	return least
}

// handshakeTook is the time that the handshake took for that.
func (w *witness) handshakeTook(side int, half bool) int64 {
	took := func(from, to int) int64 {
		if w.last[from] == 0 || w.first[to] == 0 {
			return 0
		}
		return max(w.first[to]-w.last[from], 0)
	}
	switch {
	case !half:
		return min(took(0, 2), took(1, 3))
	case side == w.opener:
		return took(1, 2)
	}
	return took(2, 3)
}

// chunk processes a chunk.
func (w *witness) chunk(side int, t sctp.Type, now int64) {
	if data := userData(t); data || t == sctp.TypeSack {
		w.data = w.data || data
		return // nearly always
	}
	i := slices.Index(shakers[:], t)
	if i < 0 {
		return
	}
	// Each answers the one before, or comes behind the answer to it.
	later := w.shakes >> (i + 1)
	if i < handshakes {
		later &= 1<<(handshakes-1-i) - 1
	}
	if i < handshakes {
		w.step(i, side, now)
	}
	early := w.data && i < 2 // user data before INIT or INIT ACK
	w.shuffled = w.shuffled || w.shakes>>i&1 == 0 && (later != 0 || early)
	w.shakes |= 1 << i
}

// skipped reports whether a step of the handshake or of the end is missing. The capture
// may begin behind the first ones, and the association may go on.
func (w *witness) skipped() bool {
	begin, end := w.shakes&shaken, w.shakes>>handshakes
	low := begin & -begin
	return begin != 0 && begin+low != shaken+1 || end&(end+1) != 0
}

// severalPaths reports whether packets of the association can take other paths than that
// past the place of capture.
func (a *Association) severalPaths() bool {
	if a.otherPath {
		return true
	}
	for i := range a.side {
		own := a.addr[i].Addr()
		if slices.ContainsFunc(a.side[i].Addresses, func(x netip.Addr) bool { return x != own }) {
			return true
		}
	}
	return false
}

// witnessed reports whether the order of frames proves what side knew: an acknowledgement
// for it cannot have passed unseen, as far as is known by now.
func (a *Association) witnessed(side int) bool {
	return a.onePlace() && !a.severalPaths() && !a.hides(1-side)
}

// onePlace reports whether nothing is known against it that one place of capture saw all
// packets in the order in which they passed.
func (a *Association) onePlace() bool { return !a.merged && !a.shook.shuffled }

// hides reports whether packets of a side may be missing from the capture: chunks are known to be, or
// there is no packet of it so far, or none of what was acknowledged. Acknowledgements may be missing too
// then.
func (a *Association) hides(side int) bool {
	if !a.shook.spoke[side] || a.shook.heard[side].seen && !a.asm.Started(side) {
		return true
	}
	acked, ok := a.asm.Acked(side)
	missing := a.asm.FirstMissing(side)
	return ok && acked > missing || a.asm.High(side) > missing || a.asm.Lost(side, 0) || a.shook.silent[side] || a.shook.lost[side]
}

// unseen notes of which sides packets are known to be missing, by now.
func (a *Association) unseen() {
	gone := !a.onePlace() || a.shook.skipped()
	for i := range a.side {
		a.side[i].Unseen = a.side[i].Unseen || gone || a.hides(i) || a.unheard(1-i)
	}
}

// unheard reports whether acknowledgements for a side are missing: there are none, or it sends SHUTDOWN,
// which it does once all it sent was acknowledged (RFC 9260 section 9.2), and some of that was not.
func (a *Association) unheard(side int) bool {
	acked, ok := a.asm.Acked(side)
	return !ok || a.side[side].ShutDown && acked < a.asm.High(side)
}
