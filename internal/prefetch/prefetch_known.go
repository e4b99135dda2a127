//go:build amd64 || arm64

package prefetch

import "unsafe"

// lines fetches the cache lines of so many octets from p on, as if p were the start of one.
//
//go:noescape
func lines(p unsafe.Pointer, octets uintptr)
