package packet

import (
	"encoding/binary"

	"github.com/iwdissect/iwdissect/internal/onesum"
)

// VLAN is a tag to be written: its protocol identifier (0x8100 when zero) and
// its control field (IEEE 802.1Q clause 9).
type VLAN struct{ TPID, TCI uint16 }

// Extension is an IPv6 extension header to be written. Body is what follows the
// next header and length octets; it is padded with zero octets to the unit of
// eight that the headers are measured in.
type Extension struct {
	Proto Proto
	Body  []byte
}

// Build describes a frame to be written, the mirror of Packet. Lengths and
// checksums are filled in; nothing else is checked, so that it also writes what
// no honest sender would.
//
// The zero Link is LinkNull, as in capture files.
type Build struct {
	Link uint16

	// SrcMAC to SNAP are for Ethernet. VLANs work over cooked links too.
	SrcMAC, DstMAC [6]byte
	VLANs          []VLAN
	// SNAP writes a length and LLC/SNAP in place of the type (RFC 1042); over
	// cooked links it writes LLC/SNAP behind the header.
	SNAP bool
	// Pad fills an Ethernet frame up to the minimum of 60 octets.
	Pad bool
	// BigEndian is the order of the address family of LinkNull.
	BigEndian bool
	// EtherType replaces the type of the network layer when not zero.
	EtherType uint16
	// Trailer follows the IP packet (and the padding) in the frame.
	Trailer []byte

	// Src and Dst are both IPv4 or both IPv6, which selects the header.
	Src, Dst Addr
	// ID is the identification, 16 bits of it for IPv4. IPv6 has one in
	// fragments only.
	ID uint32
	// TTL is the hop limit; 64 when zero.
	TTL uint8
	// TrafficClass is the type of service octet.
	TrafficClass uint8
	// DontFragment sets the bit in an IPv4 header.
	DontFragment bool
	// IPOptions are IPv4 options, padded to words of four octets.
	IPOptions []byte
	// Extensions stand between the IPv6 header and the fragment header, if any.
	Extensions []Extension
	// NoLength leaves the IP length zero, as segmentation offload does. It is
	// also zero when the length does not fit.
	NoLength bool

	// FragmentOffset, in octets, and MoreFragments make the packet a fragment.
	FragmentOffset int
	MoreFragments  bool
	// FragmentHeader writes an IPv6 fragment header even when both are zero.
	FragmentHeader bool
	// Raw replaces the transport header and payload, when not nil.
	Raw []byte

	// Proto is the upper protocol; ProtoTCP when zero.
	Proto Proto
	// SrcPort to Options are for TCP.
	SrcPort, DstPort uint16
	Seq, Ack         uint32
	Flags            uint16
	Window, Urgent   uint16
	// Options are padded to words of four octets.
	Options []byte
	// Payload is what TCP carries; for every other protocol it is the whole IP
	// payload, header included.
	Payload []byte
}

// Append appends the frame to dst.
func (b *Build) Append(dst []byte) []byte {
	start := len(dst)
	dst, lengthAt := b.appendLink(dst)
	if b.Src.Is4() {
		dst = b.appendIPv4(dst)
	} else {
		dst = b.appendIPv6(dst)
	}
	if lengthAt >= 0 {
		binary.BigEndian.PutUint16(dst[lengthAt:], uint16(len(dst)-lengthAt-2))
	}
	if b.Pad && b.Link == LinkEthernet {
		for len(dst)-start < 60 {
			dst = append(dst, 0)
		}
	}
	return append(dst, b.Trailer...)
}

// AppendLink appends the link header alone. Without an EtherType it announces IP.
func (b *Build) AppendLink(dst []byte) []byte {
	dst, _ = b.appendLink(dst)
	return dst
}

// Fragments returns the frames that carry the packet in fragments of at most
// size octets of IP payload, size being a multiple of eight.
func (b *Build) Fragments(size int) [][]byte {
	rest := b.AppendSegment(nil)
	part := *b
	part.FragmentHeader = true
	var frames [][]byte
	for at := 0; len(rest) > 0; at += size {
		n := min(size, len(rest))
		part.Raw = rest[:n]
		part.FragmentOffset = at
		part.MoreFragments = n < len(rest)
		rest = rest[n:]
		frames = append(frames, part.Append(nil))
	}
	return frames
}

func (b *Build) proto() Proto {
	if b.Proto == ProtoNone {
		return ProtoTCP
	}
	return b.Proto
}

