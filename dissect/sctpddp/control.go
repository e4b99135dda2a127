package sctpddp

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/dissect/mpa"
)

// Sizes of a session control chunk in octets.
const (
	// ControlLen is the size without private data.
	ControlLen = 4
	// MaxPrivateData is the most private data there may be.
	MaxPrivateData = 512

	offFunction = 2
)

const refControl = "RFC 5043 section 5.2.3"

// Control is a DDP Stream Session Control Chunk (RFC 5043 section 5.2.3, RFC 6581
// section 7):
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            DDP-SSN            |         Function Code         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	//                        Private Data                         //
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Control struct {
	// SSN is the DDP stream sequence number; control chunks take one too.
	SSN uint16
	// Function says what is asked for or answered.
	Function Function
	// PrivateData reaches to the end of the user message; nil if there is none.
	PrivateData []byte
}

// DecodeControl reads the user message of a DATA chunk with PPIDControl.
func DecodeControl(b []byte) (Control, error) {
	if len(b) < ControlLen {
		return Control{}, dissect.Short(dissect.LayerSCTPDDP, "short_control_chunk", len(b))
	}
	c := Control{SSN: binary.BigEndian.Uint16(b), Function: Function(binary.BigEndian.Uint16(b[offFunction:]))}
	if len(b) > ControlLen {
		c.PrivateData = b[ControlLen:]
	}
	return c, nil
}

// Append appends the user message.
func (c Control) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, c.SSN)
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Function))
	return append(dst, c.PrivateData...)
}

// Word returns the enhanced data at the start of the private data of the two
// functions that have it, and what follows, which belongs to the upper layer.
func (c Control) Word() (e mpa.Enhanced, ulp []byte, ok bool) {
	if c.Function != EnhancedInitiate && c.Function != EnhancedAccept {
		return e, c.PrivateData, false
	}
	e, err := mpa.DecodeEnhanced(c.PrivateData)
	if err != nil {
		return e, c.PrivateData, false
	}
	return e, c.PrivateData[mpa.EnhancedLen:], true
}

// ControlHeader describes the chunk. The private data reaches to the end.
var ControlHeader = dissect.Header{
	Layer: dissect.LayerSCTPDDP, Name: "DDP Stream Session Control Chunk", Ref: refControl, Size: ControlLen,
	Fields: []dissect.Field{
		{Name: "iwd.sctp.ssn", Label: "DDP-SSN", Kind: dissect.Dec, Bit: 0, Width: 16, Ref: refControl},
		{Name: "iwd.sctp.function", Label: "Function", Kind: dissect.Hex, Bit: 16, Width: 16, Ref: refControl, Names: functionName},
		{Name: "iwd.sctp.function_name", Label: "Function name", Kind: dissect.Text, Bit: -1, Ref: refControl},
		{Name: "iwd.sctp.private_data", Label: "Private data", Kind: dissect.Bytes, Bit: 32, Width: 0, Ref: refControl},
	},
}

// Headers lists the descriptions of this package.
var Headers = []*dissect.Header{&SegmentHeader, &ControlHeader}
