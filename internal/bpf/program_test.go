package bpf

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
)

// octets reads hexadecimal digits with spaces.
func octets(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	macs   = "020000000002 020000000001 "
	ip4    = "45000028 00000000 40060000 0a000001 0a000002 "
	ip4Opt = "46000028 00000000 40060000 0a000001 0a000002 01010101 "
	tcpHdr = "9c40 1545 00000001 00000000 50020000 00000000"
	ip6    = "60000000 0014 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002 "
)

// frames for TestProgram_Selects.
var frames = map[string]string{
	"tcp":      macs + "0800 " + ip4 + tcpHdr,
	"options":  macs + "0800 " + ip4Opt + tcpHdr,
	"first":    macs + "0800 45000028 00002000 40060000 0a000001 0a000002 " + tcpHdr,
	"later":    macs + "0800 45000028 00002005 40060000 0a000001 0a000002 " + tcpHdr,
	"tcp6":     macs + "86dd " + ip6 + tcpHdr,
	"frag6":    macs + "86dd 60000000 001c 2c 40" + ip6[20:] + "0600000000000000" + tcpHdr,
	"udp":      macs + "0800 45000028 00000000 40110000 0a000003 0a000002 1545 9c40 00080000",
	"sctp":     macs + "0800 45000028 00000000 40840000 0a000001 0a000003 1545 9c40 00000001 00000000",
	"arp":      "ffffffffffff 020000000001 0806 0001080006040001 020000000001 0a000001 000000000000 0a000002",
	"vlan5":    macs + "8100 0005 0800 " + ip4 + tcpHdr,
	"qinq":     macs + "88a8 0007 8100 0005 0800 " + ip4 + tcpHdr,
	"short":    macs + "0800 " + ip4 + "9c40",
	"nothing":  "",
	"802.2":    "0180c2000000 020000000001 0026 4242 03 0000000000",
	"lastless": macs + "0800 " + ip4,
}

// TestProgram_Selects are known answers, which need no other compiler.
func TestProgram_Selects(t *testing.T) {
	for _, c := range []struct{ filter, selects string }{
		{"", "802.2 arp first frag6 lastless later nothing options qinq sctp short tcp tcp6 udp vlan5"},
		{"tcp", "first frag6 lastless later options short tcp tcp6"},
		{"ip and tcp", "first lastless later options short tcp"},
		{"port 5445", "first options sctp tcp tcp6 udp"},
		{"tcp port 5445", "first options tcp tcp6"},
		{"src port 5445", "sctp udp"},
		{"tcp dst port smbdirect", "first options tcp tcp6"},
		{"portrange 5000-6000", "first options sctp tcp tcp6 udp"},
		{"tcp src portrange 40000-40000", "first options short tcp tcp6"},
		{"host 10.0.0.1", "arp first lastless later options sctp short tcp"},
		{"arp host 10.0.0.1", "arp"},
		{"src and dst net 10.0.0.0/30", "arp first lastless later options sctp short tcp udp"},
		{"dst host 10.0.0.2 and src 10.0.0.3", "udp"},
		{"net 2001:db8::/32", "frag6 tcp6"},
		{"vlan", "qinq vlan5"},
		{"vlan 5", "vlan5"},
		{"vlan 7 and vlan 5", "qinq"},
		{"vlan and port 5445", "vlan5"},
		{"vlan and vlan and port 5445", "qinq"},
		{"port 5445 or (vlan and port 5445)", "first options sctp tcp tcp6 udp vlan5"},
		{"tcp[13] & 2 != 0", "first options tcp"},
		{"tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "first options tcp"},
		{"ip[0] & 0xf > 5", "options"},
		{"ip[6:2] & 0x3fff != 0", "first later"},
		{"ether host 02:00:00:00:00:01", "802.2 arp first frag6 lastless later options qinq sctp short tcp tcp6 udp vlan5"},
		{"broadcast", "arp"},
		{"multicast", "802.2 arp"},
		{"ether proto 0x42", "802.2"},
		{"less 50", "802.2 arp lastless nothing short udp sctp"},
		{"len < 15", "nothing"},
		// A frame that is too short for what is asked is never selected.
		{"not tcp[13] & 2 != 0", "802.2 arp frag6 later qinq sctp tcp6 udp vlan5"},
		{"1 + udp[4:2] > 0", "udp"},
		{"ip proto (6 or 132)", "first lastless later options sctp short tcp"},
		{"proto sctp", "sctp"},
	} {
		f, err := Parse(c.filter)
		if err != nil {
			t.Errorf("%q: %v", c.filter, err)
			continue
		}
		prog, err := f.Program(Target{Link: Ethernet})
		if err != nil {
			t.Errorf("%q: %v", c.filter, err)
			continue
		}
		vm := machine(t, prog)
		want := strings.Fields(c.selects)
		for name, frame := range frames {
			n, err := vm.Run(octets(t, frame))
			if err != nil {
				t.Fatal(err)
			}
			selected := false
			for _, w := range want {
				selected = selected || w == name
			}
			if n > 0 != selected {
				t.Errorf("%q: %s is selected: %v", c.filter, name, n > 0)
			}
		}
	}
}

// TestProgram_Long has jumps over more than 255 instructions, whose answers are
// those of the parts.
func TestProgram_Long(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(1, 2)), link: Ethernet}
	for range 20 {
		var parts []string
		var alone []*bpf.VM
		for range 150 {
			part := fmt.Sprintf("(ether[%d] = %d and ip[%d] = %d)", m.IntN(20), m.IntN(3), m.IntN(20), m.IntN(3))
			parts = append(parts, part)
			alone = append(alone, machine(t, compile(t, part)))
		}
		prog := compile(t, strings.Join(parts, " or "))
		if len(prog) < 400 {
			t.Fatalf("%d instructions", len(prog))
		}
		if err := verify(prog); err != nil {
			t.Fatal(err)
		}
		vm, selected := machine(t, prog), 0
		for range 200 {
			frame, _ := m.packet()
			frame = append(frame, make([]byte, 100)...)
			want := 0
			for _, a := range alone {
				n, err := a.Run(frame)
				if err != nil {
					t.Fatal(err)
				}
				want = max(want, n)
			}
			if n, err := vm.Run(frame); err != nil || n != want {
				t.Fatalf("%d, %v; want %d for %x", n, err, want, frame)
			}
			if want > 0 {
				selected++
			}
		}
		if selected == 0 {
			t.Error("nothing is selected")
		}
	}
}

