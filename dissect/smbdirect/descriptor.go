package smbdirect

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// DescriptorLen is the size of a buffer descriptor in octets.
const DescriptorLen = 16

// Offsets of the descriptor, in octets.
const (
	offBufferOffset = 0
	offToken        = 8
	offBufferLength = 12
)

// Descriptor is a Buffer Descriptor V1 ([MS-SMBD] section 2.2.3.1): memory that the other
// side may read or write.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                            Offset                             +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                             Token                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Length                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Descriptor struct {
	// Offset is the tagged offset of its first octet.
	Offset uint64
	// Token is the STag.
	Token uint32
	// Length is in octets.
	Length uint32
}

// DecodeDescriptor reads a descriptor at the start of b.
func DecodeDescriptor(b []byte) (Descriptor, error) {
	if len(b) < DescriptorLen {
		return Descriptor{}, dissect.Short(dissect.LayerSMBDirect, "short_descriptor", len(b))
	}
	return Descriptor{
		Offset: binary.LittleEndian.Uint64(b[offBufferOffset:]),
		Token:  binary.LittleEndian.Uint32(b[offToken:]),
		Length: binary.LittleEndian.Uint32(b[offBufferLength:]),
	}, nil
}

// Append appends the 16 octets of the descriptor.
func (d Descriptor) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, d.Offset)
	dst = binary.LittleEndian.AppendUint32(dst, d.Token)
	return binary.LittleEndian.AppendUint32(dst, d.Length)
}

const refDescriptor = "[MS-SMBD] section 2.2.3.1"

// DescriptorHeader describes a descriptor.
var DescriptorHeader = dissect.Header{
	Layer:   dissect.LayerSMBDirect,
	Name:    "SMB Direct Buffer Descriptor V1",
	Ref:     refDescriptor,
	Size:    DescriptorLen,
	Several: true,
	Fields: []dissect.Field{
		number("iwd.smb_direct.descriptor.offset", "Offset", dissect.Hex, offBufferOffset, 8, refDescriptor),
		number("iwd.smb_direct.descriptor.token", "Token (STag)", dissect.Hex, offToken, 4, refDescriptor),
		number("iwd.smb_direct.descriptor.length", "Length", dissect.Dec, offBufferLength, 4, refDescriptor),
	},
}
