package packet

// Network returns the octets of a frame behind its link layer, if they are an IP packet as far as
// its type field tells, borrowed; nil: they are not. Octets behind the end of the packet are left
// out.
func (d *Decoder) Network(link uint16, data []byte) []byte {
	p := Packet{NetworkOffset: -1, SegmentOffset: -1}
	in := input{rest: data, wire: len(data)}
	if d.linkHeader(&in, link, &p) != OK {
		return nil
	}
	b, n := in.rest, 0
	switch {
	case p.EtherType == etherIPv4 && len(b) >= 20 && b[0]>>4 == 4:
		n = int(b[2])<<8 | int(b[3])
	case p.EtherType == etherIPv6 && len(b) >= 40 && b[0]>>4 == 6:
		n = 40 + (int(b[4])<<8 | int(b[5]))
	default:
		return nil
	}
	return b[:min(n, len(b))]
}
