package packet

import "encoding/binary"

// Link types, by their LINKTYPE number in capture files (the registry of link
// types that draft-ietf-opsawg-pcaplinktype describes).
const (
	LinkNull      uint16 = 0   // BSD loopback, address family in the order of the capturing machine
	LinkEthernet  uint16 = 1   // IEEE 802.3
	LinkRaw12     uint16 = 12  // raw IP, as some systems write it
	LinkRaw14     uint16 = 14  // raw IP, as OpenBSD writes it
	LinkRaw       uint16 = 101 // raw IP
	LinkLoop      uint16 = 108 // OpenBSD loopback, address family in network order
	LinkLinuxSLL  uint16 = 113 // Linux cooked capture v1
	LinkIPv4      uint16 = 228 // raw IPv4
	LinkIPv6      uint16 = 229 // raw IPv6
	LinkLinuxSLL2 uint16 = 276 // Linux cooked capture v2
)

// MaxVLANs bounds the VLAN tags of a frame. Two is what networks use (IEEE
// 802.1ad); captures processed switches may show one or two more.
const MaxVLANs = 4

// Ethernet types (RFC 9542 appendix B and the IEEE registry).
const (
	etherIPv4  = 0x0800
	etherVLAN  = 0x8100
	etherIPv6  = 0x86dd
	etherQinQ  = 0x88a8
	etherQinQ2 = 0x9100 // before IEEE 802.1ad, still in use

	// A type field below 0x0600 is a length, and LLC follows (IEEE 802.3
	// clause 3.2.6).
	etherMinType = 0x0600
)

// linuxLLC is what Linux puts in a cooked header's protocol field when LLC
// follows (ETH_P_802_2).
const linuxLLC = 0x0004

// Lengths of link headers in octets.
const (
	ethernetLen = 14
	vlanLen     = 4
	sllLen      = 16
	sll2Len     = 20
	nullLen     = 4
)

func isVLAN(t uint16) bool { return t == etherVLAN || t == etherQinQ || t == etherQinQ2 }

// linkHeader steps over the link layer and sets p.EtherType. It returns OK when
// IPv4 or IPv6 follows.
func (d *Decoder) linkHeader(in *input, link uint16, p *Packet) Status {
	switch link {
	case LinkEthernet:
		if len(in.rest) < ethernetLen {
			return d.short(in, ethernetLen, "ethernet-header")
		}
		t := binary.BigEndian.Uint16(in.rest[12:])
		in.advance(ethernetLen)
		return d.etherType(in, t, p)
	case LinkLinuxSLL:
		return d.cooked(in, p)
	case LinkLinuxSLL2:
		return d.cooked2(in, p)
	case LinkNull, LinkLoop:
		return d.loopback(in, link, p)
	case LinkRaw, LinkRaw12, LinkRaw14:
		return d.raw(in, p)
	case LinkIPv4:
		p.EtherType = etherIPv4
		return OK
	case LinkIPv6:
		p.EtherType = etherIPv6
		return OK
	}
	return UnknownLink
}

// etherType steps over VLAN tags and LLC behind a type field with value t.
func (d *Decoder) etherType(in *input, t uint16, p *Packet) Status {
	for isVLAN(t) {
		if len(in.rest) < vlanLen {
			return d.short(in, vlanLen, "vlan-tag")
		}
		if p.NumVLANs == MaxVLANs {
			return d.malformed(in, "vlan-depth")
		}
		p.VLANs[p.NumVLANs] = binary.BigEndian.Uint16(in.rest)
		p.NumVLANs++
		t = binary.BigEndian.Uint16(in.rest[2:])
		in.advance(vlanLen)
	}
	if t < etherMinType {
		return d.llc(in, p)
	}
	return network(in, t, p)
}

// network notes the type of the network layer, and what it is if not IP.
func network(in *input, t uint16, p *Packet) Status {
	p.EtherType = t
	if t == etherIPv4 || t == etherIPv6 {
		return OK
	}
	p.Segment, p.SegmentLen, p.SegmentOffset = in.rest, in.wire, in.off
	return NotIP
}

