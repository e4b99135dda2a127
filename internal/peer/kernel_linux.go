package peer

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// tcpInfo returns what asks the kernel about a connection of TCP, nil if it cannot be asked. It returns nil
// once the socket is closed.
func tcpInfo(conn net.Conn) func() *unix.TCPInfo {
	s, is := conn.(syscall.Conn)
	if !is {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return func() (info *unix.TCPInfo) {
		err := raw.Control(func(fd uintptr) {
			if i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				info = i
			}
		})
		if err != nil {
			return nil
		}
		return info
	}
}

// kernelAcked returns what asks the kernel how many octets of this side the peer has acknowledged,
// a FIN among them; nil if it cannot be asked.
func kernelAcked(conn net.Conn) func() (n uint64, ok bool) {
	ask := tcpInfo(conn)
	if ask == nil {
		return nil
	}
	before := ask() // the SYN counts as one of whoever has sent it
	if before == nil {
		return nil
	}
	return func() (uint64, bool) {
		if i := ask(); i != nil {
			return i.Bytes_acked - before.Bytes_acked, true
		}
		return 0, false
	}
}

// stateClosed is TCP_CLOSE of the kernel: nothing more is exchanged.
const stateClosed = 7

// kernelReset asks the kernel whether the peer has reset a connection that this side has not closed. Whoever
// reads or writes first gets that as an error, and a reader who comes later is told that the peer closed in good order.
func kernelReset(conn net.Conn) bool {
	if ask := tcpInfo(conn); ask != nil {
		i := ask()
		return i != nil && i.State == stateClosed
	}
	return false
}
