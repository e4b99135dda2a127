package smbdirect

import (
	"cmp"
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// SMB2Len is the size of the header of SMB2 in octets.
const SMB2Len = 64

// What the first four octets of a message of SMB2 can be, as a big-endian number: a header
// ([MS-SMB2] section 2.2.1), an encrypted message (2.2.41), a compressed one (2.2.42).
const (
	ProtocolSMB2       = 0xFE534D42
	ProtocolEncrypted  = 0xFD534D42
	ProtocolCompressed = 0xFC534D42
)

// Offsets of the header, in octets. Those of process and tree are those of AsyncId in a
// response that comes in two.
const (
	offProtocol      = 0
	offHeaderSize    = 4
	offCreditCharge  = 6
	offSMB2Status    = 8
	offCommand       = 12
	offSMB2Credits   = 14
	offSMB2Flags     = 16
	offNextCommand   = 20
	offMessageID     = 24
	offProcess       = 32
	offTree          = 36
	offSession       = 40
	offSignature     = 48
	smb2SignatureLen = 16
)

// Flags of SMB2.
const (
	SMB2Response = 0x00000001
	SMB2Async    = 0x00000002
)

// StatusPending is the status of an answer that another one follows.
const StatusPending = 0x00000103

// Command is what a message of SMB2 asks for.
type Command uint16

// The commands with descriptors.
const (
	CommandFlush Command = 7
	CommandRead  Command = 8
	CommandWrite Command = 9
	// CommandCancel has no response.
	CommandCancel Command = 12
)

var commands = [...]string{
	"NEGOTIATE", "SESSION_SETUP", "LOGOFF", "TREE_CONNECT", "TREE_DISCONNECT", "CREATE", "CLOSE", "FLUSH", "READ", "WRITE", "LOCK",
	"IOCTL", "CANCEL", "ECHO", "QUERY_DIRECTORY", "CHANGE_NOTIFY", "QUERY_INFO", "SET_INFO", "OPLOCK_BREAK",
	"SERVER_TO_CLIENT_NOTIFICATION",
}

// String returns the name of the command as the specification has it.
func (c Command) String() string {
	if int(c) < len(commands) {
		return commands[c]
	}
	return "unknown"
}

// SMB2 is the header of a message of SMB2 ([MS-SMB2] section 2.2.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|              ProtocolId: FE, then "SMB"                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       StructureSize: 64       |         CreditCharge          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          Status; in a request ChannelSequence, Reserved       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            Command            |  CreditRequest / -Response    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                             Flags                             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          NextCommand                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                           MessageId                           +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|     Reserved, TreeId; with the flag ASYNC one AsyncId         |
//	+                                                               +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                           SessionId                           +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                     Signature, 16 octets                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type SMB2 struct {
	// Protocol is [ProtocolSMB2], HeaderSize 64 octets.
	Protocol   uint32
	HeaderSize uint16
	// CreditCharge is what the request costs, Credits what is asked for or granted: those
	// are credits of SMB2, not of SMB Direct.
	CreditCharge, Credits uint16
	// Status is the NTSTATUS of a response.
	Status  uint32
	Command Command
	Flags   uint32
	// Next is where the next message of a chain begins, in octets from the start of this
	// header; 0 for the last one.
	Next uint32
	// MessageID tells the requests of a connection from each other. The response has it too.
	MessageID uint64
	// Process, Tree are reserved and the tree, or the two halves of the AsyncId.
	Process, Tree uint32
	Session       uint64
	Signature     [smb2SignatureLen]byte
}

// Response reports whether the message is a response.
func (h *SMB2) Response() bool { return h.Flags&SMB2Response != 0 }

// IsSMB2 reports whether octets begin with the header of SMB2.
func IsSMB2(b []byte) bool {
	return len(b) >= SMB2Len && binary.BigEndian.Uint32(b) == ProtocolSMB2 && binary.LittleEndian.Uint16(b[offHeaderSize:]) == SMB2Len
}

