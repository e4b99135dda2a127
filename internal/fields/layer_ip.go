package fields

// layerIP is the IPv4 header (RFC 791 section 3.1).
var layerIP = &Layer{
	Name: "ip", Self: self("ip", "Internet Protocol Version 4"), Title: ipTitle("Internet Protocol Version 4", 12, 4),
	Rows: append([]LayerRow{
		num("ip.version", "Version", 0, 4).wide(8).whole().ref("RFC 791 3.1"),
		num("ip.hdr_len", "Header Length", 4, 4).wide(8).whole().from(times4(4, 4)).ofFrame().text(headerLength).ref("RFC 791 3.1"),
		num("ip.dsfield", "Differentiated Services Field", 8, 8).hex().text(dsText).ref("RFC 2474 3"),
		num("ip.dsfield.dscp", "Differentiated Services Codepoint", 8, 6).wide(8).names(dscpName).at(1).ref("RFC 2474 3"),
		num("ip.dsfield.ecn", "Explicit Congestion Notification", 14, 2).wide(8).names(ecnName).at(1).ref("RFC 3168 5"),
		num("ip.len", "Total Length", 16, 16).ref("RFC 791 3.1"),
		num("ip.id", "Identification", 32, 16).hex().text(hexDec).ref("RFC 791 3.1"),
		num("ip.flags", "Flags", 48, 3).hex().wide(8).text(ipFlagsText).ref("RFC 791 3.1"),
		flag("ip.flags.rb", "Reserved bit", 48).wide(8).at(1).ref("RFC 791 3.1"),
		flag("ip.flags.df", "Don't fragment", 49).wide(8).at(1).ref("RFC 791 3.1"),
		flag("ip.flags.mf", "More fragments", 50).wide(8).at(1).ref("RFC 791 3.1"),
		num("ip.frag_offset", "Fragment Offset", 51, 13).wide(16).ref("RFC 791 3.1"),
		num("ip.ttl", "Time to Live", 64, 8).ref("RFC 791 3.1"),
		num("ip.proto", "Protocol", 72, 8).names(protoName).ref("RFC 791 3.1"),
		num("ip.checksum", "Header Checksum", 80, 16).hex().text(unchecked("[validation disabled]")).ref("RFC 791 3.1"),
		computed("ip.checksum.status", "Header checksum status", Uint, 8, unverified).text(statusText).beside(80),
	}, addressRows("ip", IPv4, 96, 32)...),
}

// layerIPv6 is the IPv6 header (RFC 8200 section 3). Its extension headers follow as
// layers of their own.
var layerIPv6 = &Layer{
	Name: "ipv6", Self: self("ipv6", "Internet Protocol Version 6"), Title: ipTitle("Internet Protocol Version 6", 8, 16),
	Rows: append([]LayerRow{
		num("ipv6.version", "Version", 0, 4).wide(8).whole().ref("RFC 8200 3"),
		again("ip.version", "Version", Uint, 0, 4).wide(8).ref("RFC 8200 3"),
		num("ipv6.tclass", "Traffic Class", 4, 8).wide(32).hex().text(tclassText).ref("RFC 8200 3"),
		num("ipv6.tclass.dscp", "Differentiated Services Codepoint", 4, 6).wide(32).names(dscpName).at(1).ref("RFC 2474 3"),
		num("ipv6.tclass.ecn", "Explicit Congestion Notification", 10, 2).wide(32).among(0).names(ecnName).at(1).ref("RFC 3168 5"),
		num("ipv6.flow", "Flow Label", 12, 20).wide(24).hex().text(func(dst []byte, v Value) []byte { return appendHex(dst, v.Num, 5) }).ref("RFC 8200 3"),
		num("ipv6.plen", "Payload Length", 32, 16).ref("RFC 8200 3"),
		num("ipv6.nxt", "Next Header", 48, 8).names(protoName).ref("RFC 8200 3"),
		num("ipv6.hlim", "Hop Limit", 56, 8).ref("RFC 8200 3"),
	}, addressRows("ipv6", IPv6, 64, 128)...),
}

// addressRows are both addresses, under each of the names that filters have for them.
func addressRows(p string, t Type, bit, width int) []LayerRow {
	one := func(name, text string, bit int) []LayerRow {
		return []LayerRow{
			row(p+"."+name, text+" Address", t, bit, width),
			again(p+".addr", "Source or Destination Address", t, bit, width),
			again(p+"."+name+"_host", text+" Host", Text, bit, width).from(hostText(bit/8, width/8)),
			again(p+".host", "Source or Destination Host", Text, bit, width).from(hostText(bit/8, width/8)),
		}
	}
	return append(one("src", "Source", bit), one("dst", "Destination", bit+width)...)
}

// hostText has an address as the name of its host: names are never looked up.
func hostText(at, n int) func(*Layers, *Head) (Value, bool) {
	return func(l *Layers, h *Head) (Value, bool) {
		if len(h.Octets) < at+n {
			return Value{}, false
		}
		return l.scratch(appendIP(l.room(46), h.Octets[at:at+n])), true
	}
}

