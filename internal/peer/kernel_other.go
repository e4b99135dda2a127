//go:build !linux

package peer

import "net"

// kernelPeer: the kernel does not tell of the peer.
func kernelPeer(net.Conn) func() (p peerTCP, ok bool) { return nil }

// kernelReset: the kernel does not tell whether the peer reset the connection.
func kernelReset(net.Conn) bool { return false }