// appendLink writes the link layer. It returns the index of a length field that
// is still to be filled in, or -1.
func (b *Build) appendLink(dst []byte) (_ []byte, lengthAt int) {
	t := b.EtherType
	if t == 0 {
		t = etherIPv6
		if b.Src.Is4() {
			t = etherIPv4
		}
	}
	switch b.Link {
	case LinkEthernet:
		dst = append(append(dst, b.DstMAC[:]...), b.SrcMAC[:]...)
		first, rest := b.tags()
		if first != 0 {
			dst = append(binary.BigEndian.AppendUint16(dst, first), rest...)
		}
		if b.SNAP {
			at := len(dst)
			return appendSNAP(append(dst, 0, 0), t), at
		}
		dst = binary.BigEndian.AppendUint16(dst, t)
	case LinkLinuxSLL:
		first, rest := b.cookedTags(t)
		dst = append(dst, 0, 4, 0, 1, 0, 6) // sent by us, ARPHRD_ETHER, six octets of address
		dst = append(append(dst, b.SrcMAC[:]...), 0, 0)
		dst = append(binary.BigEndian.AppendUint16(dst, first), rest...)
	case LinkLinuxSLL2:
		first, rest := b.cookedTags(t)
		dst = binary.BigEndian.AppendUint16(dst, first)
		dst = append(dst, 0, 0, 0, 0, 0, 1, 0, 1, 4, 6) // interface 1
		dst = append(append(dst, b.SrcMAC[:]...), 0, 0)
		dst = append(dst, rest...)
	case LinkNull, LinkLoop:
		family := uint32(24)
		if t == etherIPv4 {
			family = 2
		}
		if b.Link == LinkLoop || b.BigEndian {
			dst = binary.BigEndian.AppendUint32(dst, family)
		} else {
			dst = binary.LittleEndian.AppendUint32(dst, family)
		}
	}
	return dst, -1
}

// tags returns the first tag's identifier, and what follows it up to and
// without the type of the next layer.
func (b *Build) tags() (first uint16, rest []byte) {
	for i, v := range b.VLANs {
		tpid := v.TPID
		if tpid == 0 {
			tpid = etherVLAN
		}
		if i == 0 {
			first = tpid
		} else {
			rest = binary.BigEndian.AppendUint16(rest, tpid)
		}
		rest = binary.BigEndian.AppendUint16(rest, v.TCI)
	}
	return first, rest
}

// cookedTags returns the protocol field of a cooked header before a network
// layer of type t, and what follows the header.
func (b *Build) cookedTags(t uint16) (first uint16, rest []byte) {
	first, rest = b.tags()
	switch {
	case first != 0:
		return first, binary.BigEndian.AppendUint16(rest, t)
	case b.SNAP:
		return linuxLLC, appendSNAP(nil, t)
	}
	return t, nil
}

func appendSNAP(dst []byte, t uint16) []byte {
	return binary.BigEndian.AppendUint16(append(dst, 0xaa, 0xaa, 3, 0, 0, 0), t)
}

func (b *Build) ttl() uint8 {
	if b.TTL == 0 {
		return 64
	}
	return b.TTL
}

func (b *Build) appendIPv4(dst []byte) []byte {
	start := len(dst)
	frag := uint16(b.FragmentOffset / 8)
	if b.MoreFragments {
		frag |= ipv4MoreFrag
	}
	if b.DontFragment {
		frag |= ipv4DontFrag
	}
	dst = append(dst, 0, b.TrafficClass, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(b.ID))
	dst = binary.BigEndian.AppendUint16(dst, frag)
	dst = append(dst, b.ttl(), byte(b.proto()), 0, 0)
	dst = append(append(dst, b.Src[12:]...), b.Dst[12:]...)
	dst = appendPadded(dst, b.IPOptions, 4)
	end := len(dst)
	dst[start] = 0x40 | byte((end-start)/4)
	dst = b.AppendSegment(dst)
	if n := len(dst) - start; n <= 0xffff && !b.NoLength {
		binary.BigEndian.PutUint16(dst[start+2:], uint16(n))
	}
	binary.BigEndian.PutUint16(dst[start+10:], ^onesum.Carried(sum(dst[start:end])))
	return dst
}

