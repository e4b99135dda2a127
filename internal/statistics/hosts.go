package statistics

import (
	"net/netip"
	"strconv"

	"github.com/iwdissect/iwdissect/internal/packet"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// host is an address, with a port where its type has ports.
type host struct {
	addr packet.Addr // of Ethernet the first six octets
	port uint16
}

// pair are the hosts of a header of a frame, sender first. conn tells connections with the
// same hosts apart.
type pair struct {
	src, dst host
	conn     uint64
}

// hostType is a kind of conversations and endpoints.
type hostType struct {
	name, title string
	ports       bool
	// pairs appends those of a frame: of IP and Ethernet there may be several, in tunnels.
	pairs func(all []pair, f *pipeline.Frame) []pair
	// text is the address of a host.
	text func(packet.Addr) string
}

// hostTypes are all of them.
var hostTypes = []*hostType{
	{"eth", "Ethernet", false, ethernetPairs, ethernetText},
	{"ip", "IPv4", false, ipv4Pairs, packet.Addr.String},
	{"ipv6", "IPv6", false, ipv6Pairs, packet.Addr.String},
	{"sctp", "SCTP", true, sctpPairs, packet.Addr.String},
	{"tcp", "TCP", true, tcpPairs, packet.Addr.String},
	{"udp", "UDP", true, udpPairs, packet.Addr.String},
}

func ethernetText(a packet.Addr) string {
	const digits = "0123456789abcdef"
	b := make([]byte, 0, 17)
	for i, o := range a[:6] {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, digits[o>>4], digits[o&0xf])
	}
	return string(b)
}

// ethernetPairs finds the addresses of the frame itself; those in tunnels are left out.
func ethernetPairs(all []pair, f *pipeline.Frame) []pair {
	const header = 14 // IEEE 802.3 clause 3.2: destination, source, type
	if f.Link.Canonical() != pcapng.Ethernet || len(f.Data) < header {
		return all
	}
	var p pair
	copy(p.dst.addr[:6], f.Data[:6])
	copy(p.src.addr[:6], f.Data[6:12])
	return append(all, p)
}

func ipv4Pairs(all []pair, f *pipeline.Frame) []pair { return ipPairs(all, f, true) }
func ipv6Pairs(all []pair, f *pipeline.Frame) []pair { return ipPairs(all, f, false) }

// ipPairs finds the addresses of each IP header, from the outermost.
func ipPairs(all []pair, f *pipeline.Frame, four bool) []pair {
	for i := range f.Tunnels {
		if h := &f.Tunnels[i]; h.HasAddrs && h.Src.Is4() == four {
			all = append(all, pair{src: host{addr: h.Src}, dst: host{addr: h.Dst}})
		}
	}
	if p := f.Packet; p != nil && f.Status != packet.UnknownLink && p.V6 != four && hasAddrs(p) {
		all = append(all, pair{src: host{addr: p.Src}, dst: host{addr: p.Dst}})
	}
	return all
}

// hasAddrs reports whether an IP header was read.
func hasAddrs(p *packet.Packet) bool {
	return p.NetworkOffset >= 0 && (p.Src != packet.Addr{} || p.Dst != packet.Addr{}) || p.Fragments != nil
}

func tcpPairs(all []pair, f *pipeline.Frame) []pair {
	if f.Status != packet.OK || f.Packet.Proto != packet.ProtoTCP {
		return all
	}
	p := portPair(f.Packet)
	if f.Conn != nil {
		p.conn = f.Conn.Number
	}
	return append(all, p)
}

func sctpPairs(all []pair, f *pipeline.Frame) []pair {
	if f.Status != packet.OK || f.Packet.Proto != packet.ProtoSCTP {
		return all
	}
	return append(all, portPair(f.Packet))
}

// udpPairs finds the ports of UDP. Frames of tunnels over UDP count as what they carry.
func udpPairs(all []pair, f *pipeline.Frame) []pair {
	if f.Status != packet.OtherTransport || f.Packet.Proto != packet.ProtoUDP {
		return all
	}
	return append(all, portPair(f.Packet))
}

func portPair(p *packet.Packet) pair {
	return pair{src: host{p.Src, p.SrcPort}, dst: host{p.Dst, p.DstPort}}
}

// shown is a host as text shows it: the port behind a colon, as tshark has it.
func (t *hostType) shown(h host) string {
	if !t.ports {
		return t.text(h.addr)
	}
	return t.text(h.addr) + ":" + strconv.Itoa(int(h.port))
}

// endpointText is an endpoint of a connection.
func endpointText(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}
