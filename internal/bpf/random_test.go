package bpf

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
)

// What random filters and random packets have in common, so that filters match
// often enough.
var (
	someIPv4 = []string{"10.0.0.1", "10.0.0.2", "10.1.2.3", "192.168.1.1", "224.0.0.5"}
	someNets = []string{"10", "10.1", "10.0.0.0/8", "10.0.0.0/31", "192.168.0.0 mask 255.255.0.0", "0.0.0.0/0", "10.0.0.1/32", "224.0.0.0/4"}
	someIPv6 = []string{"fe80::1", "2001:db8::5", "2001:db8:0:1::7", "ff02::1", "::1"}
	someNet6 = []string{"fe80::/10", "2001:db8::/32", "2001:db8:0:1::/64", "::/0", "2001:db8::5/128", "ff02::/100"}
	someMACs = []string{"02:00:00:00:00:01", "2:0:0:0:0:2", "ff:ff:ff:ff:ff:ff", "0200.0000.0001", "01-00-5e-00-00-05"}
	somePort = []int{80, 443, 5445, 20049, 53, 9899, 1024}
	someVLAN = []int{5, 7, 100}
)

// source makes filters and packets.
type maker struct {
	*rand.Rand
	link Link
	live bool
}

func pick[T any](m *maker, from ...T) T { return from[m.IntN(len(from))] }

// filter makes a condition that libpcap understands, too.
func (m *maker) filter(depth int) string {
	if depth <= 0 || m.IntN(3) == 0 {
		return m.condition()
	}
	switch m.IntN(7) {
	case 0:
		return "not " + m.bracketed(depth-1)
	case 1:
		return "! ( " + m.filter(depth-1) + " )"
	case 2, 3:
		return m.bracketed(depth-1) + pick(m, " and ", " && ") + m.bracketed(depth-1)
	default:
		return m.bracketed(depth-1) + pick(m, " or ", " || ") + m.bracketed(depth-1)
	}
}

func (m *maker) bracketed(depth int) string {
	if m.IntN(3) > 0 {
		return m.filter(depth)
	}
	return "(" + m.filter(depth) + ")"
}

func (m *maker) dir() string {
	return pick(m, "", "", "src ", "dst ", "src or dst ", "src and dst ", "dst or src ", "dst and src ")
}

func (m *maker) condition() string {
	for {
		if c := m.anyCondition(); m.allowed(c) {
			return c
		}
	}
}

// allowed tells whether a condition can be asked of this link type.
func (m *maker) allowed(c string) bool {
	if m.link == Ethernet {
		return true
	}
	for _, w := range []string{"ether host", "ether src", "ether dst", "vlan", "broadcast", "ether multicast", "link"} {
		if strings.Contains(c, w) {
			return false
		}
	}
	return c != "multicast"
}

func (m *maker) anyCondition() string {
	switch m.IntN(16) {
	case 0:
		return pick(m, "tcp", "udp", "sctp", "icmp", "icmp6", "arp", "rarp", "ip", "ip6", "igmp", "pim", "ah", "esp", "vrrp")
	case 1:
		return m.host()
	case 2:
		return m.net()
	case 3, 4:
		return m.port()
	case 5:
		return m.portRange()
	case 6:
		return pick(m, "vlan", "vlan "+fmt.Sprint(pick(m, someVLAN...)), fmt.Sprintf("vlan (%d)", pick(m, someVLAN...)))
	case 7:
		return pick(m, "proto ", "ip proto ", "ip6 proto ") + pick(m, "6", "17", "132", "1", "58", "44", `\tcp`, `\udp`, `\icmp`, "(6 or 17)", "0x11")
	case 8:
		return "ether proto " + pick(m, "0x800", `\ip`, `\arp`, `\ip6`, "0x86dd", "0x8100", "0x8847", "66", "6", "0xfe", "0xf0", "46")
	case 9:
		return pick(m, "ether ", "link ") + pick(m, "src ", "dst ", "host ", "src host ", "dst host ", "src or dst ", "src and dst ") + pick(m, someMACs...)
	case 10:
		return pick(m, "less ", "greater ") + fmt.Sprint(pick(m, 14, 34, 54, 60, 64, 100))
	case 11:
		return pick(m, "broadcast", "multicast", "ether broadcast", "ether multicast", "ip multicast", "ip6 multicast")
	default:
		return m.relation()
	}
}

func (m *maker) host() string {
	switch m.IntN(3) {
	case 0:
		return pick(m, "", "ip6 ") + m.dir() + "host " + pick(m, someIPv6...)
	case 1:
		return pick(m, "src ", "dst ", "src or dst ") + pick(m, someIPv4...)
	default:
		s := pick(m, "", "ip ", "arp ", "rarp ") + m.dir() + "host " + pick(m, someIPv4...)
		if m.IntN(3) == 0 {
			s += pick(m, " or ", " and ", " and not ") + pick(m, someIPv4...)
		}
		return s
	}
}

