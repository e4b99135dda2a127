package statistics

import (
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/budget"
)

// TestRoom: rows and intervals that there is no memory for are left out, counted, and said to be.
func TestRoom(t *testing.T) {
	account := budget.New(1 << 20)
	r := &room{account}
	tab := table[int]{room: r}
	const conns = 10_000
	for range 2 {
		for c := range uint64(conns) {
			tab.of(c)
		}
	}
	if n := len(tab.rows); n == 0 || n > 1<<20/rowWeight || uint64(n)+tab.omitted != conns {
		t.Errorf("%d rows, %d left out", n, tab.omitted)
	}
	if !account.Scarce() || account.Used() > 1<<20 {
		t.Errorf("%d octets are taken", account.Used())
	}
	var rep Report
	tab.left(&rep)
	if len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "have no row") {
		t.Errorf("%q", rep.Notes)
	}

	s := newSeries(1000, func(to, from *int) { *to += *from })
	s.room = &room{budget.New(1 << 20)}
	for i := range int64(conns) {
		s.at(i * 1000)
	}
	if n := len(s.slots); n == 0 || n > 1<<20/slotWeight || uint64(n)+s.omitted != conns {
		t.Errorf("%d intervals, %d events left out", n, s.omitted)
	}
}
