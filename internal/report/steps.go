package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/diagnose"
)

// The rows of a ladder that are kept: the first ones, the last ones, and between them those that
// are notable, each with some before it.
const (
	firstSteps   = 80
	lastSteps    = 40 // a part of firstSteps, so that the place in the ring is the rest of the number
	notableSteps = 160
	beforeSteps  = 2
	mostBelow    = 6   // lines below a row
	mostWords    = 600 // octets of a text
)

// steps keeps rows of a ladder.
type steps struct {
	n             uint64
	head, notable []Step
	tail          []Step // the last ones, a ring
}

// add takes in a row.
func (s *steps) add(x Step) {
	x.nth = s.n
	s.n++
	x.Text = shorter(x.Text)
	if len(x.Below) > mostBelow {
		x.Below = append(x.Below[:mostBelow:mostBelow], fmt.Sprintf("and %d more lines", len(x.Below)-mostBelow))
	}
	for i := range x.Below {
		x.Below[i] = shorter(x.Below[i])
	}
	if len(s.head) < firstSteps {
		s.head = append(s.head, x)
		return
	}
	if x.notes && len(s.notable) < notableSteps {
		for i := beforeSteps; i > 0; i-- {
			s.keep(x.nth - uint64(i))
		}
		s.notable = append(s.notable, x)
	}
	if len(s.tail) < lastSteps {
		s.tail = append(s.tail, x)
	} else {
		s.tail[x.nth%lastSteps] = x
	}
}

// keep keeps a row that came before, if it is still there.
func (s *steps) keep(nth uint64) {
	if k := len(s.notable); k > 0 && s.notable[k-1].nth >= nth {
		return
	}
	for i := range s.tail {
		if s.tail[i].nth == nth {
			s.notable = append(s.notable, s.tail[i])
			return
		}
	}
}

// shorter cuts a text that is too long.
func shorter(s string) string {
	if len(s) <= mostWords {
		return s
	}
	return strings.ToValidUTF8(s[:mostWords], "") + " …"
}

// all are the rows that were kept, with what stands in the place of the others. places are the
// PDUs that the page shows.
func (s *steps) all(places map[uint64]string) []Step {
	rows := slices.Concat(s.head, s.notable, s.tail)
	slices.SortFunc(rows, func(a, b Step) int {
		switch {
		case a.nth < b.nth:
			return -1
		case a.nth > b.nth:
			return 1
		}
		return 0
	})
	rows = slices.CompactFunc(rows, func(a, b Step) bool { return a.nth == b.nth })
	var out []Step
	for i := range rows {
		if i > 0 {
			if n := rows[i].nth - rows[i-1].nth - 1; n > 0 {
				out = append(out, Step{Still: diagnose.Counted(n, "row is", "rows are") + " not drawn; iwdissect follow shows them"})
			}
		}
		rows[i].link(places)
		out = append(out, rows[i])
	}
	return out
}

// link links a row with a PDU that the page shows.
func (x *Step) link(places map[uint64]string) {
	if !x.has {
		return
	}
	for _, n := range x.pdu {
		if places[n] != "" {
			x.Link = places[n]
			return
		}
	}
	least := ""
	var at uint64
	for n, place := range places { // a PDU in the midst of it
		if x.pdu[0] < n && n < x.pdu[1] && (least == "" || n < at) {
			least, at = place, n
		}
	}
	x.Link = least
}
