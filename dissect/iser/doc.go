// Package iser lays out what the iSCSI Extensions for RDMA put at the start of a message:
// the iSER header, Hello and HelloReply, and the basic header segment of the iSCSI PDU
// behind it. Headers only: text, data and additional header segments are not read.
//
// RFC 7145 section 9 defines the iSER header, RFC 5046 section 9 the shorter one before it:
// [Layout] tells them apart. RFC 7143 section 11 defines iSCSI. Numbers are in network byte
// order.
//
// Nothing is judged here: reserved bits and unknown opcodes are part of the result. The
// decoders fail only when there are too few octets: the error is a [*dissect.Error] that
// wraps [io.ErrUnexpectedEOF]. The results are values; nothing points into the input.
// Append(Decode(b)) is b for the octets of the header, reserved ones included.
package iser
