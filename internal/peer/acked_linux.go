package peer

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// kernelAcked returns what asks the kernel how many octets of this side the peer has acknowledged,
// a FIN among them; nil if it cannot be asked.
func kernelAcked(conn net.Conn) func() (n uint64, ok bool) {
	s, is := conn.(syscall.Conn)
	if !is {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	ask := func() (n uint64, ok bool) {
		err := raw.Control(func(fd uintptr) {
			if i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				n, ok = i.Bytes_acked, true
			}
		})
		return n, ok && err == nil
	}
	handshake, ok := ask() // the SYN counts as one of whoever has sent it
	if !ok {
		return nil
	}
	return func() (uint64, bool) {
		n, ok := ask()
		return n - handshake, ok
	}
}
