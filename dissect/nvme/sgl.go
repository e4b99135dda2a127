package nvme

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// SGLLen is the size of a descriptor in octets.
const SGLLen = 16

const refSGL = "NVMe Base 2.0 section 4.1.2"

// The types of descriptors, and the subtypes that RDMA uses.
const (
	SGLData  = 0x0
	SGLKeyed = 0x4
	// SGLAddress is the subtype of an address, SGLOffset that of an offset in the
	// capsule, SGLInvalidate that of a keyed block whose STag the controller shall
	// invalidate.
	SGLAddress    = 0x0
	SGLOffset     = 0x1
	SGLInvalidate = 0xf
)

// SGL is a scatter gather list descriptor. A keyed data block has:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Address                            |
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    Length                     |      Key      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      Key                      |  Type |Subtype|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// All others have a length of 32 bits, and three reserved octets before the type.
type SGL struct {
	// Address is where the data are: the tagged offset, or with SGLOffset an offset in
	// octets from the end of the command.
	Address uint64
	// Length is that of the data in octets; a keyed block has 24 bits for it.
	Length uint32
	// Key is the STag of a keyed block.
	Key uint32
	// Reserved are three octets of other descriptors, in the low bits.
	Reserved uint32
	// Type and Subtype have four bits.
	Type, Subtype uint8
}

// DecodeSGL reads the descriptor at the start of b.
func DecodeSGL(b []byte) (SGL, error) {
	if len(b) < SGLLen {
		return SGL{}, dissect.Short(dissect.LayerNVMe, "short_sgl", len(b))
	}
	return sglOf(b), nil
}

func sglOf(b []byte) SGL {
	s := SGL{Address: binary.LittleEndian.Uint64(b), Type: b[15] >> 4, Subtype: b[15] & 0xf}
	if s.Type == SGLKeyed {
		s.Length = binary.LittleEndian.Uint32(b[8:]) & 0xffffff
		s.Key = binary.LittleEndian.Uint32(b[11:])
	} else {
		s.Length = binary.LittleEndian.Uint32(b[8:])
		s.Reserved = uint32(b[12]) | uint32(b[13])<<8 | uint32(b[14])<<16
	}
	return s
}

// Append appends the 16 octets. Bits that do not fit their field are dropped.
func (s SGL) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, s.Address)
	if s.Type&0xf == SGLKeyed {
		dst = append24(dst, s.Length)
		dst = binary.LittleEndian.AppendUint32(dst, s.Key)
	} else {
		dst = binary.LittleEndian.AppendUint32(dst, s.Length)
		dst = append24(dst, s.Reserved)
	}
	return append(dst, s.Type<<4|s.Subtype&0xf)
}

// append24 appends the low 24 bits of a number.
func append24(dst []byte, v uint32) []byte {
	return binary.LittleEndian.AppendUint32(dst, v)[:len(dst)+3]
}

// KeyedSGLHeader describes a keyed data block, DataSGLHeader any other descriptor.
var (
	KeyedSGLHeader = dissect.Header{
		Layer: dissect.LayerNVMe, Name: "SGL descriptor, keyed", Ref: refSGL, Size: SGLLen,
		Fields: append([]dissect.Field{
			sglAddress,
			{Name: "nvme.cmd.sgl1.len", Label: "Length", Kind: dissect.Dec, Bit: 64, Width: 24, LittleEndian: true, Ref: refSGL},
			{Name: "nvme.cmd.sgl1.key", Label: "Key, the STag", Kind: dissect.Hex, Bit: 88, Width: 32, LittleEndian: true, Ref: refSGL},
		}, sglType...),
	}
	DataSGLHeader = dissect.Header{
		Layer: dissect.LayerNVMe, Name: "SGL descriptor", Ref: refSGL, Size: SGLLen,
		Fields: append([]dissect.Field{
			sglAddress,
			{Name: "nvme.cmd.sgl1.len", Label: "Length", Kind: dissect.Dec, Bit: 64, Width: 32, LittleEndian: true, Ref: refSGL},
			{Name: "nvme.cmd.sgl1.rsvd", Label: "Reserved", Kind: dissect.Bytes, Bit: 96, Width: 24, Ref: refSGL},
		}, sglType...),
	}
)

// Header describes the descriptor.
func (s SGL) Header() *dissect.Header {
	if s.Type == SGLKeyed {
		return &KeyedSGLHeader
	}
	return &DataSGLHeader
}

var (
	sglAddress = dissect.Field{Name: "nvme.cmd.sgl1.addr", Label: "Address", Kind: dissect.Hex, Bit: 0, Width: 64, LittleEndian: true, Ref: refSGL}
	sglType    = []dissect.Field{
		{Name: "nvme.cmd.sgl.type", Label: "Descriptor type", Kind: dissect.Hex, Bit: 120, Width: 4, Ref: refSGL, Names: sglTypeName},
		{Name: "nvme.cmd.sgl.subtype", Label: "Descriptor subtype", Kind: dissect.Hex, Bit: 124, Width: 4, Ref: refSGL, Names: sglSubtypeName},
	}
)

func sglTypeName(v uint64) string {
	names := [...]string{"data block", "bit bucket", "segment", "last segment", "keyed data block", "transport data block"}
	switch {
	case v < uint64(len(names)):
		return names[v]
	case v == 0xf:
		return "vendor specific"
	}
	return "reserved"
}

func sglSubtypeName(v uint64) string {
	switch v {
	case SGLAddress:
		return "address"
	case SGLOffset:
		return "offset"
	case SGLInvalidate:
		return "invalidate key"
	case 0xa, 0xb, 0xc, 0xd, 0xe:
		return "transport specific"
	}
	return "reserved"
}
