package packet

import "encoding/binary"

// Parts of the IPv4 header (RFC 791 section 3.1).
const (
	ipv4MinLen   = 20
	ipv4MoreFrag = 0x2000 // MF, in the octets of flags and offset
	ipv4Offset   = 0x1fff // fragment offset in units of eight octets
	ipv4FragMask = ipv4MoreFrag | ipv4Offset
	ipv4DontFrag = 0x4000
)

// Options that make the destination address something else than the endpoint
// (RFC 791 section 3.1).
const (
	ipv4OptEnd         = 0
	ipv4OptNop         = 1
	ipv4OptLooseRoute  = 131
	ipv4OptStrictRoute = 137
)

// ipv4 decodes an IPv4 header and what follows it.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Version|  IHL  |Type of Service|          Total Length         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|         Identification        |Flags|      Fragment Offset    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Time to Live |    Protocol   |         Header Checksum       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Source Address                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    Destination Address                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                    Options                    |    Padding    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
func (d *Decoder) ipv4(in *input, p *Packet) Status {
	b := in.rest
	if len(b) < ipv4MinLen {
		return d.short(in, ipv4MinLen, "ipv4-header")
	}
	if b[0]>>4 != 4 {
		return d.malformed(in, "ipv4-version")
	}
	p.Src.set4(b[12:])
	p.Dst.set4(b[16:])
	hdr := int(b[0]&0xf) * 4
	if hdr < ipv4MinLen {
		return d.malformed(in, "ipv4-header-length")
	}
	total := int(binary.BigEndian.Uint16(b[2:]))
	if total == 0 {
		// A segment that the adapter is still to split has no length yet.
		total = in.wire
		p.Notes |= NoteLengthFromFrame
	}
	if total < hdr || total > maxUnsized {
		return d.malformed(in, "ipv4-total-length")
	}
	if total > in.wire {
		p.Notes |= NoteBeyondFrame
	}
	in.limit(total)
	if len(b) < hdr {
		return d.short(in, hdr, "ipv4-options")
	}
	if hdr > ipv4MinLen && ipv4SourceRoute(b[ipv4MinLen:hdr]) {
		p.Notes |= NoteRouted
	}
	in.advance(hdr)

	next := Proto(b[9])
	if frag := binary.BigEndian.Uint16(b[6:]); frag&ipv4FragMask != 0 {
		key := fragmentKey{src: p.Src, dst: p.Dst, id: uint32(binary.BigEndian.Uint16(b[4:])), proto: next}
		st := d.fragment(in, p, key, next, int(frag&ipv4Offset)*8, frag&ipv4MoreFrag != 0)
		if st != OK {
			return st
		}
	}
	return d.upper(in, p, next)
}

// ipv4SourceRoute reports whether the options hold a source route. Options that
// make no sense end the search: they are not ours to judge.
func ipv4SourceRoute(o []byte) bool {
	for len(o) > 0 && o[0] != ipv4OptEnd {
		switch {
		case o[0] == ipv4OptLooseRoute || o[0] == ipv4OptStrictRoute:
			return true
		case o[0] == ipv4OptNop:
			o = o[1:]
		case len(o) < 2 || o[1] < 2 || int(o[1]) > len(o):
			return false
		default:
			o = o[o[1]:]
		}
	}
	return false
}
