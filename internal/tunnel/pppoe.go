package tunnel

import "encoding/binary"

// Parts of a PPPoE header (RFC 2516 section 4), and of PPP behind it.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  VER  | TYPE  |      CODE     |          SESSION_ID           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            LENGTH             |           payload             ~
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
const (
	pppoeLen      = 6
	pppoeVersion  = 0x11 // version 1, type 1
	pppoeSessCode = 0
	// The protocol of PPP has two octets, or one if its lowest bit is set (RFC
	// 1661 sections 2 and 6.5).
	pppShort  = 1
	pppIPv4   = 0x0021
	pppIPv6   = 0x0057
	pppMPLS   = 0x0281
	pppMPLSUp = 0x0283
)

func (u *Unwrapper) takePPPoE(in *octets) (layer, outcome) {
	if ok := in.need(pppoeLen); ok != taken {
		return none, ok
	}
	length := int(binary.BigEndian.Uint16(in.data[4:]))
	if in.data[0] != pppoeVersion || in.data[1] != pppoeSessCode || length > in.length-pppoeLen {
		return none, refused
	}
	u.push(PPPoE).add(pppoeSession, uint32(binary.BigEndian.Uint16(in.data[2:])))
	in.limit(pppoeLen + length)
	in.advance(pppoeLen)
	if ok := in.need(1); ok != taken {
		return none, ok
	}
	protocol, size := uint16(in.data[0]), 1
	if protocol&pppShort == 0 {
		if ok := in.need(2); ok != taken {
			return none, ok
		}
		protocol, size = binary.BigEndian.Uint16(in.data), 2
	}
	in.advance(size)
	switch protocol {
	case pppIPv4:
		return ipv4, taken
	case pppIPv6:
		return ipv6, taken
	case pppMPLS, pppMPLSUp:
		return mpls, taken
	}
	return none, taken
}
