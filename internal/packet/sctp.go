package packet

import "encoding/binary"

const (
	// sctpMinLen is the length of the SCTP common header: ports, verification
	// tag, checksum (RFC 9260 section 3.1).
	sctpMinLen = 12
	// sctpChunkLen is the length of what each chunk begins with.
	sctpChunkLen = 4
	udpLen       = 8
	// encapsulationPort is that of SCTP in UDP, at one end at least (RFC 6951
	// section 4.1).
	encapsulationPort = 9899
)

// sctp checks that the common header is there; chunks are not decoded here.
func (d *Decoder) sctp(in *input, p *Packet) Status {
	p.ports(in.rest)
	if len(in.rest) < sctpMinLen {
		return d.short(in, sctpMinLen, "sctp-header")
	}
	p.Payload = in.rest
	p.PayloadLen = in.wire
	return OK
}

// udp steps into SCTP in UDP (RFC 6951 section 5.2), and notes the ports of all
// else. The port alone proves nothing: what follows has to look like SCTP.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          Source Port          |       Destination Port        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|            Length             |           Checksum            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
func (d *Decoder) udp(in *input, p *Packet) Status {
	p.ports(in.rest)
	if !encapsulates(p) || len(in.rest) < udpLen+sctpMinLen+sctpChunkLen {
		return OtherTransport
	}
	n := int(binary.BigEndian.Uint16(in.rest[4:]))
	if n < udpLen+sctpMinLen || n > in.wire {
		return OtherTransport
	}
	s := in.rest[udpLen:]
	ports, chunk := binary.BigEndian.Uint32(s), int(binary.BigEndian.Uint16(s[sctpMinLen+2:]))
	if ports>>16 == 0 || ports&0xffff == 0 || chunk < sctpChunkLen {
		return OtherTransport
	}
	in.limit(n)
	in.advance(udpLen)
	p.Proto, p.Notes = ProtoSCTP, p.Notes|NoteEncapsulated
	p.Segment, p.SegmentLen, p.SegmentOffset = in.rest, in.wire, in.off
	return d.sctp(in, p)
}

// encapsulates reports whether a UDP port is that of SCTP in UDP.
func encapsulates(p *Packet) bool {
	return p.SrcPort == encapsulationPort || p.DstPort == encapsulationPort
}
