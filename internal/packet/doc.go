// Package packet decodes a captured frame down to its TCP segment or SCTP
// packet: link layer, VLAN tags, IPv4 (RFC 791), IPv6 with its extension
// headers (RFC 8200), fragments of both, and the TCP header (RFC 9293) or the
// SCTP common header (RFC 9260 section 3.1).
//
// # Two paths
//
// [Decoder.Decode] tries the plain case first (plain.go): Ethernet, at most two
// VLAN tags, IPv4 without options or IPv6 without extension headers, TCP,
// nothing cut. Everything else takes the general path, layer by layer. Both
// yield the same [Packet] for the same frame, and neither allocates, fragments
// excepted.
//
// The general path is our own instead of gopacket's DecodingLayerParser. The
// v1.1.19 parser has no Linux cooked v2; its cooked v1 layer slices by an
// address length taken from the frame and so panics on a hostile one; it
// returns freshly allocated errors; it refuses a whole segment for one
// malformed TCP or IPv4 option; it miscounts the payload behind an IPv6
// hop-by-hop header; its fragment, routing and authentication headers are not
// reusable layers; and it does not tell octets cut by the snap length from
// octets that never were. It stays as the oracle of the tests, away from these
// faults.
//
// # Tunnels
//
// Decoding ends at a tunnel with the status NotIP or OtherTransport, and Segment
// at its header; internal/tunnel takes it off and calls [Decoder.DecodeInner].
// Fragments of what may be a tunnel are assembled here.
//
// # Lifetime
//
// Slices in a Packet are borrowed. They point into the frame handed to Decode,
// or, for a reassembled datagram, into the Decoder, and are valid until the
// frame's buffer is reused or Decode is called again, whichever is first.
//
// # Cut frames
//
// Lengths come from the headers, octets from the capture. Where the snap length
// cut a frame, PayloadLen tells how long the payload was on the wire and
// Payload holds what was captured of it. Octets behind the end of the IP packet
// (Ethernet padding, trailers) are never payload.
//
// # To add a link type
//
//  1. Add its number to the constants in link.go.
//  2. Give it a case in linkHeader, and a function if it needs one.
//  3. Teach Build.Append to write it (build.go).
//  4. Add it to linkTypes in packet_test.go: truncation, fuzz seeds and the
//     comparison of Build with Decode then cover it.
package packet
