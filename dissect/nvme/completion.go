package nvme

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// CompletionLen is the size of a completion queue entry, which a response capsule is, in
// octets.
const CompletionLen = 16

const (
	refCompletion = "NVMe Base 2.0 section 3.3.3.2"
	refStatus     = "NVMe Base 2.0 section 3.3.3.2.1"
)

// Completion is a completion queue entry:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Dwords 0 and 1                         |
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|             SQHD              |             SQID              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|              CID              |            Status             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// The status is a number of 16 bits: the phase is the lowest one.
type Completion struct {
	// Dword0 and Dword1 are the result of the command.
	Dword0, Dword1 uint32
	// SQHead is how far the controller has read the submission queue; SQID is the queue.
	SQHead, SQID uint16
	// CID is that of the command.
	CID uint16
	// Status has the code and its type; see the methods.
	Status Status
}

// DecodeCompletion reads the entry at the start of b.
func DecodeCompletion(b []byte) (Completion, error) {
	if len(b) < CompletionLen {
		return Completion{}, dissect.Short(dissect.LayerNVMe, "short_completion", len(b))
	}
	return Completion{
		Dword0: binary.LittleEndian.Uint32(b),
		Dword1: binary.LittleEndian.Uint32(b[4:]),
		SQHead: binary.LittleEndian.Uint16(b[8:]),
		SQID:   binary.LittleEndian.Uint16(b[10:]),
		CID:    binary.LittleEndian.Uint16(b[12:]),
		Status: Status(binary.LittleEndian.Uint16(b[14:])),
	}, nil
}

// Append appends the 16 octets.
func (c Completion) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.Dword0)
	dst = binary.LittleEndian.AppendUint32(dst, c.Dword1)
	dst = binary.LittleEndian.AppendUint16(dst, c.SQHead)
	dst = binary.LittleEndian.AppendUint16(dst, c.SQID)
	dst = binary.LittleEndian.AppendUint16(dst, c.CID)
	return binary.LittleEndian.AppendUint16(dst, uint16(c.Status))
}

// CompletionHeader describes the entry.
var CompletionHeader = dissect.Header{
	Layer: dissect.LayerNVMe, Name: "NVMe completion", Ref: refCompletion, Size: CompletionLen,
	Fields: []dissect.Field{
		{Name: "nvme.cqe.dword0", Label: "Dword 0", Kind: dissect.Hex, Bit: 0, Width: 32, LittleEndian: true, Ref: refCompletion},
		{Name: "nvme.cqe.dword1", Label: "Dword 1", Kind: dissect.Hex, Bit: 32, Width: 32, LittleEndian: true, Ref: refCompletion},
		{Name: "nvme.cqe.sqhd", Label: "Submission queue head", Kind: dissect.Hex, Bit: 64, Width: 16, LittleEndian: true, Ref: refCompletion},
		{Name: "nvme.cqe.sqid", Label: "Submission queue", Kind: dissect.Hex, Bit: 80, Width: 16, LittleEndian: true, Ref: refCompletion},
		{Name: "nvme.cqe.cid", Label: "Command identifier", Kind: dissect.Hex, Bit: 96, Width: 16, LittleEndian: true, Ref: refCompletion},
		{Name: "nvme.cqe.status.p", Label: "Phase", Kind: dissect.Hex, Bit: 112, Width: 1, LittleEndian: true, Ref: refStatus},
		{Name: "nvme.cqe.status.sc", Label: "Status code", Kind: dissect.Hex, Bit: 113, Width: 8, LittleEndian: true, Ref: refStatus},
		{Name: "nvme.cqe.status.sct", Label: "Status code type", Kind: dissect.Hex, Bit: 121, Width: 3, LittleEndian: true, Ref: refStatus, Names: statusType},
		{Name: "nvme.cqe.status.crd", Label: "Command retry delay", Kind: dissect.Hex, Bit: 124, Width: 2, LittleEndian: true, Ref: refStatus},
		{Name: "nvme.cqe.status.m", Label: "More information in a log page", Kind: dissect.Bool, Bit: 126, Width: 1, LittleEndian: true, Ref: refStatus},
		{Name: "nvme.cqe.status.dnr", Label: "Do not retry", Kind: dissect.Bool, Bit: 127, Width: 1, LittleEndian: true, Ref: refStatus},
	},
}

// Headers lists the descriptions of this package.
var Headers = []*dissect.Header{
	&ConnectRequestHeader, &ConnectAcceptHeader, &ConnectRejectHeader,
	&CommandHeader, &KeyedSGLHeader, &DataSGLHeader,
	&FabricsHeader, &ConnectHeader, &PropertyHeader, &DisconnectHeader,
	&CompletionHeader, &DerivedHeader,
}
