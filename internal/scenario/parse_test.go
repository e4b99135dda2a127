package scenario

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

const head = "summary: a test\n"

func TestParse_Errors(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"unknown key", head + "timeline: [connect]\nlink:\n  dealy: 5us\n", `
t.yaml:4:3: unknown key "dealy", did you mean "delay"?
    dealy: 5us
    ^`},
		{"unknown key far from all", head + "timeline: [connect]\nserver: {tcp: {retries: 3, zzz: 1}}\n", `
t.yaml:3:28: unknown key "zzz", there are delayed_ack, inflight, isn, mss, packing, retries, rto, sack, shut, timestamps, tso, window, window_scale
  server: {tcp: {retries: 3, zzz: 1}}
                             ^`},
		{"duplicate key", head + "seed: 1\nseed: 2\ntimeline: [connect]\n", `
t.yaml:3:1: a second "seed"
  seed: 2
  ^`},
		{"several", head + "seed: -1\nlink: {mtu: 10}\ntimeline: [conect]\n", `
t.yaml:2:7: expected a number from 0 to 18446744073709551615, not -1
  seed: -1
        ^
t.yaml:3:13: expected a number from 128 to 65535, not 10
  link: {mtu: 10}
              ^
t.yaml:4:12: unknown step "conect", did you mean "connect"?
  timeline: [conect]
             ^`},
		{"number of more than 64 bits, and one with a sign where none may be", head + "client: {mulpdu: 99999999999999999999}\nserver: {mulpdu: +64}\ntimeline: [connect]\n", `
t.yaml:2:18: expected a number from 64 to 65535, not 99999999999999999999
  client: {mulpdu: 99999999999999999999}
                   ^
t.yaml:3:18: expected a number, not "+64"
  server: {mulpdu: +64}
                   ^`},
		{"too many connections", head + "connections: 10001\ntimeline: [connect]\n", `
t.yaml:2:14: expected a number from 1 to 10000, not 10001
  connections: 10001
               ^`},
		{"no connection", head + "connections: []\ntimeline: [connect]\n", `
t.yaml:2:14: no connection
  connections: []
               ^`},
		{"name of a connection", head + "connections: [1a]\ntimeline: [connect]\n", `
t.yaml:2:15: a name has letters, digits, - and _, and begins with a letter
  connections: [1a]
                ^`},
		{"tab", head + "timeline:\n\t- connect\n", `
t.yaml:3:1: a tab, where YAML takes only blanks
   - connect
  ^`},
		{"transport", head + "both: {mpa: {markers: true}}\ntransport: sctp\ntimeline: [connect]\n", `
t.yaml:2:13: "mpa" has no meaning here: no connection is over TCP
  both: {mpa: {markers: true}}
              ^`},
		{"session control over TCP", head + "timeline: [connect, {control: accept}]\n", `
t.yaml:2:31: "control" has no meaning here: no connection is over SCTP
  timeline: [connect, {control: accept}]
                                ^`},
		{"depth", head + "client: {mpa: {ird: 16383, ord: 16384}}\ntimeline: [connect]\n", `
t.yaml:2:33: expected a number from 0 to 16383, not 16384
  client: {mpa: {ird: 16383, ord: 16384}}
                                  ^`},
		{"depth over SCTP", head + "both: {session: {ird: 70000, ord: 16383}}\ntransport: sctp\ntimeline: [connect]\n", `
t.yaml:2:23: expected a number from 0 to 16383, not 70000
  both: {session: {ird: 70000, ord: 16383}}
                        ^`},
		{"wrong type", head + "timeline: {connect: 5}\n", `
t.yaml:2:11: expected a list, not a mapping
  timeline: {connect: 5}
            ^`},
		{"empty", "", `
t.yaml:1:1: the scenario is empty
  
  ^`},
		{"no summary, no timeline", "seed: 5\n", `
t.yaml:1:1: there is no summary
  seed: 5
  ^
t.yaml:1:1: there is no timeline
  seed: 5
  ^`},
		{"YAML", head + "timeline: [connect\n", `
t.yaml:2:11: sequence end token ']' not found
  timeline: [connect
            ^`},
		{"alias", head + "both: &a {ttl: 5}\ntimeline: [connect]\n", `
t.yaml:2:7: a scenario has no anchors and aliases
  both: &a {ttl: 5}
        ^`},
		{"tag", head + "timeline: !!seq [connect]\n", `
t.yaml:2:11: a scenario has no tags, directives, merge keys and explicit keys
  timeline: !!seq [connect]
            ^`},
		{"second document", head + "timeline: [connect]\n---\na: b\n", `
t.yaml:4:1: a second document
  a: b
  ^`},
		{"kind of tunnel", head + "timeline: [connect]\nlink: {tunnel: vxlam}\n", `
t.yaml:3:16: unknown kind of tunnel "vxlam", did you mean "vxlan"?
  link: {tunnel: vxlam}
                 ^`},
		{"key of another kind of tunnel", head + "timeline: [connect]\nlink: {tunnel: {kind: mpls, client: 10.0.0.1}}\n", `
t.yaml:3:29: unknown key "client", there are control_word, ethernet, kind, labels
  link: {tunnel: {kind: mpls, client: 10.0.0.1}}
                              ^`},
		{"tunnel without a kind", head + "timeline: [connect]\nlink: {tunnel: {vni: 5}}\n", `
t.yaml:3:16: a tunnel needs a kind
  link: {tunnel: {vni: 5}}
                 ^`},
		{"tunnel that cannot be carried", head + "timeline: [connect]\nlink: {tunnel: [ip, mpls]}\n", `
t.yaml:3:21: the tunnel around it cannot carry it
  link: {tunnel: [ip, mpls]}
                      ^`},
		{"ends of a tunnel", head + "timeline: [connect]\nlink: {tunnel: {kind: ip, client: \"fd00::1\"}}\n", `
t.yaml:3:16: one end of the tunnel has an IPv4 address and the other one an IPv6 address
  link: {tunnel: {kind: ip, client: "fd00::1"}}
                 ^`},
		{"tunnel on a loopback", head + "timeline: [connect]\nlink: {tunnel: pppoe}\ncapture: {link: loop}\n", `
t.yaml:3:7: MPLS and PPPoE need a capture of Ethernet or a cooked one
  link: {tunnel: pppoe}
        ^`},
		{"options of Geneve", head + "timeline: [connect]\nlink: {tunnel: {kind: geneve, options: 6}}\n", `
t.yaml:3:40: the octets of Geneve options are a multiple of four
  link: {tunnel: {kind: geneve, options: 6}}
                                         ^`},
		{"under both, told once", head + "both: {ttl: 300}\ntimeline: [connect]\n", `
t.yaml:2:13: expected a number from 1 to 255, not 300
  both: {ttl: 300}
              ^`},
		{"address families", head + "client: {address: '10.0.0.1:1'}\nserver: {address: '[fd00::1]:2'}\ntimeline: [connect]\n", `
t.yaml:2:19: one side has an IPv4 address and the other one an IPv6 address
  client: {address: '10.0.0.1:1'}
                    ^`},
		{"word in one line", head + "timeline:\n  - connect\n  - server send 100 sollicited\n", `
t.yaml:4:21: "sollicited" is not understood in a step of one line
    - server send 100 sollicited
                      ^`},
		{"size in one line", head + "timeline:\n  - read 4KB4 x16\n", `
t.yaml:3:10: expected a size such as 100 or 64KiB, not "4KB4"
    - read 4KB4 x16
           ^`},
		{"text in one line", head + "timeline: [send hello]\n", `
t.yaml:2:17: "hello" is not understood in a step of one line
  timeline: [send hello]
                  ^`},
		{"two verbs", head + "timeline: [{send: 1, write: 2}]\n", `
t.yaml:2:22: a step has one verb, here are send and write
  timeline: [{send: 1, write: 2}]
                       ^`},
		{"modifier of another verb", head + "timeline: [{send: 1, mask: 2}]\n", `
t.yaml:2:22: unknown key of send "mask", there are as, from, invalidate, on, only, solicited, times
  timeline: [{send: 1, mask: 2}]
                       ^`},
		{"side in a mapping", head + "timeline: [{server: reset}]\n", `
t.yaml:2:13: in a mapping the side is from: server
  timeline: [{server: reset}]
              ^`},
		{"transmissions", head + "timeline: [write 1]\nfaults: [{at: write1, wire: {times: -1}}]\n", `
t.yaml:3:37: expected how many transmissions, or all
  faults: [{at: write1, wire: {times: -1}}]
                                      ^`},
		{"name twice", head + "timeline: [{send: 1, as: a}, {write: 1, as: a}]\n", `
t.yaml:2:45: a second step is called "a", the first is in line 2
  timeline: [{send: 1, as: a}, {write: 1, as: a}]
                                              ^`},
		{"name of the startup", head + "timeline: [{send: 1, as: reply}]\n", `
t.yaml:2:26: "reply" is the name of what the startup sends or of a Terminate
  timeline: [{send: 1, as: reply}]
                           ^`},
		{"region of the wrong side", head + "timeline: [{region: {name: buf, of: client}}, {write: 1, to: buf}]\n", `
t.yaml:2:62: the server has no region "buf" up to here
  timeline: [{region: {name: buf, of: client}}, {write: 1, to: buf}]
                                                               ^`},
		{"connection", head + "connections: [left, right]\ntimeline: [{send: 1, on: rihgt}]\n", `
t.yaml:3:26: unknown connection "rihgt", did you mean "right"?
  timeline: [{send: 1, on: rihgt}]
                           ^`},
		{"place", head + "timeline: [write 1]\nfaults: [{at: wirte1, skip: true}]\n", `
t.yaml:3:15: unknown step "wirte1", did you mean "write1"?
  faults: [{at: wirte1, skip: true}]
                ^`},
		{"place without answer", head + "timeline: [write 1]\nfaults: [{at: write1.response, skip: true}]\n", `
t.yaml:3:15: nothing answers write1
  faults: [{at: write1.response, skip: true}]
                ^`},
		{"segment 0", head + "timeline: [write 1]\nfaults: [{at: write1/0, skip: true}]\n", `
t.yaml:3:15: expected a place NAME[#NUMBER][.response][/SEGMENT] such as read1#2.response/last, not "write1/0"
  faults: [{at: write1/0, skip: true}]
                ^`},
		{"fault without effect", head + "timeline: [write 1]\nfaults: [{at: write1}]\n", `
t.yaml:3:10: a fault that does nothing
  faults: [{at: write1}]
           ^`},
		{"field", head + "timeline: [write 1]\nfaults: [{at: write1, set: {iwarp_ddp.tagged_ofset: 1}}]\n", `
t.yaml:3:29: unknown field "iwarp_ddp.tagged_ofset", did you mean "iwarp_ddp.tagged_offset"?
  faults: [{at: write1, set: {iwarp_ddp.tagged_ofset: 1}}]
                              ^`},
		{"value of a field", head + "timeline: [write 1]\nfaults: [{at: write1, set: {iwarp_ddp.dv: 4}}]\n", `
t.yaml:3:43: iwarp_ddp.dv has 2 bits, 0x4 does not fit
  faults: [{at: write1, set: {iwarp_ddp.dv: 4}}]
                                            ^`},
		{"long message", head + "timeline: [send 4GiB]\n", `
t.yaml:2:17: expected a size from 0 to 4294967295 octets, not 4GiB
  timeline: [send 4GiB]
                  ^`},
		{"load without size", head + "timeline: [{load: [send 1]}]\n", `
t.yaml:2:12: load needs size
  timeline: [{load: [send 1]}]
             ^`},
		{"interfaces of pcap", head + "capture: {format: pcap, interfaces: per-side}\ntimeline: [connect]\n", `
t.yaml:2:10: only pcapng has several interfaces
  capture: {format: pcap, interfaces: per-side}
           ^`},
		{"characters, not octets", head + "about: \"äöü\"\nlink: {\"ä\": 1}\ntimeline: [connect]\n", `
t.yaml:3:8: unknown key "ä", there are after, before, delay, fragment, from_client, from_server, jitter, mtu, rate, tunnel
  link: {"ä": 1}
         ^`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("t.yaml", []byte(tt.src))
			if err == nil {
				t.Fatal("no error")
			}
			if d := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), err.Error()); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			var e *Error
			if !errors.As(err, &e) || e.File != "t.yaml" || e.Line == 0 || e.Column == 0 {
				t.Errorf("no place: %+v", e)
			}
		})
	}
}

