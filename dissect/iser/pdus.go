package iser

import "github.com/iwdissect/iwdissect/dissect"

// What single iSCSI PDUs have in their basic header segment, besides what all have.

func number(name, label string, bit, width int, ref string) dissect.Field {
	return dissect.Field{Name: name, Label: label, Kind: dissect.Dec, Bit: bit, Width: width, Ref: ref}
}

func hexadecimal(name, label string, bit, width int, ref string, names func(uint64) string) dissect.Field {
	return dissect.Field{Name: name, Label: label, Kind: dissect.Hex, Bit: bit, Width: width, Ref: ref, Names: names}
}

func flagged(name, label string, bit int, ref string) dissect.Field {
	return dissect.Field{Name: name, Label: label, Kind: dissect.Bool, Bit: bit, Width: 1, Ref: ref}
}

func lun(ref string) dissect.Field {
	return hexadecimal("iwd.iscsi.lun", "Logical unit number", 64, 64, ref, nil)
}

// Where the words are, in bits.
const (
	word0 = 160 + 32*iota
	word1
	word2
	word3
	word4
	word5
	word6
)

func targetTag(ref string) dissect.Field {
	return hexadecimal("iscsi.targettransfertag", "Target transfer tag", word0, 32, ref, nil)
}

// sent are the numbers of an initiator, answered those of a target.
func sent(ref string) []dissect.Field {
	return []dissect.Field{number("iscsi.cmdsn", "CmdSN", word1, 32, ref), number("iscsi.expstatsn", "ExpStatSN", word2, 32, ref)}
}

func answered(ref string) []dissect.Field {
	return []dissect.Field{
		number("iscsi.statsn", "StatSN", word1, 32, ref), number("iscsi.expcmdsn", "ExpCmdSN", word2, 32, ref),
		number("iscsi.maxcmdsn", "MaxCmdSN", word3, 32, ref),
	}
}

func header(name, ref string, fields ...dissect.Field) dissect.Header {
	return dissect.Header{Layer: dissect.LayerISER, Name: name, Ref: ref, Size: BHSLen, Fields: fields}
}

const (
	refCommand  = "RFC 7143 section 11.3"
	refResponse = "RFC 7143 section 11.4"
	refTask     = "RFC 7143 section 11.5"
	refTaskDone = "RFC 7143 section 11.6"
	refData     = "RFC 7143 section 11.7"
	refAsync    = "RFC 7143 section 11.9"
	refText     = "RFC 7143 section 11.10"
	refTextDone = "RFC 7143 section 11.11"
	refLogin    = "RFC 7143 section 11.12"
	refLoggedIn = "RFC 7143 section 11.13"
	refLogout   = "RFC 7143 section 11.14"
	refLeft     = "RFC 7143 section 11.15"
	refReject   = "RFC 7143 section 11.17"
	refNOPOut   = "RFC 7143 section 11.18"
	refNOPIn    = "RFC 7143 section 11.19"
)

