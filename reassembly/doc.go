// Package reassembly turns the packets of a TCP connection into two ordered
// streams of octets, and remembers for every octet which frames carried it.
//
// It differs from a receiver in what it must not lose: an octet that never was
// captured becomes an explicit [Gap], an octet that was on the wire but fell to
// the snap length becomes a [Cut], a retransmission is reported even though it
// brings nothing new, and what disagrees with an earlier copy is said to do so.
//
// Offsets are 64 bits wide and count from the first octet after the SYN (RFC
// 9293 3.4); when the SYN was not captured and nothing of the peer tells where
// the stream stands, they count from the first octet seen. Sequence numbers
// are unwrapped once, on the way in.
//
// Data that arrives in order passes through without a copy: a [Piece] borrows
// the octets of the segment until the next call on the connection. Out of order
// data is copied into a list whose size is bounded for a direction and for
// the whole run; what does not fit turns its hole into a gap, never silently.
// A hole also becomes a gap once the peer has acknowledged it, as far as it was
// acknowledged: the receiver has those octets, so nobody will send them again.
//
// The caller asks [Conn.NewConnection] and then calls [Conn.Push] for each
// packet, [Conn.Pop] until it has no more, and [Direction.Release] to say which
// octets it has done with; at the end [Conn.Flush] for both directions.
package reassembly
