package capture

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is how many octets a pipe should hold: as many as the kernel gives a user who is not
// root, if nobody has changed that. With the 64 KiB that a pipe has by itself, who writes and who
// reads wait for each other sixteen times as often.
const pipeSize = 1 << 20

// widen makes a pipe as large as the kernel gives. It is no matter if it does not.
func widen(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		for size := pipeSize; size > 64<<10; size /= 2 {
			now, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0)
			if err != nil || now >= size {
				return
			}
			if _, err := unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size); err == nil {
				return
			}
		}
	})
}
