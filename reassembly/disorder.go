package reassembly

import (
	"bytes"

	"github.com/iwdissect/iwdissect/internal/ahead"
)

// disorder is what a direction keeps once it was not in order.
type disorder struct {
	held  queue
	bytes int    // memory of the held segments
	freed []byte // buffer of the piece handed out last

	frame uint64 // the least that a held segment is delivered with
	time  int64

	ripe, mark int64 // what was acknowledged for long, and since markAt
	markAt     uint64
	segments   uint64 // those that were not the next octets
	patience   patience

	lead  ahead.Measure
	doubt doubt
	far   *farOff
	outAt int64 // where the direction was when the last packet came that was left out and is no copy

	conflict int64 // where octets came again with a difference last
	part     part

	gaps    [maxGaps]span // the last gaps, to recognise late data
	gapsLen int

	repeats
	Counts
}

// maxGaps is the number of gaps that are remembered.
const maxGaps = 8

type span struct{ from, to int64 }

// maxHeld bounds the number of held segments, for one-octet segments.
const maxHeld = 32768

// fill processes a segment that holds the next octet. Where an earlier copy of
// later octets waits, the earlier copy stands.
func (d *disorder) fill(h *Direction, s *Segment, off, end int64) Note {
	from, to := h.next, end
	var note Note
	if h.waiting > 0 {
		if first := d.held.first(); first.off < to {
			to = first.off
			note = d.compare(s, off, end)
			d.hold(h, s, off, first.end(), end)
		}
		d.floor(s.Frame, s.Time)
	}
	if off != from || to != end || len(s.Fragments) > 1 {
		d.again(h, s, off, end)
	}
	h.set(s, from-off, to-off)
	d.mark, d.ripe = 0, 0 // the hole is being filled: it gets new grace
	h.more, h.plain = true, false
	return note
}

// early processes a segment that lies beyond the next octet.
func (d *disorder) early(h *Direction, s *Segment, off, end int64) Note {
	note := d.compare(s, off, end)
	fresh := d.hold(h, s, off, off, end)
	if fresh {
		note |= OutOfOrder
	}
	if note&Retransmission != 0 || len(s.Fragments) > 1 {
		d.ahead(h, s, off, end, fresh)
	}
	return note
}

// compare looks for octets that were held before, and whether they differ.
func (d *disorder) compare(s *Segment, off, end int64) Note {
	captured := min(end, off+int64(len(s.Data)))
	var note Note
	for at := d.held.seek(off); ; at = d.held.after(at) {
		e := d.held.at(at)
		if e == nil || e.off >= end {
			return note
		}
		note = Retransmission
		if e.off >= captured {
			return note
		}
		a, b := max(off, e.off), min(captured, e.off+int64(len(e.data)))
		if a < b && !bytes.Equal(s.Data[a-off:b-off], e.data[a-e.off:b-e.off]) {
			d.conflict = a
			return note | Conflict
		}
	}
}

// hold keeps those octets of [from, end) that no held segment has yet, and
// reports whether there were any.
func (d *disorder) hold(h *Direction, s *Segment, off, from, end int64) bool {
	if from >= end {
		return false
	}
	fresh := false
	captured := int64(len(s.Data))
	at := d.held.seek(from)
	for from < end {
		stop := end // [from, stop) is free in front of the segment at hand
		e := d.held.at(at)
		if e != nil {
			stop = min(end, e.off)
		}
		if from >= stop {
			from = e.end()
			at = d.held.after(at)
			continue
		}
		fresh = true
		n := held{off: from, n: stop - from, frame: s.Frame, time: s.Time, ack: s.acked}
		if a, b := min(from-off, captured), min(stop-off, captured); a < b {
			n.data = append(h.budget.take(int(b-a)), s.Data[a:b]...)
		}
		d.bytes += heldCost + cap(n.data)
		h.budget.used += heldCost
		at = d.held.after(d.held.insert(h.budget, at, n))
		from = stop
	}
	h.waiting = int32(d.held.n) //nolint:gosec // not many more than maxHeld
	h.more, h.plain = true, false
	return fresh
}

// unhold makes a piece of the first held segment if its turn has come, and
// takes back the buffer of the one before.
func (d *disorder) unhold(h *Direction, p *Piece) bool {
	if d.freed != nil {
		h.budget.give(d.freed)
		d.freed = nil
	}
	if h.waiting == 0 {
		return false
	}
	e := d.held.first()
	if e.off > h.next {
		return false
	}
	frame, time := d.floor(e.frame, e.time)
	*p = Piece{Kind: Data, Off: h.next, Frame: frame, Time: time, Held: true}
	carrier, ack := e.frame, e.ack
	skip := h.next - e.off // not zero behind the captured part of a cut segment
	if captured := int64(len(e.data)); skip < captured {
		p.Len, p.Data = captured-skip, e.data[skip:]
	} else {
		p.Kind, p.Len = Cut, e.n-skip
	}
	h.next += p.Len
	if h.next == e.end() {
		d.freed = e.data
		d.bytes -= heldCost + cap(e.data)
		h.budget.used -= heldCost
		d.held.drop(h.budget)
		h.waiting = int32(d.held.n) //nolint:gosec // not many more than maxHeld
	}
	h.pass(frame, time, carrier, ack)
	return true
}

// floor keeps the frames of pieces from falling: what comes later in the stream
// was not deliverable before what comes earlier. The packet that fills a hole
// raises it for all behind; behind a gap that leaves the packet that carried the
// octets.
func (d *disorder) floor(frame uint64, time int64) (uint64, int64) {
	if frame > d.frame {
		d.frame, d.time = frame, time
	}
	return d.frame, d.time
}

// overBudget reports whether the held octets of this direction or of the run are
// more than they may be.
func (h *Direction) overBudget() bool {
	return h.dis.bytes > h.budget.perDirection || h.budget.over() || h.waiting > maxHeld
}

// giveUp makes a gap of the first hole, which is there, up to an offset.
func (d *disorder) giveUp(h *Direction, why GapReason, to int64, p *Piece) {
	e := d.held.first()
	frame, time := d.floor(e.frame, e.time)
	*p = Piece{Kind: Gap, Off: h.next, Len: to - h.next, Frame: frame, Time: time, Reason: why}
	d.gap(h, p)
}

// gap delivers a gap.
func (d *disorder) gap(h *Direction, p *Piece) {
	d.Gaps++
	d.GapOctets += uint64(p.Len) //nolint:gosec // never negative
	to := p.Off + p.Len
	if n := d.gapsLen; n > 0 && d.gaps[n-1].to == p.Off {
		d.gaps[n-1].to = to
	} else {
		if n == maxGaps {
			n = copy(d.gaps[:], d.gaps[1:])
		}
		d.gaps[n] = span{p.Off, to}
		d.gapsLen = n + 1
	}
	h.next = to
	h.pass(p.Frame, p.Time, nobody, unknown)
}

// seen says what octets [from, to) below the next one are: of a gap, delivered
// before, or some of each.
func (d *disorder) seen(from, to int64) Note {
	rest := to - from
	for _, g := range d.gaps[:d.gapsLen] {
		rest -= max(0, min(to, g.to)-max(from, g.from))
	}
	switch rest {
	case to - from:
		return Retransmission
	case 0:
		return LateForGap
	}
	return Retransmission | LateForGap
}
