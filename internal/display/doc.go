// Package display compiles display filters, in the language of Wireshark 4.0 as people
// type it, to functions over the fields of a frame or PDU:
//
//	iwarp_rdma.opcode == 0x7 && ip.addr == 10.0.0.0/8
//
// A filter is text that becomes tokens (lex.go), a tree (parse.go, tree.go), typed
// operands (operand.go, literal.go) and at last a closure (compile.go). All that can be wrong with it is
// found by Compile, which returns an *Error with the place. Matching a row neither
// fails nor allocates.
//
// From loose to tight, the operators are: or, xor, and, not, the comparisons with
// contains, matches and in, then & (bits), + and -, *, / and %, the sign, and slices.
package display
