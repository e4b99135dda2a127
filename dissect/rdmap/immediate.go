package rdmap

import "github.com/iwdissect/iwdissect/dissect"

// ImmediateDataLen is the size of an Immediate Data message in octets.
const ImmediateDataLen = 8

// ImmediateData is the body of the two Immediate Data messages (RFC 7306
// section 6.2): eight octets that belong to the upper layer.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                        Immediate Data                         +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ImmediateData struct {
	// Data are the octets as they were sent.
	Data [ImmediateDataLen]byte
}

// DecodeImmediateData reads the eight octets at the start of b.
func DecodeImmediateData(b []byte) (ImmediateData, error) {
	if len(b) < ImmediateDataLen {
		return ImmediateData{}, dissect.Short(dissect.LayerRDMAP, "short_immediate_data", len(b))
	}
	return ImmediateData{Data: [ImmediateDataLen]byte(b)}, nil
}

// Append appends the eight octets.
func (d ImmediateData) Append(dst []byte) []byte { return append(dst, d.Data[:]...) }

// ImmediateDataHeader describes the Immediate Data message. Wireshark has no
// name for it.
var ImmediateDataHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "Immediate Data",
	Ref:   "RFC 7306 section 6.2",
	Size:  ImmediateDataLen,
	Fields: []dissect.Field{
		{Name: "iwd.immediate_data", Label: "Immediate data", Kind: dissect.Bytes, Bit: 0, Width: 64, Ref: "RFC 7306 section 6.2"},
	},
}
