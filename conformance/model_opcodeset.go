package conformance

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// opcodes is a set of them; the empty one stands for all.
type opcodes uint16

// on returns the set of these opcodes.
func on(ops ...rdmap.Opcode) (o opcodes) {
	for _, op := range ops {
		o |= 1 << op
	}
	return o
}