func TestParse_TellsTwentyErrors(t *testing.T) {
	var src strings.Builder
	src.WriteString(head + "timeline:\n")
	for range 30 {
		src.WriteString("  - nonsense\n")
	}
	_, err := Parse("t.yaml", []byte(src.String()))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3*strictyaml.MaxErrors+1 || lines[3*strictyaml.MaxErrors] != "t.yaml: 10 more errors" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestError_LongLine(t *testing.T) {
	src := head + "timeline: [" + strings.Repeat("connect, ", 1000) + "\x1b[31m]\n"
	_, err := Parse("t.yaml", []byte(src))
	for _, l := range strings.Split(err.Error(), "\n")[1:] {
		if len(l) > strictyaml.Shown+10 || strings.ContainsRune(l, 0x1b) {
			t.Errorf("shown: %q", l)
		}
	}
}

// TestParse_Hostile holds that a file cannot keep the reader busy, or make it
// take memory.
func TestParse_Hostile(t *testing.T) {
	steps := func(s string) string { return head + "timeline:\n" + s }
	manyKeys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d: 1\n", i)
		}
		return b.String()
	}
	nested := func(n int, open, shut string) string {
		return steps("  - " + strings.Repeat(open, n) + "connect" + strings.Repeat(shut, n))
	}
	for _, tt := range []struct{ name, src, want string }{
		{"size", strings.Repeat("#\n", MaxFile), "a scenario has at most 1048576 octets, this one has more"},
		{"brackets", steps(strings.Repeat("[", MaxFile/2)), "nested more than 32 deep"},
		{"braces", nested(5000, "{repeat: [", "]}"), "nested more than 32 deep"},
		{"dashes", steps(strings.Repeat("- ", 100_000)), "nested more than 32 deep"},
		{"deep", nested(20, "{repeat: [", "]}"), "nested more than 32 deep"},
		{"keys", manyKeys(60_000), "more than 50000 words and signs"},
		{"keys that fit", manyKeys(12_000), "more errors"},
		{"alias bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "no anchors"},
		{"times", steps("  - send 1 x1000000"), "from 1 to 100000"},
		{"nested times", steps(strings.Repeat("  - {repeat: [{repeat: [{repeat: [send 1], times: 99999}], times: 99999}], times: 99999}\n", 3)), "more than 1000000 steps"},
		{"waiting", steps("  - {wait: 24h, times: 1000}"), "waits for more than 365 days"},
		{"octets", steps(strings.Repeat("  - {send: {repeat: 00, count: 9MiB}}\n", 1)), "expected a number"},
		{"many octets", steps(strings.Repeat("  - {send: {repeat: 00, count: 9000000}}\n", 3)), "at most 16777216 octets"},
		{"connections", head + "connections: 1000000\ntimeline: [connect]\n", "from 1 to 10000"},
		{"not UTF-8", head + "about: \xff\ntimeline: [connect]\n", "t.yaml:2:1: not UTF-8"},
		{"quotes", head + "about: \"" + strings.Repeat("x", MaxFile-100), "double-quoted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("t.yaml", []byte(tt.src))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				msg := fmt.Sprint(err)
				t.Errorf("got %.300q, not %q", msg, tt.want)
			}
		})
	}
}

