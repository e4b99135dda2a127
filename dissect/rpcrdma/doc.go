// Package rpcrdma lays out what RPC-over-RDMA version 1 puts into RDMAP messages:
// the transport header with its chunk lists (RFC 8166 section 4), the private data
// of the connection (RFC 8797), and behind the header the start of the RPC message
// (RFC 5531), with the operations of NFS as far as they can be told from its first
// octets (RFC 1813, RFC 7530, RFC 8881, RFC 7862, RFC 8276).
//
// Nothing is judged here: a wrong version or an odd list is part of the result. The
// decoders fail only when the octets cannot be laid out: a [*dissect.Error], which
// wraps [io.ErrUnexpectedEOF] where there are too few octets. What was read up to
// there is in the result. All numbers are in network byte order on the wire.
//
// The octets of lists and credentials in a result lie in the input and live as long
// as it. Nothing is allocated by a decoder; the time is bounded by the octets.
//
// To add a procedure or an operation, add its name to the table in nfs.go, and to
// skip in compound.go if its arguments have a fixed length. To add a header, follow
// the steps in package ddp.
package rpcrdma
