// Package rdmap lays out what RDMAP adds to a DDP segment: the control octet in
// DDP's field for the upper layer, and the headers of the Read Request, the
// Terminate, the Atomic Request and Response and the Immediate Data messages.
//
// RFC 5040 defines them: section 4.1 the control field, 4.4 the Read Request,
// 4.8 the Terminate. RFC 7306 adds sections 5 (atomics) and 6 (immediate data),
// RFC 6580 the registries of codes, RFC 6581 section 8 three MPA error codes.
//
// Nothing is judged here: a wrong version, an unassigned opcode or a reserved
// bit that is set is part of the result. The decoders fail only when there are
// too few octets: the error is a [*dissect.Error] that wraps [io.ErrUnexpectedEOF].
// Numbers are in network byte order on the wire. [DecodeTerminate] then still returns the parts that are there.
//
// The results are values. The octet strings in a [Terminate] are slices of the
// caller's input and live as long as that; nothing else points into the input.
//
// All decoders take the message as it follows the DDP header, that is
// b[s.HeaderLen:] of a [ddp.Segment] s; the control octet is s.RsvdULP.
//
// To add a message:
//
//  1. Add its opcode to opcode.go: constant, name, row of the table.
//  2. Give its header a file: bit diagram in the doc comment of the type, named
//     offsets and masks, struct, Decode, Append. Reserved bits are kept:
//     Append(Decode(b)) must return b.
//  3. Describe it in a [dissect.Header] in the same file, with Wireshark's field
//     names where there are any, and list that in [Headers].
//  4. Add it to the vectors, the generators, the descriptor proof and the fuzz
//     target in the tests.
package rdmap
