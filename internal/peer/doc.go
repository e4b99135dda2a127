// Package peer is one end of an iWARP connection on a socket: an [rnic.Endpoint] with a
// net.Conn under it, goroutines that read and write, deadlines, a receive queue, and a tap
// that writes what was sent and received as a capture.
//
//	net.Conn ─ octets ▶ rnic.Endpoint ─ events ▶ owner
//	net.Conn ◀ units ── rnic.Endpoint ◀ work ── owner
//	    └── both ▶ Tap ▶ pcapng
//
// A [Peer] has two goroutines, which end with the connection. All that is done to the
// endpoint is done under one lock, by [Peer.Do].
package peer
