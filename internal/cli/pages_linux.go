package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"syscall"
)

// hugePages asks for large pages for so many octets of the heap that is still to come. What thousands of
// connections need is spread over so many small ones that finding a page takes longer than
// what is done with it.
//
// Memory that is made and not touched takes none; the advice stays with its addresses when
// it is given back, and the heap grows into them.
func hugePages(advised int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || uint64(limit.Cur) != math.MaxUint64 {
		return // addresses are scarce
	}
	percent := debug.SetGCPercent(-1)
	rooms := make([][]byte, advised/piece)
	for i := range rooms {
		rooms[i] = make([]byte, piece)
		_ = syscall.Madvise(rooms[i], syscall.MADV_HUGEPAGE) // where it is not known all is as before
	}
	clear(rooms)
	debug.SetGCPercent(percent)
	runtime.GC()
}

// piece is what is made at a time: where the heap was in use before it is zeroed, and
// so touched.
const piece = 4 << 20

// addressLimit is how many octets of addresses (ulimit -v) there are besides those that Go takes before
// it does anything; 0: any number. The same limit gives the same memory on each run.
func addressLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || uint64(limit.Cur) > math.MaxInt {
		return 0
	}
	const own = 3 << 29
	return max(int(limit.Cur)-own, 1)
}
