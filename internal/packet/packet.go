package packet

import "strconv"

// Proto is an IP protocol number (the IANA registry of assigned internet
// protocol numbers).
type Proto uint8

// Protocols that are distinguished. ProtoNone means that no upper layer was
// reached.
const (
	ProtoNone   Proto = 0
	ProtoICMP   Proto = 1
	ProtoIPv4   Proto = 4 // IPv4 in IP (RFC 2003)
	ProtoTCP    Proto = 6
	ProtoUDP    Proto = 17
	ProtoIPv6   Proto = 41 // IPv6 in IP (RFC 4213)
	ProtoGRE    Proto = 47 // RFC 2784
	ProtoICMPv6 Proto = 58
	ProtoSCTP   Proto = 132
)

// String returns the usual name in lower case, or the number.
func (p Proto) String() string {
	switch p {
	case ProtoNone:
		return "none"
	case ProtoICMP:
		return "icmp"
	case ProtoTCP:
		return "tcp"
	case ProtoUDP:
		return "udp"
	case ProtoICMPv6:
		return "icmpv6"
	case ProtoSCTP:
		return "sctp"
	default:
		return "ip-proto-" + strconv.Itoa(int(p))
	}
}

// Note tells something unusual about a packet that was decoded all the same.
type Note uint8

// The notes, as bits.
const (
	// NoteLengthFromFrame: the IP header gives no length (zero, as segmentation
	// offload and jumbograms leave it), so the length of the frame was taken.
	NoteLengthFromFrame Note = 1 << iota
	// NoteBeyondFrame: the IP length reaches beyond the end of the frame as it
	// was on the wire; PayloadLen believes the IP header.
	NoteBeyondFrame
	// NoteOverlap: fragments overlapped with different octets, or disagreed
	// about the end of the datagram. The octets that came first were kept.
	NoteOverlap
	// NoteRouted: a source route or a home address stands in place of an
	// endpoint of the connection, so the checksum cannot be verified.
	NoteRouted
	// NoteEncapsulated: the SCTP packet was in UDP (RFC 6951); the ports are those
	// of SCTP.
	NoteEncapsulated
)

// Packet is a TCP segment or an SCTP packet and where it was found.
//
// Decode sets every field, so that one Packet can serve for all frames.
type Packet struct {
	// Src and Dst are the addresses of the IP header.
	Src, Dst Addr
	// SrcPort and DstPort are those of TCP, SCTP or UDP.
	SrcPort, DstPort uint16
	// EtherType is the type of the network layer (0x0800 and 0x86dd for IP, also
	// over links without a type field), or 0 where the link layer has none.
	EtherType uint16
	// Proto is the upper protocol: ProtoTCP or ProtoSCTP when the status is OK.
	Proto Proto
	// V6 says that the network layer is IPv6.
	V6 bool
	// Notes tells what was unusual.
	Notes Note
	// NumVLANs counts the valid entries of VLANs.
	NumVLANs uint8
	// VLANs are the tag control fields (IEEE 802.1Q clause 9.6), outermost
	// first; the low 12 bits are the VLAN identifier.
	VLANs [MaxVLANs]uint16

	// Seq to Urgent are fields of the TCP header (RFC 9293 section 3.1).
	Seq, Ack uint32
	// Flags holds the nine flags, FlagFIN to FlagNS.
	Flags  uint16
	Window uint16
	Urgent uint16

	// Options holds the captured octets of the TCP options.
	Options []byte
	// Payload holds the captured octets of the payload: for TCP what follows
	// the header, for SCTP the packet from its common header on.
	Payload []byte
	// PayloadLen counts the octets that Payload had on the wire.
	PayloadLen int
	// Segment holds the captured octets of the whole TCP segment or SCTP packet,
	// header included. After a malformed or truncated header, or another
	// protocol, it holds what is behind the IP headers; when the network layer is
	// not IP, what is behind the link header.
	Segment []byte
	// SegmentLen counts the octets that Segment had on the wire.
	SegmentLen int

	// NetworkOffset and SegmentOffset are the octet offsets of the IP header and
	// of Segment in the frame. Either is -1 when there is none; SegmentOffset
	// also when the segment was assembled from fragments.
	NetworkOffset, SegmentOffset int
	// Fragments lists the frames that carried the fragments of the packet, in
	// the order of capture; nil for a packet that was not fragmented.
	Fragments []uint64
}

// PayloadOffset returns the octet offset of Payload in the frame, or -1 when it
// was assembled from fragments or there is none. When the capture cuts the
// frame before the payload, the offset lies beyond the captured octets. It is
// meant for packets that are OK.
func (p *Packet) PayloadOffset() int {
	if p.SegmentOffset < 0 {
		return -1
	}
	return p.SegmentOffset + p.SegmentLen - p.PayloadLen
}

// Cut reports whether octets of the payload are missing from the capture.
func (p *Packet) Cut() bool { return len(p.Payload) < p.PayloadLen }

// VLANID returns the identifier of the outermost VLAN tag, if there is one.
func (p *Packet) VLANID() (uint16, bool) {
	return p.VLANs[0] & 0xfff, p.NumVLANs > 0
}

// Status says what became of a frame.
type Status uint8

// The statuses.
const (
	// OK: the Packet holds a TCP segment or an SCTP packet.
	OK Status = iota
	// Fragment: the frame carries an IP fragment, kept until the rest comes.
	Fragment
	// NotIP: the link layer carries another network protocol.
	NotIP
	// OtherTransport: IP, but neither TCP nor SCTP.
	OtherTransport
	// Truncated: the capture ends before the end of a header that is needed.
	Truncated
	// Malformed: a header contradicts itself, or the frame as it was on the
	// wire is too short for it.
	Malformed
	// UnknownLink: frames of this link type cannot be decoded.
	UnknownLink
)

// String returns the status in words.
func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case Fragment:
		return "fragment"
	case NotIP:
		return "not ip"
	case OtherTransport:
		return "other transport"
	case Truncated:
		return "truncated"
	case Malformed:
		return "malformed"
	case UnknownLink:
		return "unknown link type"
	}
	return "status " + strconv.Itoa(int(s))
}

// Fault tells where and why a frame is Truncated or Malformed.
type Fault struct {
	// Code is a stable token naming the header or the field; empty for none.
	Code string
	// Offset is the octet offset of the header in the frame, or -1 when it lies
	// in a datagram assembled from fragments.
	Offset int
}
