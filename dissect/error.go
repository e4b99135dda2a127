package dissect

import (
	"fmt"
	"io"
)

// Layer names the protocol layer that an [Error] or a [Header] belongs to.
type Layer string

// The layers, from the wire upwards.
const (
	LayerMPA     Layer = "mpa"
	LayerDDP     Layer = "ddp"
	LayerRDMAP   Layer = "rdmap"
	LayerSCTPDDP Layer = "sctpddp"
	// Upper layers, which RDMAP carries.
	LayerSMBDirect Layer = "smbdirect"
	LayerRPCRDMA   Layer = "rpcrdma"
	LayerNVMe      Layer = "nvme"
	LayerISER      Layer = "iser"
)

// Error says why octets could not be parsed as the header they should be.
// A decoder returns it only when the layout itself is impossible (too few
// octets, a length that contradicts itself); a wrong value in a field that can
// be laid out is part of the result, not an error.
type Error struct {
	// Layer is the protocol that could not be decoded.
	Layer Layer
	// Code is a stable token, for counters and for machines.
	Code string
	// Field is the name of the field that was being read, if there is one.
	Field string
	// Offset counts octets from the first octet handed to the decoder.
	Offset int
	// Err is the cause; short input is [io.ErrUnexpectedEOF].
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	s := string(e.Layer) + ": " + e.Code
	if e.Field != "" {
		s += " at " + e.Field
	}
	s += fmt.Sprintf(", offset %d", e.Offset)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Short returns the error for input that ends at offset have although the
// header named by code needs more.
func Short(l Layer, code string, have int) error {
	return &Error{Layer: l, Code: code, Offset: have, Err: io.ErrUnexpectedEOF}
}
