package packet

// UDP ports of tunnels. Their datagrams are assembled from fragments, so that
// what they carry can be decoded.
const (
	PortVXLAN  = 4789 // RFC 7348 section 5
	PortGeneve = 6081 // RFC 8926 section 3.3
	// PortVXLANLinux is where Linux sends VXLAN unless it is told a port: it did so before there was
	// another one.
	PortVXLANLinux = 8472
)

// tunnels reports whether a UDP port is that of a tunnel.
func tunnels(port uint16) bool {
	return port == PortVXLAN || port == PortVXLANLinux || port == PortGeneve
}

// Inner is a frame or an IP packet that a tunnel carries within another frame.
type Inner struct {
	// Link is what it begins with: LinkEthernet, LinkIPv4 or LinkIPv6.
	Link uint16
	// Data holds the captured octets, Length counts them on the wire.
	Data   []byte
	Length int
	// Offset is the octet offset of Data in the frame, or -1 when the outer
	// datagram was assembled from fragments.
	Offset int
	// Frame and Time are those of the frame, as for [Decoder.Decode]. Fragments
	// lists the frames that carried the outer datagram, as in [Packet.Fragments].
	Frame     uint64
	Time      int64
	Fragments []uint64
}

// DecodeInner decodes what a tunnel carries, after Decode or DecodeInner ended at
// the header of the tunnel. It sets p as Decode does; the offsets in p count from
// the beginning of the whole frame.
//
// The octets may be those of the last datagram assembled from fragments.
func (d *Decoder) DecodeInner(inner Inner, p *Packet) Status {
	*p = Packet{NetworkOffset: -1, SegmentOffset: -1}
	d.fault = Fault{}
	in := input{
		rest: inner.Data, wire: max(len(inner.Data), inner.Length), off: inner.Offset,
		frame: inner.Frame, time: inner.Time,
	}
	d.frags.outer = inner.Fragments
	st := d.layers(&in, inner.Link, p)
	d.frags.outer = nil
	if p.Fragments == nil && st != Fragment {
		p.Fragments = inner.Fragments
	}
	return st
}
