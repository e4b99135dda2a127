package packet

import "encoding/binary"

// ipv6Len is the length of the IPv6 header in octets (RFC 8200 section 3).
const ipv6Len = 40

// Extension headers that are stepped over (RFC 8200 section 4, RFC 4302).
const (
	protoHopByHop Proto = 0
	protoRouting  Proto = 43
	protoFragment Proto = 44
	protoAH       Proto = 51
	protoDestOpts Proto = 60
)

// maxExtensions bounds the extension headers of a packet. Each may appear once,
// destination options twice (RFC 8200 section 4.1); receivers may refuse more
// than eight (RFC 8504 section 5.3).
const maxExtensions = 16

// homeAddressOption is a destination option that carries the address of the
// endpoint in place of the source address (RFC 6275 section 6.3).
const homeAddressOption = 0xc9

// fragmentLen is the length of the IPv6 fragment header in octets.
const fragmentLen = 8

// ipv6 decodes an IPv6 header and what follows it.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Version| Traffic Class |           Flow Label                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|         Payload Length        |  Next Header  |   Hop Limit   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                Source Address (16 octets)                     |
//	|              Destination Address (16 octets)                  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
func (d *Decoder) ipv6(in *input, p *Packet) Status {
	b := in.rest
	if len(b) < ipv6Len {
		return d.short(in, ipv6Len, "ipv6-header")
	}
	if b[0]>>4 != 6 {
		return d.malformed(in, "ipv6-version")
	}
	p.V6 = true
	p.Src = Addr(b[8:24])
	p.Dst = Addr(b[24:40])
	next := Proto(b[6])
	total := ipv6Len + int(binary.BigEndian.Uint16(b[4:]))
	if total == ipv6Len {
		// A jumbogram (RFC 2675 section 3), or a segment that the adapter is
		// still to split. Neither has padding behind it.
		total = in.wire
		p.Notes |= NoteLengthFromFrame
		if total > maxUnsized {
			return d.malformed(in, "ipv6-payload-length")
		}
	}
	if total > in.wire {
		p.Notes |= NoteBeyondFrame
	}
	in.limit(total)
	in.advance(ipv6Len)
	return d.upper(in, p, next)
}

// upper steps over extension headers, starting with one of type next, and
// decodes the transport header behind them. IPv4 knows the authentication
// header alone (RFC 4302 section 3.1.1).
func (d *Decoder) upper(in *input, p *Packet, next Proto) Status {
	for range maxExtensions {
		p.Proto = next
		p.Segment, p.SegmentLen, p.SegmentOffset = in.rest, in.wire, in.off
		var size, unit int
		switch {
		case next == ProtoTCP:
			return d.tcp(in, p)
		case next == ProtoSCTP:
			return d.sctp(in, p)
		case next == ProtoUDP:
			return d.udp(in, p)
		case next == protoAH:
			// The length counts words of four octets, less two (RFC 4302
			// section 2.2).
			size, unit = 8, 4
		case !p.V6:
			return OtherTransport
		case next == protoHopByHop || next == protoRouting || next == protoDestOpts:
			// The length counts words of eight octets, less one (RFC 8200
			// sections 4.3, 4.4, 4.6).
			size, unit = 8, 8
		case next == protoFragment:
			var st Status
			if next, st = d.fragmentHeader(in, p); st != OK {
				return st
			}
			continue
		default:
			return OtherTransport
		}

		b := in.rest
		if len(b) < 2 {
			return d.short(in, size, "ipv6-extension")
		}
		size += int(b[1]) * unit
		if len(b) < size {
			return d.short(in, size, "ipv6-extension")
		}
		if next == protoRouting && b[3] != 0 || next == protoDestOpts && hasHomeAddress(b[2:size]) {
			p.Notes |= NoteRouted
		}
		next = Proto(b[0])
		in.advance(size)
	}
	return d.malformed(in, "ipv6-extension-count")
}

// fragmentHeader reads an IPv6 fragment header (RFC 8200 section 4.5). It
// returns OK and the next header when a whole packet follows.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Next Header  |   Reserved    |      Fragment Offset    |Res|M|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         Identification                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
func (d *Decoder) fragmentHeader(in *input, p *Packet) (Proto, Status) {
	b := in.rest
	if len(b) < fragmentLen {
		return 0, d.short(in, fragmentLen, "ipv6-fragment")
	}
	if p.Fragments != nil {
		// Fragments of a fragment: no sender makes them (RFC 8200 section 4.5
		// fragments the original packet only).
		return 0, d.malformed(in, "nested-fragment")
	}
	next := Proto(b[0])
	offset := int(binary.BigEndian.Uint16(b[2:]) &^ 7)
	more := b[3]&1 != 0
	id := binary.BigEndian.Uint32(b[4:])
	in.advance(fragmentLen)
	if offset == 0 && !more {
		return next, OK // an atomic fragment is a whole packet (RFC 6946)
	}
	key := fragmentKey{src: p.Src, dst: p.Dst, id: id, v6: true}
	st := d.fragment(in, p, key, next, offset, more)
	if st == OK {
		next = d.frags.first
	}
	return next, st
}

// hasHomeAddress looks for the home address among destination options (RFC 8200
// section 4.2). Options that make no sense end the search.
func hasHomeAddress(o []byte) bool {
	for len(o) > 1 {
		switch {
		case o[0] == homeAddressOption:
			return true
		case o[0] == 0: // Pad1
			o = o[1:]
		case 2+int(o[1]) > len(o):
			return false
		default:
			o = o[2+int(o[1]):]
		}
	}
	return false
}
