package tunnel

import (
	"strconv"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// Kind is what a tunnel header is.
type Kind uint8

// The kinds. Those of IP in IP have the inner version first.
const (
	GRE Kind = iota + 1
	ERSPAN
	VXLAN
	Geneve
	MPLS
	PPPoE
	IPv4InIPv4
	IPv6InIPv4
	IPv4InIPv6
	IPv6InIPv6
)

var kinds = [...]struct{ name, title string }{
	GRE:        {"gre", "Generic Routing Encapsulation"},
	ERSPAN:     {"erspan", "Encapsulated Remote Switch Packet ANalysis"},
	VXLAN:      {"vxlan", "Virtual eXtensible Local Area Network"},
	Geneve:     {"geneve", "Generic Network Virtualization Encapsulation"},
	MPLS:       {"mpls", "MultiProtocol Label Switching Header"},
	PPPoE:      {"pppoe", "PPP-over-Ethernet Session"},
	IPv4InIPv4: {"4in4", "IPv4 in IPv4"},
	IPv6InIPv4: {"6in4", "IPv6 in IPv4"},
	IPv4InIPv6: {"4in6", "IPv4 in IPv6"},
	IPv6InIPv6: {"6in6", "IPv6 in IPv6"},
}

// String returns the short name, as in frame records.
func (k Kind) String() string {
	if int(k) < len(kinds) && kinds[k].name != "" {
		return kinds[k].name
	}
	return "tunnel-" + strconv.Itoa(int(k))
}

// Title returns the name in full.
func (k Kind) Title() string {
	if int(k) < len(kinds) && kinds[k].title != "" {
		return kinds[k].title
	}
	return k.String()
}

// Field describes a field of a tunnel header.
type Field struct {
	// Name is Wireshark's, Label what a person reads.
	Name, Label string
	// Digits is how many hexadecimal digits it is shown with; 0: it is decimal.
	Digits int
}

// The fields.
var (
	greProtocol   = &Field{"gre.proto", "Protocol Type", 4}
	greChecksum   = &Field{"gre.checksum", "Checksum", 4}
	greKey        = &Field{"gre.key", "Key", 8}
	greSequence   = &Field{"gre.sequence_number", "Sequence Number", 0}
	erspanVersion = &Field{"erspan.version", "Version", 0}
	erspanVLAN    = &Field{"erspan.vlan", "Vlan", 0}
	erspanSpanID  = &Field{"erspan.spanid", "SpanID", 0}
	vxlanVNI      = &Field{"vxlan.vni", "VXLAN Network Identifier (VNI)", 0}
	vxlanGBP      = &Field{"vxlan.gbp", "Group Policy ID", 0}
	geneveVNI     = &Field{"geneve.vni", "Virtual Network Identifier (VNI)", 0}
	mplsLabel     = &Field{"mpls.label", "MPLS Label", 0}
	pppoeSession  = &Field{"pppoe.session_id", "Session ID", 4}
)

// Value is what a field holds.
type Value struct {
	*Field
	Number uint32
}

// NoLink is no link type: a tunnel header follows.
const NoLink = ^uint16(0)

// maxValues is the number of fields that a header has at most.
const maxValues = 4

// Header is a tunnel header that was taken off a frame.
type Header struct {
	Kind Kind
	// Src and Dst are the addresses of the IP header before it, if HasAddrs. What
	// lies in another tunnel or right on the link has none of its own.
	Src, Dst packet.Addr
	HasAddrs bool
	// Offset is where the header begins in the frame, Inside where what it carries does, in
	// octets; -1 in a datagram that was assembled from fragments. Carries is what that
	// begins with, as [packet.Inner.Link]; NoLink: another tunnel header.
	Offset, Inside int
	Carries        uint16

	values [maxValues]Value
	n      int
}

// Values are its fields, in the order of the header.
func (h *Header) Values() []Value { return h.values[:h.n] }

func (h *Header) add(f *Field, v uint32) {
	h.values[h.n] = Value{f, v}
	h.n++
}
