package iser

import "encoding/binary"

// Sense is what sense data tell of a command that ended with CHECK CONDITION.
type Sense struct {
	// Key is the sense key, Code the additional sense code with its qualifier in the lower octet.
	Key  uint8
	Code uint16
}

// checkCondition is the SCSI status with which sense data come.
const checkCondition = 0x02

// DecodeSense reads what the data of a SCSI Response begin with (RFC 7143 section 11.4.7.2): the length of the sense data, and sense data of
// the fixed or the descriptor format (SPC-4 section 4.5). ok is false if they are not there.
func DecodeSense(data []byte) (s Sense, ok bool) {
	if len(data) < 2 {
		return s, false
	}
	n := int(binary.BigEndian.Uint16(data))
	data = data[2:min(2+n, len(data))]
	if len(data) < 4 {
		return s, false
	}
	switch data[0] & 0x7f {
	case 0x70, 0x71:
		if s.Key = data[2] & 0xf; len(data) >= 14 {
			s.Code = binary.BigEndian.Uint16(data[12:])
		}
		return s, true
	case 0x72, 0x73:
		return Sense{data[1] & 0xf, binary.BigEndian.Uint16(data[2:])}, true
	}
	return s, false
}

var conditions = [...]string{
	"CHECK CONDITION, NO SENSE", "CHECK CONDITION, RECOVERED ERROR", "CHECK CONDITION, NOT READY", "CHECK CONDITION, MEDIUM ERROR",
	"CHECK CONDITION, HARDWARE ERROR", "CHECK CONDITION, ILLEGAL REQUEST", "CHECK CONDITION, UNIT ATTENTION",
	"CHECK CONDITION, DATA PROTECT", "CHECK CONDITION, BLANK CHECK", "CHECK CONDITION, vendor specific",
	"CHECK CONDITION, COPY ABORTED", "CHECK CONDITION, ABORTED COMMAND", "CHECK CONDITION, reserved",
	"CHECK CONDITION, VOLUME OVERFLOW", "CHECK CONDITION, MISCOMPARE", "CHECK CONDITION, COMPLETED",
}

// Name names CHECK CONDITION with the sense key.
func (s Sense) Name() string { return conditions[s.Key&0xf] }

// The sense keys that belong to normal use, always or of some commands (SPC-4 section 4.5.6).
const (
	keyNoSense, keyRecovered, keyNotReady, keyIllegal, keyAttention = 0x0, 0x1, 0x2, 0x5, 0x6
	keyBlankCheck, keyMiscompare, keyCompleted                      = 0x8, 0xe, 0xf
)

// outOfRange is the additional sense code of an address that the logical unit does not have.
const outOfRange = 0x21

// Ordinary reports whether the sense data tell of no error, or of one that belongs to normal use. Blocks says that the command
// moves or compares logical blocks. With other commands an initiator finds out what a target has (ILLEGAL REQUEST), and whether it is ready.
func (s Sense) Ordinary(blocks bool) bool {
	switch s.Key {
	case keyNoSense, keyRecovered, keyAttention, keyBlankCheck, keyMiscompare, keyCompleted:
		return true
	case keyIllegal:
		return !blocks && s.Code>>8 != outOfRange
	case keyNotReady:
		return !blocks
	}
	return false
}

// OrdinarySCSIStatus reports whether a SCSI status other than CHECK CONDITION tells of no error, or of one that belongs to
// normal use: the initiator is to send the command again later (SAM-5 section 5.3.1).
func OrdinarySCSIStatus(v uint8) bool {
	switch v {
	case 0x00, 0x04, 0x08, 0x10, 0x14, 0x28:
		return true
	}
	return false
}

// CheckCondition reports whether a SCSI status is the one with which sense data come.
func CheckCondition(v uint8) bool { return v == checkCondition }

// OrdinaryLogin reports whether the status of a Login Response tells of no error, or that the target is somewhere else (RFC
// 7143 section 11.13.5).
func OrdinaryLogin(v uint16) bool { return v>>8 <= 1 }

// OrdinaryTask reports whether the answer to task management belongs to normal use: the task was answered meanwhile (RFC 7143
// section 11.6.1).
func OrdinaryTask(v uint8) bool { return v <= 1 }

// OrdinaryLogout reports whether the answer to a logout belongs to normal use: only the last one tells that something failed
// (RFC 7143 section 11.15.1).
func OrdinaryLogout(v uint8) bool { return v != 3 }

// OrdinaryReject reports whether a Reject belongs to normal use: of immediate commands the target takes a few, and behind a
// request to log out none (RFC 7143 section 11.17.1).
func OrdinaryReject(v uint8) bool { return v == 6 || v == 12 }
