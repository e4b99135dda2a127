package reassembly

import (
	"slices"

	"github.com/iwdissect/iwdissect/internal/sctp"
	"github.com/iwdissect/iwdissect/internal/seq"
)

// tsns says which TSNs of a direction were seen. A TSN is unwrapped against the
// lowest one that is still awaited, so that no chunk can move that but by
// filling it.
type tsns struct {
	started bool
	// start is the first one; known: the INIT told it.
	start int64
	known bool
	// next is the lowest that was neither seen nor given up.
	next int64
	// seen are those above next, early those below start in a capture that
	// begins late, lost those that were given up. All sorted, disjoint.
	seen, early, lost []span
	// high is one beyond the highest seen.
	high int64
	// acked is one beyond the last that the peer has acknowledged cumulatively.
	acked    int64
	hasAcked bool
	// sacked are acknowledged beyond that by gap blocks; blurred: there were too
	// many of them to keep.
	sacked  []span
	blurred bool
	// holes were given up.
	holes uint64
}

// maxSpans bounds the lists: what comes beyond is no traffic but an attack.
const maxSpans = 1024

// unwrap turns a TSN into a number that does not wrap.
func (t *tsns) unwrap(v uint32) int64 {
	if !t.started {
		return int64(v)
	}
	return seq.Unwrap(t.next, v)
}

// begin says which TSN is the first.
func (t *tsns) begin(v uint32, known bool) {
	t.started, t.known = true, known
	t.start = int64(v)
	t.next, t.high = t.start, t.start
}

// add notes that a TSN was seen, and says what it was besides.
func (t *tsns) add(v int64) (n Note, fresh bool) {
	switch {
	case v < t.start:
		if has(t.early, v) {
			return Retransmission, false
		}
		if t.known {
			return BeforeStart, false
		}
		if len(t.early) >= maxSpans {
			return BeforeStart, false
		}
		t.early = insert(t.early, span{v, v + 1})
		return OutOfOrder, true
	case v < t.next:
		if i := find(t.lost, v); i >= 0 {
			t.lost = bound(cut(t.lost, i, v))
			return LateForGap, true
		}
		return Retransmission, false
	case v == t.next && len(t.seen) == 0:
		t.next++
	case has(t.seen, v):
		return Retransmission, false
	default:
		t.seen = insert(t.seen, span{v, v + 1})
		t.join()
	}
	if v < t.high {
		return OutOfOrder, true
	}
	t.high = v + 1
	return 0, true
}

// unseen is how many TSNs of [from, to) were not seen.
func (t *tsns) unseen(from, to int64) (n int64) {
	for _, x := range t.lost {
		n += max(min(x.to, to)-max(x.from, from), 0)
	}
	from = max(from, t.next)
	if n += max(to-from, 0); to <= from {
		return n
	}
	for _, x := range t.seen {
		n -= max(min(x.to, to)-max(x.from, from), 0)
	}
	return n
}

// ack notes that the peer has all below v, and the blocks beyond.
func (t *tsns) ack(v int64, octets []byte) {
	if !t.hasAcked || v > t.acked {
		t.acked, t.hasAcked = v, true
	}
	blocks := sctp.Blocks(octets)
	if len(blocks) == 0 && len(t.sacked) == 0 {
		t.blurred = false
		return
	}
	for b, rest, ok := blocks.Next(); ok && !t.blurred; b, rest, ok = rest.Next() {
		x := span{max(v-1+int64(b.Start), t.acked), v + int64(b.End)}
		if x.from < x.to {
			t.sacked = insert(t.sacked, x)
			t.blurred = len(t.sacked) > maxSpans
		}
	}
	n := 0
	for n < len(t.sacked) && t.sacked[n].to <= t.acked {
		n++
	}
	t.sacked = t.sacked[:copy(t.sacked, t.sacked[n:])]
}

// open returns the lowest TSN from v on that is not acknowledged, as far as the
// capture shows.
func (t *tsns) open(v int64) int64 {
	if t.hasAcked {
		v = max(v, t.acked)
	}
	if i := find(t.sacked, v); i >= 0 {
		v = t.sacked[i].to
	}
	return v
}

// join moves next over what was seen.
func (t *tsns) join() {
	for len(t.seen) > 0 && t.seen[0].from <= t.next {
		t.next = max(t.next, t.seen[0].to)
		t.seen = t.seen[:copy(t.seen, t.seen[1:])]
	}
}

// giveUp gives up the TSNs below v, and returns how many were awaited.
func (t *tsns) giveUp(v int64) (n int64) {
	for t.next < v {
		to := v
		if len(t.seen) > 0 {
			to = min(to, t.seen[0].from)
		}
		n += to - t.next
		t.holes++
		t.lost = insert(t.lost, span{t.next, to})
		t.next = to
		t.join()
	}
	t.lost = bound(t.lost)
	t.high = max(t.high, t.next)
	return n
}

// bound drops the lowest spans of a list that grew too long.
func bound(s []span) []span {
	if over := len(s) - maxSpans; over > 0 {
		return s[:copy(s, s[over:])]
	}
	return s
}

// find returns the span that holds v, or -1.
func find(s []span, v int64) int {
	i, ok := slices.BinarySearchFunc(s, v, func(x span, v int64) int {
		switch {
		case x.to <= v:
			return -1
		case x.from > v:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return i
}

func has(s []span, v int64) bool { return find(s, v) >= 0 }

// insert adds a span to a sorted list; it joins those that it touches.
func insert(s []span, x span) []span {
	i, _ := slices.BinarySearchFunc(s, x.from, func(y span, v int64) int {
		if y.to < v {
			return -1
		}
		return 1
	})
	j := i
	for j < len(s) && s[j].from <= x.to {
		x.from, x.to = min(x.from, s[j].from), max(x.to, s[j].to)
		j++
	}
	return slices.Replace(s, i, j, x)
}

// cut takes v out of span i.
func cut(s []span, i int, v int64) []span {
	x := s[i]
	var rest []span
	if x.from < v {
		rest = append(rest, span{x.from, v})
	}
	if v+1 < x.to {
		rest = append(rest, span{v + 1, x.to})
	}
	return slices.Replace(s, i, i+1, rest...)
}
