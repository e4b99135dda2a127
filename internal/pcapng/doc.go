// Package pcapng reads and writes capture files: classic pcap and pcapng.
//
// Formats: draft-ietf-opsawg-pcap (both byte orders, microsecond and
// nanosecond time stamps, and the "modified" record header of patched
// libpcaps) and draft-ietf-opsawg-pcapng (any number of sections, each with
// its own byte order and interfaces; Enhanced, Simple and obsolete Packet
// Blocks; packet comments). Blocks without packets are skipped.
//
// # Lifetime
//
// [Record.Data] points into the reader's buffer and is valid until the next
// call of [Reader.Next]. Everything else in a Record may be kept.
//
// # Hostile input
//
// No length found in a file is believed before that many octets have come:
// the buffer grows in steps while octets arrive, and never beyond a fixed
// bound. A damaged record is reported as an [*Error]; where the following
// record can be found with certainty, reading goes on after it.
//
// # To read a further block type
//
//  1. add its number to the constants in ng_reader.go and, so that the search
//     after damage knows it, to smallest in ng_resync.go;
//  2. add a case to Reader.nextNg that checks the length of the body before
//     looking at it;
//  3. let the writer produce it, and add it to the seeds in seeds_test.go.
package pcapng
