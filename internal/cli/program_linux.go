package cli

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// startAreas are where the code and the constants of the program are mapped; nil: that is not known.
var startAreas atomic.Pointer[[]area]

type area struct{ from, to uintptr }

// releaseStart gives back the pages of the program that its start touched: most of them are not
// needed again.
func releaseStart() {
	if areas := mapped(); len(areas) > 0 {
		startAreas.Store(&areas)
		releaseProgram()
	}
}

// releaseProgram gives back the pages of the program, if releaseStart has found them. They stay in the page
// cache. The kernel maps one that is needed again with the fifteen around it, and most of those are
// not needed: what is mapped grows with time.
func releaseProgram() {
	areas := startAreas.Load()
	if areas == nil {
		return
	}
	for _, a := range *areas {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, a.from, a.to-a.from, unix.MADV_DONTNEED)
	}
}

// mapped finds the program in memory. Parts of which the process has copies of its own are left out.
func mapped() (areas []area) {
	name, err := os.Executable()
	if err != nil {
		return nil
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer maps.Close() //nolint:errcheck // it was only read
	var from, to uint64
	in := bufio.NewScanner(maps)
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch {
		case len(words) >= 5 && strings.Contains(words[0], "-"):
			from, to = 0, 0
			if len(words) == 6 && words[5] == name && !strings.Contains(words[1], "w") {
				a, b, _ := strings.Cut(words[0], "-")
				from, _ = strconv.ParseUint(a, 16, 64)
				to, _ = strconv.ParseUint(b, 16, 64)
			}
		case to > from && words[0] == "Anonymous:" && words[1] == "0":
			areas = append(areas, area{uintptr(from), uintptr(to)})
		}
	}
	return areas
}
