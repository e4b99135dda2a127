package model

import "github.com/iwdissect/iwdissect/dissect/rdmap"

// Short names of the opcodes.
const (
	OpWrite          = rdmap.OpWrite
	OpReadRequest    = rdmap.OpReadRequest
	OpReadResponse   = rdmap.OpReadResponse
	OpSend           = rdmap.OpSend
	OpTerminate      = rdmap.OpTerminate
	OpAtomicRequest  = rdmap.OpAtomicRequest
	OpAtomicResponse = rdmap.OpAtomicResponse
)
