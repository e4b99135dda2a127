package nvme

// Status is the status field of a completion, with the phase in its lowest bit.
type Status uint16

// StatusOf makes a status of a status code type and a status code.
func StatusOf(sct, sc uint8) Status { return Status(sct&7)<<9 | Status(sc)<<1 }

// Type is the status code type, Code the status code.
func (s Status) Type() uint8 { return uint8(s >> 9 & 7) }

// Code is the status code.
func (s Status) Code() uint8 { return uint8(s >> 1 & 0xff) }

// Success reports whether the command was successful.
func (s Status) Success() bool { return s>>1&0x7ff == 0 }

// DoNotRetry reports whether the same command would fail again.
func (s Status) DoNotRetry() bool { return s>>15 != 0 }

// The status code types.
const (
	genericStatus = 0
	commandStatus = 1
	mediaStatus   = 2
	pathStatus    = 3
	vendorStatus  = 7
)

func statusType(v uint64) string {
	switch v {
	case genericStatus:
		return "generic"
	case commandStatus:
		return "command specific"
	case mediaStatus:
		return "media and data integrity"
	case pathStatus:
		return "path related"
	case vendorStatus:
		return "vendor specific"
	}
	return "reserved"
}

// NVMe Base Specification 2.0, Figures 94 to 96, and NVM Command Set Specification 1.0.
var statusNames = map[Status]string{
	0x000: "Successful Completion", 0x001: "Invalid Command Opcode", 0x002: "Invalid Field in Command",
	0x003: "Command ID Conflict", 0x004: "Data Transfer Error", 0x005: "Commands Aborted due to Power Loss Notification",
	0x006: "Internal Error", 0x007: "Command Abort Requested", 0x008: "Command Aborted due to SQ Deletion",
	0x009: "Command Aborted due to Failed Fused Command", 0x00a: "Command Aborted due to Missing Fused Command",
	0x00b: "Invalid Namespace or Format", 0x00c: "Command Sequence Error", 0x00d: "Invalid SGL Segment Descriptor",
	0x00e: "Invalid Number of SGL Descriptors", 0x00f: "Data SGL Length Invalid", 0x010: "Metadata SGL Length Invalid",
	0x011: "SGL Descriptor Type Invalid", 0x012: "Invalid Use of Controller Memory Buffer", 0x013: "PRP Offset Invalid",
	0x014: "Atomic Write Unit Exceeded", 0x015: "Operation Denied", 0x016: "SGL Offset Invalid",
	0x018: "Host Identifier Inconsistent Format", 0x019: "Keep Alive Timer Expired", 0x01a: "Keep Alive Timeout Invalid",
	0x01b: "Command Aborted due to Preempt and Abort", 0x01c: "Sanitize Failed", 0x01d: "Sanitize In Progress",
	0x01e: "SGL Data Block Granularity Invalid", 0x01f: "Command Not Supported for Queue in CMB",
	0x020: "Namespace is Write Protected", 0x021: "Command Interrupted", 0x022: "Transient Transport Error",
	0x080: "LBA Out of Range", 0x081: "Capacity Exceeded", 0x082: "Namespace Not Ready", 0x083: "Reservation Conflict",
	0x084: "Format In Progress",

	0x100: "Completion Queue Invalid", 0x101: "Invalid Queue Identifier", 0x102: "Invalid Queue Size",
	0x103: "Abort Command Limit Exceeded", 0x105: "Asynchronous Event Request Limit Exceeded",
	0x106: "Invalid Firmware Slot", 0x107: "Invalid Firmware Image", 0x108: "Invalid Interrupt Vector",
	0x109: "Invalid Log Page", 0x10a: "Invalid Format", 0x10d: "Feature Identifier Not Saveable",
	0x10e: "Feature Not Changeable", 0x10f: "Feature Not Namespace Specific", 0x114: "Overlapping Range",
	0x115: "Namespace Insufficient Capacity", 0x116: "Namespace Identifier Unavailable",
	0x118: "Namespace Already Attached", 0x119: "Namespace Is Private", 0x11a: "Namespace Not Attached",
	0x11c: "Controller List Invalid", 0x11d: "Device Self-test In Progress", 0x11f: "Invalid Controller Identifier",
	0x180: "Conflicting Attributes", 0x181: "Invalid Protection Information",
	0x182: "Attempted Write to Read Only Range",

	0x280: "Write Fault", 0x281: "Unrecovered Read Error", 0x282: "End-to-end Guard Check Error",
	0x283: "End-to-end Application Tag Check Error", 0x284: "End-to-end Reference Tag Check Error",
	0x285: "Compare Failure", 0x286: "Access Denied", 0x287: "Deallocated or Unwritten Logical Block",

	0x300: "Internal Path Error", 0x301: "Asymmetric Access Persistent Loss", 0x302: "Asymmetric Access Inaccessible",
	0x303: "Asymmetric Access Transition", 0x360: "Controller Pathing Error", 0x370: "Host Pathing Error",
	0x371: "Command Aborted By Host",
}

// The codes of fabrics commands, which other commands use for something else (NVMe Base
// Specification 2.0, Figure 97).
var fabricsNames = map[Status]string{
	0x180: "Connect Incompatible Format", 0x181: "Connect Controller Busy", 0x182: "Connect Invalid Parameters",
	0x183: "Connect Restart Discovery", 0x184: "Connect Invalid Host", 0x185: "Invalid Queue Type",
	0x190: "Discover Restart", 0x191: "Authentication Required",
}

// Name returns what the status means; fabrics says that it is that of a fabrics command.
func (s Status) Name(fabrics bool) string {
	v := s >> 1 & 0x7ff
	if name, ok := fabricsNames[v]; ok && (fabrics || statusNames[v] == "") {
		return name
	}
	if name, ok := statusNames[v]; ok {
		return name
	}
	if s.Type() == vendorStatus || s.Code() >= 0xc0 {
		return "vendor specific"
	}
	return "unknown status"
}

// asynchronousEvent is the command that waits for an event, maybe for ever.
const asynchronousEvent = "Asynchronous Event Request"

// Ordinary reports whether the status tells of an error that belongs to normal use, of a command with a name: "" if it is
// not known. What is ordinary of some commands is so of one that is not known.
//
// NVMe Base Specification 2.0 sections 3.3.3.2.1 (deletion of queues), 5.1 (Abort), 5.2 (Asynchronous Event Request) and 6.2 (fused
// operations); a Compare compares. On the admin queue, hosts find out with these statuses what a controller has.
func (s Status) Ordinary(q Queue, command string) bool {
	switch v := s >> 1 & 0x7ff; v {
	case 0x000, 0x008, 0x009, 0x103, 0x105, 0x285, 0x287:
		return true
	case 0x183, 0x190: // of Fabrics: Restart
		return q != IOQueue
	case 0x007:
		return command == asynchronousEvent || command == ""
	case 0x001, 0x002, 0x00b, 0x109, 0x10d, 0x10e, 0x10f:
		return q != IOQueue && command != "Fabrics Connect"
	}
	return false
}