func (m *maker) net() string {
	if m.IntN(3) == 0 {
		return pick(m, "", "ip6 ") + m.dir() + "net " + pick(m, someNet6...)
	}
	return pick(m, "", "ip ", "arp ") + m.dir() + "net " + pick(m, someNets...)
}

func (m *maker) port() string {
	s := pick(m, "", "tcp ", "udp ", "sctp ") + m.dir() + "port "
	p := func() string { return fmt.Sprint(pick(m, somePort...)) }
	switch m.IntN(5) {
	case 0:
		return s + p() + pick(m, " or ", " and ") + p()
	case 1:
		return s + "(" + p() + " or " + p() + " or not " + p() + ")"
	case 2:
		return s + "not " + p()
	}
	return s + p()
}

func (m *maker) portRange() string {
	return pick(m, "", "tcp ", "udp ", "sctp ") + m.dir() + "portrange " + pick(m, "80-443", "443-80", "1024-65535", "5445-5445", "0-1023", "20049")
}

func (m *maker) relation() string {
	switch m.IntN(6) {
	case 0:
		return pick(m, "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "tcp[13] & 2 != 0", "tcp[tcpflags] == tcp-syn",
			"icmp[icmptype] = icmp-echo", "icmp6[icmp6type] = icmp6-echo", "ip[6:2] & 0x1fff = 0", "tcp[2:2] = 5445",
			"tcp[((tcp[12:1] & 0xf0) >> 2):4] = 0x4d504120", "ip[2:2] > 40", "ether[0] & 1 = 0", "udp[4:2] - 8 > 4")
	case 1:
		return "len " + m.comparison() + " " + fmt.Sprint(m.IntN(120))
	}
	from := pick(m, "tcp", "udp", "sctp", "icmp", "ip", "ip6", "arp", "ether", "icmp6", "igmp")
	left := m.calculation(from, 2)
	right := fmt.Sprint(pick(m, 0, 1, 2, 6, 17, 64, 80, 0x45, 255, 5445))
	if m.IntN(3) == 0 {
		right = m.calculation(pick(m, "tcp", "ip", "ether", "udp"), 1)
	}
	return left + " " + m.comparison() + " " + right
}

func (m *maker) comparison() string { return pick(m, "=", "==", "!=", "<", ">", "<=", ">=") }

func (m *maker) octets(from string, deep int) string {
	index := fmt.Sprint(pick(m, 0, 1, 2, 4, 6, 8, 9, 12, 13, 16, 20, 40))
	if deep > 0 && m.IntN(4) == 0 {
		index = m.calculation(from, 0) + " & " + fmt.Sprint(pick(m, 3, 7, 15))
	}
	return from + "[" + index + pick(m, "", "", ":1", ":2", ":4") + "]"
}

// calculation begins with octets of a protocol. To the right of an operator
// libpcap forgets to ask for the protocol, so that it must be the same there.
// "%" and "^" stand in parentheses, for libpcap does not bind them as C does.
func (m *maker) calculation(from string, deep int) string {
	s := m.octets(from, deep)
	for range m.IntN(deep + 1) {
		right := pick(m, fmt.Sprint(1+m.IntN(9)), "0xf0", "4", "len", m.octets("ether", 0), m.octets(from, deep-1), "("+m.octets(from, 0)+" + 1)")
		op := pick(m, "+", "-", "*", "&", "|", "<<", ">>", "/", "%", "^")
		if op == "<<" || op == ">>" {
			right = fmt.Sprint(m.IntN(32))
		}
		if op == "/" || op == "%" { // libpcap may find that it divides by zero
			right = fmt.Sprint(1 + m.IntN(20))
		}
		if op != "+" && op != "-" {
			s, op = "("+s+")", " "+op+" "
			s = "(" + s + op + right + ")"
			continue
		}
		s += " " + op + " " + right
	}
	if m.IntN(8) == 0 {
		s = "-(" + s + ")"
	}
	return s
}

// packet makes a packet of any shape. With live, the outermost tag is beside
// it as often as not.
func (m *maker) packet() ([]byte, *beside) {
	etherType, payload := m.network()
	b := &beside{protocol: uint32(etherType), packetType: uint32(m.IntN(5)), ifindex: uint32(m.IntN(4))}
	if m.link == Ethernet || m.live && m.link == SLL {
		for range max(m.IntN(6)-3, 0) {
			tci := uint16(m.IntN(2))<<13 | uint16(pick(m, someVLAN...))
			payload = append(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, tci), etherType), payload...)
			etherType = pick[uint16](m, 0x8100, 0x8100, 0x88a8, 0x9100)
		}
		if m.live && m.IntN(2) == 0 {
			b.tagged, b.tag = true, uint32(m.IntN(2))<<13|uint32(pick(m, someVLAN...))
		}
	}
	b.protocol = uint32(etherType)
	if etherType <= lastLength {
		b.protocol = sllLLC
	}
	var frame []byte
	switch {
	case m.link == Ethernet:
		frame = append(append(m.mac(), m.mac()...), byte(etherType>>8), byte(etherType))
	case m.live && m.link == SLL, m.link == Raw:
	case m.link == SLL:
		frame = append([]byte{0, byte(b.packetType), 0, 1, 0, 6}, append(m.mac(), 0, 0, byte(b.protocol>>8), byte(b.protocol))...)
	case m.link == SLL2:
		frame = append([]byte{byte(b.protocol >> 8), byte(b.protocol), 0, 0, 0, 0, 0, byte(b.ifindex), 0, 1, byte(b.packetType), 6}, append(m.mac(), 0, 0)...)
	}
	frame = append(frame, payload...)
	if m.IntN(6) == 0 {
		frame = frame[:m.IntN(len(frame)+1)]
	}
	return frame, b
}