// llc reads an LLC header (IEEE 802.2) and finds IP behind it, either by SNAP
// (RFC 1042) or by the LSAP of IPv4.
func (d *Decoder) llc(in *input, p *Packet) Status {
	b := in.rest
	if len(b) < 3 {
		return d.short(in, 3, "llc-header")
	}
	dsap, ssap, control := b[0], b[1], b[2]
	if control != 0x03 { // unnumbered information, the only one that carries IP
		return NotIP
	}
	switch {
	case dsap == 0x06 && ssap == 0x06:
		in.advance(3)
		return network(in, etherIPv4, p)
	case dsap == 0xaa && ssap == 0xaa:
		if len(b) < 8 {
			return d.short(in, 8, "snap-header")
		}
		if b[3] != 0 || b[4] != 0 || b[5] != 0 {
			return NotIP
		}
		in.advance(8)
		return network(in, binary.BigEndian.Uint16(b[6:]), p)
	}
	return NotIP
}

// cooked reads a Linux cooked header, version 1: packet type, ARPHRD type,
// address length, eight octets of address, protocol.
func (d *Decoder) cooked(in *input, p *Packet) Status {
	if len(in.rest) < sllLen {
		return d.short(in, sllLen, "sll-header")
	}
	hardware := binary.BigEndian.Uint16(in.rest[2:])
	proto := binary.BigEndian.Uint16(in.rest[14:])
	in.advance(sllLen)
	return d.cookedProto(in, hardware, proto, p)
}

// cooked2 reads a Linux cooked header, version 2: protocol, two reserved
// octets, interface index, ARPHRD type, packet type, address length, eight
// octets of address.
func (d *Decoder) cooked2(in *input, p *Packet) Status {
	if len(in.rest) < sll2Len {
		return d.short(in, sll2Len, "sll2-header")
	}
	proto := binary.BigEndian.Uint16(in.rest)
	hardware := binary.BigEndian.Uint16(in.rest[8:])
	in.advance(sll2Len)
	return d.cookedProto(in, hardware, proto, p)
}

// Hardware types of Linux whose cooked protocol field is not an Ethernet type.
const (
	hardwareFRAD     = 770
	hardwareRadiotap = 803
	hardwareNetlink  = 824
)

func (d *Decoder) cookedProto(in *input, hardware, proto uint16, p *Packet) Status {
	switch hardware {
	case hardwareFRAD, hardwareRadiotap, hardwareNetlink:
		return NotIP
	}
	if proto == linuxLLC {
		return d.llc(in, p)
	}
	if proto < etherMinType {
		return NotIP
	}
	return d.etherType(in, proto, p)
}

// loopback reads the address family before the IP header. LinkNull has it in
// the order of the machine that captured, which the file does not tell: of the
// two readings only one is a small number.
func (d *Decoder) loopback(in *input, link uint16, p *Packet) Status {
	if len(in.rest) < nullLen {
		return d.short(in, nullLen, "loopback-header")
	}
	family := binary.BigEndian.Uint32(in.rest)
	if link == LinkNull && family > 0xffff {
		family = binary.LittleEndian.Uint32(in.rest)
	}
	in.advance(nullLen)
	switch family {
	case 2:
		return network(in, etherIPv4, p)
	case 10, 23, 24, 28, 30: // Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS
		return network(in, etherIPv6, p)
	}
	return NotIP
}

// raw tells the IP version from the first four bits.
func (d *Decoder) raw(in *input, p *Packet) Status {
	if len(in.rest) < 1 {
		return d.short(in, 1, "ip-header")
	}
	switch in.rest[0] >> 4 {
	case 4:
		return network(in, etherIPv4, p)
	case 6:
		return network(in, etherIPv6, p)
	}
	return d.malformed(in, "ip-version")
}
