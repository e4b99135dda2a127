package nvme

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// CommandLen is the size of a submission queue entry, with which a command capsule begins,
// in octets.
const CommandLen = 64

// OffSGL is where the descriptor stands in a command, in octets; offDwords is where its
// last six words begin.
const (
	OffSGL    = 24
	offDwords = 40
)

const refCommand = "NVMe Base 2.0 section 3.3.3.1"

// Command is a submission queue entry:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|    Opcode     |PSD|Reservd|FUS|              CID              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                     NSID, or FCTYPE first                     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Dwords 2 and 3                         |
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Metadata Pointer                        |
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      SGL descriptor (16)                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                     Dwords 10 to 15 (24)                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Command struct {
	Opcode uint8
	// Fuse and Reserved have two and four bits; PSDT says that the command has an SGL
	// descriptor and not addresses of pages: 1 over fabrics.
	Fuse, Reserved, PSDT uint8
	// CID tells the command from others of its queue.
	CID uint16
	// NSID is the namespace. In a fabrics command its lowest octet is the type.
	NSID uint32
	// Dword2, Dword3, MPTR and Dwords depend on the command; Dwords are 10 to 15.
	Dword2, Dword3 uint32
	MPTR           uint64
	SGL            SGL
	Dwords         [6]uint32
}

// DecodeCommand reads the command at the start of b.
func DecodeCommand(b []byte) (Command, error) {
	if len(b) < CommandLen {
		return Command{}, dissect.Short(dissect.LayerNVMe, "short_command", len(b))
	}
	c := Command{
		Opcode: b[0], Fuse: b[1] & 3, Reserved: b[1] >> 2 & 0xf, PSDT: b[1] >> 6,
		CID:    binary.LittleEndian.Uint16(b[2:]),
		NSID:   binary.LittleEndian.Uint32(b[4:]),
		Dword2: binary.LittleEndian.Uint32(b[8:]),
		Dword3: binary.LittleEndian.Uint32(b[12:]),
		MPTR:   binary.LittleEndian.Uint64(b[16:]),
		SGL:    sglOf(b[OffSGL:]),
	}
	for i := range c.Dwords {
		c.Dwords[i] = binary.LittleEndian.Uint32(b[offDwords+4*i:])
	}
	return c, nil
}

