package diagnose

import "slices"

// links are link types that cannot be read, by family (the registry of link types that
// draft-ietf-opsawg-pcaplinktype describes).
var links = []struct {
	types  []uint16
	name   string
	kind   Kind
	advice string
}{
	{
		[]uint16{247},
		"InfiniBand", OtherRDMA,
		"read it with Wireshark (filter infiniband). iWARP runs on TCP over Ethernet; capture it there: " + tcpdump,
	},
	{
		[]uint16{242},
		"IP over InfiniBand", OtherRDMA,
		"iWARP runs on adapters of its own over Ethernet; capture it there: " + tcpdump,
	},
	{
		[]uint16{197},
		"ERF, the format of Endace capture cards, which also carries InfiniBand", OtherLink,
		"let the card or its tools write Ethernet frames into a pcap file, or capture " + tcpdump,
	},
	{
		[]uint16{186, 189, 220, 249, 266, 288, 293, 294, 295},
		"USB", OtherLink,
		"choose a network interface instead of usbmon: " + tcpdump,
	},
	{
		[]uint16{105, 119, 127, 163, 192},
		"Wi-Fi in monitor mode (IEEE 802.11)", OtherLink,
		"capture without monitor mode, which gives Ethernet frames: tcpdump -i IFACE -y EN10MB -s 0 -w trace.pcap tcp",
	},
	{
		[]uint16{187, 201, 251, 254, 256},
		"Bluetooth", OtherLink,
		"choose a network interface: " + tcpdump,
	},
	{
		[]uint16{239},
		"packets of the Linux log of netfilter (nflog)", OtherLink,
		"capture at an interface: " + tcpdump,
	},
	{
		[]uint16{253},
		"messages of Linux netlink (nlmon)", OtherLink,
		"choose a network interface instead of nlmon: " + tcpdump,
	},
	{
		[]uint16{224, 225},
		"Fibre Channel", OtherLink,
		"iWARP runs on TCP over Ethernet; capture it there: " + tcpdump,
	},
}

// linkName says what a link type is.
func linkName(t uint16) (name string, kind Kind, advice string) {
	for i := range links {
		if l := &links[i]; slices.Contains(l.types, t) {
			return l.name, l.kind, l.advice
		}
	}
	return "an unknown one", OtherLink, "capture Ethernet frames, or IP packets: " + tcpdump
}
