package smbdirect

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/dissect"
)

// DepthsLen is the size of the header in the private data in octets.
const DepthsLen = 8

// plausibleDepth is the largest depth that is believed: RFC 6581 has 14 bits for it.
const plausibleDepth = 0xFFFF

// Depths are how many RDMA Reads may be outstanding, in the private data of a startup frame
// ([MS-SMBD] section 6.1). The specification wants them big-endian. Clients of Linux wrote
// them in the order of their processor, which mostly is little-endian.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              IRD                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                              ORD                              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Depths struct {
	// IRD and ORD are the depths towards the sender and from it.
	IRD, ORD uint32
	// LittleEndian says that only so they are plausible: as big-endian numbers both are
	// above 65535.
	LittleEndian bool
}

// DecodeDepths reads the header at the start of b.
func DecodeDepths(b []byte) (Depths, error) {
	if len(b) < DepthsLen {
		return Depths{}, dissect.Short(dissect.LayerSMBDirect, "short_depths", len(b))
	}
	d := Depths{IRD: binary.BigEndian.Uint32(b), ORD: binary.BigEndian.Uint32(b[4:])}
	if d.Plausible() {
		return d, nil
	}
	if le := (Depths{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), true}); le.Plausible() && d.IRD > plausibleDepth && d.ORD > plausibleDepth {
		return le, nil
	}
	return d, nil
}

// Plausible reports whether both depths can be meant: the specification wants them above 0,
// and the startup of MPA has 14 bits for them.
func (d Depths) Plausible() bool {
	return d.IRD > 0 && d.ORD > 0 && d.IRD <= plausibleDepth && d.ORD <= plausibleDepth
}

// Append appends the 8 octets of the header.
func (d Depths) Append(dst []byte) []byte {
	if d.LittleEndian {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, d.IRD), d.ORD)
	}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(dst, d.IRD), d.ORD)
}

const refDepths = "[MS-SMBD] section 6.1"

// DepthsHeader describes the header in the private data, DepthsLittleHeader the same in the
// other octet order.
var (
	DepthsHeader       = depthsHeader(false)
	DepthsLittleHeader = depthsHeader(true)
)

func depthsHeader(little bool) dissect.Header {
	h := dissect.Header{Layer: dissect.LayerSMBDirect, Name: "SMB Direct IRD/ORD", Ref: refDepths, Size: DepthsLen}
	for i, name := range [...]string{"ird", "ord"} {
		h.Fields = append(h.Fields, dissect.Field{
			Name: "iwarp_mpa.legacy." + name, Label: [...]string{"IRD", "ORD"}[i], Kind: dissect.Dec, Bit: 32 * i, Width: 32,
			LittleEndian: little, Ref: refDepths,
		})
	}
	return h
}

// OrderHeader has what tells of the octet order.
var OrderHeader = dissect.Header{
	Layer: dissect.LayerSMBDirect, Name: "SMB Direct IRD/ORD", Ref: refDepths,
	Fields: []dissect.Field{
		{Name: "iwarp_mpa.broken_le_legacy", Label: "IRD and ORD are little-endian", Kind: dissect.Bool, Bit: -1, Width: 1, Ref: refDepths},
	},
}
