package conformance

import "github.com/iwdissect/iwdissect/trace"

// Place is where something is that a finding speaks of.
type Place struct {
	Dir       trace.Dir
	HasDir    bool
	Frame     uint64
	PDU       uint64
	HasPDU    bool
	Offset    int64
	HasOffset bool
	Related   []uint64 // PDUs that it is to be seen with

	msn       uint32 // of its message
	hasMSN    bool
	end, time int64  // of the PDU in the TCP stream, and its time
	nth       uint64 // its ordinal in its direction
}

// Placed is something that has a place.
type Placed interface{ where() Place }

func (p Place) where() Place { return p }
