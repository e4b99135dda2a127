package fields

// The link layer: Ethernet, Linux cooked captures, loopback, VLAN tags.

var layerEth = &Layer{
	Name: "eth", Self: self("eth", "Ethernet"), Title: ethTitle,
	Rows: append(append(
		etherRows("eth.dst", "Destination", 0),
		etherRows("eth.src", "Source", 48)...),
		num("eth.type", "Type", 96, 16).hex().names(etherTypeName).from(func(_ *Layers, h *Head) (Value, bool) { return typeOrLength(h, true) }),
		num("eth.len", "Length", 96, 16).from(func(_ *Layers, h *Head) (Value, bool) { return typeOrLength(h, false) }),
		row("eth.padding", "Padding", Octets, 0, 0).from(func(l *Layers, _ *Head) (Value, bool) { return l.padding() }).tail(),
	),
}

// typeOrLength reads the field that is a type from 1536 on, and a length below (IEEE 802.3
// clause 3.2.6).
func typeOrLength(h *Head, isType bool) (Value, bool) {
	if len(h.Octets) < 14 {
		return Value{}, false
	}
	v := readBits(h.Octets, 96, 16)
	return Value{Num: v}, v >= 0x600 == isType
}

// etherRows are an address and its parts.
func etherRows(name, text string, bit int) []LayerRow {
	return []LayerRow{
		row(name, text, Ether, bit, 48).text(etherTwice),
		again(name+"_resolved", text+" (resolved)", Text, bit, 48).from(etherText(bit / 8)).at(1),
		again(name+".oui", text+" OUI", Uint, bit, 24).text(ouiText).at(1),
		row("eth.addr", "Address", Ether, bit, 48).text(etherTwice).at(1),
		again("eth.addr_resolved", "Address (resolved)", Text, bit, 48).from(etherText(bit / 8)).at(1),
		again("eth.addr.oui", "Address OUI", Uint, bit, 24).text(ouiText).at(1),
		lgBit(name+".lg", bit).at(1),
		lgBit("eth.lg", bit).hide().at(1),
		igBit(name+".ig", bit).at(1),
		igBit("eth.ig", bit).hide().at(1),
	}
}

// The bits of an address are shown among its first 24, as Wireshark does.
func lgBit(name string, bit int) LayerRow { return addressBit(name, "LG bit", bit, 6, lgText) }

func igBit(name string, bit int) LayerRow { return addressBit(name, "IG bit", bit, 7, igText) }

func addressBit(name, label string, bit, n int, text func([]byte, Value) []byte) LayerRow {
	return flag(name, label, bit+n).wide(24).among(bit).text(text)
}

func lgText(dst []byte, v Value) []byte {
	if v.Num != 0 {
		return append(dst, "Locally administered address (this is NOT the factory default)"...)
	}
	return append(dst, "Globally unique address (factory default)"...)
}

func igText(dst []byte, v Value) []byte {
	if v.Num != 0 {
		return append(dst, "Group address (multicast/broadcast)"...)
	}
	return append(dst, "Individual address (unicast)"...)
}

// etherText has an address as text, which is what it resolves to: names are never looked up.
func etherText(at int) func(*Layers, *Head) (Value, bool) {
	return func(l *Layers, h *Head) (Value, bool) {
		if len(h.Octets) < at+6 {
			return Value{}, false
		}
		return l.scratch(appendEther(l.room(17), h.Octets[at:at+6])), true
	}
}

func etherTwice(dst []byte, v Value) []byte {
	dst = appendEther(dst, v.Bytes)
	dst = append(dst, " ("...)
	dst = appendEther(dst, v.Bytes)
	return append(dst, ')')
}

func ouiText(dst []byte, v Value) []byte {
	return appendEther(dst, []byte{byte(v.Num >> 16), byte(v.Num >> 8), byte(v.Num)}) //nolint:gosec // three octets
}

func ethTitle(dst []byte, _ *Layers, h *Head) []byte {
	if len(h.Octets) < 14 {
		return append(dst, "Ethernet"...)
	}
	if readBits(h.Octets, 96, 16) < 0x600 {
		dst = append(dst, "IEEE 802.3 Ethernet"...)
	} else {
		dst = append(dst, "Ethernet II, Src: "...)
		dst = etherTwice(dst, Value{Bytes: h.Octets[6:12]})
		dst = append(dst, ", Dst: "...)
		dst = etherTwice(dst, Value{Bytes: h.Octets[:6]})
	}
	return dst
}

var layerVLAN = &Layer{
	Name: "vlan", Self: self("vlan", "802.1Q Virtual LAN"), Title: vlanTitle,
	Rows: []LayerRow{
		num("vlan.priority", "Priority", 0, 3).wide(16).names(vlanPriority).ref("IEEE 802.1Q 9.6"),
		flag("vlan.dei", "DEI", 3).wide(16).text(func(dst []byte, v Value) []byte {
			if v.Num != 0 {
				return append(dst, "Eligible"...)
			}
			return append(dst, "Ineligible"...)
		}).ref("IEEE 802.1Q 9.6"),
		num("vlan.id", "ID", 4, 12).wide(16).ref("IEEE 802.1Q 9.6"),
		num("vlan.etype", "Type", 16, 16).hex().names(etherTypeName),
	},
}

