package iser

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// BHSLen is the size of the basic header segment of an iSCSI PDU in octets.
const BHSLen = 48

const refBHS = "RFC 7143 section 11.2.1"

// NoTask is the initiator task tag of a PDU that belongs to no task.
const NoTask = 0xffffffff

// BHS is the basic header segment of an iSCSI PDU:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|X|I|  Opcode   |F|           Opcode-specific fields            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|TotalAHSLength |               DataSegmentLength               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                LUN or opcode-specific fields                  |
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      Initiator Task Tag                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                  Opcode-specific fields (28)                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type BHS struct {
	// X is reserved. Immediate asks for delivery out of the order of commands.
	X, Immediate bool
	Opcode       PDU
	// Flags are the second octet, F first; Two and Three those behind it.
	Flags, Two, Three uint8
	// AHSLength is the length of the additional header segments in words of 4 octets,
	// DataLength that of the data segment in octets, without its pad: 24 bits.
	AHSLength  uint8
	DataLength uint32
	// LUN is the logical unit, or something else.
	LUN uint64
	// ITT tells the task from others.
	ITT uint32
	// Words are the last seven words.
	Words [7]uint32
}

// DecodeBHS reads the basic header segment at the start of b.
func DecodeBHS(b []byte) (BHS, error) {
	if len(b) < BHSLen {
		return BHS{}, dissect.Short(dissect.LayerISER, "short_bhs", len(b))
	}
	h := BHS{
		X: b[0]&0x80 != 0, Immediate: b[0]&0x40 != 0, Opcode: PDU(b[0] & 0x3f), Flags: b[1], Two: b[2], Three: b[3],
		AHSLength: b[4], DataLength: binary.BigEndian.Uint32(b[4:]) & 0xffffff,
		LUN: binary.BigEndian.Uint64(b[8:]), ITT: binary.BigEndian.Uint32(b[16:]),
	}
	for i := range h.Words {
		h.Words[i] = binary.BigEndian.Uint32(b[20+4*i:])
	}
	return h, nil
}

// Append appends the 48 octets. Bits that do not fit their field are dropped.
func (h BHS) Append(dst []byte) []byte {
	first := uint8(h.Opcode) & 0x3f
	if h.X {
		first |= 0x80
	}
	if h.Immediate {
		first |= 0x40
	}
	dst = append(dst, first, h.Flags, h.Two, h.Three)
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.AHSLength)<<24|h.DataLength&0xffffff)
	dst = binary.BigEndian.AppendUint64(dst, h.LUN)
	dst = binary.BigEndian.AppendUint32(dst, h.ITT)
	for _, w := range h.Words {
		dst = binary.BigEndian.AppendUint32(dst, w)
	}
	return dst
}

// BHSHeader describes what all PDUs have.
var BHSHeader = dissect.Header{
	Layer: dissect.LayerISER, Name: "iSCSI basic header segment", Ref: refBHS, Size: BHSLen,
	Fields: []dissect.Field{
		{Name: "iscsi.X", Label: "X", Kind: dissect.Bool, Bit: 0, Width: 1, Ref: refBHS},
		{Name: "iscsi.I", Label: "Immediate", Kind: dissect.Bool, Bit: 1, Width: 1, Ref: refBHS},
		{Name: "iscsi.opcode", Label: "Opcode", Kind: dissect.Hex, Bit: 2, Width: 6, Ref: refBHS, Names: func(v uint64) string { return PDU(v & 0x3f).String() }},
		{Name: "iscsi.totalahslength", Label: "TotalAHSLength, in words", Kind: dissect.Dec, Bit: 32, Width: 8, Ref: refBHS},
		{Name: "iscsi.datasegmentlength", Label: "DataSegmentLength", Kind: dissect.Dec, Bit: 40, Width: 24, Ref: refBHS},
		{Name: "iscsi.initiatortasktag", Label: "Initiator task tag", Kind: dissect.Hex, Bit: 128, Width: 32, Ref: refBHS},
	},
}

// PDU is the opcode of an iSCSI PDU.
type PDU uint8

// The opcodes: those of targets have the bit 0x20.
const (
	NOPOut          PDU = 0x00
	SCSICommand     PDU = 0x01
	TaskRequest     PDU = 0x02
	LoginRequest    PDU = 0x03
	TextRequest     PDU = 0x04
	DataOut         PDU = 0x05
	LogoutRequest   PDU = 0x06
	SNACKRequest    PDU = 0x10
	NOPIn           PDU = 0x20
	SCSIResponse    PDU = 0x21
	TaskResponse    PDU = 0x22
	LoginResponse   PDU = 0x23
	TextResponse    PDU = 0x24
	DataIn          PDU = 0x25
	LogoutResponse  PDU = 0x26
	ReadyToTransfer PDU = 0x31
	AsyncMessage    PDU = 0x32
	Reject          PDU = 0x3f
)

// FromTarget reports whether a target sends the PDU.
func (p PDU) FromTarget() bool { return p&0x20 != 0 }

// Known reports whether the opcode is assigned.
func (p PDU) Known() bool { return pduNames[p&0x3f] != "" }

var pduNames = [64]string{
	NOPOut: "NOP-Out", SCSICommand: "SCSI Command", TaskRequest: "Task Management Request", LoginRequest: "Login Request",
	TextRequest: "Text Request", DataOut: "SCSI Data-Out", LogoutRequest: "Logout Request", SNACKRequest: "SNACK Request",
	NOPIn: "NOP-In", SCSIResponse: "SCSI Response", TaskResponse: "Task Management Response", LoginResponse: "Login Response",
	TextResponse: "Text Response", DataIn: "SCSI Data-In", LogoutResponse: "Logout Response",
	ReadyToTransfer: "Ready To Transfer", AsyncMessage: "Asynchronous Message", Reject: "Reject",
}

// String returns the name of the PDU.
func (p PDU) String() string {
	if name := pduNames[p&0x3f]; name != "" {
		return name
	}
	return "unknown PDU"
}
