package reassembly

import "slices"

// delivery is a piece that was handed out: it begins where the one before it
// ends.
type delivery struct {
	to      int64
	frame   uint64
	time    int64
	carrier uint64 // the frame of its octets, or nobody
	ack     int64  // what that frame acknowledged, or unknown
}

// nobody is the carrier of a gap.
const nobody = ^uint64(0)

// unknown is the acknowledgement of a packet that has none, or one of a stream
// whose numbers are not known.
const unknown = -1

// carried is a frame and the octets [from, to) of the stream that it carried.
type carried struct {
	from, to int64
	frame    uint64
	ack      int64
}

// repeats are the carriers that deliveries and held segments do not show: of
// octets that came more than once, and fragments. Octets are asked for in small
// ranges once they were delivered, so what came early stays apart in a heap
// until then.
type repeats struct {
	pending []carried // a heap by from, all beyond the next octet at arrival
	sorted  []carried // from the heap, by from
	longest int64     // longest range in sorted
	late    []carried // in order of arrival, none beyond the next octet
	hull    span      // around late
}

// Bounds on what is remembered of an open PDU and of early octets; what comes
// beyond is a flood of repetitions.
const (
	maxPassed = 1 << 17
	maxAgain  = 1 << 14
	maxEarly  = 1 << 16
	// keepCap is the length up to which an emptied list keeps its memory.
	keepCap = 1 << 12
)

// pass remembers with which frame the octets up to next became deliverable.
func (h *Direction) pass(frame uint64, time int64, carrier uint64, ack int64) {
	if h.passed == nil {
		h.passed = h.budget.takePassed()
	}
	ps := *h.passed
	if n := len(ps); n >= maxPassed {
		ps[n-1].to = h.next
		return
	}
	*h.passed = append(ps, delivery{h.next, frame, time, carrier, ack})
}

// deliveries are those that may still be asked for.
func (h *Direction) deliveries() []delivery {
	if h.passed == nil {
		return nil
	}
	return *h.passed
}

// again remembers the carrier of octets that are delivered already, or with
// this packet.
func (d *disorder) again(h *Direction, s *Segment, off, end int64) {
	if end <= h.released {
		return
	}
	if len(d.late) == 0 {
		d.hull = span{off, end}
	}
	d.hull.from, d.hull.to = min(d.hull.from, off), max(d.hull.to, end)
	h.extra = true
	for i := range max(1, len(s.Fragments)) {
		if len(d.late) >= maxAgain {
			return
		}
		d.late = append(d.late, carried{off, end, carrier(s, i), s.acked})
	}
}

// ahead remembers the carrier of octets that lie beyond the next one. A segment
// that brought something new is remembered even in a flood.
func (d *disorder) ahead(h *Direction, s *Segment, off, end int64, fresh bool) {
	h.extra = true
	for i := range max(1, len(s.Fragments)) {
		if len(d.pending) >= maxEarly && (!fresh || i > 0) {
			return
		}
		d.up(carried{off, end, carrier(s, i), s.acked})
	}
}

// carrier is frame i of those that carried a segment.
func carrier(s *Segment, i int) uint64 {
	if len(s.Fragments) > 1 {
		return s.Fragments[i]
	}
	return s.Frame
}

// up puts a carrier into the heap.
func (d *repeats) up(c carried) {
	q := append(d.pending, c)
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if q[parent].from <= c.from {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = c
	d.pending = q
}

// down takes the carrier with the lowest offset out of the heap.
func (d *repeats) down() carried {
	q := d.pending
	top, n := q[0], len(q)-1
	c := q[n]
	q = q[:n]
	d.pending = q
	i := 0
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && q[child+1].from < q[child].from {
			child++
		}
		if c.from <= q[child].from {
			break
		}
		q[i] = q[child]
		i = child
	}
	if n > 0 {
		q[i] = c
	}
	return top
}

// arrive moves what the stream has reached from the heap to the sorted list.
func (d *repeats) arrive(next int64) {
	for len(d.pending) > 0 && d.pending[0].from < next {
		c := d.down()
		d.longest = max(d.longest, c.to-c.from)
		d.sorted = append(d.sorted, c)
	}
}

// Release says that no one will ask for the carriers of octets below off.
func (h *Direction) Release(off int64) {
	if off <= h.released {
		return
	}
	h.released = off
	if ps := h.deliveries(); len(ps) > 0 && ps[len(ps)-1].to <= off {
		h.left = ps[len(ps)-1].to
		h.undeliver(ps)
	} else if len(ps) > 0 && ps[0].to <= off {
		i := h.covering(off + 1)
		h.left = ps[i-1].to
		*h.passed = ps[:copy(ps, ps[i:])]
	}
	if h.extra {
		h.release(off)
	}
}

// undeliver forgets all deliveries. Others may have the room: most directions never need it again.
func (h *Direction) undeliver(ps []delivery) {
	*h.passed = ps[:0]
	if len(ps) > keepCap || h.budget.givePassed(h.passed) {
		h.passed = nil
	}
}

// release forgets carriers that deliveries do not show.
func (h *Direction) release(off int64) {
	d := h.dis
	d.arrive(h.next)
	if d.sorted = prune(d.sorted, off); len(d.sorted) == 0 {
		d.longest = 0
	}
	d.late = prune(d.late, off)
	if len(d.pending) == 0 && cap(d.pending) > keepCap {
		d.pending = nil
	}
	h.extra = len(d.pending)+len(d.sorted)+len(d.late) > 0
}

// prune removes what ends before off.
func prune(cs []carried, off int64) []carried {
	keep := 0
	for _, c := range cs {
		if c.to > off {
			cs[keep] = c
			keep++
		}
	}
	if keep == 0 && cap(cs) > keepCap {
		return nil
	}
	return cs[:keep]
}