// The headers of the PDUs.
var (
	SCSICommandHeader = header("SCSI Command", refCommand, append([]dissect.Field{
		flagged("iscsi.scsicommand.F", "Final", 8, refCommand),
		flagged("iscsi.scsicommand.R", "Read", 9, refCommand),
		flagged("iscsi.scsicommand.W", "Write", 10, refCommand),
		hexadecimal("iscsi.scsicommand.attr", "Attribute", 13, 3, refCommand, attributeName),
		lun(refCommand),
		number("iscsi.scsicommand.expecteddatatransferlength", "Expected data transfer length", word0, 32, refCommand),
		hexadecimal("iwd.iscsi.scsi_opcode", "SCSI opcode", word3, 8, refCommand, scsiName),
		{Name: "iwd.iscsi.cdb", Label: "CDB", Kind: dissect.Bytes, Bit: word3, Width: 128, Ref: refCommand},
	}, sent(refCommand)...)...)
	SCSIResponseHeader = header("SCSI Response", refResponse, append([]dissect.Field{
		flagged("iscsi.scsiresponse.o", "Bidirectional read residual overflow", 11, refResponse),
		flagged("iscsi.scsiresponse.u", "Bidirectional read residual underflow", 12, refResponse),
		flagged("iscsi.scsiresponse.O", "Residual overflow", 13, refResponse),
		flagged("iscsi.scsiresponse.U", "Residual underflow", 14, refResponse),
		hexadecimal("iscsi.scsiresponse.response", "Response", 16, 8, refResponse, responseName),
		hexadecimal("iscsi.scsiresponse.status", "Status", 24, 8, refResponse, SCSIStatusName),
		hexadecimal("iscsi.expdatasn", "ExpDataSN", word4, 32, refResponse, nil),
		number("iscsi.scsiresponse.bidireadresidualcount", "Bidirectional read residual count", word5, 32, refResponse),
		number("iscsi.scsiresponse.residualcount", "Residual count", word6, 32, refResponse),
	}, answered(refResponse)...)...)
	TaskRequestHeader = header("Task Management Request", refTask, append([]dissect.Field{
		hexadecimal("iscsi.taskmanfun.function", "Function", 9, 7, refTask, TaskName),
		lun(refTask),
		hexadecimal("iscsi.taskmanfun.referencedtasktag", "Referenced task tag", word0, 32, refTask, nil),
		number("iscsi.refcmdsn", "RefCmdSN", word3, 32, refTask),
	}, sent(refTask)...)...)
	TaskResponseHeader = header("Task Management Response", refTaskDone, append([]dissect.Field{
		hexadecimal("iscsi.taskmanfun.response", "Response", 16, 8, refTaskDone, TaskResponseName),
	}, answered(refTaskDone)...)...)
	DataOutHeader = header("SCSI Data-Out", refData,
		flagged("iscsi.scsidata.F", "Final", 8, refData), lun(refData), targetTag(refData),
		number("iscsi.expstatsn", "ExpStatSN", word2, 32, refData),
		number("iscsi.datasn", "DataSN", word4, 32, refData), number("iscsi.bufferOffset", "Buffer offset", word5, 32, refData))
	TextRequestHeader = header("Text Request", refText, append([]dissect.Field{
		flagged("iscsi.text.F", "Final", 8, refText), flagged("iscsi.text.C", "Continue", 9, refText), targetTag(refText),
	}, sent(refText)...)...)
	TextResponseHeader = header("Text Response", refTextDone, append([]dissect.Field{
		flagged("iscsi.text.F", "Final", 8, refTextDone), flagged("iscsi.text.C", "Continue", 9, refTextDone), targetTag(refTextDone),
	}, answered(refTextDone)...)...)
	LoginRequestHeader = header("Login Request", refLogin, append(append(stages(refLogin),
		hexadecimal("iscsi.versionmax", "Highest version", 16, 8, refLogin, nil), hexadecimal("iscsi.versionmin", "Lowest version", 24, 8, refLogin, nil),
		dissect.Field{Name: "iscsi.isid", Label: "ISID", Kind: dissect.Bytes, Bit: 64, Width: 48, Ref: refLogin},
		hexadecimal("iscsi.tsih", "TSIH", 112, 16, refLogin, nil),
		hexadecimal("iscsi.cid", "Connection", word0, 16, refLogin, nil),
	), sent(refLogin)...)...)
	LoginResponseHeader = header("Login Response", refLoggedIn, append(append(stages(refLoggedIn),
		hexadecimal("iscsi.versionmax", "Highest version", 16, 8, refLoggedIn, nil), hexadecimal("iscsi.versionactive", "Version used", 24, 8, refLoggedIn, nil),
		dissect.Field{Name: "iscsi.isid", Label: "ISID", Kind: dissect.Bytes, Bit: 64, Width: 48, Ref: refLoggedIn},
		hexadecimal("iscsi.tsih", "TSIH", 112, 16, refLoggedIn, nil),
		hexadecimal("iscsi.login.status", "Status", word4, 16, refLoggedIn, LoginStatusName),
	), answered(refLoggedIn)...)...)
	LogoutRequestHeader = header("Logout Request", refLogout, append([]dissect.Field{
		hexadecimal("iscsi.logout.reason", "Reason", 9, 7, refLogout, LogoutReasonName),
		hexadecimal("iscsi.cid", "Connection", word0, 16, refLogout, nil),
	}, sent(refLogout)...)...)
	LogoutResponseHeader = header("Logout Response", refLeft, append([]dissect.Field{
		hexadecimal("iscsi.logout.response", "Response", 16, 8, refLeft, LogoutResponseName),
		number("iscsi.time2wait", "Time2Wait", word5, 16, refLeft), number("iscsi.time2retain", "Time2Retain", word5+16, 16, refLeft),
	}, answered(refLeft)...)...)
	NOPOutHeader = header("NOP-Out", refNOPOut, append([]dissect.Field{lun(refNOPOut), targetTag(refNOPOut)}, sent(refNOPOut)...)...)
	NOPInHeader  = header("NOP-In", refNOPIn, append([]dissect.Field{lun(refNOPIn), targetTag(refNOPIn)}, answered(refNOPIn)...)...)
	AsyncHeader  = header("Asynchronous Message", refAsync, append([]dissect.Field{
		lun(refAsync), hexadecimal("iscsi.asyncevent", "Event", word4, 8, refAsync, AsyncName),
	}, answered(refAsync)...)...)
	RejectHeader = header("Reject", refReject, append([]dissect.Field{
		hexadecimal("iscsi.reject.reason", "Reason", 16, 8, refReject, RejectName),
	}, answered(refReject)...)...)
)

