package link

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/prefetch"
)

// Foreseer is a receiver that can have what a packet will need brought into the caches of the
// processor: what thousands of connections have fits none of them.
type Foreseer interface {
	// Foresee fetches some of it. A pointer is followed in each step, from 0 on, and what it points to
	// was fetched in the one before.
	Foresee(step int)
}

// foreseen is an event that can be foreseen so.
type foreseen interface{ foresee(step int) }

// foresight is how many events ahead each step is, the first step the farthest.
var foresight = [...]int{18, 16, 14, 12, 10, 8, 6, 4}

// fetched is how many octets of a payload are: the processor sees for itself that more are read.
const fetched = 256

// foresee fetches what the events behind the first one of a lane will need.
func (l *lane) foresee() {
	for step, ahead := range foresight {
		if i := l.first + ahead; i < len(l.events) {
			if x, ok := l.events[i].what.(foreseen); ok {
				x.foresee(step)
			}
		}
	}
}

func (x *passing) foresee(step int) {
	switch step {
	case 0:
		prefetch.Object(x)
	case 2:
		prefetch.Object(x.Build)
		prefetch.First(unsafe.SliceData(x.Own.Payload), fetched)
	}
}

func (x *arriving) foresee(step int) {
	if step == 0 {
		prefetch.Object(x)
		return
	}
	if step == 1 {
		prefetch.First(unsafe.SliceData(x.Own.Payload), fetched)
	}
	if to, ok := x.To.(Foreseer); ok {
		to.Foresee(step - 1)
	}
}
