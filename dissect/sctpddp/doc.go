// Package sctpddp lays out what DDP puts into SCTP user messages: the DDP
// Segment Chunk and the DDP Stream Session Control Chunk of RFC 5043 section 5.2,
// with the enhanced functions of RFC 6581 section 7.
//
// The payload protocol identifier of the DATA chunk says which of the two it is
// ([PPIDSegment], [PPIDControl]). Both begin with the DDP-SSN, the sequence
// number by which a session is put in order.
//
// Nothing is judged here: an unknown function or private data where there may
// be none is part of the result. The decoders fail only when there are too few
// octets: the error is a [*dissect.Error] that wraps [io.ErrUnexpectedEOF]. Numbers
// are in network byte order on the wire. What is returned points into the input and lives as long as that.
package sctpddp
