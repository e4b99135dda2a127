package display

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestErrors: each is said with its place, shown by the carets below the filter.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ filter, mark, message string }{
		{"tcp.prt == 80", "^^^^^^^", "no field is named tcp.prt; did you mean tcp.port?"},
		{"tcp.port == 80 && opcode", "                  ^^^^^^", "no field is named opcode; did you mean iwarp_rdma.opcode?"},
		{"xyzzy", "^^^^^", "no field is named xyzzy"},
		{"tcp && not arp", "           ^^^", "no field is named arp; did you mean eth.type == 0x0806?"},
		{"tcp.port = 80", "         ^", "= is no operator; equal is =="},
		{"tcp | ip", "    ^", "| is no operator; or is ||"},
		{"tcp AND ip", "    ^^^", "operators are in lower-case letters: and"},
		{"tcp ip", "    ^^", "an operator is missing before ip"},
		{"tcp and", "       ^", "the filter ends too early"},
		{"(tcp", "    ^", ") is missing here"},
		{"tcp)", "   ^", ") closes nothing"},
		{"()", " ^", ") closes nothing"},
		{"tcp or or ip", "       ^^", "or cannot stand here"},
		{"7200", "^^^^", "7200 is no field; a value stands behind an operator"},
		{`tcp && "a"`, "       ^^^", `"a" is no field; a value stands behind an operator`},
		{"tcp.port == 70000", "            ^^^^^", "70000 is too big for tcp.port, which has 16 bits"},
		{"iwarp_rdma.opcode == 256", "                     ^^^", "256 is too big for iwarp_rdma.opcode, which has 8 bits"},
		{"tcp.len > -1", "          ^^", "-1 is below zero, and tcp.len never is"},
		{"tcp.len == 99999999999999999999", "           ^^^^^^^^^^^^^^^^^^^^", "99999999999999999999 does not fit into 64 bits"},
		{"frame.number == 08", "                ^^", "08 is no number: with a 0 before it, it is octal"},
		{"tcp.len == 40.5", "           ^^^^", "40.5 is no number"},
		{`tcp.len == "40"`, "           ^^^^", `"40" is a string; numbers are without quotes`},
		{"tcp.srcport == tcp.dstprt", "               ^^^^^^^^^^", "tcp.dstprt is no number; did you mean tcp.dstport?"},
		{`iwarp_rdma.opcode == "Wr"`, "                     ^^^^", `"Wr" is no number and no value of iwarp_rdma.opcode`},
		{"tcp.flags.syn == 'ab'", "                 ^^^^", "a character constant has one character, of one octet"},
		{"tcp.flags.syn == yea", "                 ^^^", "yea is no boolean; those are True, False, 1 and 0"},
		{"ip.src == 10.1", "          ^^^^", "10.1 is no IPv4 address"},
		{"ip.src == 10.1.0.1/33", "          ^^^^^^^^^^^", "the prefix of an IPv4 address is 0 to 32 bits"},
		{"ip.src == localhost", "          ^^^^^^^^^", "localhost is no IPv4 address; names of hosts are not looked up"},
		{"ip.src == ::1", "          ^^^", "::1 is no IPv4 address"},
		{"ipv6.src == fe80::1/129", "            ^^^^^^^^^^^", "the prefix of an IPv6 address is 0 to 128 bits"},
		{"eth.src == 00:11", "           ^^^^^", "00:11 is no Ethernet address; those are 02:00:00:00:00:01"},
		{"ip.src[0:2] == 0x0a01", "               ^^^^^^", "0x0a01 may be in either order of octets; octets are 0a:0b"},
		{"ip.src[0] == 266", "             ^^^", `266 is no octets; those are 0a:0b, 0a-0b, 0a.0b, 0a0b, 0x0a or "text"`},
		{"tcp.port[0]", "^^^^^^^^^^^", "a number has no octets to take a slice of"},
		{"ip.src[0:0]", "       ^^^", "the length of a slice is at least 1"},
		{"ip.src[3-1]", "       ^^^", "the end of a slice cannot come before its beginning"},
		{"ip.src[]", "       ^", "a slice needs offsets: [0:4], [2-5], [:4], [4:], [4] or [1,3-5]"},
		{"ip.src[a]", "       ^", `"a" is no offset; slices are [0:4], [2-5], [:4], [4:], [4] or [1,3-5]`},
		{"ip.src[1", "      ^^", "] is missing behind the slice"},
		{"ip.src == eth.src", "^^^^^^^^^^^^^^^^^", "ip.src is an IPv4 address, but eth.src is an Ethernet address"},
		{"tcp.flags.syn == tcp.len", "^^^^^^^^^^^^^^^^^^^^^^^^", "tcp.flags.syn is a boolean, but tcp.len is a number"},
		{"ip.src contains 0a", "^^^^^^^^^^^^^^^^^^", "ip.src is an IPv4 address; contains is for strings and octets"},
		{`tcp.port matches "7"`, "^^^^^^^^", "tcp.port is a number; matches is for strings and octets, or string(tcp.port)"},
		{"frame.protocols matches tcp", "                        ^^^", `behind matches stands a string: "^abc"`},
		{`frame.protocols matches "("`, "                        ^^^", "the regular expression is wrong: missing closing ): ("},
		{`frame.protocols matches "(?!a)"`, "                        ^^^^^^^", "the regular expression is wrong: invalid or unsupported Perl syntax: (?! (looking ahead or behind is not supported)"},
		{`frame.protocols == "\q"`, "                    ^^", `"\\q" is no escape sequence; a backslash is \\, and r"…" takes each as it is`},
		{`frame.protocols == "a`, "                   ^^", "the string has no closing quote"},
		{"tcp.len == '(", "           ^^", "the character constant has no closing quote"},
		{"frame.time_relative > 2e-1", "                      ^^^^", "2e-1 is no duration; durations are 1.5 (seconds), 500us, 20ms, 3s, 2min, 1h"},
		{`frame.time > "now"`, "             ^^^^^", `"now" is no time; times are "2026-01-31 12:34:56.789", with Z or +01:00 if they are not local, or seconds since 1970`},
		{"frame.time_relative * 2 > 1", "^^^^^^^^^^^^^^^^^^^^^^^", "a duration has no operator *"},
		{"tcp + 1", "^^^^^^^", "octets has no operator +"},
		{"ip.src + 1 == 1.2.3.4", "         ^", "1 is no IPv4 address"},
		{"tcp.len in {}", "            ^", "} closes nothing"},
		{"tcp.len in {1 2}", "              ^", "a comma is missing before 2"},
		{"tcp.len in (1)", "           ^", "{ is missing behind in: {1, 3..5}"},
		{"tcp.len in {1..}", "               ^", "} closes nothing"},
		{"any tcp", "       ^", "any needs a comparison: any tcp.port == 80"},
		{"len(tcp)", "^^^^^^^^", "len() is always there; compare it with something"},
		{"len() == 1", "^^^^^", "len() takes one field"},
		{"len(1) == 1", "    ^", "len() takes a field"},
		{"cuont(tcp) == 1", "^^^^^", "no function is named cuont; did you mean count?"},
		{`upper(tcp.port) == "A"`, "      ^^^^^^^^", "tcp.port is a number; upper() is for strings"},
		{"string(tcp.payload) == \"A\"", "       ^^^^^^^^^^^", "tcp.payload is octets; string() is for numbers and addresses"},
		{"max(1, 2) == 2", "^^^^^^^^^", "max() needs a field"},
		{"1 == 1", "^^^^^^", "a comparison needs a field or a function on one side"},
		{"tcp.port#1 == 80", "        ^", "layers, #, are not supported; tcp.port without it is that of any layer"},
		{"ip.src == ${ip.dst}", "          ^", "references to a selected frame, ${…}, have no meaning without a window"},
		{"@ip.src == 01", "^", "the raw octets of a field, @, are not supported; take a slice of its layer"},
		{"(tcp.len == 1) == 1", "               ^^", "== cannot stand here"},
		{"tcp.len == (tcp == 1)", "           ^^^^^^^^^", "this is a condition; a value is needed here"},
		{"tcp ; ip", "    ^", `";" has no meaning here`},
		{"frame.protocols == \"ü\" é", "                       ^", `"é" has no meaning here`},
	} {
		_, err := Compile(test.filter, find, names)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", test.filter, err)
			continue
		}
		want := test.message + "\n  " + test.filter + "\n  " + test.mark
		if diff := cmp.Diff(want, e.Error()); diff != "" {
			t.Errorf("%s:\n%s", test.filter, diff)
		}
	}
}

