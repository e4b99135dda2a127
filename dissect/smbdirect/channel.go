package smbdirect

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// Channel says how the data of a READ or WRITE are moved.
type Channel uint32

// The channels ([MS-SMB2] section 2.2.19).
const (
	ChannelNone         Channel = 0
	ChannelV1           Channel = 1 // by descriptors
	ChannelV1Invalidate Channel = 2 // the same; the response invalidates the token
	ChannelTransform    Channel = 3 // descriptors behind how the data are encrypted or signed
)

// String returns the name of the channel as the specification has it.
func (c Channel) String() string {
	names := [...]string{"SMB2_CHANNEL_NONE", "SMB2_CHANNEL_RDMA_V1", "SMB2_CHANNEL_RDMA_V1_INVALIDATE", "SMB2_CHANNEL_RDMA_TRANSFORM"}
	if c <= ChannelTransform {
		return names[c]
	}
	return "unknown"
}

// ReadWriteLen is the size of what READ and WRITE requests have before their data and
// descriptors, in octets from the end of the header of SMB2.
const ReadWriteLen = 48

// Offsets of READ and WRITE requests, in octets from the end of the header of SMB2. Their
// structure size counts an octet of what follows.
const (
	offStructure     = 0
	offTransfer      = 4 // the length
	offFileOffset    = 8
	offFileID        = 16
	offReadChannel   = 36
	offWriteChannel  = 32
	offReadInfo      = 44 // offset and length of the descriptors
	offWriteInfo     = 40
	structureSize    = 49
	transformLen     = 16
	offTransformDesc = 0
	offTransformKind = 4
)

// ReadWrite is what a READ or WRITE request says of its data ([MS-SMB2] sections 2.2.19 and
// 2.2.21). Requests of this form are
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       StructureSize: 49       | READ: Padding, Flags          |
//	|                               | WRITE: DataOffset             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Length                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                  Offset in the file, 8 octets                 |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       FileId, 16 octets                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| READ: MinimumCount, Channel, RemainingBytes                   |
//	| WRITE: Channel, RemainingBytes                                |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       ChannelInfoOffset       |       ChannelInfoLength       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| WRITE: Flags                                                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ReadWrite struct {
	// Length is how many octets are to be read or written by this request itself; of a
	// WRITE with descriptors it is 0, and Remaining has it.
	Length, Remaining uint32
	// FileOffset is where in the file, in octets.
	FileOffset uint64
	Channel    Channel
	// Descriptors are the octets of the descriptors, as many whole ones as there are; they
	// lie in the input.
	Descriptors []byte
}

// Size is how many octets are moved: those of the request, or those it leaves to
// descriptors.
func (r *ReadWrite) Size() uint32 {
	if r.Length == 0 {
		return r.Remaining
	}
	return r.Length
}

// DecodeReadWrite reads what a READ or WRITE request says of its data; message begins with
// the header of SMB2, which h describes. It fails for other messages, for those that are
// too short, and if the structure size is not that of such a request.
func DecodeReadWrite(h *SMB2, message []byte) (ReadWrite, error) {
	if len(message) < SMB2Len+ReadWriteLen {
		return ReadWrite{}, dissect.Short(dissect.LayerSMBDirect, "short_read_write", len(message))
	}
	b := message[SMB2Len:]
	if h.Response() || h.Command != CommandRead && h.Command != CommandWrite || binary.LittleEndian.Uint16(b[offStructure:]) != structureSize {
		return ReadWrite{}, &dissect.Error{Layer: dissect.LayerSMBDirect, Code: "other_message", Field: "smb2.cmd", Offset: SMB2Len}
	}
	channel, info := offReadChannel, offReadInfo
	if h.Command == CommandWrite {
		channel, info = offWriteChannel, offWriteInfo
	}
	r := ReadWrite{
		Length:     binary.LittleEndian.Uint32(b[offTransfer:]),
		FileOffset: binary.LittleEndian.Uint64(b[offFileOffset:]),
		Channel:    Channel(binary.LittleEndian.Uint32(b[channel:])),
		Remaining:  binary.LittleEndian.Uint32(b[channel+4:]),
	}
	r.Descriptors = descriptors(message, r.Channel, int(binary.LittleEndian.Uint16(b[info:])), int(binary.LittleEndian.Uint16(b[info+2:])))
	return r, nil
}

// descriptors returns those at an offset of a message, as far as they are there.
func descriptors(message []byte, c Channel, offset, length int) []byte {
	if c == ChannelNone || c > ChannelTransform || offset < SMB2Len+ReadWriteLen || offset >= len(message) {
		return nil
	}
	b := message[offset:min(offset+length, len(message))]
	if c == ChannelTransform {
		if len(b) < transformLen {
			return nil
		}
		kind := Channel(binary.LittleEndian.Uint32(b[offTransformKind:]))
		at, n := int(binary.LittleEndian.Uint16(b[offTransformDesc:])), int(binary.LittleEndian.Uint16(b[offTransformDesc+2:]))
		if kind != ChannelV1 && kind != ChannelV1Invalidate || at < transformLen || at > len(b) {
			return nil
		}
		b = b[at:min(at+n, len(b))]
	}
	return b[:len(b)/DescriptorLen*DescriptorLen]
}

const refRead = "[MS-SMB2] sections 2.2.19, 2.2.21"

// ReadHeader and WriteHeader describe READ and WRITE requests. Bits count from the end of
// the header of SMB2.
var (
	ReadHeader  = readWriteHeader("SMB2 READ Request", "smb2.read_length", offReadChannel, offReadInfo)
	WriteHeader = readWriteHeader("SMB2 WRITE Request", "smb2.write_length", offWriteChannel, offWriteInfo)
)

func readWriteHeader(name, length string, channel, info int) dissect.Header {
	kind := number("smb2.channel", "Channel", dissect.Hex, channel, 4, refRead)
	kind.Names = func(v uint64) string { return Channel(v).String() } //nolint:gosec // 32 bits
	return dissect.Header{
		Layer:   dissect.LayerSMBDirect,
		Name:    name,
		Ref:     refRead,
		Size:    ReadWriteLen,
		Several: true,
		Fields: []dissect.Field{
			number(length, "Length", dissect.Dec, offTransfer, 4, refRead),
			number("smb2.file_offset", "Offset in the file", dissect.Dec, offFileOffset, 8, refRead),
			kind,
			number("smb2.remaining_bytes", "Remaining bytes", dissect.Dec, channel+4, 4, refRead),
			number("smb2.channel_info_offset", "Offset of the channel information", dissect.Dec, info, 2, refRead),
			number("smb2.channel_info_length", "Length of the channel information", dissect.Dec, info+2, 2, refRead),
		},
	}
}

// Headers lists all descriptions of this package.
var Headers = []*dissect.Header{
	&NegotiateRequestHeader, &NegotiateResponseHeader, &DataHeader, &DescriptorHeader, &DepthsHeader, &OrderHeader,
	&SMB2Header, &SMB2RequestHeader, &ReadHeader, &WriteHeader,
}
