package iser

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// Layout is one of the two forms of the iSER header. No field tells them apart; the length
// of the message does.
type Layout uint8

// The layouts.
const (
	// RFC7145 has base offsets behind the STags.
	RFC7145 Layout = iota
	// RFC5046 has none.
	RFC5046
)

// Len is the size of the header in octets, whatever its opcode.
func (l Layout) Len() int {
	if l == RFC5046 {
		return 12
	}
	return 28
}

// String returns the name of the document.
func (l Layout) String() string {
	if l == RFC5046 {
		return "rfc5046"
	}
	return "rfc7145"
}

// Opcode is the kind of a message: the first four bits.
type Opcode uint8

// The opcodes.
const (
	OpControl    Opcode = 1
	OpHello      Opcode = 2
	OpHelloReply Opcode = 3
)

// OpcodeOf returns the opcode of a message by its first octet.
func OpcodeOf(o uint8) Opcode { return Opcode(o >> 4) }

// String returns the name of the message.
func (o Opcode) String() string {
	switch o {
	case OpControl:
		return "iSCSI control-type PDU"
	case OpHello:
		return "Hello"
	case OpHelloReply:
		return "HelloReply"
	}
	return "unknown opcode"
}

func opcodeName(v uint64) string { return Opcode(v & 0xf).String() }

const (
	refHeader     = "RFC 7145 section 9.2"
	refHello      = "RFC 7145 section 9.3"
	refHelloReply = "RFC 7145 section 9.4"
	refOld        = "RFC 5046 section 9.2"
)

// Control is the header before an iSCSI PDU:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Opcode |W|R|                     Reserved                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          Write STag                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                 Write Base Offset, not in                     |
//	|                         RFC 5046                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Read STag                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                 Read Base Offset, not in                      |
//	|                         RFC 5046                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Control struct {
	// Opcode is OpControl, unless the octets are something else.
	Opcode Opcode
	// WSV and RSV say that the Write STag and the Read STag are valid.
	WSV, RSV bool
	// Reserved are 26 bits.
	Reserved uint32
	// WriteSTag names the memory that the target reads for a SCSI Write, ReadSTag that to
	// which it writes for a SCSI Read; the tagged offsets there begin at WriteBase and
	// ReadBase, or at 0.
	WriteSTag, ReadSTag uint32
	WriteBase, ReadBase uint64
}

// DecodeControl reads the header at the start of b.
func DecodeControl(b []byte, l Layout) (Control, error) {
	if len(b) < l.Len() {
		return Control{}, dissect.Short(dissect.LayerISER, "short_control", len(b))
	}
	first := binary.BigEndian.Uint32(b)
	c := Control{Opcode: OpcodeOf(b[0]), WSV: b[0]&8 != 0, RSV: b[0]&4 != 0, Reserved: first & (1<<26 - 1), WriteSTag: binary.BigEndian.Uint32(b[4:])}
	if l == RFC5046 {
		c.ReadSTag = binary.BigEndian.Uint32(b[8:])
		return c, nil
	}
	c.WriteBase = binary.BigEndian.Uint64(b[8:])
	c.ReadSTag = binary.BigEndian.Uint32(b[16:])
	c.ReadBase = binary.BigEndian.Uint64(b[20:])
	return c, nil
}

// Append appends the header. Bits that do not fit their field are dropped, and the base
// offsets in the layout of RFC 5046.
func (c Control) Append(dst []byte, l Layout) []byte {
	first := uint32(c.Opcode&0xf)<<28 | c.Reserved&(1<<26-1)
	if c.WSV {
		first |= 1 << 27
	}
	if c.RSV {
		first |= 1 << 26
	}
	dst = binary.BigEndian.AppendUint32(dst, first)
	dst = binary.BigEndian.AppendUint32(dst, c.WriteSTag)
	if l == RFC7145 {
		dst = binary.BigEndian.AppendUint64(dst, c.WriteBase)
	}
	dst = binary.BigEndian.AppendUint32(dst, c.ReadSTag)
	if l == RFC7145 {
		dst = binary.BigEndian.AppendUint64(dst, c.ReadBase)
	}
	return dst
}