func TestScalars(t *testing.T) {
	sizes := map[string]uint64{
		"0": 0, "100": 100, "0x10": 16, "64KiB": 64 << 10, "10kB": 10_000, "10KB": 10_000, "1GiB": 1 << 30, "5B": 5, "010": 10,
		"1kb": 1000, "1kib": 1024, "1K": 1024, "2m": 2 << 20, "512MB": 512e6, "512MiB": 512 << 20, "4G": 4 << 30, "1T": 1 << 40, "1.5KiB": 1536, "0.5GB": 5e8, "0x1B": 27, "0x1b": 27,
	}
	for text, want := range sizes {
		if got, ok := Size(text); !ok || got != want {
			t.Errorf("Size(%q) = %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "KiB", "-1", "+1", "1.5", "1.5B", ".5KiB", "1.KiB", "1e3KiB", "1.5e3KiB", "NaNK", "16777216.5GiB", "1 KiB", "1_000", "99999999999999999999", "99999999999TiB", "KK"} {
		if got, ok := Size(text); ok {
			t.Errorf("Size(%q) = %d", text, got)
		}
	}
	for text, want := range map[string]int64{"+1": 1, "-0x10": -16, "7": 7} {
		if got, ok := relative(text); !ok || got != want {
			t.Errorf("relative(%q) = %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"--1", "+-1", "", "-", "9223372036854775808"} {
		if got, ok := relative(text); ok {
			t.Errorf("relative(%q) = %d", text, got)
		}
	}
}

func TestTimesOfDay(t *testing.T) {
	s, err := Parse("t.yaml", []byte(head+"capture: {epoch: 2027-02-03T04:05:06.5Z, clock_offset: -2ms, interfaces: per-side, start: 1.5s}\ntimeline: [connect]\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Script(false).Capture
	if want := time.Date(2027, 2, 3, 4, 5, 6, 5e8, time.UTC).UnixNano(); c.Epoch != want {
		t.Errorf("epoch %d, not %d", c.Epoch, want)
	}
	if c.ClockOffset != -2_000_000 || c.Start != 1_500_000_000 {
		t.Errorf("offset %d, start %d", c.ClockOffset, c.Start)
	}
}
