package iser

// What values of iSCSI and SCSI mean.

const unknown = "unknown"

// SCSI commands that storage uses (SPC-4, SBC-3).
var scsiNames = map[uint8]string{
	0x00: "Test Unit Ready", 0x03: "Request Sense", 0x04: "Format Unit", 0x08: "Read(6)", 0x0a: "Write(6)", 0x12: "Inquiry",
	0x15: "Mode Select(6)", 0x16: "Reserve(6)", 0x17: "Release(6)", 0x1a: "Mode Sense(6)", 0x1b: "Start Stop Unit",
	0x1e: "Prevent Allow Medium Removal", 0x25: "Read Capacity(10)", 0x28: "Read(10)", 0x2a: "Write(10)",
	0x2e: "Write and Verify(10)", 0x2f: "Verify(10)", 0x35: "Synchronize Cache(10)", 0x3b: "Write Buffer", 0x3c: "Read Buffer(10)",
	0x41: "Write Same(10)", 0x42: "Unmap", 0x4d: "Log Sense", 0x55: "Mode Select(10)", 0x5a: "Mode Sense(10)",
	0x5e: "Persistent Reserve In", 0x5f: "Persistent Reserve Out", 0x7f: "Variable Length", 0x83: "Third-party Copy Out", 0x84: "Third-party Copy In",
	0x88: "Read(16)", 0x89: "Compare and Write", 0x8a: "Write(16)", 0x8e: "Write and Verify(16)", 0x8f: "Verify(16)",
	0x91: "Synchronize Cache(16)", 0x93: "Write Same(16)", 0x9e: "Service Action In(16)", 0xa0: "Report LUNs",
	0xa3: "Maintenance In", 0xa4: "Maintenance Out", 0xa8: "Read(12)", 0xaa: "Write(12)",
}

// SCSIName returns the name of a SCSI command by the first octet of its CDB, and whether it
// has one here.
func SCSIName(op uint8) (name string, ok bool) {
	if name, ok = scsiNames[op]; ok {
		return name, true
	}
	return "SCSI command", false
}

func scsiName(v uint64) string {
	name, _ := SCSIName(uint8(v & 0xff))
	return name
}

// Blocks returns which logical blocks a Read or Write is about; ok is false for other
// commands.
func (h *BHS) Blocks() (lba uint64, blocks uint32, ok bool) {
	w := &h.Words // the CDB begins with the fourth word
	switch w[3] >> 24 {
	case 0x28, 0x2a, 0x2e, 0x2f: // octets 2 to 5 and 7 to 8
		return uint64(w[3]<<16 | w[4]>>16), w[4]<<24>>16 | w[5]>>24, true
	case 0xa8, 0xaa: // 2 to 5 and 6 to 9
		return uint64(w[3]<<16 | w[4]>>16), w[4]<<16 | w[5]>>16, true
	case 0x88, 0x8a, 0x8e, 0x8f: // 2 to 9 and 10 to 13
		return uint64(w[3]&0xffff)<<48 | uint64(w[4])<<16 | uint64(w[5]>>16), w[5]<<16 | w[6]>>16, true
	}
	return 0, 0, false
}

func attributeName(v uint64) string {
	return nameOf([]string{"untagged", "simple", "ordered", "head of queue", "ACA"}, v)
}

func nameOf(names []string, v uint64) string {
	if v < uint64(len(names)) && names[v] != "" {
		return names[v]
	}
	return unknown
}

func responseName(v uint64) string {
	switch {
	case v == 0:
		return "command completed at target"
	case v == 1:
		return "target failure"
	case v >= 0x80:
		return "vendor specific"
	}
	return unknown
}

// SCSIStatusName names a SCSI status (SAM-5).
func SCSIStatusName(v uint64) string {
	switch v {
	case 0x00:
		return "GOOD"
	case 0x02:
		return "CHECK CONDITION"
	case 0x04:
		return "CONDITION MET"
	case 0x08:
		return "BUSY"
	case 0x18:
		return "RESERVATION CONFLICT"
	case 0x28:
		return "TASK SET FULL"
	case 0x30:
		return "ACA ACTIVE"
	case 0x40:
		return "TASK ABORTED"
	}
	return unknown
}

// TaskName names a function of task management, TaskResponseName the answer.
func TaskName(v uint64) string {
	return nameOf([]string{
		1: "Abort Task", 2: "Abort Task Set", 3: "Clear ACA", 4: "Clear Task Set", 5: "Logical Unit Reset",
		6: "Target Warm Reset", 7: "Target Cold Reset", 8: "Task Reassign",
	}, v)
}

// TaskResponseName names the answer of task management.
func TaskResponseName(v uint64) string {
	if v == 0xff {
		return "function rejected"
	}
	return nameOf([]string{
		"function complete", "task does not exist", "LUN does not exist", "task still allegiant",
		"task allegiance reassignment not supported", "function not supported", "function authorization failed",
	}, v)
}

// StageName names a stage of the login.
func StageName(v uint64) string {
	return nameOf([]string{"SecurityNegotiation", "LoginOperationalNegotiation", "", "FullFeaturePhase"}, v)
}

// LoginStatusName names the status class and detail of a Login Response.
func LoginStatusName(v uint64) string {
	switch class := v >> 8; {
	case v == 0:
		return "success"
	case class == 1:
		return nameOf([]string{1: "target moved temporarily", 2: "target moved permanently"}, v&0xff)
	case class == 2:
		return nameOf([]string{
			"initiator error", "authentication failure", "authorization failure", "not found", "target removed",
			"unsupported version", "too many connections", "missing parameter", "can't include in session",
			"session type not supported", "session does not exist", "invalid request during login",
		}, v&0xff)
	case class == 3:
		return nameOf([]string{"target error", "service unavailable", "out of resources"}, v&0xff)
	}
	return unknown
}

// LogoutReasonName names why an initiator logs out, LogoutResponseName the answer.
func LogoutReasonName(v uint64) string {
	return nameOf([]string{"close the session", "close the connection", "remove the connection for recovery"}, v)
}

// LogoutResponseName names the answer to a logout.
func LogoutResponseName(v uint64) string {
	return nameOf([]string{"closed successfully", "CID not found", "connection recovery not supported", "cleanup failed"}, v)
}

// AsyncName names an asynchronous event.
func AsyncName(v uint64) string {
	if v == 0xff {
		return "vendor specific"
	}
	return nameOf([]string{
		"SCSI event", "target requests logout", "target will drop the connection", "target will drop all connections",
		"target requests negotiation", "all tasks terminated",
	}, v)
}

// RejectName names why a target rejects a PDU.
func RejectName(v uint64) string {
	return nameOf([]string{
		2: "data digest error", 3: "SNACK reject", 4: "protocol error", 5: "command not supported",
		6: "immediate command reject", 7: "task in progress", 8: "invalid data ACK", 9: "invalid PDU field",
		10: "long operation reject", 11: "negotiation reset", 12: "waiting for logout",
	}, v)
}
