package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/diagnose"
	"github.com/iwdissect/iwdissect/internal/render"
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
	tail          []lastStep // the last ones, a ring
}

// lastStep is a row whose texts are made only if it is shown.
type lastStep struct {
	Step
	row render.FollowRow
}

// add takes in a row, of which x has all but the texts. It returns how many octets it takes.
func (s *steps) add(x Step, r *render.FollowRow) (weight int) {
	x.nth = s.n
	s.n++
	if len(s.head) < firstSteps {
		x.say(r)
		s.head = append(s.head, x)
		return x.weight()
	}
	if x.notes && len(s.notable) < notableSteps {
		for i := beforeSteps; i > 0; i-- {
			weight += s.keep(x.nth - uint64(i))
		}
		own := x
		own.say(r)
		s.notable = append(s.notable, own)
		weight += own.weight()
	}
	if len(s.tail) < lastSteps {
		s.tail = append(s.tail, lastStep{})
		weight += lastWeight
	}
	last := &s.tail[x.nth%lastSteps]
	last.Step = x
	r.Hold(&last.row)
	return weight
}

// keep keeps a row that came before, if it is still there.
func (s *steps) keep(nth uint64) (weight int) {
	if k := len(s.notable); k > 0 && s.notable[k-1].nth >= nth {
		return 0
	}
	for i := range s.tail {
		if s.tail[i].nth == nth {
			x := s.tail[i].made()
			s.notable = append(s.notable, x)
			return x.weight()
		}
	}
	return 0
}

// made is the row with its texts.
func (l *lastStep) made() Step {
	x := l.Step
	x.say(&l.row)
	return x
}

// say sets the texts.
func (x *Step) say(r *render.FollowRow) {
	x.Still = r.Still
	x.Text = shorter(r.Text())
	x.Below = r.Below()
	if len(x.Below) > mostBelow {
		x.Below = append(x.Below[:mostBelow:mostBelow], fmt.Sprintf("and %d more lines", len(x.Below)-mostBelow))
	}
	for i := range x.Below {
		x.Below[i] = shorter(x.Below[i])
	}
}

// Octets that rows take in memory, besides their texts.
const (
	stepWeight = int(unsafe.Sizeof(Step{}))
	lastWeight = int(unsafe.Sizeof(lastStep{})) + 1<<10 // with what it holds
)

func (x *Step) weight() int {
	n := stepWeight + len(x.Text) + len(x.Still)
	for _, line := range x.Below {
		n += len(line) + int(unsafe.Sizeof(line))
	}
	return n
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
	rows := slices.Concat(s.head, s.notable)
	for i := range s.tail {
		rows = append(rows, s.tail[i].made())
	}
	slices.SortStableFunc(rows, func(a, b Step) int { return cmp.Compare(a.nth, b.nth) })
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
