package extcap

import (
	"os"

	"golang.org/x/sys/unix"
)

// Unread reports whether nobody reads from a pipe any more. Otherwise a write would tell, but no
// packet may come for hours.
func Unread(pipe *os.File) (unread bool) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) { // a pipe that is closed is not asked for
		list := []unix.PollFd{{Fd: int32(fd)}} //nolint:gosec // a small number
		n, err := unix.Poll(list, 0)
		unread = err == nil && n > 0 && list[0].Revents&(unix.POLLERR|unix.POLLNVAL) != 0
	})
	return unread
}
