package trace

// SCTPCause is the cause of an error that an ABORT or an ERROR chunk gives.
type SCTPCause uint16

// SCTPReport is an error that a side reports in ERROR chunks: how often, first in Frame.
type SCTPReport struct {
	Cause        SCTPCause
	Count, Frame uint64
}

// The causes with which a text may stand.
const (
	CauseUserAbort         SCTPCause = 12
	CauseProtocolViolation SCTPCause = 13
)

// causes are the names of them (RFC 9260 section 3.3.10, RFC 5061 section 4.3, RFC 4895
// section 5).
var causes = map[SCTPCause]string{
	1: "Invalid Stream Identifier", 2: "Missing Mandatory Parameter", 3: "Stale Cookie", 4: "Out of Resource", 5: "Unresolvable Address",
	6: "Unrecognized Chunk Type", 7: "Invalid Mandatory Parameter", 8: "Unrecognized Parameters", 9: "No User Data",
	10: "Cookie Received While Shutting Down", 11: "Restart of an Association with New Addresses", 12: "User-Initiated Abort", 13: "Protocol Violation",
	0xa0: "Request to Delete Last Remaining IP Address", 0xa1: "Operation Refused Due to Resource Shortage", 0xa2: "Request to Delete Source IP Address",
	0xa3: "Association Aborted due to illegal ASCONF-ACK", 0xa4: "Request refused - no authorization",
	0x105: "Unsupported HMAC Identifier",
}

// String is the name of the cause.
func (c SCTPCause) String() string {
	if name := causes[c]; name != "" {
		return name
	}
	return "unknown cause"
}
