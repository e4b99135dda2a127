package cli

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseStart gives back the pages of the program that its start touched: most of them are not
// needed again. They stay in the page cache, and one that is needed after all is mapped again.
func releaseStart() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close() //nolint:errcheck // it was only read
	var from, to uint64
	in := bufio.NewScanner(maps)
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch {
		case len(words) >= 5 && strings.Contains(words[0], "-"):
			from, to = 0, 0
			if len(words) == 6 && words[5] == program && !strings.Contains(words[1], "w") {
				a, b, _ := strings.Cut(words[0], "-")
				from, _ = strconv.ParseUint(a, 16, 64)
				to, _ = strconv.ParseUint(b, 16, 64)
			}
		case to > from && words[0] == "Anonymous:" && words[1] == "0":
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED)
		}
	}
}
