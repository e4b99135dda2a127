package live

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
)

var testMACs = []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}

// ether returns an Ethernet frame; all types but the last are those of tags.
func ether(payload []byte, types ...uint16) []byte {
	b := append([]byte(nil), testMACs...)
	for i, typ := range types {
		b = binary.BigEndian.AppendUint16(b, typ)
		if i < len(types)-1 {
			b = binary.BigEndian.AppendUint16(b, 0x6007) // priority 3, VLAN 7
		}
	}
	return append(b, payload...)
}

// ipv4 returns a packet with options of the given length and the flags and
// fragment offset word.
func ipv4(proto byte, options int, fragment uint16, payload []byte) []byte {
	b := make([]byte, 20+options, 20+options+len(payload))
	b[0] = 0x40 | byte(len(b)/4)
	binary.BigEndian.PutUint16(b[2:], uint16(cap(b)))
	binary.BigEndian.PutUint16(b[6:], fragment)
	b[8], b[9] = 64, proto
	copy(b[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	return append(b, payload...)
}

func ipv6(next byte, payload []byte) []byte {
	b := make([]byte, 40, 40+len(payload))
	b[0] = 0x60
	binary.BigEndian.PutUint16(b[4:], uint16(len(payload)))
	b[6], b[7] = next, 64
	b[8], b[23], b[24], b[39] = 0xfd, 1, 0xfd, 2
	return append(b, payload...)
}

// transport returns the start of a TCP, UDP or SCTP header and some payload.
func transport(src, dst uint16, payload int) []byte {
	b := make([]byte, 20+payload)
	binary.BigEndian.PutUint16(b, src)
	binary.BigEndian.PutUint16(b[2:], dst)
	b[12] = 0x50
	for i := range payload {
		b[20+i] = byte(i)
	}
	return b
}

// ipPackets are the cases of the filter from the IP header on.
func ipPackets() []struct {
	name string
	v6   bool
	ip   []byte
	keep bool
} {
	seg := transport(5001, 44444, 30)
	ext := append([]byte{protoTCP, 0, 1, 4, 0, 0, 0, 0}, seg...)
	return []struct {
		name string
		v6   bool
		ip   []byte
		keep bool
	}{
		{"tcp", false, ipv4(6, 0, 0x4000, seg), true},
		{"tcp with options", false, ipv4(6, 40, 0x4000, seg), true},
		{"sctp", false, ipv4(132, 0, 0x4000, seg), true},
		{"tcp first fragment", false, ipv4(6, 0, 0x2000, seg), true},
		{"tcp later fragment", false, ipv4(6, 0, 0x2005, seg), true},
		{"sctp last fragment", false, ipv4(132, 0, 0x0005, seg), true},
		{"udp", false, ipv4(17, 0, 0, seg), false},
		{"sctp in udp to port", false, ipv4(17, 0, 0, transport(5001, 9899, 30)), true},
		{"sctp in udp from port", false, ipv4(17, 0, 0x4000, transport(9899, 5001, 30)), true},
		{"sctp in udp with ip options", false, ipv4(17, 8, 0, transport(9899, 5001, 30)), true},
		{"udp options that look like ports", false, ipv4(17, 8, 0, transport(1, 2, 30)), false},
		{"udp later fragment", false, ipv4(17, 0, 0x2005, transport(9899, 9899, 30)), false},
		{"icmp", false, ipv4(1, 0, 0, seg), false},
		{"igmp", false, ipv4(2, 4, 0, seg), false},
		{"gre", false, ipv4(47, 0, 0, seg), true},
		{"gre later fragment", false, ipv4(47, 0, 0x2005, seg), true},
		{"ip in ip", false, ipv4(4, 0, 0, seg), true},
		{"6in4", false, ipv4(41, 0, 0, seg), true},
		{"vxlan", false, ipv4(17, 0, 0, transport(50000, 4789, 30)), true},
		{"vxlan of linux", false, ipv4(17, 0, 0, transport(50000, 8472, 30)), true},
		{"geneve", false, ipv4(17, 8, 0, transport(50000, 6081, 30)), true},
		{"udp from the port of vxlan", false, ipv4(17, 0, 0, transport(4789, 53, 30)), false},
		{"esp", false, ipv4(50, 0, 0, seg), false},
		{"tcp6", true, ipv6(6, seg), true},
		{"sctp6", true, ipv6(132, seg), true},
		{"udp6", true, ipv6(17, seg), false},
		{"sctp in udp6 to port", true, ipv6(17, transport(1, 9899, 30)), true},
		{"sctp in udp6 from port", true, ipv6(17, transport(9899, 1, 30)), true},
		{"gre6", true, ipv6(47, seg), true},
		{"ip in ip6", true, ipv6(4, seg), true},
		{"6in6", true, ipv6(41, seg), true},
		{"vxlan6", true, ipv6(17, transport(50000, 4789, 30)), true},
		{"geneve6", true, ipv6(17, transport(50000, 6081, 30)), true},
		{"icmp6", true, ipv6(58, seg), false},
		{"no next header", true, ipv6(59, nil), false},
		{"hop-by-hop", true, ipv6(0, ext), true},
		{"routing", true, ipv6(43, ext), true},
		{"fragment", true, ipv6(44, ext), true},
		{"destination options", true, ipv6(60, ext), true},
	}
}

func newVM(t testing.TB, link uint16) *bpf.VM {
	t.Helper()
	raw, err := TCPOrSCTP(link)
	if err != nil {
		t.Fatal(err)
	}
	ins, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the program does not disassemble")
	}
	vm, err := bpf.NewVM(ins)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

func checkFilter(t *testing.T, vm *bpf.VM, name string, frame []byte, keep bool) {
	t.Helper()
	n, err := vm.Run(frame)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if (n > 0) != keep {
		t.Errorf("%s: kept %v, want %v", name, n > 0, keep)
	}
	if n > 0 && n < DefaultSnapLen {
		t.Errorf("%s: kept only %d octets", name, n)
	}
}

func TestTCPOrSCTP_Ethernet(t *testing.T) {
	vm := newVM(t, LinkEthernet)
	for _, p := range ipPackets() {
		inner := uint16(etherTypeIPv4)
		if p.v6 {
			inner = etherTypeIPv6
		}
		checkFilter(t, vm, p.name, ether(p.ip, inner), p.keep)
		checkFilter(t, vm, p.name+" in vlan", ether(p.ip, 0x8100, inner), p.keep)
		checkFilter(t, vm, p.name+" in service vlan", ether(p.ip, 0x88a8, inner), p.keep)
		checkFilter(t, vm, p.name+" in qinq", ether(p.ip, 0x88a8, 0x8100, inner), p.keep)
		checkFilter(t, vm, p.name+" in old qinq", ether(p.ip, 0x9100, 0x8100, inner), p.keep)
		checkFilter(t, vm, p.name+" behind three tags", ether(p.ip, 0x88a8, 0x8100, 0x8100, inner), false)
	}
	tcp := ipv4(6, 0, 0, transport(1, 2, 0))
	checkFilter(t, vm, "arp", ether(make([]byte, 46), 0x0806), false)
	checkFilter(t, vm, "arp in vlan", ether(make([]byte, 46), 0x8100, 0x0806), false)
	checkFilter(t, vm, "mpls", ether(tcp, 0x8847), true)
	checkFilter(t, vm, "mpls upstream", ether(tcp, 0x8848), true)
	checkFilter(t, vm, "pppoe session in vlan", ether(tcp, 0x8100, 0x8864), true)
	checkFilter(t, vm, "pppoe discovery", ether(tcp, 0x8863), false)
	checkFilter(t, vm, "lldp", ether(tcp, 0x88cc), false)
	checkFilter(t, vm, "802.3 length", ether(tcp, 60), false)
}

func TestTCPOrSCTP_WithoutLinkHeader(t *testing.T) {
	for _, link := range []uint16{LinkRaw, LinkLinuxSLL} {
		vm := newVM(t, link)
		for _, p := range ipPackets() {
			checkFilter(t, vm, p.name, p.ip, p.keep)
		}
		checkFilter(t, vm, "arp", []byte{0, 1, 8, 0, 6, 4, 0, 1, 0, 6, 0, 6}, false)
	}
}

// A filter that reads behind the end of a frame drops it: every cut frame is
// dropped or kept as a whole one, never an error.
func TestTCPOrSCTP_Truncated(t *testing.T) {
	vm := newVM(t, LinkEthernet)
	for _, p := range ipPackets() {
		typ := uint16(etherTypeIPv4)
		if p.v6 {
			typ = etherTypeIPv6
		}
		frame := ether(p.ip, 0x88a8, 0x8100, typ)
		for n := range frame {
			got, err := vm.Run(frame[:n])
			if err != nil {
				t.Fatalf("%s cut to %d: %v", p.name, n, err)
			}
			if got > 0 && !p.keep {
				t.Errorf("%s cut to %d octets was kept", p.name, n)
			}
		}
	}
}

func TestTCPOrSCTP_UnknownLink(t *testing.T) {
	if _, err := TCPOrSCTP(105); err == nil {
		t.Error("no error for a link type without a filter")
	}
}

func TestCutTo(t *testing.T) {
	raw, err := TCPOrSCTP(LinkRaw)
	if err != nil {
		t.Fatal(err)
	}
	for _, prog := range [][]bpf.RawInstruction{raw, {}} {
		ins, _ := bpf.Disassemble(cutTo(prog, 96))
		vm, err := bpf.NewVM(ins)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := vm.Run(ipv4(6, 0, 0, transport(1, 2, 200))); n != 96 || err != nil {
			t.Errorf("kept %d octets (%v), want 96", n, err)
		}
	}
	if n := raw[len(raw)-2].K; n != MaxSnapLen {
		t.Errorf("the program of the caller was changed: %d", n)
	}
}