// DecodeSMB2 reads the header at the start of b.
func DecodeSMB2(b []byte) (SMB2, error) {
	if len(b) < SMB2Len {
		return SMB2{}, dissect.Short(dissect.LayerSMBDirect, "short_smb2_header", len(b))
	}
	return SMB2{
		Protocol:     binary.BigEndian.Uint32(b[offProtocol:]),
		HeaderSize:   binary.LittleEndian.Uint16(b[offHeaderSize:]),
		CreditCharge: binary.LittleEndian.Uint16(b[offCreditCharge:]),
		Status:       binary.LittleEndian.Uint32(b[offSMB2Status:]),
		Command:      Command(binary.LittleEndian.Uint16(b[offCommand:])),
		Credits:      binary.LittleEndian.Uint16(b[offSMB2Credits:]),
		Flags:        binary.LittleEndian.Uint32(b[offSMB2Flags:]),
		Next:         binary.LittleEndian.Uint32(b[offNextCommand:]),
		MessageID:    binary.LittleEndian.Uint64(b[offMessageID:]),
		Process:      binary.LittleEndian.Uint32(b[offProcess:]),
		Tree:         binary.LittleEndian.Uint32(b[offTree:]),
		Session:      binary.LittleEndian.Uint64(b[offSession:]),
		Signature:    [smb2SignatureLen]byte(b[offSignature:]),
	}, nil
}

// Append appends the 64 octets of the header.
func (h SMB2) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, h.Protocol)
	dst = binary.LittleEndian.AppendUint16(dst, h.HeaderSize)
	dst = binary.LittleEndian.AppendUint16(dst, h.CreditCharge)
	dst = binary.LittleEndian.AppendUint32(dst, h.Status)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.Command))
	dst = binary.LittleEndian.AppendUint16(dst, h.Credits)
	dst = binary.LittleEndian.AppendUint32(dst, h.Flags)
	dst = binary.LittleEndian.AppendUint32(dst, h.Next)
	dst = binary.LittleEndian.AppendUint64(dst, h.MessageID)
	dst = binary.LittleEndian.AppendUint32(dst, h.Process)
	dst = binary.LittleEndian.AppendUint32(dst, h.Tree)
	dst = binary.LittleEndian.AppendUint64(dst, h.Session)
	return append(dst, h.Signature[:]...)
}

const refSMB2 = "[MS-SMB2] section 2.2.1"

// SMB2Header describes the header of SMB2. The status stands in responses only.
var SMB2Header = smb2Header(status("smb2.nt_status", offSMB2Status, refSMB2))

// SMB2RequestHeader describes it for a request.
var SMB2RequestHeader = smb2Header(number("smb2.channel_sequence", "Channel sequence", dissect.Dec, offSMB2Status, 2, refSMB2))

func smb2Header(third dissect.Field) dissect.Header {
	command := number("smb2.cmd", "Command", dissect.Dec, offCommand, 2, refSMB2)
	command.Names = func(v uint64) string { return Command(v).String() } //nolint:gosec // 16 bits
	return dissect.Header{
		Layer:   dissect.LayerSMBDirect,
		Name:    "SMB2 header",
		Ref:     refSMB2,
		Size:    SMB2Len,
		Several: true,
		Fields: []dissect.Field{
			{Name: "smb2.protocol_id", Label: "Protocol", Kind: dissect.Hex, Bit: 8 * offProtocol, Width: 32, Ref: refSMB2},
			number("smb2.header_len", "Size of the header", dissect.Dec, offHeaderSize, 2, refSMB2),
			number("smb2.credit.charge", "Credit charge", dissect.Dec, offCreditCharge, 2, refSMB2),
			third,
			command,
			number("smb2.flags", "Flags", dissect.Hex, offSMB2Flags, 4, refSMB2),
			{Name: "smb2.flags.response", Label: "Response", Kind: dissect.Bool, Bit: 8*offSMB2Flags + 7, Width: 1, Ref: refSMB2},
			{Name: "smb2.flags.async", Label: "Async command", Kind: dissect.Bool, Bit: 8*offSMB2Flags + 6, Width: 1, Ref: refSMB2},
			number("smb2.chain_offset", "Next command", dissect.Hex, offNextCommand, 4, refSMB2),
			number("smb2.msg_id", "Message id", dissect.Dec, offMessageID, 8, refSMB2),
			number("smb2.sesid", "Session id", dissect.Hex, offSession, 8, refSMB2),
		},
	}
}

