package nvme

// OpFabrics is the opcode of all fabrics commands; [FabricsType] tells them apart.
const OpFabrics = 0x7f

// Queue says which commands a queue takes, and so what an opcode means.
type Queue uint8

// The queues.
const (
	// UnknownQueue: nothing shows which it is.
	UnknownQueue Queue = iota
	AdminQueue
	// IOQueue takes the commands of the NVM command set.
	IOQueue
)

// String returns the name of the queue.
func (q Queue) String() string {
	return [...]string{"unknown", "admin", "I/O"}[min(q, IOQueue)]
}

// NVMe Base Specification 2.0 section 3.1.2.1, Figure 21.
var adminNames = map[uint8]string{
	0x00: "Delete I/O Submission Queue", 0x01: "Create I/O Submission Queue", 0x02: "Get Log Page",
	0x04: "Delete I/O Completion Queue", 0x05: "Create I/O Completion Queue", 0x06: "Identify",
	0x08: "Abort", 0x09: "Set Features", 0x0a: "Get Features", 0x0c: "Asynchronous Event Request",
	0x0d: "Namespace Management", 0x10: "Firmware Commit", 0x11: "Firmware Image Download",
	0x14: "Device Self-test", 0x15: "Namespace Attachment", 0x18: "Keep Alive", 0x19: "Directive Send",
	0x1a: "Directive Receive", 0x1c: "Virtualization Management", 0x1d: "NVMe-MI Send", 0x1e: "NVMe-MI Receive",
	0x20: "Capacity Management", 0x24: "Lockdown", 0x7c: "Doorbell Buffer Config", 0x80: "Format NVM",
	0x81: "Security Send", 0x82: "Security Receive", 0x84: "Sanitize", 0x86: "Get LBA Status",
}

// NVM Command Set Specification 1.0 section 3.2 and Zoned Namespace Command Set 1.1.
var ioNames = map[uint8]string{
	0x00: "Flush", 0x01: "Write", 0x02: "Read", 0x04: "Write Uncorrectable", 0x05: "Compare", 0x08: "Write Zeroes",
	0x09: "Dataset Management", 0x0c: "Verify", 0x0d: "Reservation Register", 0x0e: "Reservation Report",
	0x11: "Reservation Acquire", 0x12: "I/O Management Receive", 0x15: "Reservation Release", 0x19: "Copy",
	0x1d: "I/O Management Send", 0x79: "Zone Management Send", 0x7a: "Zone Management Receive", 0x7d: "Zone Append",
}

// OpcodeName returns the name of an opcode on a queue, and whether it has one there. On a
// queue of which nothing is known it has the names that it can have.
func OpcodeName(q Queue, op uint8) (name string, ok bool) {
	if op == OpFabrics {
		return "Fabrics", true
	}
	admin, isAdmin := adminNames[op]
	io, isIO := ioNames[op]
	switch {
	case q == AdminQueue && isAdmin, q == UnknownQueue && isAdmin && !isIO:
		return admin, true
	case q == IOQueue && isIO, q == UnknownQueue && isIO && !isAdmin:
		return io, true
	case q == UnknownQueue && isAdmin:
		return ambiguousNames[op], true
	case op >= 0xc0 && q == AdminQueue, op >= 0x80 && q == IOQueue:
		return "vendor specific", false
	}
	return "unknown opcode", false
}

// ambiguousNames are those of opcodes that both kinds of queues have.
var ambiguousNames = func() map[uint8]string {
	all := map[uint8]string{}
	for op, name := range ioNames {
		if admin, ok := adminNames[op]; ok {
			all[op] = name + " or " + admin
		}
	}
	return all
}()

// FabricsType tells fabrics commands apart (NVMe Base Specification 2.0 section 6).
type FabricsType uint8

// The fabrics commands.
const (
	PropertySet           FabricsType = 0x00
	Connect               FabricsType = 0x01
	PropertyGet           FabricsType = 0x04
	AuthenticationSend    FabricsType = 0x05
	AuthenticationReceive FabricsType = 0x06
	Disconnect            FabricsType = 0x08
)

// Known reports whether the type has a name.
func (t FabricsType) Known() bool { return t.String() != unknownFabrics }

const unknownFabrics = "unknown Fabrics command"

// String returns the name of the command.
func (t FabricsType) String() string {
	switch t {
	case PropertySet:
		return "Property Set"
	case Connect:
		return "Connect"
	case PropertyGet:
		return "Property Get"
	case AuthenticationSend:
		return "Authentication Send"
	case AuthenticationReceive:
		return "Authentication Receive"
	case Disconnect:
		return "Disconnect"
	}
	return unknownFabrics
}

// Property returns the name of the property at an offset of Property Get and Property Set
// (NVMe Base Specification 2.0 section 3.1.3), or "".
func Property(offset uint32) string {
	switch offset {
	case 0x00:
		return "CAP"
	case 0x08:
		return "VS"
	case 0x14:
		return "CC"
	case 0x1c:
		return "CSTS"
	case 0x20:
		return "NSSR"
	case 0x68:
		return "CRTO"
	}
	return ""
}