func compile(t *testing.T, filter string) []bpf.RawInstruction {
	t.Helper()
	f, err := Parse(filter)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := f.Program(Target{Link: Ethernet})
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// TestProgram_TooLong: a program that the kernel would not take is refused.
func TestProgram_TooLong(t *testing.T) {
	for _, n := range []int{1200, 2000} {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf("ether[%d]=%d and ip[1]=%d", i%50, i%251, i%7)
		}
		f, err := Parse(strings.Join(parts, " or "))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Program(Target{Link: Ethernet}); err == nil || !strings.Contains(err.Error(), "longer than the kernel takes") {
			t.Errorf("%d parts: %v", n, err)
		}
	}
}

// TestProgram_PortLists stay short: what was asked once is not asked again.
func TestProgram_PortLists(t *testing.T) {
	var ports []string
	for i := range 100 {
		ports = append(ports, fmt.Sprint(5000+3*i))
	}
	if prog := compile(t, "port "+strings.Join(ports, " or ")); len(prog) > 850 {
		t.Errorf("%d instructions for 100 ports", len(prog))
	}
	if prog := compile(t, "port 5445"); len(prog) > 24 {
		t.Errorf("%d instructions for one port", len(prog))
	}
}

func TestReadProgram(t *testing.T) {
	good := "4\n40 0 0 12\n21 0 1 2048\n6 0 0 262144\n6 0 0 0\n"
	prog, err := ReadProgram(strings.NewReader(good))
	if err != nil || len(prog) != 4 || prog[2] != (bpf.RawInstruction{Op: 6, K: 262144}) {
		t.Fatalf("%v, %v", prog, err)
	}
	for _, c := range []struct{ text, says string }{
		{"", "0 instructions"},
		{"x\n", "line 1: expected the number of instructions"},
		{"(000) ldh [12]\n", "-ddd writes"},
		{"{ 0x28, 0, 0, 0x0000000c },\n", "-ddd writes"},
		{"0\n", "line 1"},
		{"5000\n", "the kernel takes 4096"},
		{"2\n6 0 0 1\n", "1 instructions, and the first line announces 2"},
		{"1\n6 0 0 1\n6 0 0 1\n", "line 3: more than"},
		{"1\n6 0 0\n", "line 2: an instruction has 4 numbers, not 3"},
		{"1\n6 0 0 4294967296\n", "not a number of 32 bits"},
		{"1\n6 256 0 1\n", "not a number of 8 bits"},
		{"2\n21 1 0 1\n6 0 0 1\n", "instruction 0 jumps behind the end"},
		{"2\n5 0 0 1\n6 0 0 1\n", "instruction 0 jumps behind the end"},
		{"2\n5 0 0 4294967295\n6 0 0 1\n", "instruction 0 jumps behind the end"},
		{"1\n40 0 0 12\n", "does not return"},
		{"2\n65535 0 0 1\n6 0 0 1\n", "unknown operation"},
		{"2\n52 0 0 0\n6 0 0 1\n", "divides by zero"},
		{"2\n100 0 0 32\n6 0 0 1\n", "shifts"},
		{"2\n2 0 0 16\n6 0 0 1\n", "instruction 0"},
		{"2\n96 0 0 16\n6 0 0 1\n", "instruction 0"},
	} {
		if _, err := ReadProgram(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v; want %q", c.text, err, c.says)
		}
	}
}

// FuzzFilter: any text is refused or becomes programs that the kernel takes,
// and that a machine runs on any frame.
func FuzzFilter(f *testing.F) {
	m := &maker{Rand: rand.New(rand.NewPCG(4, 18)), link: Ethernet}
	for range 50 {
		frame, _ := m.packet()
		f.Add(m.filter(3), frame)
	}
	f.Fuzz(func(t *testing.T, text string, frame []byte) {
		filter, err := Parse(text)
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("%q: %v", text, err)
			}
			_ = err.Error()
			return
		}
		for _, target := range []Target{{Link: Ethernet}, {Link: Ethernet, Live: true}, {Link: Raw}, {Link: SLL}, {Link: SLL, Live: true}, {Link: SLL2}} {
			prog, err := filter.Program(target)
			if err != nil {
				continue
			}
			if err := verify(prog); err != nil || len(prog) > maxInstructions {
				t.Fatalf("%q: %d instructions: %v", text, len(prog), err)
			}
			run(prog, frame, &beside{tagged: len(frame)%2 == 0, tag: 5})
		}
	})
}

// FuzzReadProgram: what is accepted can be run.
func FuzzReadProgram(f *testing.F) {
	f.Add("4\n40 0 0 12\n21 0 1 2048\n6 0 0 262144\n6 0 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		prog, err := ReadProgram(strings.NewReader(text))
		if err != nil {
			return
		}
		if ins, ok := bpf.Disassemble(prog); !ok || len(ins) != len(prog) {
			t.Fatalf("%v", prog)
		}
	})
}
