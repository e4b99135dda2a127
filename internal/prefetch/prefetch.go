// Package prefetch has the processor bring memory into its caches that is soon to be looked at.
// What thousands of connections need fits no cache: to wait for each part of it in turn would take
// longer than what is done with it.
//
// Nothing depends on it: it reads and writes nothing, and any pointer will do. Where a processor
// is not known here it does nothing.
package prefetch

import "unsafe"

// Object fetches what p points to.
func Object[T any](p *T) { lines(unsafe.Pointer(p), unsafe.Sizeof(*p)) }

// First fetches the first octets of what p points to.
func First[T any](p *T, octets uintptr) { lines(unsafe.Pointer(p), octets) }

// Tail fetches where a list goes on.
func Tail[T any](list []T) {
	lines(unsafe.Add(unsafe.Pointer(unsafe.SliceData(list)), uintptr(len(list))*unsafe.Sizeof(*new(T))), 1)
}

// State is what is kept of a connection by someone whom the reader of packets does not know.
type State interface {
	// Prefetch fetches what a packet of a direction will need. A pointer is followed in each step, and
	// what it points to was fetched in the one before.
	Prefetch(dir uint8, step int)
}
