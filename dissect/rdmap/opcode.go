package rdmap

import "fmt"

// Opcode says which message a segment belongs to (RFC 5040 section 4.1, RFC
// 7306 section 4, registry in RFC 6580 section 3.4).
type Opcode uint8

// The opcodes.
const (
	OpWrite          Opcode = 0x0
	OpReadRequest    Opcode = 0x1
	OpReadResponse   Opcode = 0x2
	OpSend           Opcode = 0x3
	OpSendInv        Opcode = 0x4
	OpSendSE         Opcode = 0x5
	OpSendSEInv      Opcode = 0x6
	OpTerminate      Opcode = 0x7
	OpImmediate      Opcode = 0x8
	OpImmediateSE    Opcode = 0x9
	OpAtomicRequest  Opcode = 0xA
	OpAtomicResponse Opcode = 0xB
	OpExperimental   Opcode = 0xF
)

// Opcodes is the number of values an opcode has on the wire.
const Opcodes = 16

// The untagged queues of an RDMAP stream (RFC 5040 section 4.1 and RFC 7306
// section 5.2.2).
const (
	QueueSend           uint32 = 0
	QueueReadRequest    uint32 = 1
	QueueTerminate      uint32 = 2
	QueueAtomicResponse uint32 = 3
)

type opcodeRow struct {
	name     string
	assigned bool
	tagged   bool
	queue    uint32
	// header is the least number of octets between DDP header and payload.
	header int
	// payload: data of the upper layer may follow.
	payload bool
}

// RFC 5040 Figure 4, RFC 7306 Figure 2.
var opcodeTable = [Opcodes]opcodeRow{
	OpWrite:          {name: "RDMA Write", assigned: true, tagged: true, payload: true},
	OpReadRequest:    {name: "RDMA Read Request", assigned: true, queue: QueueReadRequest, header: ReadRequestLen},
	OpReadResponse:   {name: "RDMA Read Response", assigned: true, tagged: true, payload: true},
	OpSend:           {name: "Send", assigned: true, queue: QueueSend, payload: true},
	OpSendInv:        {name: "Send with Invalidate", assigned: true, queue: QueueSend, payload: true},
	OpSendSE:         {name: "Send with SE", assigned: true, queue: QueueSend, payload: true},
	OpSendSEInv:      {name: "Send with SE and Invalidate", assigned: true, queue: QueueSend, payload: true},
	OpTerminate:      {name: "Terminate", assigned: true, queue: QueueTerminate, header: TerminateLen},
	OpImmediate:      {name: "Immediate Data", assigned: true, queue: QueueSend, header: ImmediateDataLen},
	OpImmediateSE:    {name: "Immediate Data with SE", assigned: true, queue: QueueSend, header: ImmediateDataLen},
	OpAtomicRequest:  {name: "Atomic Request", assigned: true, queue: QueueReadRequest, header: AtomicRequestLen},
	OpAtomicResponse: {name: "Atomic Response", assigned: true, queue: QueueAtomicResponse, header: AtomicResponseLen},
	0xC:              {name: "Unknown opcode 0xc"},
	0xD:              {name: "Unknown opcode 0xd"},
	0xE:              {name: "Unknown opcode 0xe"},
	OpExperimental:   {name: "Experimental 0xf"},
}

// row returns what is known of the opcode; the octet holds only four bits, but
// a caller may make any value.
func (o Opcode) row() opcodeRow {
	if o < Opcodes {
		return opcodeTable[o]
	}
	return opcodeRow{}
}

// String returns the name of the message.
func (o Opcode) String() string {
	if o < Opcodes {
		return opcodeTable[o].name
	}
	return fmt.Sprintf("Unknown opcode %#x", uint8(o))
}

// Assigned reports whether the opcode stands for a message of RFC 5040 or RFC
// 7306. The experimental one does not: nothing is known of its layout.
func (o Opcode) Assigned() bool { return o.row().assigned }

// Tagged reports whether the message uses the tagged buffer model. It is false
// for opcodes that are not assigned.
func (o Opcode) Tagged() bool { return o.row().tagged }

// Queue returns the queue number an untagged message belongs on; ok is false
// for tagged messages and for opcodes that are not assigned.
func (o Opcode) Queue() (qn uint32, ok bool) {
	r := o.row()
	return r.queue, r.assigned && !r.tagged
}

// HeaderLen returns the number of octets RDMAP puts between the DDP header and
// the payload: 0 if there is no such header, the least number for Terminate.
func (o Opcode) HeaderLen() int { return o.row().header }

// Payload reports whether data of the upper layer may follow the headers.
func (o Opcode) Payload() bool { return o.row().payload }

// Invalidates reports whether bits 8 to 39 of DDP's field for the upper layer
// hold the Invalidate STag (RFC 5040 section 4.1).
func (o Opcode) Invalidates() bool { return o == OpSendInv || o == OpSendSEInv }

// Solicited reports whether the message asks for a solicited event.
func (o Opcode) Solicited() bool {
	return o == OpSendSE || o == OpSendSEInv || o == OpImmediateSE
}
