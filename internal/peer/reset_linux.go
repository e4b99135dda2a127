package peer

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// stateClosed is TCP_CLOSE of the kernel: nothing more is exchanged.
const stateClosed = 7

// kernelReset asks the kernel whether the peer has reset a connection that this side has not closed. Whoever
// reads or writes first gets that as an error, and a reader who comes later is told that the peer closed in good order.
func kernelReset(conn net.Conn) (reset bool) {
	s, is := conn.(syscall.Conn)
	if !is {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		reset = err == nil && i.State == stateClosed
	})
	return reset && err == nil
}
