// Package mpa decodes and encodes Marker PDU Aligned framing for TCP: the
// startup frames of RFC 5044 section 7.1 and RFC 6581 with their older dialects,
// and the FPDUs, markers and CRCs of full operation (RFC 5044 section 4).
//
// A [Decoder] takes the octets of one direction in any split and hands out
// FPDUs. Where an FPDU lies in one slice of the input it is not copied: what a
// [FPDU] points to is valid until the next call on the decoder. An [Encoder]
// is its mirror.
//
// The Decode functions return a [*dissect.Error] for octets that cannot be parsed;
// where the input ends too early it wraps [io.ErrUnexpectedEOF]. A Decoder has no
// errors: what cannot be framed is one of its results. An Encoder has one, [ErrLongULPDU].
//
// Numbers are in network byte order, but for the CRC32c, whose register goes
// out least significant octet first (RFC 5044 section 4.4 figure 5).
//
// To add a startup dialect: its key or flag in startup.go, its private data in
// enhanced.go, its name in [Layout], and a vector in each test table.
package mpa
