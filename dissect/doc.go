// Package dissect holds what the dissectors of the iWARP layers share: the
// error type and the description of header fields.
//
// The layers are in the packages below it: mpa (RFC 5044, RFC 6581), ddp
// (RFC 5041), rdmap (RFC 5040, RFC 7306) and sctpddp (RFC 5043). Each header
// has one file with its bit diagram, its struct, Decode, Append and the
// [Header] description that filters, JSON, the tree and the documentation
// read. Those of the protocols that RDMAP carries follow the same pattern.
//
// Decoders describe, rules judge: a decoder fails only when the octets cannot
// be laid out. A reserved bit that is set, a wrong version or a bad CRC is a
// field of the result.
//
// All numbers of these layers are in network byte order on the wire, except the
// CRC32c. Some upper layers are little-endian: [Field.LittleEndian].
package dissect