// statusNames are those of NTSTATUS values that SMB2 often has ([MS-ERREF] section 2.3.1).
var statusNames = map[uint64]string{
	0:             "STATUS_SUCCESS",
	StatusPending: "STATUS_PENDING",
	0x0000010B:    "STATUS_NOTIFY_CLEANUP",
	0x0000010C:    "STATUS_NOTIFY_ENUM_DIR",
	0x80000005:    "STATUS_BUFFER_OVERFLOW",
	0x80000006:    "STATUS_NO_MORE_FILES",
	0x8000002D:    "STATUS_STOPPED_ON_SYMLINK",
	0xC0000001:    "STATUS_UNSUCCESSFUL",
	0xC0000002:    "STATUS_NOT_IMPLEMENTED",
	0xC0000003:    "STATUS_INVALID_INFO_CLASS",
	0xC0000004:    "STATUS_INFO_LENGTH_MISMATCH",
	0xC0000008:    "STATUS_INVALID_HANDLE",
	0xC000000D:    "STATUS_INVALID_PARAMETER",
	0xC000000F:    "STATUS_NO_SUCH_FILE",
	0xC0000010:    "STATUS_INVALID_DEVICE_REQUEST",
	0xC0000011:    "STATUS_END_OF_FILE",
	0xC0000016:    "STATUS_MORE_PROCESSING_REQUIRED",
	0xC0000017:    "STATUS_NO_MEMORY",
	0xC0000022:    "STATUS_ACCESS_DENIED",
	0xC0000023:    "STATUS_BUFFER_TOO_SMALL",
	0xC0000024:    "STATUS_OBJECT_TYPE_MISMATCH",
	0xC0000033:    "STATUS_OBJECT_NAME_INVALID",
	0xC0000034:    "STATUS_OBJECT_NAME_NOT_FOUND",
	0xC0000035:    "STATUS_OBJECT_NAME_COLLISION",
	0xC000003A:    "STATUS_OBJECT_PATH_NOT_FOUND",
	0xC000003B:    "STATUS_OBJECT_PATH_SYNTAX_BAD",
	0xC0000043:    "STATUS_SHARING_VIOLATION",
	0xC0000044:    "STATUS_QUOTA_EXCEEDED",
	0xC0000054:    "STATUS_FILE_LOCK_CONFLICT",
	0xC0000055:    "STATUS_LOCK_NOT_GRANTED",
	0xC0000056:    "STATUS_DELETE_PENDING",
	0xC0000061:    "STATUS_PRIVILEGE_NOT_HELD",
	0xC000006A:    "STATUS_WRONG_PASSWORD",
	0xC000006D:    "STATUS_LOGON_FAILURE",
	0xC000006E:    "STATUS_ACCOUNT_RESTRICTION",
	0xC0000071:    "STATUS_PASSWORD_EXPIRED",
	0xC0000072:    "STATUS_ACCOUNT_DISABLED",
	0xC000007E:    "STATUS_RANGE_NOT_LOCKED",
	0xC000007F:    "STATUS_DISK_FULL",
	0xC000009A:    "STATUS_INSUFFICIENT_RESOURCES",
	0xC00000A2:    "STATUS_MEDIA_WRITE_PROTECTED",
	0xC00000AC:    "STATUS_PIPE_NOT_AVAILABLE",
	0xC00000B0:    "STATUS_PIPE_DISCONNECTED",
	0xC00000B5:    "STATUS_IO_TIMEOUT",
	0xC00000BA:    "STATUS_FILE_IS_A_DIRECTORY",
	0xC00000BB:    "STATUS_NOT_SUPPORTED",
	0xC00000C9:    "STATUS_NETWORK_NAME_DELETED",
	0xC00000CA:    "STATUS_NETWORK_ACCESS_DENIED",
	0xC00000CC:    "STATUS_BAD_NETWORK_NAME",
	0xC00000D0:    "STATUS_REQUEST_NOT_ACCEPTED",
	0xC00000D4:    "STATUS_NOT_SAME_DEVICE",
	0xC0000101:    "STATUS_DIRECTORY_NOT_EMPTY",
	0xC0000103:    "STATUS_NOT_A_DIRECTORY",
	0xC000011F:    "STATUS_TOO_MANY_OPENED_FILES",
	0xC0000120:    "STATUS_CANCELLED",
	0xC0000121:    "STATUS_CANNOT_DELETE",
	0xC0000123:    "STATUS_FILE_DELETED",
	0xC0000128:    "STATUS_FILE_CLOSED",
	0xC000014B:    "STATUS_PIPE_BROKEN",
	0xC0000203:    "STATUS_USER_SESSION_DELETED",
	0xC0000205:    "STATUS_INSUFF_SERVER_RESOURCES",
	0xC0000225:    "STATUS_NOT_FOUND",
	0xC0000234:    "STATUS_ACCOUNT_LOCKED_OUT",
	0xC0000257:    "STATUS_PATH_NOT_COVERED",
	0xC0000275:    "STATUS_NOT_A_REPARSE_POINT",
	0xC000035C:    "STATUS_NETWORK_SESSION_EXPIRED",
	0xC0000466:    "STATUS_SERVER_UNAVAILABLE",
	0xC0000467:    "STATUS_FILE_NOT_AVAILABLE",
}