func (m *maker) mac() []byte {
	hw, ok := hardware(pick(m, someMACs[0], "02:00:00:00:00:02", someMACs[2], "01:00:5e:00:00:05"), ":")
	if !ok {
		panic("mac")
	}
	return hw[:]
}

// network makes what an EtherType carries.
func (m *maker) network() (uint16, []byte) {
	switch m.IntN(12) {
	case 0:
		op := append([]byte{0, 1, 8, 0, 6, 4, 0, byte(1 + m.IntN(2))}, m.mac()...)
		op = append(op, m.ipv4Addr()...)
		return pick[uint16](m, typeARP, typeARP, typeRARP), append(append(op, m.mac()...), m.ipv4Addr()...)
	case 1:
		return uint16(m.IntN(1501)), append(pick(m, []byte{0x42, 0x42, 3}, []byte{6, 6, 3}, []byte{0xfe, 0xfe, 3}, []byte{0xf0, 0xf0, 3}, []byte{0xaa, 0xaa, 3, 0, 0, 0, 8, 0}), m.garbage(40)...)
	case 2:
		return pick[uint16](m, 0x8847, typeIPv4, typeIPv6, 0x8864, 0xffff, 1501), m.garbage(80)
	case 3, 4, 5, 6:
		return typeIPv6, m.ipv6()
	default:
		return typeIPv4, m.ipv4()
	}
}

func (m *maker) garbage(most int) []byte {
	b := make([]byte, m.IntN(most+1))
	for i := range b {
		b[i] = byte(m.Uint32())
	}
	return b
}

func (m *maker) ipv4Addr() []byte {
	a := netip.MustParseAddr(pick(m, someIPv4...)).As4()
	return a[:]
}

func (m *maker) ipv4() []byte {
	proto, payload := m.transport()
	options := 4 * pick(m, 0, 0, 0, 1, 3, 10)
	h := make([]byte, 20+options)
	h[0] = 0x45 + byte(options/4)
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(payload)))
	binary.BigEndian.PutUint16(h[6:], pick[uint16](m, 0, 0, 0x4000, 0x2000, 0x2005, 0x0005))
	h[8], h[9] = 64, proto
	copy(h[12:], m.ipv4Addr())
	copy(h[16:], m.ipv4Addr())
	for i := range options {
		h[20+i] = byte(m.Uint32())
	}
	return append(h, payload...)
}

func (m *maker) ipv6() []byte {
	next, payload := m.transport()
	if next == protoICMP {
		next = protoICMPv6
	}
	for range max(m.IntN(5)-3, 0) {
		kind := pick[byte](m, 0, 43, 44, 44, 60)
		payload = append([]byte{next, 0, byte(m.IntN(2)), byte(m.IntN(2)), 0, 0, 0, 0}, payload...)
		next = kind
	}
	h := []byte{0x60, 0, 0, 0, byte(len(payload) >> 8), byte(len(payload)), next, 64}
	for range 2 {
		a := netip.MustParseAddr(pick(m, someIPv6...)).As16()
		h = append(h, a[:]...)
	}
	return append(h, payload...)
}

func (m *maker) transport() (proto byte, payload []byte) {
	port := func() []byte { return binary.BigEndian.AppendUint16(nil, uint16(pick(m, somePort...))) }
	h := append(port(), port()...)
	rest := m.garbage(30)
	switch m.IntN(9) {
	case 0, 1, 2:
		h = append(h, 0, 0, 0, 1, 0, 0, 0, 2, 0x50|byte(m.IntN(2)<<4), pick[byte](m, 2, 0x10, 0x12, 0x11, 0x18, 4), 1, 0, 0, 0, 0, 0)
		return protoTCP, append(append(h, pick(m, []byte("MPA ID Req Frame"), nil, nil)...), rest...)
	case 3, 4:
		return protoUDP, append(append(h, 0, byte(8+len(rest)), 0, 0), rest...)
	case 5, 6:
		return protoSCTP, append(append(h, 1, 2, 3, 4, 5, 6, 7, 8), rest...)
	case 7:
		return protoICMP, append([]byte{pick[byte](m, 8, 0, 3, 128), 0, 0, 0}, rest...)
	default:
		return pick[byte](m, protoIGMP, protoPIM, protoAH, protoESP, 47, 44, 112, 255), rest
	}
}
