package rdmap

import "github.com/iwdissect/iwdissect/dissect"

// ControlLen is the size of the control field in octets.
const ControlLen = 1

// Version is the RDMAP version of RFC 5040; 0 is the older RDMA Consortium's.
const Version = 1

// Masks and shifts of the control octet.
const (
	maskRV     = 0xC0
	maskRsv    = 0x30
	maskOpcode = 0x0F
	shiftRV    = 6
	shiftRsv   = 4
)

// Control is the RDMAP control field, the first octet of DDP's field for the
// upper layer (RFC 5040 section 4.1).
//
//	 0 1 2 3 4 5 6 7
//	+-+-+-+-+-+-+-+-+
//	|RV |Rsv| Opcode|
//	+-+-+-+-+-+-+-+-+
type Control struct {
	// RV is the RDMAP version, 0 to 3.
	RV uint8
	// Rsv are the two reserved bits, as a number from 0 to 3.
	Rsv uint8
	// Opcode says which message this is, 0 to 15.
	Opcode Opcode
}

// ControlOf reads the control field from its octet.
func ControlOf(o uint8) Control {
	return Control{RV: o >> shiftRV, Rsv: o & maskRsv >> shiftRsv, Opcode: Opcode(o & maskOpcode)}
}

// DecodeControl reads the control field at the start of b.
func DecodeControl(b []byte) (Control, error) {
	if len(b) < ControlLen {
		return Control{}, dissect.Short(dissect.LayerRDMAP, "short_control", len(b))
	}
	return ControlOf(b[0]), nil
}

// Octet returns the control field as its octet. Bits that do not fit their
// field are dropped.
func (c Control) Octet() uint8 {
	return c.RV<<shiftRV&maskRV | c.Rsv<<shiftRsv&maskRsv | uint8(c.Opcode)&maskOpcode
}

// Append appends the octet of the control field.
func (c Control) Append(dst []byte) []byte { return append(dst, c.Octet()) }

// ControlHeader describes the control field.
var ControlHeader = dissect.Header{
	Layer: dissect.LayerRDMAP,
	Name:  "RDMAP Control Field",
	Ref:   "RFC 5040 section 4.1",
	Size:  ControlLen,
	Fields: []dissect.Field{
		{Name: "iwarp_rdma.version", Label: "RDMAP version", Kind: dissect.Dec, Bit: 0, Width: 2, Ref: "RFC 5040 section 4.1"},
		{Name: "iwarp_rdma.rsv", Label: "Reserved", Kind: dissect.Hex, Bit: 2, Width: 2, Ref: "RFC 5040 section 4.1"},
		{Name: "iwarp_rdma.opcode", Label: "Opcode", Kind: dissect.Hex, Bit: 4, Width: 4, Ref: "RFC 5040 section 4.1", Names: opcodeName},
		{Name: "iwd.rdmap.opcode_name", Label: "Opcode name", Kind: dissect.Text, Bit: -1, Ref: "RFC 6580 section 3.4"},
	},
}

func opcodeName(v uint64) string { return Opcode(v & maskOpcode).String() }
