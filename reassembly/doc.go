// Package reassembly turns the packets of a TCP connection into two ordered
// streams of octets, and remembers for every octet which frames carried it: [Conn].
// It turns the chunks of an SCTP association into user messages: [Association]. And it
// puts such messages in order by their DDP-SSN: [Sequence].
//
// Unlike a receiver it reports everything: octets that were not captured become an
// explicit [Gap], octets beyond the snap length become a [Cut], and retransmissions and
// differences from an earlier copy are noted.
//
// Offsets are 64 bits wide and count from the first octet after the SYN (RFC
// 9293 3.4); when neither the SYN nor its acknowledgement was captured, they
// count from the first octet seen. Sequence numbers are unwrapped once, on input.
//
// Data that arrives in order passes through without a copy: a [Piece] borrows
// the octets of the segment until the next call on the connection. Out of order
// data is copied into a list whose size is bounded for a direction and for the whole
// run; if the bound is exceeded, the first hole becomes a gap, which is reported. The
// acknowledged part of a hole also becomes a gap: the receiver has those octets, so
// they will not be sent again.
//
// The caller asks [Conn.NewConnection] and then calls [Conn.Push] for each
// packet, [Conn.Pop] until it has no more, and [Direction.Release] for octets that are
// no longer needed; at the end [Conn.Flush] for both directions.
//
// For SCTP the caller begins each packet with [Association.Packet], calls
// [Association.Data] for each chunk of user data and [Association.Ack] for each SACK, and
// then [Association.Age] and [Association.Broken], unless [Association.Quiet]; at the end
// [Association.Finish], and Age and Broken once more.
//
// # Units
//
// Numbers of headers are in the order of the host, octets as they are on the wire.
// Lengths, offsets and bounds count octets. Times are nanoseconds since the Unix epoch.
// Frames are numbered from 1, and 0 stands for none. TSNs of 64 bits are unwrapped: they
// go on where those of the wire begin again at 0. A direction, and the side that sends
// in it, is 0 or 1.
//
// # Errors
//
// There are none. Whatever the packets say has a result: octets that are missing are a
// Gap, and what contradicts what came before has a [Note]. Nothing is safe for use by
// several goroutines, and a [Budget] with all that share it belongs to one.
package reassembly