// flagFields are those of the first word of a control-type header.
func flagFields(ref string) []dissect.Field {
	return []dissect.Field{
		{Name: "iser.flags.opcode", Label: "Opcode", Kind: dissect.Hex, Bit: 0, Width: 4, Ref: ref, Names: opcodeName},
		{Name: "iser.flags.wsv", Label: "Write STag valid", Kind: dissect.Bool, Bit: 4, Width: 1, Ref: ref},
		{Name: "iser.flags.rsv", Label: "Read STag valid", Kind: dissect.Bool, Bit: 5, Width: 1, Ref: ref},
		{Name: "iwd.iser.reserved", Label: "Reserved", Kind: dissect.Hex, Bit: 6, Width: 26, Ref: ref},
	}
}

// ControlHeader describes the header of RFC 7145, OldControlHeader that of RFC 5046.
var (
	ControlHeader = dissect.Header{
		Layer: dissect.LayerISER, Name: "iSER header", Ref: refHeader, Size: 28,
		Fields: append(flagFields(refHeader),
			dissect.Field{Name: "iser.write_stag", Label: "Write STag", Kind: dissect.Hex, Bit: 32, Width: 32, Ref: refHeader},
			dissect.Field{Name: "iser.write_base_offset", Label: "Write base offset", Kind: dissect.Hex, Bit: 64, Width: 64, Ref: refHeader},
			dissect.Field{Name: "iser.read_stag", Label: "Read STag", Kind: dissect.Hex, Bit: 128, Width: 32, Ref: refHeader},
			dissect.Field{Name: "iser.read_base_offset", Label: "Read base offset", Kind: dissect.Hex, Bit: 160, Width: 64, Ref: refHeader}),
	}
	OldControlHeader = dissect.Header{
		Layer: dissect.LayerISER, Name: "iSER header (RFC 5046)", Ref: refOld, Size: 12,
		Fields: append(flagFields(refOld),
			dissect.Field{Name: "iser.write_stag", Label: "Write STag", Kind: dissect.Hex, Bit: 32, Width: 32, Ref: refOld},
			dissect.Field{Name: "iser.read_stag", Label: "Read STag", Kind: dissect.Hex, Bit: 64, Width: 32, Ref: refOld}),
	}
)

// Header describes a control-type header of the layout.
func (l Layout) Header() *dissect.Header {
	if l == RFC5046 {
		return &OldControlHeader
	}
	return &ControlHeader
}

// Hello is the first message of the initiator, and that with which the target answers:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Opcode | Rsvd|J| MaxVer| MinVer|      iSER-IRD or iSER-ORD     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|              Reserved, 8 octets in RFC 5046, else 24          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Hello struct {
	// Opcode is OpHello or OpHelloReply, unless the octets are something else.
	Opcode Opcode
	// Rsvd are three bits. Reject, in a HelloReply, refuses the connection.
	Rsvd   uint8
	Reject bool
	// MaxVer is the highest version that is supported, MinVer the lowest one; in a
	// HelloReply it is the version that is used.
	MaxVer, MinVer uint8
	// Depth is iSER-IRD of a Hello, iSER-ORD of a HelloReply: the number of RDMA Reads that
	// may be outstanding.
	Depth    uint16
	Reserved [24]byte
}

// DecodeHello reads the header at the start of b.
func DecodeHello(b []byte, l Layout) (Hello, error) {
	if len(b) < l.Len() {
		return Hello{}, dissect.Short(dissect.LayerISER, "short_hello", len(b))
	}
	h := Hello{
		Opcode: OpcodeOf(b[0]), Rsvd: b[0] >> 1 & 7, Reject: b[0]&1 != 0, MaxVer: b[1] >> 4, MinVer: b[1] & 0xf,
		Depth: binary.BigEndian.Uint16(b[2:]),
	}
	copy(h.Reserved[:], b[4:l.Len()])
	return h, nil
}

// Append appends the header. Bits that do not fit their field are dropped.
func (h Hello) Append(dst []byte, l Layout) []byte {
	first := uint8(h.Opcode)<<4 | h.Rsvd&7<<1
	if h.Reject {
		first |= 1
	}
	dst = append(dst, first, h.MaxVer<<4|h.MinVer&0xf)
	dst = binary.BigEndian.AppendUint16(dst, h.Depth)
	return append(dst, h.Reserved[:l.Len()-4]...)
}

