package trace

import "github.com/iwdissect/iwdissect/dissect/mpa"

// RTR is the ready-to-receive indication that an initiator sent (RFC 6581 section 9.2), or what it sent
// in its place.
type RTR uint8

// What an initiator sends first.
const (
	NoRTR        RTR = iota
	RTRSend          // a Send without payload
	RTRWrite         // an RDMA Write without payload
	RTRRead          // an RDMA Read Request of no octets
	RTRTerminate     // a Terminate
	RTR2007          // the third startup frame of the proposal of 2007
)

// String returns it as records have it, "" for none.
func (r RTR) String() string {
	switch r {
	case RTRSend:
		return "send"
	case RTRWrite:
		return "write"
	case RTRRead:
		return "read"
	case RTRTerminate:
		return "terminate"
	case RTR2007:
		return "frame"
	case NoRTR:
	}
	return ""
}

// Type is its type, 0 if it has none.
func (r RTR) Type() mpa.RTRSet {
	switch r {
	case RTRSend:
		return mpa.RTRSend
	case RTRWrite:
		return mpa.RTRWrite
	case RTRRead:
		return mpa.RTRRead
	case NoRTR, RTRTerminate, RTR2007:
	}
	return 0
}
