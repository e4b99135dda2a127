// Package ddp lays out the headers of Direct Data Placement segments: the
// control octet, the tagged header and the untagged header.
//
// RFC 5041 defines them: section 4.1 the control field, 4.2 the tagged header,
// 4.3 the untagged header, 5.2 segmentation. RFC 5044 section 4.5 bounds the
// size of a segment over MPA.
//
// Nothing is judged here: a wrong version or a reserved bit that is set is part
// of the result. The decoders fail only when there are too few octets: the error is
// a [*dissect.Error] that wraps [io.ErrUnexpectedEOF]. Numbers are in network byte
// order on the wire.
//
// The results are plain values without pointers into the input. The payload of
// a segment is the rest of the caller's slice, b[s.HeaderLen:], and lives as
// long as that slice.
//
// To add a field or a header:
//
//  1. Draw it in the doc comment of the type, name its offset and its masks.
//  2. Add it to the struct, to Decode and to Append, reserved bits included:
//     Append(Decode(b)) must return b.
//  3. Describe it in the [dissect.Header] in the same file, with Wireshark's
//     field name where there is one.
//  4. List a new header in [Headers].
//  5. Add a row to the descriptor proof and to the generators in the tests.
package ddp
