package bpf

import (
	"errors"
	"strings"
	"testing"
)

func TestParse_Errors(t *testing.T) {
	for _, c := range []struct {
		filter string
		column int
		length int
		says   string
	}{
		{"tcp prot 80", 5, 4, `unknown word "prot"; did you mean port?`},
		{"tcp PORT 80", 5, 4, `did you mean port?`},
		{"port", 5, 0, "expected the number of a port, not the end"},
		{"port 80 and", 12, 0, "expected a condition such as"},
		{"port 65536", 6, 5, `65536 is no port`},
		{"port http-5", 6, 6, "is no port"},
		{"port 10.0.0.1", 6, 8, "is no port"},
		{"icmp port 80", 11, 2, "icmp has no ports; tcp, udp and sctp have"},
		{"host example.org", 6, 11, "names are not resolved"},
		{"host 10.0.0", 6, 6, "no whole IPv4 address"},
		{"host 10.0.0.256", 6, 10, `"256" is not a decimal number up to 255`},
		{"host 010.0.0.1", 6, 9, "is not a decimal number"},
		{"host 1.2.3.4.5", 6, 9, "more than four octets"},
		{"host 10.0.0.0/8", 14, 1, "write net in front"},
		{"net 10.0.0.1/8", 5, 8, "bits outside its network: write 10.0.0.0"},
		{"net 10.0.0.0/33", 14, 2, "up to 32"},
		{"net 10.0.0.0 mask 8", 19, 1, "a mask such as"},
		{"net 2001:db8::1/32", 5, 11, "write 2001:db8::/32"},
		{"net 2001:db8::/129", 16, 3, "up to 128"},
		{"ip host fe80::1", 9, 7, "ip does not go with an IPv6 address"},
		{"ip6 host 10.0.0.1", 10, 8, "no IPv6 address"},
		{"tcp host 10.0.0.1", 10, 8, "tcp has no addresses"},
		{"ether host 10.0.0.1", 12, 8, "an Ethernet address such as"},
		{"host 02:00:00:00:00:01", 6, 17, "goes with ether host"},
		{"10.0.0.1", 1, 8, "needs a qualifier"},
		{"tcp and 80", 9, 2, "needs a qualifier"},
		{"(port 80) or 443", 14, 3, "needs a qualifier"},
		{"(tcp", 1, 1, "not closed"},
		{"tcp)", 4, 1, "not opened"},
		{"port (80 or 443", 6, 1, "not closed"},
		{"tcp udp", 5, 3, `expected and, or, or the end in front of "udp"`},
		{"tcp port 80 10.0.0.1", 13, 8, "in front of"},
		{"tcp[13", 7, 0, "expected ]"},
		{"tcp[13:3] = 1", 8, 1, "1, 2 or 4 octets"},
		{"tcp[13]", 8, 0, "expected a comparison"},
		{"tcp[13] & 2", 12, 0, "expected a comparison"},
		{"tcp[13] = ", 11, 0, "expected a number"},
		{"tcp[13-1] = 2", 5, 4, "put spaces around -"},
		{"tcp[2000000] = 1", 5, 7, "no frame has an octet 2000000"},
		{"foo[1] = 1", 1, 3, "unknown word"},
		{"esp[1] = 1", 1, 3, "no fixed place"},
		{"ip[0] / 0 = 1", 7, 1, "division by zero"},
		{"ip[0] % (1 - 1) = 1", 7, 1, "division by zero"},
		{"ip[0] << 32 = 1", 7, 2, "31 bits"},
		{"vlan 4096", 6, 4, "at most 4095"},
		{"less", 5, 0, "a length in octets"},
		{"ip broadcast", 1, 2, "ether broadcast"},
		{"tcp multicast", 1, 3, "does not go with tcp"},
		{"src proto 6", 5, 5, "do not go with proto"},
		{"proto 256", 7, 3, "at most 255"},
		{"ether proto 65536", 13, 5, "at most 65535"},
		{"proto foo", 7, 3, "is no protocol"},
		{"tcp proto 6", 11, 1, "tcp does not go with proto"},
		{"ether proto 0x809b", 13, 6, "SNAP"},
		{"ether", 1, 5, "needs something behind it"},
		{"mpls 5", 1, 4, "--bpf-file"},
		{"protochain 6", 1, 10, "--bpf-file"},
		{"greater 99999999999", 9, 11, "more than 32 bits"},
		{"greater 08", 9, 2, "octal"},
		{`proto \`, 7, 1, "a name must follow"},
		{"tcp ; rm", 5, 1, `unexpected character ';'`},
		{"tcp and é", 9, 1, "unexpected character 'é'"},
		{"é tcp", 1, 1, "unexpected character 'é'"},
		{strings.Repeat("(", 300) + "tcp", 201, 1, "more than 200 levels"},
		{strings.Repeat("not ", 300) + "tcp", 801, 3, "more than 200 levels"},
		{strings.Repeat(" ", MaxText) + "tcp", MaxText + 1, 0, "longer than 65536 octets"},
	} {
		_, err := Parse(c.filter)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v", c.filter, err)
			continue
		}
		if e.Column() != c.column || !strings.Contains(e.Message, c.says) {
			t.Errorf("%q: column %d, %q; want column %d, %q", c.filter, e.Column(), e.Message, c.column, c.says)
		}
		if e.Length > 0 && c.length > 0 && len([]rune(e.Filter[e.Offset:e.Offset+e.Length])) != c.length {
			t.Errorf("%q: %d octets are marked, want %d", c.filter, e.Length, c.length)
		}
	}
}

// TestError_Caret: the place is marked below the text, also of a long one, and
// nothing of it is obeyed by a terminal.
func TestError_Caret(t *testing.T) {
	_, err := Parse("tcp and prot 80")
	want := "filter, column 9: unknown word \"prot\"; did you mean port?\n  tcp and prot 80\n          ^^^^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	_, err = Parse(strings.Repeat("tcp or ", 50) + "prot 80 or " + strings.Repeat("udp or ", 50) + "udp")
	lines := strings.Split(err.Error(), "\n")
	if at := strings.Index(lines[2], "^"); len(lines) != 3 || !strings.HasPrefix(string([]rune(lines[1])[at:]), "prot 80") || len(lines[1]) > 120 {
		t.Errorf("not below its place:\n%v", err)
	}
	_, err = Parse("tcp and \x1b[31mred\u202e")
	if s := err.Error(); strings.ContainsAny(s, "\x1b\u202e") {
		t.Errorf("%q", s)
	}
}

// TestProgram_Errors are those that depend on the link type.
func TestProgram_Errors(t *testing.T) {
	for _, c := range []struct {
		filter string
		target Target
		says   string
	}{
		{"tcp and ether host 02:00:00:00:00:01", Target{Link: Raw}, "column 20: there are no Ethernet addresses"},
		{"broadcast", Target{Link: SLL, Live: true}, "no Ethernet addresses"},
		{"multicast", Target{Link: Raw}, "no Ethernet addresses"},
		{"ether[0] = 1", Target{Link: SLL, Live: true}, "without its link header"},
		{"vlan", Target{Link: Raw, Live: true}, "no VLAN tags"},
		{"tcp or vlan", Target{Link: SLL}, "column 8: there are no VLAN tags"},
		{"inbound", Target{Link: Ethernet}, "live capture"},
		{"ifindex 2", Target{Link: Ethernet}, "live capture"},
		{"tcp", Target{Link: 105}, "no filter for link type 105"},
	} {
		f, err := Parse(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.Program(c.target); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v; want %q", c.filter, err, c.says)
		}
	}
}

// TestProgram_Calculations need no more scratch memory than there is, however
// they are written.
func TestProgram_Calculations(t *testing.T) {
	for _, sum := range []string{
		"len" + strings.Repeat(" + len", 50),
		strings.Repeat("(len + ", 50) + "len" + strings.Repeat(")", 50),
		strings.Repeat("(", 50) + "len" + strings.Repeat(" + len)", 50),
	} {
		prog := compile(t, "51 * len = "+sum)
		if n, err := machine(t, prog).Run(make([]byte, 77)); err != nil || n == 0 {
			t.Errorf("%s: %d, %v", sum, n, err)
		}
	}
}
