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

// kernelPeer returns what asks the kernel about the peer; nil if it cannot be asked.
func kernelPeer(conn net.Conn) func() (p peerTCP, ok bool) {
	ask := tcpInfo(conn)
	if ask == nil {
		return nil
	}
	before := ask() // the SYN counts as one of whoever has sent it
	if before == nil {
		return nil
	}
	return func() (p peerTCP, ok bool) {
		i := ask()
		if i == nil {
			return p, false
		}
		// An older kernel does not tell the window, not at the beginning either.
		return peerTCP{acked: i.Bytes_acked - before.Bytes_acked, full: i.Snd_wnd == 0 && before.Snd_wnd > 0}, true
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
