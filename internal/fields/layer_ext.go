package fields

import "github.com/iwdissect/iwdissect/internal/tunnel"

// Extension headers of IPv6 (RFC 8200 section 4), UDP, and what tunnels say.

var (
	layerHopByHop = extension("ipv6.hopopts", "IPv6 Hop-by-Hop Option")
	layerRouting  = extension("ipv6.routing", "Routing Header for IPv6")
	layerDestOpts = extension("ipv6.dstopts", "Destination Options for IPv6")
)

func extension(name, title string) *Layer {
	return &Layer{
		Name: name, Self: self(name, title),
		Rows: []LayerRow{
			num(name+".nxt", "Next Header", 0, 8).names(protoName).ref("RFC 8200 4"),
			num(name+".len", "Length", 8, 8).ref("RFC 8200 4"),
		},
	}
}

var layerFragment = &Layer{
	Name: "ipv6.fraghdr", Self: self("ipv6.fraghdr", "Fragment Header for IPv6"),
	Rows: []LayerRow{
		num("ipv6.fraghdr.nxt", "Next header", 0, 8).names(protoName).ref("RFC 8200 4.5"),
		num("ipv6.fraghdr.reserved_octet", "Reserved octet", 8, 8).hex().ref("RFC 8200 4.5"),
		num("ipv6.fraghdr.offset", "Offset", 16, 13).wide(16).ref("RFC 8200 4.5"),
		num("ipv6.fraghdr.reserved_bits", "Reserved bits", 29, 2).wide(16).ref("RFC 8200 4.5"),
		flag("ipv6.fraghdr.more", "More Fragments", 31).wide(16).text(yesNo).ref("RFC 8200 4.5"),
		num("ipv6.fraghdr.ident", "Identification", 32, 32).hex().ref("RFC 8200 4.5"),
	},
}

var layerAH = &Layer{
	Name: "ah", Self: self("ah", "Authentication Header"),
	Rows: []LayerRow{
		num("ah.next_header", "Next header", 0, 8).names(protoName).ref("RFC 4302 2.1"),
		num("ah.length", "Length", 8, 8).ref("RFC 4302 2.2"),
		num("ah.spi", "AH SPI", 32, 32).hex().ref("RFC 4302 2.4"),
		num("ah.sequence", "AH Sequence", 64, 32).ref("RFC 4302 2.5"),
	},
}

func yesNo(dst []byte, v Value) []byte {
	if v.Num != 0 {
		return append(dst, "Yes"...)
	}
	return append(dst, "No"...)
}

var layerUDP = &Layer{
	Name: "udp", Self: self("udp", "User Datagram Protocol"), Title: func(dst []byte, _ *Layers, h *Head) []byte {
		return portsTitle(append(dst, "User Datagram Protocol"...), h)
	},
	Rows: []LayerRow{
		num("udp.srcport", "Source Port", 0, 16).ref("RFC 768"),
		num("udp.dstport", "Destination Port", 16, 16).ref("RFC 768"),
		again("udp.port", "Source or Destination Port", Uint, 0, 16),
		again("udp.port", "Source or Destination Port", Uint, 16, 16),
		num("udp.length", "Length", 32, 16).ref("RFC 768"),
		num("udp.checksum", "Checksum", 48, 16).hex().text(unchecked("[unverified]")).ref("RFC 768"),
		computed("udp.checksum.status", "Checksum Status", Uint, 8, func(_ *Layers, h *Head) (Value, bool) {
			if len(h.Octets) >= 8 && h.Octets[6]|h.Octets[7] == 0 {
				return Value{Num: 3}, true // the sender left it out
			}
			return Value{Num: 2}, true
		}).text(statusText).at(1),
	},
}

func portsTitle(dst []byte, h *Head) []byte {
	if len(h.Octets) < 4 {
		return dst
	}
	dst = appendUint(append(dst, ", Src Port: "...), readBits(h.Octets, 0, 16))
	return appendUint(append(dst, ", Dst Port: "...), readBits(h.Octets, 16, 16))
}

// layerTunnel are the headers between two IP headers. What is known of them are their
// values: aux counts which of them is meant.
var layerTunnel = &Layer{
	Title: func(dst []byte, l *Layers, h *Head) []byte { return append(dst, l.f.Tunnels[h.aux].Kind.Title()...) },
	Rows: []LayerRow{
		tunnelRow("gre.proto", "Protocol Type", 16, true), tunnelRow("gre.checksum", "Checksum", 16, true),
		tunnelRow("gre.key", "Key", 32, true), tunnelRow("gre.sequence_number", "Sequence Number", 32, false),
		tunnelRow("erspan.version", "Version", 16, false), tunnelRow("erspan.vlan", "Vlan", 16, false), tunnelRow("erspan.spanid", "SpanID", 16, false),
		tunnelRow("vxlan.gbp", "Group Policy ID", 16, false), tunnelRow("vxlan.vni", "VXLAN Network Identifier (VNI)", 24, false),
		tunnelRow("geneve.vni", "Virtual Network Identifier (VNI)", 24, true),
		tunnelRow("mpls.label", "MPLS Label", 32, false), tunnelRow("pppoe.session_id", "Session ID", 16, true),
	},
}

func tunnelRow(name, text string, bits int, hex bool) LayerRow {
	r := computed(name, text, Uint, bits, func(l *Layers, h *Head) (Value, bool) {
		for _, v := range l.f.Tunnels[h.aux].Values() {
			if v.Name == name {
				return Value{Num: uint64(v.Number)}, true
			}
		}
		return Value{}, false
	})
	r.Field.Hex = hex
	return r
}

// tunnelName is the protocol of a tunnel header; IP in IP has none of its own.
func tunnelName(k tunnel.Kind) string {
	switch k {
	case tunnel.GRE, tunnel.ERSPAN, tunnel.VXLAN, tunnel.Geneve, tunnel.MPLS, tunnel.PPPoE:
		return k.String()
	default:
		return ""
	}
}
