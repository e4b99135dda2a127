package ddp

import "github.com/iwdissect/iwdissect/dissect"

// ControlLen is the size of the control field in octets.
const ControlLen = 1

// Version is the DDP version of RFC 5041; 0 is the older RDMA Consortium's.
const Version = 1

// Masks and shifts of the control octet.
const (
	maskTagged = 0x80
	maskLast   = 0x40
	maskRsvd   = 0x3C
	maskDV     = 0x03
	shiftRsvd  = 2
)

// Control is the DDP control field, the first octet of every segment
// (RFC 5041 section 4.1).
//
//	 0 1 2 3 4 5 6 7
//	+-+-+-+-+-+-+-+-+
//	|T|L| Rsvd  | DV|
//	+-+-+-+-+-+-+-+-+
type Control struct {
	// Tagged is the T bit: the segment has the tagged header.
	Tagged bool
	// Last is the L bit: the segment ends its message.
	Last bool
	// Rsvd are the four reserved bits, as a number from 0 to 15.
	Rsvd uint8
	// DV is the DDP version, 0 to 3.
	DV uint8
}

// ControlOf reads the control field from its octet.
func ControlOf(o uint8) Control {
	return Control{
		Tagged: o&maskTagged != 0,
		Last:   o&maskLast != 0,
		Rsvd:   o & maskRsvd >> shiftRsvd,
		DV:     o & maskDV,
	}
}

// DecodeControl reads the control field at the start of b.
func DecodeControl(b []byte) (Control, error) {
	if len(b) < ControlLen {
		return Control{}, dissect.Short(dissect.LayerDDP, "short_control", len(b))
	}
	return ControlOf(b[0]), nil
}

// Octet returns the control field as its octet. Bits that do not fit their
// field are dropped.
func (c Control) Octet() uint8 {
	o := c.Rsvd<<shiftRsvd&maskRsvd | c.DV&maskDV
	if c.Tagged {
		o |= maskTagged
	}
	if c.Last {
		o |= maskLast
	}
	return o
}

// Append appends the octet of the control field.
func (c Control) Append(dst []byte) []byte { return append(dst, c.Octet()) }

// controlFields describes the control field as the first octet of a header.
// Both headers begin with it.
func controlFields() []dissect.Field {
	const ref = "RFC 5041 section 4.1"
	return []dissect.Field{
		{Name: "iwarp_ddp.tagged_flag", Label: "Tagged", Kind: dissect.Bool, Bit: 0, Width: 1, Ref: ref},
		{Name: "iwarp_ddp.last_flag", Label: "Last", Kind: dissect.Bool, Bit: 1, Width: 1, Ref: ref},
		{Name: "iwarp_ddp.rsvd", Label: "Reserved", Kind: dissect.Hex, Bit: 2, Width: 4, Ref: ref},
		{Name: "iwarp_ddp.dv", Label: "DDP version", Kind: dissect.Dec, Bit: 6, Width: 2, Ref: ref},
	}
}

// ControlHeader describes the control field where it stands alone.
var ControlHeader = dissect.Header{
	Layer:  dissect.LayerDDP,
	Name:   "DDP Control Field",
	Ref:    "RFC 5041 section 4.1",
	Size:   ControlLen,
	Fields: controlFields(),
}