func (b *Build) appendIPv6(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, 0x60|b.TrafficClass>>4, b.TrafficClass<<4, 0, 0, 0, 0)
	next := len(dst) // index of the next header octet to fill in
	dst = append(dst, 0, b.ttl())
	dst = append(append(dst, b.Src[:]...), b.Dst[:]...)
	for _, x := range b.Extensions {
		dst[next] = byte(x.Proto)
		next = len(dst)
		dst = append(append(dst, 0, 0), x.Body...)
		for (len(dst)-next)%8 != 0 {
			dst = append(dst, 0)
		}
		if dst[next+1] = byte((len(dst)-next)/8 - 1); x.Proto == protoAH {
			dst[next+1] = byte((len(dst)-next)/4 - 2)
		}
	}
	if b.FragmentHeader || b.MoreFragments || b.FragmentOffset != 0 {
		dst[next] = byte(protoFragment)
		next = len(dst)
		frag := uint16(b.FragmentOffset) &^ 7
		if b.MoreFragments {
			frag |= 1
		}
		dst = binary.BigEndian.AppendUint16(append(dst, 0, 0), frag)
		dst = binary.BigEndian.AppendUint32(dst, b.ID)
	}
	dst[next] = byte(b.proto())
	dst = b.AppendSegment(dst)
	if n := len(dst) - start - ipv6Len; n <= 0xffff && !b.NoLength {
		binary.BigEndian.PutUint16(dst[start+4:], uint16(n))
	}
	return dst
}

// AppendSegment appends the IP payload alone: a TCP segment with its checksum,
// or the octets of Raw or of another protocol as they are.
func (b *Build) AppendSegment(dst []byte) []byte {
	if b.Raw != nil {
		return append(dst, b.Raw...)
	}
	if b.proto() != ProtoTCP {
		return append(dst, b.Payload...)
	}
	start := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, b.SrcPort)
	dst = binary.BigEndian.AppendUint16(dst, b.DstPort)
	dst = binary.BigEndian.AppendUint32(dst, b.Seq)
	dst = binary.BigEndian.AppendUint32(dst, b.Ack)
	dst = binary.BigEndian.AppendUint16(dst, b.Flags&flagMask)
	dst = binary.BigEndian.AppendUint16(dst, b.Window)
	dst = binary.BigEndian.AppendUint16(append(dst, 0, 0), b.Urgent)
	dst = appendPadded(dst, b.Options, 4)
	dst[start+12] |= byte((len(dst)-start)/4) << 4
	dst = append(dst, b.Payload...)
	seg := dst[start:]
	s := pseudo(b.Src, b.Dst, !b.Src.Is4(), ProtoTCP, len(seg)) + sum(seg)
	binary.BigEndian.PutUint16(seg[16:], ^onesum.Carried(s))
	return dst
}

// appendPadded appends b and zero octets up to a multiple of unit; zero ends
// the options of IPv4 and TCP.
func appendPadded(dst, b []byte, unit int) []byte {
	dst = append(dst, b...)
	for n := len(b); n%unit != 0; n++ {
		dst = append(dst, 0)
	}
	return dst
}

// PseudoSum is the sum over the pseudo header of the TCP segment, folded to 16
// bits: what stands in the checksum field when the hardware is to fill it in.
func (b *Build) PseudoSum() uint16 {
	n := 20 + (len(b.Options)+3)&^3 + len(b.Payload)
	return onesum.Carried(pseudo(b.Src, b.Dst, !b.Src.Is4(), ProtoTCP, n))
}

// UDP returns a UDP datagram with its checksum, as Payload of ProtoUDP.
func (b *Build) UDP(src, dst uint16, payload []byte) []byte {
	d := binary.BigEndian.AppendUint16(make([]byte, 0, udpLen+len(payload)), src)
	d = binary.BigEndian.AppendUint16(d, dst)
	d = binary.BigEndian.AppendUint16(d, uint16(udpLen+len(payload)))
	d = append(append(d, 0, 0), payload...)
	c := ^onesum.Carried(pseudo(b.Src, b.Dst, !b.Src.Is4(), ProtoUDP, len(d)) + sum(d))
	if c == 0 {
		c = 0xffff // zero says that there is none (RFC 768)
	}
	binary.BigEndian.PutUint16(d[6:], c)
	return d
}

// InternetChecksum returns the checksum of b (RFC 1071), whose own field has to be
// zero.
func InternetChecksum(b []byte) uint16 { return ^onesum.Carried(sum(b)) }
