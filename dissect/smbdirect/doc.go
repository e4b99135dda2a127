// Package smbdirect lays out what SMB Direct puts into RDMAP messages ([MS-SMBD]): the
// negotiation, data transfer messages, buffer descriptors, and the header that iWARP
// providers put into the private data of the connection. Of the SMB2 message in a data
// transfer it reads the header, and where READ and WRITE say where the other side finds
// their data ([MS-SMB2] sections 2.2.1, 2.2.19, 2.2.21).
//
// Nothing is judged here: a wrong version or a reserved field that is set is part of the
// result. The decoders fail only when there are too few octets, or when a length or an offset
// contradicts itself: a [*dissect.Error], which wraps [io.ErrUnexpectedEOF] where there are
// too few. All numbers are little-endian on the wire, but those of the private data, which
// are big-endian; see [Depths].
//
// The results are plain values without pointers into the input. Nothing is allocated.
//
// To add a header, follow the steps in package ddp.
package smbdirect