// Append appends the 64 octets. Bits that do not fit their field are dropped.
func (c Command) Append(dst []byte) []byte {
	dst = append(dst, c.Opcode, c.PSDT<<6|c.Reserved&0xf<<2|c.Fuse&3)
	dst = binary.LittleEndian.AppendUint16(dst, c.CID)
	dst = binary.LittleEndian.AppendUint32(dst, c.NSID)
	dst = binary.LittleEndian.AppendUint32(dst, c.Dword2)
	dst = binary.LittleEndian.AppendUint32(dst, c.Dword3)
	dst = binary.LittleEndian.AppendUint64(dst, c.MPTR)
	dst = c.SGL.Append(dst)
	for _, v := range c.Dwords {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return dst
}

// FabricsType is the type of a fabrics command.
func (c *Command) FabricsType() FabricsType { return FabricsType(c.NSID & 0xff) }

// StartLBA and Blocks are where a Read, Write or the like begins, and how many logical blocks
// it has.
func (c *Command) StartLBA() uint64 { return uint64(c.Dwords[1])<<32 | uint64(c.Dwords[0]) }

// Blocks is how many logical blocks a Read or Write has.
func (c *Command) Blocks() int { return int(c.Dwords[2]&0xffff) + 1 }

// CommandHeader describes a command of an admin or I/O queue, but for its SGL descriptor.
var CommandHeader = dissect.Header{
	Layer: dissect.LayerNVMe, Name: "NVMe command", Ref: refCommand, Size: CommandLen,
	Fields: []dissect.Field{
		{Name: "nvme.cmd.opc", Label: "Opcode", Kind: dissect.Hex, Bit: 0, Width: 8, Ref: refCommand},
		{Name: "nvme.cmd.psdt", Label: "PRP or SGL", Kind: dissect.Hex, Bit: 8, Width: 2, Ref: refCommand},
		{Name: "nvme.cmd.rsvd", Label: "Reserved", Kind: dissect.Hex, Bit: 10, Width: 4, Ref: refCommand},
		{Name: "nvme.cmd.fuse_op", Label: "Fused operation", Kind: dissect.Hex, Bit: 14, Width: 2, Ref: refCommand},
		{Name: "nvme.cmd.cid", Label: "Command identifier", Kind: dissect.Hex, Bit: 16, Width: 16, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.nsid", Label: "Namespace", Kind: dissect.Hex, Bit: 32, Width: 32, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.rsvd1", Label: "Dwords 2 and 3", Kind: dissect.Bytes, Bit: 64, Width: 64, Ref: refCommand},
		{Name: "nvme.cmd.mptr", Label: "Metadata pointer", Kind: dissect.Hex, Bit: 128, Width: 64, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.dword10", Label: "Dword 10", Kind: dissect.Hex, Bit: 320, Width: 32, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.dword11", Label: "Dword 11", Kind: dissect.Hex, Bit: 352, Width: 32, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.dword12", Label: "Dword 12", Kind: dissect.Hex, Bit: 384, Width: 32, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.dword13", Label: "Dword 13", Kind: dissect.Hex, Bit: 416, Width: 32, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.dword14", Label: "Dword 14", Kind: dissect.Hex, Bit: 448, Width: 32, LittleEndian: true, Ref: refCommand},
		{Name: "nvme.cmd.dword15", Label: "Dword 15", Kind: dissect.Hex, Bit: 480, Width: 32, LittleEndian: true, Ref: refCommand},
	},
}

const refFabrics = "NVMe Base 2.0 section 6"

// FabricsHeader describes what all fabrics commands have, but for the SGL descriptor.
var FabricsHeader = dissect.Header{
	Layer: dissect.LayerNVMe, Name: "NVMe fabrics command", Ref: refFabrics, Size: 5,
	Fields: []dissect.Field{
		{Name: "nvme.fabrics.cmd.opc", Label: "Opcode", Kind: dissect.Bytes, Bit: 0, Width: 8, Ref: refFabrics},
		{Name: "nvme.fabrics.cmd.rsvd", Label: "Reserved", Kind: dissect.Hex, Bit: 8, Width: 8, Ref: refFabrics},
		{Name: "nvme.fabrics.cmd.cid", Label: "Command identifier", Kind: dissect.Hex, Bit: 16, Width: 16, LittleEndian: true, Ref: refFabrics},
		{
			Name: "nvme.fabrics.cmd.fctype", Label: "Fabrics command type", Kind: dissect.Hex, Bit: 32, Width: 8, Ref: refFabrics,
			Names: func(v uint64) string { return FabricsType(v & 0xff).String() },
		},
	},
}

// The headers of single fabrics commands describe the last 24 octets of the command.
var (
	ConnectHeader = dissect.Header{
		Layer: dissect.LayerNVMe, Name: "Connect", Ref: refFabrics, Size: CommandLen - offDwords,
		Fields: []dissect.Field{
			{Name: "nvme.fabrics.cmd.connect.recfmt", Label: "Record format", Kind: dissect.Dec, Bit: 0, Width: 16, LittleEndian: true, Ref: refFabrics},
			{Name: "nvme.fabrics.cmd.connect.qid", Label: "Queue ID", Kind: dissect.Dec, Bit: 16, Width: 16, LittleEndian: true, Ref: refFabrics, Names: queueName},
			{Name: "nvme.fabrics.cmd.connect.sqsize", Label: "Submission queue size, counted from 0", Kind: dissect.Dec, Bit: 32, Width: 16, LittleEndian: true, Ref: refFabrics},
			{Name: "nvme.fabrics.cmd.connect.cattr", Label: "Connect attributes", Kind: dissect.Hex, Bit: 48, Width: 8, Ref: refFabrics},
			{Name: "nvme.fabrics.cmd.connect.rsvd2", Label: "Reserved", Kind: dissect.Bytes, Bit: 56, Width: 8, Ref: refFabrics},
			{Name: "nvme.fabrics.cmd.connect.kato", Label: "Keep alive timeout in milliseconds", Kind: dissect.Dec, Bit: 64, Width: 32, LittleEndian: true, Ref: refFabrics},
			{Name: "nvme.fabrics.cmd.connect.rsvd3", Label: "Reserved", Kind: dissect.Bytes, Bit: 96, Width: 96, Ref: refFabrics},
		},
	}
	// PropertyHeader is that of Property Get and Property Set.
	PropertyHeader = dissect.Header{
		Layer: dissect.LayerNVMe, Name: "Property", Ref: refFabrics, Size: 16,
		Fields: []dissect.Field{
			{Name: "nvme.fabrics.cmd.prop_get_set.attrib.rsvd", Label: "Reserved", Kind: dissect.Hex, Bit: 0, Width: 5, Ref: refFabrics},
			{Name: "nvme.fabrics.cmd.prop_get_set.attrib.size", Label: "Property size", Kind: dissect.Hex, Bit: 5, Width: 3, Ref: refFabrics, Names: propertySize},
			{Name: "nvme.fabrics.cmd.prop_get_set.rsvd1", Label: "Reserved", Kind: dissect.Bytes, Bit: 8, Width: 24, Ref: refFabrics},
			{
				Name: "nvme.fabrics.cmd.prop_get_set.offset", Label: "Offset", Kind: dissect.Hex, Bit: 32, Width: 32, LittleEndian: true, Ref: refFabrics,
				Names: func(v uint64) string { return Property(uint32(v)) },
			},
			{Name: "nvme.fabrics.prop_get_set.data.8B", Label: "Value", Kind: dissect.Hex, Bit: 64, Width: 64, LittleEndian: true, Ref: refFabrics},
		},
	}
	DisconnectHeader = dissect.Header{
		Layer: dissect.LayerNVMe, Name: "Disconnect", Ref: refFabrics, Size: 2,
		Fields: []dissect.Field{
			{Name: "nvme.fabrics.cmd.disconnect.recfmt", Label: "Record format", Kind: dissect.Dec, Bit: 0, Width: 16, LittleEndian: true, Ref: refFabrics},
		},
	}
)

func propertySize(v uint64) string {
	switch v {
	case 0:
		return "4 octets"
	case 1:
		return "8 octets"
	}
	return "reserved"
}

// DerivedHeader describes what is computed of a command or its response.
var DerivedHeader = dissect.Header{
	Layer: dissect.LayerNVMe, Name: "NVMe", Fields: []dissect.Field{
		{Name: "iwd.nvme.command_name", Label: "Command", Kind: dissect.Text, Bit: -1, Ref: refCommand},
		{Name: "iwd.nvme.queue", Label: "Queue", Kind: dissect.Text, Bit: -1, Ref: refCM},
		{Name: "iwd.nvme.incapsule_length", Label: "Octets of data in the capsule", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "NVMe RDMA Transport 1.0 section 3.1"},
		{Name: "iwd.nvme.status_name", Label: "Status", Kind: dissect.Text, Bit: -1, Ref: refStatus},
		{Name: "nvme.cqe.status", Label: "Status field", Kind: dissect.Hex, Bit: -1, Width: 16, Ref: refStatus},
		{Name: "nvme.cmd.slba", Label: "First logical block", Kind: dissect.Hex, Bit: -1, Width: 64, Ref: "NVM Command Set 1.0 section 3.2"},
		{Name: "nvme.cmd.nlb", Label: "Number of logical blocks", Kind: dissect.Dec, Bit: -1, Width: 32, Ref: "NVM Command Set 1.0 section 3.2"},
		{Name: "nvme.fabrics.cqe.connect.cntrlid", Label: "Controller ID", Kind: dissect.Hex, Bit: -1, Width: 16, Ref: refFabrics},
	},
}
