// Package fifo keeps slices to which is added at the end and taken from the front, in memory
// that is used again: an entry costs the same however many there are.
package fifo

// Room is the memory of a slice, in which only the methods of Room add to it or take from it.
// The zero value is ready, for a nil slice.
type Room[T any] struct {
	all   []T
	moved uint64
}

// Moved is how many entries were moved so far. It is for tests.
func (r *Room[T]) Moved() uint64 { return r.moved }

// Cap is for how many entries there is memory.
func (r *Room[T]) Cap() int { return cap(r.all) }

// Push adds an entry at the end. Entries move if there is no room behind them: to the front,
// if at least half of the memory is free there, else to memory twice as large. So each entry
// that is added moves about one.
func (r *Room[T]) Push(items *[]T, v T) {
	q := *items
	if n := len(q); n == cap(q) {
		all := r.all
		if free := cap(all) - cap(q); free < n || cap(all) == 0 {
			all = make([]T, 0, max(2*n, 1))
		}
		r.moved += uint64(n)
		used := r.all[:cap(r.all)-cap(q)+n]
		r.all = all
		q = all[:copy(all[:n], q)]
		if cap(used) == cap(all) && n < len(used) {
			clear(used[n:])
		}
	}
	*items = append(q, v)
}

// Drop takes n entries from the front.
func (r *Room[T]) Drop(items *[]T, n int) {
	clear((*items)[:n])
	if *items = (*items)[n:]; len(*items) == 0 {
		*items = r.all[:0]
	}
}

// Remove takes an entry out. Those on the side that has fewer move up.
func (r *Room[T]) Remove(items *[]T, i int) {
	q := *items
	if i < len(q)/2 {
		copy(q[1:i+1], q[:i])
		r.moved += uint64(i) //nolint:gosec // an index
		r.Drop(items, 1)
		return
	}
	r.moved += uint64(copy(q[i:], q[i+1:])) //nolint:gosec // a length
	clear(q[len(q)-1:])
	*items = q[:len(q)-1]
}
