package rnic

import (
	"unsafe"

	"github.com/iwdissect/iwdissect/internal/prefetch"
)

// Foresee has what octets of the peer will need brought into the caches of the processor, but for
// the endpoint itself. A pointer is followed in each step, from 0 on.
func (e *Endpoint) Foresee(step int) {
	switch step {
	case 0:
		prefetch.Object(e.framer)
		prefetch.Object(unsafe.SliceData(e.regions))
		prefetch.Object(unsafe.SliceData(e.works.items[e.works.first:]))
		prefetch.Object(unsafe.SliceData(e.out))
		prefetch.First(unsafe.SliceData(e.buf), 128)
		prefetch.First(unsafe.SliceData(e.deframer.buf), 128)
		prefetch.Object(unsafe.SliceData(e.requests))
		prefetch.Object(unsafe.SliceData(e.undone))
	case 1:
		if len(e.regions) > 0 {
			prefetch.Object(e.regions[0])
		}
	}
}
