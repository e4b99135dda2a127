// Package sctp lays out SCTP packets (RFC 9260): the common header with its
// CRC32c, and the chunks, all of a bundle. DATA and I-DATA (RFC 8260), INIT and
// its answer with their parameters, SACK, FORWARD-TSN (RFC 3758), SHUTDOWN and
// ABORT are taken apart; every other chunk is handed out as octets.
//
// Each chunk has one definition for reading and writing: Append(Decode(b)) is b
// for what a correct sender writes. Decode fails only when octets cannot be laid
// out; what is cut by the capture or contradicts itself is said with the place.
// Results point into the input and live as long as that.
package sctp