// TestErrorOfLongFilter: the part around the place is shown, and nothing of it reaches a terminal.
func TestErrorOfLongFilter(t *testing.T) {
	filter := strings.Repeat("tcp or ", 100) + "tcp.prt\x1b[31m or " + strings.Repeat("tcp or ", 100) + "tcp"
	_, err := Compile(filter, find, names)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || strings.Contains(lines[1], "\x1b") || len([]rune(lines[1])) != 2+shown {
		t.Fatalf("%q", lines)
	}
	at := strings.IndexByte(lines[2], '^')
	if marked := string([]rune(lines[1])[at:][:1]); marked != "\ufffd" {
		t.Errorf("the mark is under %q in\n%s", marked, err)
	}
}

// TestDeep: what is nested without end is an error, and no deep stack.
func TestDeep(t *testing.T) {
	for _, part := range []string{"(", "not ", "!", "{", "-", "tcp.len == -", "len(", "max(tcp.len,", "ip.src == {", "any "} {
		if _, err := Compile(strings.Repeat(part, 20000/len(part)), find, names); err == nil {
			t.Errorf("%s: no error", part)
		}
	}
	for _, part := range []string{" + tcp.len", "[0:1]", " & tcp.len"} {
		if _, err := Compile("tcp.len"+strings.Repeat(part, 20000/len(part))+" == 1", find, names); err == nil {
			t.Errorf("%s: no error", part)
		}
	}
	for _, part := range []string{" or tcp", " and tcp", " xor tcp"} {
		if _, err := Compile("tcp"+strings.Repeat(part, 60000/len(part)), find, names); err != nil {
			t.Errorf("%s: %v", part, err)
		}
	}
	if _, err := Compile(strings.Repeat(" ", longest)+"tcp", find, names); err == nil {
		t.Error("a filter without end is none")
	}
}