// covering is the index of the first delivery that ends at to or beyond.
func (h *Direction) covering(to int64) int {
	ps := h.deliveries()
	if len(ps) > 0 && ps[0].to >= to {
		return 0
	}
	lo, hi := 0, len(ps)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if ps[m].to < to {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// Delivered returns the frame with which the octet before to became deliverable
// in order, and its capture time in nanoseconds since the Unix epoch. Octets below the
// released ones are forgotten.
func (h *Direction) Delivered(to int64) (frame uint64, time int64) {
	ps := h.deliveries()
	if i := h.covering(to); i < len(ps) {
		return ps[i].frame, ps[i].time
	}
	return 0, 0
}

// Carrier returns the frame that the octet at off was taken from; 0 if that is not known
// any more, or if it was not captured.
func (h *Direction) Carrier(off int64) uint64 {
	ps := h.deliveries()
	if i := h.covering(off + 1); i < len(ps) && (i > 0 || off >= h.left) && ps[i].carrier != nobody {
		return ps[i].carrier
	}
	return 0
}

// AckedBy is what the segment that first carried the octet at off acknowledged:
// the offset in the other direction up to which its sender had all octets. ok is
// false if no captured copy tells. Of several copies the least counts: it only
// grows, so any copy proves that the first one said no more.
func (h *Direction) AckedBy(off int64) (ack int64, ok bool) {
	ps := h.deliveries()
	ack = unknown
	if i := h.covering(off + 1); i < len(ps) && (i > 0 || off >= h.left) {
		ack = ps[i].ack
	}
	if h.extra {
		h.dis.each(h.next, off, off+1, func(c *carried) {
			if c.ack != unknown && (ack == unknown || c.ack < ack) {
				ack = c.ack
			}
		})
	}
	return ack, ack != unknown
}

// Bounds appends where in [from, to) segments begin, as they were delivered,
// counted from from.
func (h *Direction) Bounds(dst []int, from, to int64) []int {
	ps := h.deliveries()
	i := h.covering(from + 1)
	begin := h.left
	if i > 0 {
		begin = ps[i-1].to
	}
	for ; i < len(ps) && begin < to; i++ {
		// What the snap length took is of the same segment, and nobody knows which
		// segments a gap had.
		if c := ps[i].carrier; begin >= from && c != nobody && (i == 0 || c != ps[i-1].carrier) {
			dst = append(dst, int(begin-from))
		}
		begin = ps[i].to
	}
	return dst
}

// Bound is where the segment ends that the octet at off was delivered with; ok is
// false when that is not known any more.
func (h *Direction) Bound(off int64) (end int64, ok bool) {
	ps := h.deliveries()
	i := h.covering(off + 1)
	if i >= len(ps) || off < h.left {
		return 0, false
	}
	return ps[i].to, true
}

// Segment is where the TCP segment begins and ends that the octet at off was taken from, as far as
// its octets were not captured before. ok is false when that is not known any more, or if the octet was
// not captured.
func (h *Direction) Segment(off int64) (from, to int64, ok bool) {
	ps := h.deliveries()
	i := h.covering(off + 1)
	if i >= len(ps) || off < h.left || ps[i].carrier == nobody {
		return 0, 0, false
	}
	last := i
	for last+1 < len(ps) && ps[last+1].carrier == ps[i].carrier {
		last++ // what the snap length took is of the same segment
	}
	for i > 0 && ps[i-1].carrier == ps[last].carrier {
		i--
	}
	if from = h.left; i > 0 {
		from = ps[i-1].to
	}
	return from, ps[last].to, true
}

// Carriers appends the frames that carried octets of [from, to), in rising
// order and each once.
func (h *Direction) Carriers(dst []uint64, from, to int64) []uint64 {
	ps := h.deliveries()
	if from >= to {
		return dst
	}
	start := len(dst)
	for i := h.covering(from + 1); i < len(ps); i++ {
		if f := ps[i].carrier; f != nobody {
			dst = append(dst, f)
		}
		if ps[i].to >= to {
			break
		}
	}
	if h.waiting > 0 && to > h.next {
		dst = h.dis.held.carriers(dst, from, to)
	}
	if h.extra {
		dst = h.dis.carriers(dst, h.next, from, to)
	}
	return rising(dst, start)
}

// carriers appends the frames that deliveries do not show.
func (d *disorder) carriers(dst []uint64, next, from, to int64) []uint64 {
	d.each(next, from, to, func(c *carried) { dst = append(dst, c.frame) })
	return dst
}

// each visits the carriers of octets of [from, to) that deliveries do not show.
func (d *disorder) each(next, from, to int64, visit func(*carried)) {
	d.arrive(next)
	if len(d.late) > 0 && from < d.hull.to && to > d.hull.from {
		overlapping(d.late, from, to, visit)
	}
	if to > next {
		overlapping(d.pending, from, to, visit)
	}
	lo, hi := 0, len(d.sorted)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if d.sorted[m].from+d.longest <= from {
			lo = m + 1
		} else {
			hi = m
		}
	}
	for ; lo < len(d.sorted) && d.sorted[lo].from < to; lo++ {
		if d.sorted[lo].to > from {
			visit(&d.sorted[lo])
		}
	}
}

func overlapping(cs []carried, from, to int64, visit func(*carried)) {
	for i := range cs {
		if c := &cs[i]; c.from < to && c.to > from {
			visit(c)
		}
	}
}

// rising puts dst[start:] into rising order, each frame once.
func rising(dst []uint64, start int) []uint64 {
	for i := start + 1; i < len(dst); i++ {
		if dst[i] <= dst[i-1] {
			slices.Sort(dst[start:])
			return dst[:start+len(slices.Compact(dst[start:]))]
		}
	}
	return dst
}