// stages are the first fields of a login.
func stages(ref string) []dissect.Field {
	return []dissect.Field{
		flagged("iscsi.login.T", "Transit to the next stage", 8, ref), flagged("iscsi.login.C", "Continue", 9, ref),
		hexadecimal("iscsi.login.csg", "Current stage", 12, 2, ref, StageName), hexadecimal("iscsi.login.nsg", "Next stage", 14, 2, ref, StageName),
	}
}

// Header describes what the PDU has besides [BHSHeader]; nil if nothing is known.
func (p PDU) Header() *dissect.Header {
	switch p {
	case NOPOut:
		return &NOPOutHeader
	case SCSICommand:
		return &SCSICommandHeader
	case TaskRequest:
		return &TaskRequestHeader
	case LoginRequest:
		return &LoginRequestHeader
	case TextRequest:
		return &TextRequestHeader
	case DataOut:
		return &DataOutHeader
	case LogoutRequest:
		return &LogoutRequestHeader
	case NOPIn:
		return &NOPInHeader
	case SCSIResponse:
		return &SCSIResponseHeader
	case TaskResponse:
		return &TaskResponseHeader
	case LoginResponse:
		return &LoginResponseHeader
	case TextResponse:
		return &TextResponseHeader
	case LogoutResponse:
		return &LogoutResponseHeader
	case AsyncMessage:
		return &AsyncHeader
	case Reject:
		return &RejectHeader
	default: // iSER has no use for the others
		return nil
	}
}

// DerivedHeader describes what is computed of a message.
var DerivedHeader = dissect.Header{
	Layer: dissect.LayerISER, Name: "iSER", Fields: []dissect.Field{
		{Name: "iwd.iser.layout", Label: "Layout of the header", Kind: dissect.Text, Bit: -1, Ref: refHeader},
	},
}

// Headers lists the descriptions of this package.
var Headers = []*dissect.Header{
	&PrivateHeader, &HelloHeader, &HelloReplyHeader, &ControlHeader, &OldControlHeader, &BHSHeader,
	&SCSICommandHeader, &SCSIResponseHeader, &TaskRequestHeader, &TaskResponseHeader, &DataOutHeader,
	&TextRequestHeader, &TextResponseHeader, &LoginRequestHeader, &LoginResponseHeader,
	&LogoutRequestHeader, &LogoutResponseHeader, &NOPOutHeader, &NOPInHeader, &AsyncHeader, &RejectHeader,
	&DerivedHeader,
}
