package report

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/waits"
	"github.com/iwdissect/iwdissect/trace"
)

// slots bounds how many parts of time are told apart.
const slots = 240

// shortest is the length of the shortest slot, as a power of two in nanoseconds.
const shortest = 10

// timeline counts what happens on a connection over time. How long that takes is known only at
// its end: slots become twice as long whenever there are too many.
type timeline struct {
	began  int64
	double uint8 // the length of a slot, as a power of two in nanoseconds
	// octets are those of PDUs by direction, again packets that were sent again.
	octets, again [2][]uint64
	depth         [2]depthSlots
	waits         waits.Conn
	event         waits.Event
}

// depthSlots is how many requests of a direction wait.
type depthSlots struct {
	now  int32
	most []int32
	top  int32
}

// slot is the place of a time.
func (t *timeline) slot(ns int64) int {
	if t.began == 0 {
		t.began = ns // the first frame has no time
	}
	at := max(ns-t.began, 0)
	for at>>t.double >= slots {
		t.double++
		for d := range 2 {
			t.octets[d], t.again[d] = pairs(t.octets[d], sum), pairs(t.again[d], sum)
			t.depth[d].most = pairs(t.depth[d].most, func(a, b int32) int32 { return max(a, b) })
		}
	}
	return int(at >> t.double)
}

func sum(a, b uint64) uint64 { return a + b }

// pairs makes one of two neighbours.
func pairs[T any](s []T, join func(T, T) T) []T {
	n := 0
	for i := 0; i < len(s); i += 2 {
		s[n] = s[i]
		if i+1 < len(s) {
			s[n] = join(s[i], s[i+1])
		}
		n++
	}
	return s[:n]
}

// count adds to a slot.
func count(s *[]uint64, slot int, n uint64) {
	if slot >= len(*s) {
		*s = append(*s, make([]uint64, slot+1-len(*s))...)
	}
	(*s)[slot] += n
}

// requests takes in what a PDU or a transaction says of how many requests wait.
func (t *timeline) requests() { t.waits.Take(&t.event, t) }

// ends ends the requests that wait.
func (t *timeline) ends(c *trace.Connection) { t.waits.Close(c, t) }

// Waits implements [waits.Sink].
func (t *timeline) Waits(w waits.Change) {
	if w.Time != 0 {
		t.depth[w.Dir].at(t.slot(w.Time), w.Now)
	}
}

// at takes in how many requests wait at a time.
func (d *depthSlots) at(slot int, n int32) {
	if n == 0 && d.most == nil {
		return
	}
	for len(d.most) <= slot {
		d.most = append(d.most, d.now) // as many as before
	}
	d.now = n
	d.most[slot] = max(d.most[slot], n)
	d.top = max(d.top, n)
}

// weight is how many octets it takes.
func (t *timeline) weight() (n int) {
	for d := range 2 {
		n += (cap(t.octets[d])+cap(t.again[d]))*int(unsafe.Sizeof(uint64(0))) + cap(t.depth[d].most)*int(unsafe.Sizeof(int32(0)))
	}
	return n + t.waits.Weight()
}
