package statistics

import (
	"fmt"
	"unsafe"
)

// series has a slot for each interval of time. The interval is given, or it grows with the
// capture, so that there are never more than a hundred.
type series[T any] struct {
	interval int64 // nanoseconds
	fixed    bool
	slots    []T
	// merge adds a later slot to an earlier one.
	merge   func(to, from *T)
	omitted uint64
	room    *room
}

// The intervals that a series chooses: the first one, and how many slots it takes before
// the next one, ten times as long.
const (
	leastInterval = int64(1e5) // 0.1 ms
	mostSlots     = 100
)

func newSeries[T any](interval int64, merge func(to, from *T)) *series[T] {
	if interval > 0 {
		return &series[T]{interval: interval, fixed: true, merge: merge}
	}
	return &series[T]{interval: leastInterval, merge: merge}
}

// at returns the slot of a time since the first frame, nil if there is no room for it.
func (s *series[T]) at(ns int64) *T {
	n := max(ns, 0) / s.interval
	for !s.fixed && n >= mostSlots {
		s.coarser()
		n = max(ns, 0) / s.interval
	}
	if n >= maxIntervals {
		s.omitted++
		return nil
	}
	if more := int(n) + 1 - len(s.slots); more > 0 {
		var slot T
		if s.fixed && !s.room.take(more*(int(unsafe.Sizeof(slot))+slotWeight)) {
			s.omitted++
			return nil
		}
		s.slots = append(s.slots, make([]T, more)...)
	}
	return &s.slots[n]
}

// coarser makes the interval ten times as long.
func (s *series[T]) coarser() {
	s.interval *= 10
	n := 0
	for i := range s.slots {
		if i%10 == 0 {
			s.slots[n] = s.slots[i]
			n++
		} else {
			s.merge(&s.slots[n-1], &s.slots[i])
		}
	}
	clear(s.slots[n:])
	s.slots = s.slots[:n]
}

// left says what a bound left out of a report.
func (s *series[T]) left(r *Report) {
	if s.omitted > 0 {
		r.note(fmt.Sprintf("%d events behind the first %d intervals are left out; choose a longer interval", s.omitted, len(s.slots)))
	}
}

// span is an interval as text shows it.
func (s *series[T]) span(i int) (from, to int64) {
	return int64(i) * s.interval, (int64(i) + 1) * s.interval
}

// intervalOf reads "[interval][,filter]": what begins with a digit is an interval.
func intervalOf(args string) (ns int64, filter string, err error) {
	text, rest, _ := cut(args)
	if text == "" || text[0] != '.' && (text[0] < '0' || text[0] > '9') {
		return 0, args, nil
	}
	ns, _, err = parseInterval(text)
	return ns, rest, err
}
