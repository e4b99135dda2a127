package packet

import "encoding/binary"

// The flags of a TCP header (RFC 9293 section 3.1; NS is of RFC 3540, and the
// AE flag of accurate ECN today).
const (
	FlagFIN uint16 = 1 << iota
	FlagSYN
	FlagRST
	FlagPSH
	FlagACK
	FlagURG
	FlagECE
	FlagCWR
	FlagNS
)

const flagMask = 0x1ff

// TCPLen is the length of a TCP header without options.
const TCPLen = 20

// tcp decodes a TCP header.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          Source Port          |       Destination Port        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Sequence Number                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    Acknowledgment Number                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Offset|Rsrvd|N|C|E|U|A|P|R|S|F|            Window             |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|           Checksum            |         Urgent Pointer        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           [Options]                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// The fixed header has to be there; of options and payload, what was captured
// is delivered.
func (d *Decoder) tcp(in *input, p *Packet) Status {
	b := in.rest
	p.ports(b)
	if len(b) < TCPLen {
		return d.short(in, TCPLen, "tcp-header")
	}
	hdr := int(b[12]>>4) * 4
	if hdr < TCPLen || hdr > in.wire {
		return d.malformed(in, "tcp-data-offset")
	}
	p.Seq = binary.BigEndian.Uint32(b[4:])
	p.Ack = binary.BigEndian.Uint32(b[8:])
	p.Flags = binary.BigEndian.Uint16(b[12:]) & flagMask
	p.Window = binary.BigEndian.Uint16(b[14:])
	p.Urgent = binary.BigEndian.Uint16(b[18:])
	have := min(hdr, len(b))
	p.Options = b[TCPLen:have:have]
	p.Payload = b[have:]
	p.PayloadLen = in.wire - hdr
	return OK
}

// ports reads the ports, which TCP, SCTP and UDP have in the same place.
func (p *Packet) ports(b []byte) {
	if len(b) >= 4 {
		p.SrcPort = binary.BigEndian.Uint16(b)
		p.DstPort = binary.BigEndian.Uint16(b[2:])
	}
}
