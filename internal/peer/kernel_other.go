//go:build !linux

package peer

import "net"

// kernelAcked: the kernel does not tell what the peer has acknowledged.
func kernelAcked(net.Conn) func() (n uint64, ok bool) { return nil }

// kernelReset: the kernel does not tell whether the peer reset the connection.
func kernelReset(net.Conn) bool { return false }