func ipTitle(name string, at, n int) func([]byte, *Layers, *Head) []byte {
	return func(dst []byte, _ *Layers, h *Head) []byte {
		dst = append(dst, name...)
		if len(h.Octets) < at+2*n {
			return dst
		}
		dst = appendIP(append(dst, ", Src: "...), h.Octets[at:at+n])
		return appendIP(append(dst, ", Dst: "...), h.Octets[at+n:at+2*n])
	}
}

// times4 reads a length that counts words of four octets.
func times4(bit, width int) func(*Layers, *Head) (Value, bool) {
	return func(_ *Layers, h *Head) (Value, bool) {
		if len(h.Octets) <= (bit+width)/8 {
			return Value{}, false
		}
		return Value{Num: 4 * readBits(h.Octets, bit, width)}, true
	}
}

func headerLength(dst []byte, v Value) []byte {
	dst = append(appendUint(dst, v.Num), " bytes ("...)
	return append(appendUint(dst, v.Num/4), ')')
}

func hexDec(dst []byte, v Value) []byte {
	dst = append(appendHex(dst, v.Num, 4), " ("...)
	return append(appendUint(dst, v.Num), ')')
}

func dsText(dst []byte, v Value) []byte {
	return dsWords(appendHex(dst, v.Num, 2), v.Num)
}

func tclassText(dst []byte, v Value) []byte {
	return dsWords(appendHex(dst, v.Num, 2), v.Num)
}

func dsWords(dst []byte, v uint64) []byte {
	dst = append(dst, " (DSCP: "...)
	if n, ok := dscpShort[v>>2]; ok {
		dst = append(dst, n...)
	} else {
		dst = append(dst, "Unknown"...)
	}
	dst = append(dst, ", ECN: "...)
	dst = append(dst, [...]string{"Not-ECT", "ECT(1)", "ECT(0)", "CE"}[v&3]...) //nolint:misspell // RFC 3168 5
	return append(dst, ')')
}

func ipFlagsText(dst []byte, v Value) []byte {
	dst = appendHex(dst, v.Num, 1)
	for i, n := range [...]string{", Reserved bit", ", Don't fragment", ", More fragments"} {
		if v.Num>>(2-uint(i))&1 != 0 {
			dst = append(dst, n...)
		}
	}
	return dst
}

// unverified is the status that Wireshark gives a checksum that it does not verify, which
// is what its preferences say from the start.
func unverified(*Layers, *Head) (Value, bool) { return Value{Num: 2}, true }

// unchecked writes a checksum and why nothing is said of it.
func unchecked(why string) func([]byte, Value) []byte {
	return func(dst []byte, v Value) []byte {
		return append(append(appendHex(dst, v.Num, 4), ' '), why...)
	}
}

func statusText(dst []byte, v Value) []byte {
	return append(dst, [...]string{"Bad", "Good", "Unverified", "Not present"}[v.Num&3]...)
}

var dscpShort = map[uint64]string{
	0: "CS0", 1: "LE", 8: "CS1", 10: "AF11", 12: "AF12", 14: "AF13", 16: "CS2", 18: "AF21", 20: "AF22", 22: "AF23", 24: "CS3",
	26: "AF31", 28: "AF32", 30: "AF33", 32: "CS4", 34: "AF41", 36: "AF42", 38: "AF43", 40: "CS5", 44: "VOICE-ADMIT", 46: "EF PHB",
	48: "CS6", 56: "CS7",
}

var dscpName = ofNames(map[uint64]string{
	0: "Default", 1: "Lower Effort", 8: "Class Selector 1", 10: "Assured Forwarding 11", 12: "Assured Forwarding 12",
	14: "Assured Forwarding 13", 16: "Class Selector 2", 18: "Assured Forwarding 21", 20: "Assured Forwarding 22",
	22: "Assured Forwarding 23", 24: "Class Selector 3", 26: "Assured Forwarding 31", 28: "Assured Forwarding 32",
	30: "Assured Forwarding 33", 32: "Class Selector 4", 34: "Assured Forwarding 41", 36: "Assured Forwarding 42",
	38: "Assured Forwarding 43", 40: "Class Selector 5", 44: "Voice Admit", 46: "Expedited Forwarding", 48: "Class Selector 6",
	56: "Class Selector 7",
})

var ecnName = ofNames(map[uint64]string{
	0: "Not ECN-Capable Transport", 1: "ECN-Capable Transport codepoint '01'", 2: "ECN-Capable Transport codepoint '10'", 3: "Congestion Experienced",
})

var protoName = ofNames(map[uint64]string{
	0: "IPv6 Hop-by-Hop Option", 1: "ICMP", 2: "IGMP", 4: "IPIP", 6: "TCP", 17: "UDP", 41: "IPv6", 43: "Routing Header for IPv6",
	44: "Fragment Header for IPv6", 47: "Generic Routing Encapsulation", 50: "Encap Security Payload", 51: "Authentication Header",
	58: "ICMPv6", 59: "No Next Header for IPv6", 60: "Destination Options for IPv6", 89: "OSPF IGP", 112: "VRRP", 132: "SCTP",
})
