package statistics

import "unsafe"

// table has a row for each connection that was seen, in their order, up to a limit.
type table[T any] struct {
	// index has the place of the row of a connection plus 1, 0: none, -1: left out.
	index []int32
	rows  []T
	nums  []uint64
	limit int
	room  *room
	// omitted counts connections that were left out; behind is the number behind the last one of
	// them that has no place in the index.
	omitted, behind uint64
}

// maxRows bounds the connections that a table has rows for.
const maxRows = 100_000

// of returns the row of a connection, which is zero at first; nil if it is left out.
func (t *table[T]) of(conn uint64) *T {
	if conn >= uint64(len(t.index)) {
		more := int(conn) + 1 - len(t.index) //nolint:gosec // used below maxNumbers only
		if conn >= maxNumbers || !t.room.take(more*int(unsafe.Sizeof(t.index[0]))) {
			if conn >= t.behind {
				t.omitted, t.behind = t.omitted+1, conn+1
			}
			return nil
		}
		t.index = append(t.index, make([]int32, more)...)
	}
	i := t.index[conn]
	switch {
	case i > 0:
		return &t.rows[i-1]
	case i < 0:
		return nil
	}
	limit := t.limit
	if limit == 0 {
		limit = maxRows
	}
	if len(t.rows) >= limit || !t.room.take(int(unsafe.Sizeof(t.rows[0]))+rowWeight) {
		t.index[conn] = -1
		t.omitted++
		return nil
	}
	var row T
	t.rows, t.nums = append(t.rows, row), append(t.nums, conn)
	t.index[conn] = int32(len(t.rows)) //nolint:gosec // at most limit
	return &t.rows[len(t.rows)-1]
}

func (t *table[T]) keepsIn(r *room) { t.room = r }

// has returns the row of a connection, nil if there is none.
func (t *table[T]) has(conn uint64) *T {
	if conn < uint64(len(t.index)) && t.index[conn] > 0 {
		return &t.rows[t.index[conn]-1]
	}
	return nil
}

// maxNumbers bounds the index: beyond that many connections of a capture none is added.
const maxNumbers = 1 << 24

// peers are the ends of a connection, as they are known when it is over.
type peers struct {
	initiator, responder string
}
