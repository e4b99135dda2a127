package display

import (
	"testing"
	"time"
)

// TestMatch has a filter a line, of the frame of write: what each says was seen with
// tshark 4.0.17, but where the line says otherwise.
func TestMatch(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	p := write()
	for _, test := range []struct {
		filter string
		want   bool
	}{
		{"", true},
		{"tcp", true},
		{".tcp", true},
		{"ipv6.src", false},
		{"!ipv6.src", true},
		{"not not tcp", true},

		// any and all
		{"tcp.port == 7200", true},
		{"tcp.port != 7200", false},
		{"tcp.port ~= 7200", true},
		{"tcp.port !== 7200", true},
		{"tcp.port === 7200", false},
		{"tcp.port ne 7201", true},
		{"tcp.port any_eq 7200", true},
		{"tcp.port all_eq 7200", false},
		{"tcp.port any_ne 7200", true},
		{"tcp.port all_ne 7200", false},
		{"any tcp.port === 7200", true},
		{"all tcp.port == 7200", false},
		{"all tcp.port any_eq 7200", false},
		{"all tcp.port > 7199", true},
		{"all tcp.port > 7200", false},
		{"any tcp.port > 7200", true},
		{"all tcp.port >= tcp.dstport", true},
		{"all tcp.port >= tcp.port", false},
		{"tcp.port != tcp.srcport", false},
		{"tcp.port !== tcp.port", true},
		{"ipv6.src != ::", false},
		{"!(ipv6.src == ::)", true},
		{"!ipv6.src == ::", true},
		{"!ipv6.src != ::", true},

		// numbers
		{"tcp.len == 052 - 2", true},
		{"tcp.len == 0x28", true},
		{"tcp.len == 0b101000", true},
		{"tcp.len == 050", true},
		{"tcp.len == '('", true},
		{`tcp.len == '\x28'`, true},
		{`tcp.len == '\050'`, true},
		{"tcp.len == +40", true},
		{"tcp.len eq 40", true},
		{"tcp.len gt 40", false},
		{"tcp.len ge 40", true},
		{"tcp.len lt 40", false},
		{"tcp.len le 40", true},
		{"tcp.len < 41", true},
		{"tcp.len < 0", false},
		{"tcp.len >= 0", true},
		{"tcp.window_size_scalefactor == -2", true},
		{"tcp.window_size_scalefactor > -3", true},
		{"tcp.window_size_scalefactor < 0", true},
		{"- tcp.window_size_scalefactor == 2", true},
		{"tcp.srcport > tcp.dstport", true},
		{"tcp.len < tcp.dstport < tcp.srcport", true},
		{"tcp.len < tcp.dstport < tcp.len", false},
		{"40 == tcp.len", true}, // tshark 4.0 wants the field on the left
		{"39 < tcp.len < 41", true},
		{"iwarp_ddp.tagged_offset > 0xffff888000000000", true},

		// names
		{`iwarp_rdma.opcode == "Write"`, true},
		{"iwarp_rdma.opcode == Write", true},
		{`iwarp_rdma.opcode == "write"`, true},
		{`iwarp_rdma.opcode in {"Write", "Terminate"}`, true},
		{`iwarp_rdma.opcode in {Send .. Terminate}`, false},
		{`tcp.flags.syn == "Not set"`, true},
		{"tcp.flags.syn == Set", false},
		{"tcp.flags.syn == False", true},
		{"tcp.flags.syn == 0", true},
		{"tcp.flags.syn < True", true},

		// calculations
		{"tcp.flags & 0x10", true},
		{"tcp.flags & 0x10 == 0x10", true},
		{"(tcp.flags & 0x10) == 0x10", true}, // tshark 4.0 has only braces
		{"tcp.flags & 2", false},
		{"tcp.flags bitwise_and 8", true},
		{"tcp.len & 8 + 1", true},
		{"{tcp.len + 1} * 2 == 82", true},
		{"tcp.len + 1 * 2 == 42", true},
		{"tcp.len -1 == 39", true},
		{"tcp.len-1 == 39", true}, // a field's name in tshark 4.0
		{"tcp.len - 50 / 7 == 33", true},
		{"{tcp.len - 50} / 7 == -1", true},
		{"{tcp.len - 50} % 7 == -3", true},
		{"{tcp.len - 50} & 255 == 246", true},
		{"-tcp.len / 7 == -5", true},
		{"tcp.len / 0", false},
		{"tcp.len % 0 == 0", false},
		{"tcp.len - 40", false},
		{"tcp.len - 41", true},
		{"-tcp.len < 0", true},
		{"tcp.len * -1 == -40", true}, // none in tshark 4.0
		{"tcp.dstport - tcp.srcport < 0", true},
		{"tcp.port + tcp.port == 14400", true},
		{"all tcp.port * 2 == 14400", false},
		{"iwarp_ddp.tagged_offset + iwarp_ddp.tagged_offset > 0", false}, // does not fit
		{"iwarp_ddp.tagged_offset - 18446744073709551615 < 0", true},
		{"frame.time_relative + frame.time_delta > 0.25", true},
		{"frame.time_relative - 0.2 < 20ms", true},
		{"-frame.time_relative < -0.2", true},
		{"iwd.ratio * 2 == 1", true},

		// sets
		{"tcp.len in {1, 40 .. 60}", true},
		{"tcp.len in {60..40}", false},
		{"tcp.len in {40, tcp.srcport}", true},
		{"tcp.len in {tcp.len .. tcp.srcport}", true},
		{"tcp.len not in {40}", false},
		{"!tcp.len in {40}", false},
		{"tcp.port in {7200, 1}", true},
		{"tcp.port not in {7200, 1}", false},
		{"any tcp.port not in {7200}", false},
		{"all tcp.port in {7200}", false},
		{"all tcp.port in {7200, 49894}", true}, // tshark 4.0 wants all in one member
		{"all tcp.port in {7000 .. 50000}", true},
		{"all tcp.port not in {7200}", false},
		{"ipv6.src not in {::1}", true},
		{"all ipv6.src in {::1}", false},
		{"ip.addr in {10.1.0.0/24, 1.2.3.4}", true},
		{"ip.src in {10.1.0.1 .. 10.1.0.1}", true},
		{"len(tcp.payload) in {20 .. 30}", true},

		// times
		{"frame.time_relative == 0.213686", true},
		{"frame.time_relative > 0.2", true},
		{"frame.time_relative > 0.2s", true},
		{"frame.time_relative > 200ms", true}, // tshark has seconds only
		{"frame.time_relative in {0.2 .. 1}", true},
		{"frame.time_relative > -1.5", true},
		{"iwd.latency == 1500us", true},
		{"iwd.latency > 1.5ms", false},
		{`frame.time > "2026-01-02 03:04:05"`, true},
		{`frame.time > "2026-01-02T03:04:05.000006Z"`, false},
		{`frame.time == "2026-01-02 05:04:05.000006+02:00"`, true},
		{`frame.time == "Jan  2, 2026 03:04:05.000006 UTC"`, true},
		{"frame.time > 2026-01-02", true},
		{"frame.time > 1000.5", true}, // 4.0 has frame.time_epoch for it

		// addresses
		{"ip.src == 10.1.0.1", true},
		{"ip.src == 10.0.0.0/8", true},
		{"ip.src > 10.1.0.0/24", false},
		{"ip.src >= 10.1.0.0/24", true},
		{"ip.addr != 10.1.0.0/24", false},
		{"ip.src & 255.0.0.0 == 10.0.0.0", true},
		{"ip.addr > 10.1.0.1", true},
		{"eth.src == 8e:a5:c2:93:c5:4e", true},
		{"eth.src == 8e-a5-c2-93-c5-4e", true},
		{"eth.src == 8ea5.c293.c54e", true},
		{"eth.src contains a5:c2", true},
		{"eth.src[0:2] & ff:0f == 8e:05", true},
		{"eth.src[0] & 0x02", true},
		{`eth.src matches "\xa5"`, true},

		// octets
		{"ip.src[0:2] == 0a:01", true},
		{"ip.src[0] == 10", false},
		{"ip.src[0] == 0a", true},
		{"ip.src[0] == 0x0a", true},
		{"ip.src[0] == :0a", true},
		{"ip.src[0:2] == a.1", true},
		{"ip.src[0:2] == 0a01", true},
		{"ip.src[0:4] == 0a01.0001", true},
		{"ip.src[0-1] == 0a-01", true},
		{"ip.src[-1] == 01", true},
		{"ip.src[-2:] == 00:01", true},
		{"ip.src[-4--2] == 0a:01:00", true},
		{"ip.src[:2] == 0a:01", true},
		{"ip.src[:] == 0a:01:00:01", true},
		{"ip.src[0,2-3] == 0a:00:01", true},
		{"ip.src[1,0] == 01:0a", true},
		{"ip.src[0,9] == 0a", true},
		{"ip.src[0:9] == 0a:01:00:01", false},
		{"ip.src[2-9] != 00:07", true},
		{"ip.src[4]", false},
		{"ip.src[9] != 00", true},
		{"ip.src[9] < 01", true},
		{"ip.src[3]", true},
		{"ip.src[0x1] == 01", true},
		{"ip.src[0:2][1] == 01", true},
		{"ip.src[0:2] > 0a", true},
		{"ip.src[0:2] > 0a:00:00", false}, // the longer one is greater
		{"ip.src[0:2] < 00:00:00", true},
		{"ip.src[0:4] == ip.src", true},
		{`tcp.payload[0:4] == "MPA "`, true},
		{"tcp.payload[0:4] & ff:ff == 4d:50", true},
		{`tcp.payload contains "MPA"`, true},
		{"tcp.payload contains 4d.50", true},
		{"tcp.payload contains 'M'", true},
		{`tcp.payload contains ""`, false},
		{"ip contains 0a:01:00:01", true},
		{"ip > 45", true},
		{"len(ip) == 20", true},
		{"len(eth) == 6", true}, // of the frame of the test
		{"eth[5] == bd", true},
		{"eth[6]", false},
		{"eth contains bd:08:00", true},
		{`eth matches r"\xbd\x08"`, true},

		// strings
		{`frame.protocols contains "iwarp"`, true},
		{"frame.protocols contains iwarp", true},
		{"frame.protocols contains 69:77", false},
		{`frame.protocols contains "\x69\167\u0061rp"`, true},
		{`frame.protocols == "eth:ethertype:ip:tcp:iwarp_mpa"`, true},
		{`frame.protocols > "eth"`, true},
		{`frame.protocols in {"a" .. "f"}`, true},
		{`frame.protocols[0:3] == "eth"`, true},
		{"frame.protocols[0:3] == 65:74:68", true},
		{`frame.protocols[0] == 'e'`, true},
		{`frame.protocols matches "IWARP"`, true},
		{`frame.protocols matches "(?-i)IWARP"`, false},
		{`frame.protocols ~ r"iwarp_\w+$"`, true},
		{`frame.protocols matches "iwarp_\\w+"`, true},
		{`frame.protocols matches ""`, true},
		{`tcp.payload matches r"^MPA.ID"`, true},
		{`tcp.payload matches r"[\x80-\xff]\n\x00"`, true},
		{`tcp.payload matches "\xe9"`, true},
		{`tcp.payload matches "\xc9"`, false}, // only ASCII has upper and lower case
		{`tcp.payload matches r"\xc9"`, false},
		{`tcp.payload matches r"[^\x00-\x7f]"`, true},
		{`tcp.payload matches r"\W\n"`, true},
		{`tcp.payload matches r"\Qreq\E\x{e9}"`, true},
		{`tcp.payload matches r"\x4d\0120A"`, false},
		{`tcp.payload matches r"\x4d\0120\x41"`, false},
		{`tcp.payload matches r"\x4DPA\040I"`, true},
		{`tcp.payload matches "Frame$"`, true},
		{`tcp.payload matches "Req.\n"`, true},
		{`tcp.payload matches "Req..\x00"`, false},

		// functions
		{"len(tcp.payload) == 20", true},
		{"len(eth.src) == 6", true},
		{"len(tcp.srcport) == 2", true},
		{"len(tcp.len) == 4", true},
		{"count(tcp.port) == 2", true},
		{"count(ipv6.src) == 0", false},
		{"count(tcp.port) + 1 == 3", true},
		{`upper(frame.protocols) contains "TCP"`, true},
		{`lower(frame.protocols)[0:3] == "eth"`, true},
		{`string(tcp.port) matches "^72"`, true},
		{`string(ip.src) == "10.1.0.1"`, true},
		{`string(eth.src) matches "^8e:a5"`, true},
		{`string(iwarp_ddp.stag) == "386960128"`, true},
		{`string(tcp.window_size_scalefactor) == "-2"`, true},
		{"max(tcp.port) == 49894", true},
		{"min(tcp.port, 5, 9) == 5", true},
		{"max(tcp.len, iwarp_ddp.stag) == 386960128", true},
		{"max(ip.addr) == 10.1.0.2", true},
		{"min(frame.time_relative, 0.1) == 0.1", true},
		{"abs(tcp.len - 50) == 10", true},
		{"abs(-frame.time_relative) > 0.1", true}, // none in tshark 4.0

		// and, or, xor, not
		{"tcp.len == 40 or tcp.len == 1 and tcp.len == 2", true},
		{"(tcp.len == 40 or tcp.len == 1) and tcp.len == 2", false},
		{"tcp xor ip", false},
		{"tcp ^^ ipv6.src", true},
		{"tcp xor ip xor eth", true},
		{"tcp xor ip and ipv6.src", true},
		{"tcp xor tcp or ip", true},
		{"not ipv6.src and tcp", true},
		{"not tcp or ip", true},
		{"tcp&&ip||ipv6.src", true},
		{"tcp and (ip and (eth and tcp.len))", true},
	} {
		f, err := Compile(test.filter, find, names)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got := f.Match(p.row(f)); got != test.want {
			t.Errorf("%s: %v, want %v", test.filter, got, test.want)
		}
		if test.filter != "" {
			again(t, f)
		}
	}
}

// again compiles what a filter prints: it is the same one.
func again(t *testing.T, f *Filter) {
	t.Helper()
	g, err := Compile(f.String(), find, names)
	if err != nil {
		t.Fatalf("printed: %v", err)
	}
	if g.String() != f.String() {
		t.Errorf("printed %q, and then %q", f, g)
	}
}

// TestAbsent: nothing is said of what is not there, and not takes it all.
func TestAbsent(t *testing.T) {
	for filter, want := range map[string]bool{
		"tcp": false, "tcp.port == 1": false, "tcp.port != 1": false, "all tcp.port == 1": false, "tcp.port in {1}": false,
		"tcp.port not in {1}": true, "not tcp.port == 1": true, "len(tcp.payload) == 0": false, "count(tcp.port) == 0": false,
		"max(tcp.port, 5) == 5": true, "tcp.port + 1 == 1": false, "tcp.payload[0] == 00": false, "tcp.payload != tcp.payload": false,
	} {
		f, err := Compile(filter, find, names)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(packet{}.row(f)); got != want {
			t.Errorf("%s: %v", filter, got)
		}
	}
}
