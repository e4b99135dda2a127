package model

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
	Misread   uint64   // the PDU behind it that is none; 0: there is none

	QN, MSN   uint32 // the queue of its message, and its number there
	HasMSN    bool
	End, Time int64  // of the PDU in the TCP stream, and its time
	Nth       uint64 // its ordinal in its direction
}

// Placed is something that has a place.
type Placed interface{ Where() Place }

// Where returns the place itself.
func (p Place) Where() Place { return p }

// InFrame is the place, told in another frame: that of the FIN that cuts it off.
func (p Place) InFrame(frame uint64) Place {
	p.Frame = frame
	return p
}
