package tracetest

import (
	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// control is the control octet of RDMAP, version 1.
func control(op rdmap.Opcode) uint8 { return rdmap.Control{RV: 1, Opcode: op}.Octet() }

func tagged(op rdmap.Opcode, stag uint32, to uint64, last bool, payload []byte) []byte {
	s := ddp.Segment{Tagged: true, Last: last, DV: 1, RsvdULP: control(op), STag: stag, TO: to}
	return append(s.Append(nil), payload...)
}

func untagged(op rdmap.Opcode, inv, msn, mo uint32, last bool, payload []byte) []byte {
	qn, _ := op.Queue()
	s := ddp.Segment{
		Last: last, DV: 1, RsvdULP: control(op), RsvdULP32: inv, QN: qn, MSN: msn, MO: mo,
	}
	return append(s.Append(nil), payload...)
}

// Write returns the ULPDU of a segment of an RDMA Write.
func Write(stag uint32, to uint64, last bool, payload []byte) []byte {
	return tagged(rdmap.OpWrite, stag, to, last, payload)
}

// ReadResponse returns the ULPDU of a segment of an RDMA Read Response.
func ReadResponse(stag uint32, to uint64, last bool, payload []byte) []byte {
	return tagged(rdmap.OpReadResponse, stag, to, last, payload)
}

// Send returns the ULPDU of a segment of one of the Sends; inv is the STag that
// those with Invalidate name.
func Send(op rdmap.Opcode, inv, msn, mo uint32, last bool, payload []byte) []byte {
	return untagged(op, inv, msn, mo, last, payload)
}

// ReadRequest returns the ULPDU of an RDMA Read Request.
func ReadRequest(msn uint32, r rdmap.ReadRequest) []byte {
	return untagged(rdmap.OpReadRequest, 0, msn, 0, true, r.Append(nil))
}

// AtomicRequest returns the ULPDU of an Atomic Request.
func AtomicRequest(msn uint32, r rdmap.AtomicRequest) []byte {
	return untagged(rdmap.OpAtomicRequest, 0, msn, 0, true, r.Append(nil))
}

// AtomicResponse returns the ULPDU of an Atomic Response.
func AtomicResponse(msn uint32, r rdmap.AtomicResponse) []byte {
	return untagged(rdmap.OpAtomicResponse, 0, msn, 0, true, r.Append(nil))
}

// Immediate returns the ULPDU of Immediate Data.
func Immediate(op rdmap.Opcode, msn uint32, data [8]byte) []byte {
	return untagged(op, 0, msn, 0, true, data[:])
}

// Terminate returns the ULPDU of a Terminate.
func Terminate(t rdmap.Terminate) []byte {
	return untagged(rdmap.OpTerminate, 0, 1, 0, true, t.Append(nil))
}

// Framed is what [mpa.Encoder.Append] returns for an ULPDU that is not too long.
func Framed(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
