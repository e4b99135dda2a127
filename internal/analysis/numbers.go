package analysis

import (
	"slices"

	"github.com/iwdissect/iwdissect/reassembly"
)

// openNumbers are the unacknowledged DDP-SSNs in one direction of a session. There must
// be fewer than 32768, or their order is ambiguous (RFC 5043 section 10).
type openNumbers struct {
	runs  []numberRun // by TSN
	begun bool
	// high is the highest number, unwrapped, frame the one that carried it.
	high  int64
	frame uint64
	wide  bool // it is in Association.wide
}

// numberRun are n chunks of which both TSNs and numbers follow one another.
type numberRun struct{ tsn, number, n int64 }

const (
	maxOpenNumbers = 1 << 15
	// maxNumberRuns bounds the runs. If there are more, every second one is dropped;
	// the others stay correct.
	maxNumberRuns = 256
)

// add processes a message. It reports true once, when too many numbers may be open.
func (o *openNumbers) add(asm *reassembly.Association, side int, m *reassembly.Message, ssn uint16) bool {
	v := int64(ssn)
	if o.begun {
		v = o.high + int64(int16(ssn-uint16(o.high))) //nolint:gosec // modulo 65536 by design
	}
	if !o.begun || v > o.high {
		o.begun, o.high, o.frame = true, v, m.Arrival.Frame
	}
	if acked, ok := asm.Acked(side); ok {
		n := 0
		for n < len(o.runs) && o.runs[n].tsn+o.runs[n].n <= acked {
			n++
		}
		o.runs = o.runs[:copy(o.runs, o.runs[n:])]
	}
	switch last := len(o.runs) - 1; {
	case last < 0:
		o.runs = append(o.runs, numberRun{m.First, v, 1})
	case m.First < o.runs[last].tsn+o.runs[last].n:
		// It came after a later one, which is enough.
	case m.First == o.runs[last].tsn+o.runs[last].n && v == o.runs[last].number+o.runs[last].n:
		o.runs[last].n++
	default:
		if len(o.runs) == maxNumberRuns {
			i := 0
			o.runs = slices.DeleteFunc(o.runs, func(numberRun) bool { i++; return i%2 == 0 })
		}
		o.runs = append(o.runs, numberRun{m.First, v, 1})
	}
	if o.wide || o.high-o.runs[0].number < maxOpenNumbers || o.span(asm, side) < maxOpenNumbers {
		return false
	}
	o.wide = true
	return true
}

// span is the distance from the lowest number that is open, as far as the capture
// shows, to the highest one.
func (o *openNumbers) span(asm *reassembly.Association, side int) int64 {
	for _, r := range o.runs {
		tsn, ok := asm.Unacked(side, r.tsn)
		if !ok {
			return 0
		}
		if tsn < r.tsn+r.n {
			return o.high - (r.number + tsn - r.tsn)
		}
	}
	return 0
}

// wideDirection is a direction of a session in which too many numbers may be open.
type wideDirection struct {
	*Session
	side int
}

// unnumbered looks at the sessions in which too many numbers of a side may be open,
// after an acknowledgement of the other side. One that does not reach the lowest
// number proves that none before did, captured or not.
func (a *Association) unnumbered(side int) {
	if len(a.wide) == 0 {
		return
	}
	a.wide = slices.DeleteFunc(a.wide, func(w wideDirection) bool {
		o := &w.dirs[w.side].open
		switch {
		case w.side != side:
			return false
		case o.span(&a.asm, side) < maxOpenNumbers:
			o.wide = false
			return true
		case !a.merged:
			w.Trace.Flow[w.Dir(side)].Rarely().Unnumbered = o.frame
		}
		return true
	})
}
