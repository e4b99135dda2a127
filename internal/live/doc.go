// Package live captures frames from a network interface on Linux, without cgo
// and without libpcap: a TPACKET_V3 ring shared with the kernel, walked in
// place.
//
// # Order of use
//
// [Open] a [Handle], call [Handle.Next] from one goroutine until it returns
// [io.EOF], and stop with [Handle.Close] from anywhere (a signal handler, a
// context). Close ends the reception; Next still delivers every packet that
// was captured before it and only then returns io.EOF, so an interrupted
// capture is complete up to the moment of the interrupt. [Handle.Release]
// gives the ring back to the system when Next is not called until io.EOF.
//
// # Lifetime
//
// [Packet].Data points into the ring. It is valid until the next call of Next
// or Release on the same Handle; copy what has to live longer. Nothing is
// allocated per packet.
//
// # What is delivered
//
// Frames as they were on the wire: an 802.1Q tag that the kernel or the
// network card took out is put back, and on the loopback interface, where the
// kernel shows every packet twice, the outgoing copy is left out. Segments
// merged by receive offload (GRO, LRO) or not yet cut by transmit offload
// (TSO, GSO) are delivered as the host stack sees them: they are larger than
// the frames of the wire. What an RDMA adapter handles by itself does not pass
// the host stack and cannot be captured here at all.
//
// On other systems Open returns an error that tells how to pipe packets in
// from tcpdump.
package live