// layerQinQ is the outer tag of a provider.
var layerQinQ = &Layer{
	Name: "ieee8021ad", Self: self("ieee8021ad", "IEEE 802.1ad"),
	Rows: []LayerRow{
		num("ieee8021ad.priority", "Priority", 0, 3).wide(16).ref("IEEE 802.1Q 9.6"),
		num("ieee8021ad.dei", "DEI", 3, 1).wide(16).ref("IEEE 802.1Q 9.6"),
		num("ieee8021ad.id", "ID", 4, 12).wide(16).ref("IEEE 802.1Q 9.6"),
	},
}

func vlanTitle(dst []byte, _ *Layers, h *Head) []byte {
	dst = append(dst, "802.1Q Virtual LAN"...)
	if len(h.Octets) < 4 {
		return dst
	}
	dst = appendUint(append(dst, ", PRI: "...), readBits(h.Octets, 0, 3))
	dst = appendUint(append(dst, ", DEI: "...), readBits(h.Octets, 3, 1))
	return appendUint(append(dst, ", ID: "...), readBits(h.Octets, 4, 12))
}

var vlanPriority = ofNames(map[uint64]string{
	0: "Best Effort (default)", 1: "Background", 2: "Excellent Effort", 3: "Critical Applications", 4: "Video, < 100ms latency and jitter",
	5: "Voice, < 10ms latency and jitter", 6: "Internetwork Control", 7: "Network Control",
})

// layerSLL is the header of Linux cooked captures, version 1; layerSLL2 that of version 2.
// Wireshark 4.0 gives both the same names.
var layerSLL = &Layer{
	Name: "sll", Self: self("sll", "Linux cooked capture v1"),
	Rows: []LayerRow{
		num("sll.pkttype", "Packet type", 0, 16).names(sllType),
		num("sll.hatype", "Link-layer address type", 16, 16).names(sllHardware),
		num("sll.halen", "Link-layer address length", 32, 16),
		row("sll.src.eth", "Source", Ether, 48, 48).text(etherTwice).from(sllSource(4, 6)),
		octets("sll.unused", "Unused", 96, 16),
		num("sll.etype", "Protocol", 112, 16).hex().names(etherTypeName),
	},
}

var layerSLL2 = &Layer{
	Name: "sll", Self: self("sll", "Linux cooked capture v2"),
	Rows: []LayerRow{
		num("sll.etype", "Protocol", 0, 16).hex().names(etherTypeName),
		num("sll.ifindex", "Interface index", 32, 32),
		num("sll.hatype", "Link-layer address type", 64, 16).names(sllHardware),
		num("sll.pkttype", "Packet type", 80, 8).names(sllType),
		num("sll.halen", "Link-layer address length", 88, 8),
		row("sll.src.eth", "Source", Ether, 96, 48).text(etherTwice).from(sllSource(10, 12)),
		octets("sll.unused", "Unused", 144, 16),
	},
}

// sllSource reads the address, where it is one of Ethernet.
func sllSource(halen, at int) func(*Layers, *Head) (Value, bool) {
	return func(_ *Layers, h *Head) (Value, bool) {
		if len(h.Octets) < at+6 || h.Octets[halen+1] != 6 {
			return Value{}, false
		}
		return Value{Bytes: h.Octets[at : at+6]}, true
	}
}

var sllType = ofNames(map[uint64]string{
	0: "Unicast to us", 1: "Broadcast", 2: "Multicast", 3: "Unicast to another host", 4: "Sent by us",
})

var sllHardware = ofNames(map[uint64]string{1: "Ethernet", 32: "InfiniBand", 768: "IPIP tunnel", 772: "Loopback", 65534: "None"})

// layerNull is the address family before a packet of a loopback interface.
var layerNull = &Layer{
	Name: "null", Self: self("null", "Null/Loopback"),
	Rows: []LayerRow{
		num("null.family", "Family", 0, 32).from(func(_ *Layers, h *Head) (Value, bool) {
			if len(h.Octets) < 4 {
				return Value{}, false
			}
			v := readBits(h.Octets, 0, 32)
			if v > 0xffff { // in the order of the machine that captured
				v = v>>24 | v>>8&0xff00 | v<<8&0xff0000 | v<<24&0xff000000
			}
			return Value{Num: v}, true
		}).names(ofNames(map[uint64]string{2: "IP", 10: "IPv6", 23: "IPv6", 24: "IPv6", 28: "IPv6", 30: "IPv6"})),
	},
}

// layerRaw says that the frame begins with its IP header. It has no octets.
var layerRaw = &Layer{Name: "raw", Self: self("raw", "Raw packet data")}

var etherTypeName = ofNames(map[uint64]string{
	0x0800: "IPv4", 0x0806: "ARP", 0x8100: "802.1Q Virtual LAN", 0x86dd: "IPv6", 0x88a8: "802.1ad Provider Bridge (Q-in-Q)",
	0x9100: "Legacy 802.1ad QinQ", 0x8847: "MPLS label switched packet", 0x8848: "MPLS multicast", 0x8864: "PPPoE Session",
	0x6558: "Transparent Ethernet bridging", 0x88cc: "802.1 Link Layer Discovery Protocol (LLDP)", 0x8915: "RoCE", 0x88be: "ERSPAN",
})
