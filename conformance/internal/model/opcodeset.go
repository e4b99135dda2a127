package model

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// Opcodes is a set of them; the empty one stands for all.
type Opcodes uint16

// OpcodeSet returns the set of these opcodes.
func OpcodeSet(ops ...rdmap.Opcode) (o Opcodes) {
	for _, op := range ops {
		o |= 1 << op
	}
	return o
}
