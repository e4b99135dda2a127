//go:build !linux

package peer

import "net"

// kernelReset: the kernel does not tell whether the peer reset the connection.
func kernelReset(net.Conn) bool { return false }
