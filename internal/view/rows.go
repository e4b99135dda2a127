package view

import "sort"

// rowsShown are the PDUs that are listed: all, or those that a filter leaves; of all
// connections, or of one.
type rowsShown struct {
	all, filtered *List // filtered: nil without a filter
	one           bool  // only those of conn
	conn          uint64
	of            []int32 // rows of conn
	next          int     // row to go on with
}

func (s *rowsShown) list() *List {
	if s.filtered != nil {
		return s.filtered
	}
	return s.all
}

// filter changes the filter; nil: none.
func (s *rowsShown) filter(l *List) {
	s.filtered = l
	s.of, s.next = nil, 0
}

// only leaves the rows of one connection, everything those of all.
func (s *rowsShown) only(conn uint64) {
	s.one, s.conn = true, conn
	s.of, s.next = nil, 0
}

func (s *rowsShown) everything() {
	s.one = false
	s.of, s.next = nil, 0
}

// renew takes in rows that were added.
func (s *rowsShown) renew() {
	if s.one {
		s.of, s.next = s.list().OfConn(s.of, s.conn, s.next)
	}
}

// span is where the rows begin and end.
func (s *rowsShown) span() (from, to int) {
	if s.one {
		return 0, len(s.of)
	}
	return s.list().Range()
}

// row returns a row; place says what it is in the list.
func (s *rowsShown) row(i int) Row { return s.list().Row(s.place(i)) }

func (s *rowsShown) place(i int) int {
	if s.one {
		return int(s.of[i])
	}
	return i
}

// find returns the row of a PDU.
func (s *rowsShown) find(number uint64) (row int, ok bool) {
	s.renew()
	row, ok = s.list().Find(number)
	if !ok || !s.one {
		return row, ok
	}
	return s.at(row)
}

// at is a row of the list among those of the connection.
func (s *rowsShown) at(place int) (row int, ok bool) {
	lo, hi := 0, len(s.of)
	for lo < hi {
		if mid := (lo + hi) / 2; int(s.of[mid]) < place {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(s.of) && int(s.of[lo]) == place
}

// frame returns the first row whose frame is at least a given one; the last if there is none.
func (s *rowsShown) frame(frame uint64) (row int, ok bool) {
	s.renew()
	row, ok = s.list().Frame(frame)
	if !ok || !s.one {
		return row, ok
	}
	row, _ = s.at(row)
	return min(row, len(s.of)-1), len(s.of) > 0
}

// near returns the row of a connection whose frame is at least a given one, or else the last
// before it. It reports false if none of the connection is listed.
func (s *rowsShown) near(frame, conn uint64) (row int, ok bool) {
	row, ok = s.frame(frame)
	if !ok {
		return 0, false
	}
	const far = 4096
	from, to := s.span()
	for i := row; i < min(to, row+far); i++ {
		if s.row(i).Conn == conn {
			return i, true
		}
	}
	if s.one {
		return 0, false
	}
	of, _ := s.list().OfConn(nil, conn, from)
	if len(of) == 0 {
		return 0, false
	}
	i := sort.Search(len(of), func(i int) bool { return s.row(int(of[i])).Frame >= frame })
	return int(of[min(i, len(of)-1)]), true
}