// HelloHeader and HelloReplyHeader describe the two, without the reserved octets behind.
var (
	HelloHeader = dissect.Header{
		Layer: dissect.LayerISER, Name: "iSER Hello", Ref: refHello, Size: 4,
		Fields: []dissect.Field{
			{Name: "iser.flags.opcode", Label: "Opcode", Kind: dissect.Hex, Bit: 0, Width: 4, Ref: refHello, Names: opcodeName},
			{Name: "iwd.iser.hello_reserved", Label: "Reserved", Kind: dissect.Hex, Bit: 4, Width: 4, Ref: refHello},
			{Name: "iwd.iser.maxver", Label: "Highest version", Kind: dissect.Dec, Bit: 8, Width: 4, Ref: refHello},
			{Name: "iwd.iser.minver", Label: "Lowest version", Kind: dissect.Dec, Bit: 12, Width: 4, Ref: refHello},
			{Name: "iser.ird", Label: "iSER-IRD", Kind: dissect.Hex, Bit: 16, Width: 16, Ref: refHello},
		},
	}
	HelloReplyHeader = dissect.Header{
		Layer: dissect.LayerISER, Name: "iSER HelloReply", Ref: refHelloReply, Size: 4,
		Fields: []dissect.Field{
			{Name: "iser.flags.opcode", Label: "Opcode", Kind: dissect.Hex, Bit: 0, Width: 4, Ref: refHelloReply, Names: opcodeName},
			{Name: "iwd.iser.helloreply_reserved", Label: "Reserved", Kind: dissect.Hex, Bit: 4, Width: 3, Ref: refHelloReply},
			{Name: "iser.flags.rej", Label: "Target rejects the connection", Kind: dissect.Bool, Bit: 7, Width: 1, Ref: refHelloReply},
			{Name: "iwd.iser.maxver", Label: "Highest version", Kind: dissect.Dec, Bit: 8, Width: 4, Ref: refHelloReply},
			{Name: "iwd.iser.curver", Label: "Version used", Kind: dissect.Dec, Bit: 12, Width: 4, Ref: refHelloReply},
			{Name: "iser.ord", Label: "iSER-ORD", Kind: dissect.Hex, Bit: 16, Width: 16, Ref: refHelloReply},
		},
	}
)

// PrivateLen is the size of the private data of a connection, in octets.
const PrivateLen = 4

const refPrivate = "InfiniBand Architecture annex A12"

// Private is the private data that Linux puts into a connection request and the reply to
// it, over iWARP as over InfiniBand: iSER over iWARP demands none.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Z|S|                         Reserved                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Private struct {
	// NoZeroBased: addresses that begin at 0 are not supported, or not used by a target.
	// NoInvalidate: the same of Send with Invalidate.
	NoZeroBased, NoInvalidate bool
	// Reserved are 30 bits.
	Reserved uint32
}

// DecodePrivate reads the private data at the start of b.
func DecodePrivate(b []byte) (Private, error) {
	if len(b) < PrivateLen {
		return Private{}, dissect.Short(dissect.LayerISER, "short_private", len(b))
	}
	v := binary.BigEndian.Uint32(b)
	return Private{v>>31 != 0, v>>30&1 != 0, v & (1<<30 - 1)}, nil
}

// Append appends the 4 octets.
func (p Private) Append(dst []byte) []byte {
	v := p.Reserved & (1<<30 - 1)
	if p.NoZeroBased {
		v |= 1 << 31
	}
	if p.NoInvalidate {
		v |= 1 << 30
	}
	return binary.BigEndian.AppendUint32(dst, v)
}

// PrivateHeader describes the private data.
var PrivateHeader = dissect.Header{
	Layer: dissect.LayerISER, Name: "iSER private data", Ref: refPrivate, Size: PrivateLen,
	Fields: []dissect.Field{
		{Name: "iwd.iser.private.no_zbva", Label: "No addresses that begin at 0", Kind: dissect.Bool, Bit: 0, Width: 1, Ref: refPrivate},
		{Name: "iwd.iser.private.no_invalidate", Label: "No Send with Invalidate", Kind: dissect.Bool, Bit: 1, Width: 1, Ref: refPrivate},
		{Name: "iwd.iser.private.reserved", Label: "Reserved", Kind: dissect.Hex, Bit: 2, Width: 30, Ref: refPrivate},
	},
}