func statusName(v uint64) string { return cmp.Or(statusNames[v], "unknown") }

// StatusName is the name of an NTSTATUS, or "unknown".
func StatusName(v uint32) string { return statusName(uint64(v)) }

// Failed reports whether an NTSTATUS tells of an error, and not of success, of something
// worth knowing, or that the exchange goes on.
func Failed(v uint32) bool { return v>>30 == 3 && v != 0xC0000016 }

// ordinaryStatuses are errors that belong to normal use, also of what stands in one chain with what they are of ([MS-SMB2] sections
// 3.3.5.2.7.2 and 3.3.4.4, [MS-FSA] section 2.1.5): names and kinds of files, rights, locks, ends of files and of pipes, what a server does
// not have, what was cancelled, and sessions that are to be renewed.
var ordinaryStatuses = map[uint32]bool{
	0xC0000004: true, 0xC0000010: true, 0xC0000011: true, 0xC0000016: true, 0xC0000022: true, 0xC0000023: true, 0xC0000024: true,
	0xC0000033: true, 0xC0000034: true, 0xC0000035: true, 0xC000003A: true, 0xC000003B: true, 0xC0000043: true, 0xC0000054: true,
	0xC0000055: true, 0xC0000056: true, 0xC0000061: true, 0xC000007E: true, 0xC00000AC: true, 0xC00000B0: true, 0xC00000BA: true,
	0xC00000BB: true, 0xC00000D4: true, 0xC0000101: true, 0xC0000103: true, 0xC0000120: true, 0xC0000121: true, 0xC0000123: true,
	0xC000014B: true, 0xC0000225: true, 0xC0000257: true, 0xC0000275: true, 0xC000035C: true, 0xC000000F: true,
}

// graveStatuses are errors that tell of storage, of a server or of a session that failed, whatever was asked for ([MS-ERREF] section 2.3.1).
var graveStatuses = map[uint32]bool{
	0xC0000017: true, // STATUS_NO_MEMORY
	0xC0000032: true, // STATUS_DISK_CORRUPT_ERROR
	0xC000003E: true, // STATUS_DATA_ERROR
	0xC000003F: true, // STATUS_CRC_ERROR
	0xC0000044: true, // STATUS_QUOTA_EXCEEDED
	0xC000007F: true, // STATUS_DISK_FULL
	0xC000009A: true, // STATUS_INSUFFICIENT_RESOURCES
	0xC000009C: true, // STATUS_DEVICE_DATA_ERROR
	0xC00000A2: true, // STATUS_MEDIA_WRITE_PROTECTED
	0xC00000A3: true, // STATUS_DEVICE_NOT_READY
	0xC00000B5: true, // STATUS_IO_TIMEOUT
	0xC00000C9: true, // STATUS_NETWORK_NAME_DELETED
	0xC00000E9: true, // STATUS_UNEXPECTED_IO_ERROR
	0xC000011F: true, // STATUS_TOO_MANY_OPENED_FILES
	0xC0000185: true, // STATUS_IO_DEVICE_ERROR
	0xC0000203: true, // STATUS_USER_SESSION_DELETED
	0xC0000205: true, // STATUS_INSUFF_SERVER_RESOURCES
	0xC0000466: true, // STATUS_SERVER_UNAVAILABLE
}

// Ordinary reports whether an NTSTATUS tells of no error, or of one that belongs to normal use of a command. Of commands that move no
// data of files, most do.
func Ordinary(c Command, v uint32) bool {
	switch {
	case !Failed(v), ordinaryStatuses[v]:
		return true
	case c == CommandRead, c == CommandWrite, c == CommandFlush:
		return false
	}
	return !graveStatuses[v]
}
