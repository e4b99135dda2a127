package tunnel

import "encoding/binary"

// Parts of a GRE header (RFC 2784 section 2, RFC 2890 section 2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|C| |K|S| Reserved0       | Ver |         Protocol Type         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|      Checksum (optional)      |       Reserved1 (optional)    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         Key (optional)                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                 Sequence Number (optional)                    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
const (
	greLen      = 4
	greOptional = 4
	greC        = 0x8000
	greK        = 0x2000
	greS        = 0x1000
	// greUnknown are the version and bits that a receiver who does not know them
	// has to discard a packet for, among them the routing of RFC 1701.
	greUnknown = 0xffff &^ (greC | greK | greS)
)

func (u *Unwrapper) takeGRE(in *octets) (layer, outcome) {
	if ok := in.need(greLen); ok != taken {
		return none, ok
	}
	flags := binary.BigEndian.Uint16(in.data)
	if flags&greUnknown != 0 {
		return none, refused
	}
	size := greLen
	for _, bit := range [...]uint16{greC, greK, greS} {
		if flags&bit != 0 {
			size += greOptional
		}
	}
	if ok := in.need(size); ok != taken {
		return none, ok
	}
	t := binary.BigEndian.Uint16(in.data[2:])
	h := u.push(GRE)
	h.add(greProtocol, uint32(t))
	at := greLen
	if flags&greC != 0 {
		h.add(greChecksum, uint32(binary.BigEndian.Uint16(in.data[at:])))
		at += greOptional
	}
	if flags&greK != 0 {
		h.add(greKey, binary.BigEndian.Uint32(in.data[at:]))
		at += greOptional
	}
	if flags&greS != 0 {
		h.add(greSequence, binary.BigEndian.Uint32(in.data[at:]))
	}
	in.advance(size)
	switch {
	case t == etherERSPAN && flags&greS == 0:
		return ethernet, taken // type I has no header of its own
	case t == etherERSPAN:
		return erspanII, taken
	case t == etherERSPANIII:
		return erspanIII, taken
	default:
		return ofEtherType(t), taken
	}
}

// Parts of the ERSPAN headers (draft-foschiano-erspan-03 sections 4.2 and 4.3).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |          VLAN         | COS | En|T|    Session ID     |  type II
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|      Reserved         |                  Index                |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |          VLAN         | COS |BSO|T|     Session ID    |  type III
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          Timestamp                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|             SGT               |P|    FT   |   Hw ID   |D|Gra|O|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|      Platform specific subheader, 8 octets (if O is set)      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
const (
	erspanIILen     = 8
	erspanIIILen    = 12
	erspanSubheader = 8
	erspanO         = 1
	erspanFrameIP   = 2 // FT: an IP packet in place of an Ethernet frame
)

func (u *Unwrapper) takeERSPAN(in *octets) (layer, outcome) {
	if ok := in.need(erspanIILen); ok != taken {
		return none, ok
	}
	if in.data[0]>>4 != 1 {
		return none, refused
	}
	u.pushERSPAN(in.data)
	in.advance(erspanIILen)
	return ethernet, taken
}

func (u *Unwrapper) takeERSPANIII(in *octets) (layer, outcome) {
	if ok := in.need(erspanIIILen); ok != taken {
		return none, ok
	}
	b := in.data
	version, frame, size := b[0]>>4, b[10]>>2&0x1f, erspanIIILen
	if version != 2 || frame != 0 && frame != erspanFrameIP {
		return none, refused
	}
	if b[11]&erspanO != 0 {
		size += erspanSubheader
	}
	if ok := in.need(size); ok != taken {
		return none, ok
	}
	u.pushERSPAN(b)
	in.advance(size)
	if frame == erspanFrameIP {
		if ok := in.need(1); ok != taken { // which version it is
			return none, ok
		}
		return ipOf(in), taken
	}
	return ethernet, taken
}

// pushERSPAN adds the header of either type, whose first four octets are alike.
func (u *Unwrapper) pushERSPAN(b []byte) {
	h := u.push(ERSPAN)
	h.add(erspanVersion, uint32(b[0]>>4))
	h.add(erspanVLAN, uint32(binary.BigEndian.Uint16(b)&0xfff))
	h.add(erspanSpanID, uint32(binary.BigEndian.Uint16(b[2:])&0x3ff))
}
