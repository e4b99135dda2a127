package tunnel

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/packet"
)

const udpLen = 8

// takeUDP steps over a UDP header before VXLAN or Geneve.
func takeUDP(in *octets, port uint16) (layer, outcome) {
	next := none
	switch port {
	case packet.PortVXLAN, packet.PortVXLANLinux:
		next = vxlan
	case packet.PortGeneve:
		next = geneve
	}
	if next == none || len(in.data) < udpLen {
		return none, refused
	}
	// A length of zero is what segmentation offload leaves of one that does not
	// fit.
	if n := int(binary.BigEndian.Uint16(in.data[4:])); n != 0 {
		if n < udpLen || n > in.length {
			return none, refused
		}
		in.limit(n)
	}
	in.advance(udpLen)
	return next, taken
}

// Parts of a VXLAN header (RFC 7348 section 5; G, D and A of
// draft-smith-vxlan-group-policy-05).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|G|R|R|R|I|R|R|R|R|D|R|R|A|R|R|R|        Group Policy ID        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                VXLAN Network Identifier (VNI) |   Reserved    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
const (
	vxlanLen    = 8
	vxlanI      = 0x0800_0000
	vxlanG      = 0x8000_0000
	vxlanPolicy = 0x0048_ffff // what has a meaning if G is set
)

func (u *Unwrapper) takeVXLAN(in *octets) (layer, outcome) {
	// The port alone proves nothing, so neither does a header that is cut.
	if len(in.data) < vxlanLen {
		return none, refused
	}
	flags := binary.BigEndian.Uint32(in.data)
	known := uint32(vxlanI)
	if flags&vxlanG != 0 {
		known |= vxlanG | vxlanPolicy
	}
	if flags&vxlanI == 0 || flags&^known != 0 || in.data[7] != 0 {
		return none, refused
	}
	h := u.push(VXLAN)
	h.add(vxlanVNI, binary.BigEndian.Uint32(in.data[4:])>>8)
	if flags&vxlanG != 0 {
		h.add(vxlanGBP, flags&0xffff)
	}
	in.advance(vxlanLen)
	return ethernet, taken
}

// Parts of a Geneve header (RFC 8926 section 3.4).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Ver|  Opt Len  |O|C|    Rsvd.  |          Protocol Type        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        Virtual Network Identifier (VNI)       |    Reserved   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	~                    Variable-Length Options                    ~
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
const (
	geneveLen        = 8
	geneveVersion    = 0xc0
	geneveOptLen     = 0x3f // in units of four octets
	geneveOptUnit    = 4
	geneveUnexpected = 0xbf // O, which announces a control message, and the reserved bits
)

func (u *Unwrapper) takeGeneve(in *octets) (layer, outcome) {
	if len(in.data) < geneveLen {
		return none, refused
	}
	b := in.data
	if b[0]&geneveVersion != 0 || b[1]&geneveUnexpected != 0 || b[7] != 0 {
		return none, refused
	}
	next := ofEtherType(binary.BigEndian.Uint16(b[2:]))
	if next == none {
		return none, refused
	}
	size := geneveLen + int(b[0]&geneveOptLen)*geneveOptUnit
	if ok := in.need(size); ok != taken {
		return none, ok
	}
	u.push(Geneve).add(geneveVNI, binary.BigEndian.Uint32(b[4:])>>8)
	in.advance(size)
	return next, taken
}
